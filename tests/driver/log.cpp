// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "files.hpp"
#include "text.hpp"

namespace fake_cuda {
namespace {

std::string variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value == nullptr ? "-" : escaped(value);
}

/// Throws bad_alloc.
void append(std::string_view call, std::string_view uuid, std::string_view result,
            std::string_view extra)
{
    std::string line = std::to_string(now().count()) + " " + std::to_string(getpid()) + " " +
                       variable("SLURMD_NODENAME") + " " + variable("CUDA_VISIBLE_DEVICES");
    for (const std::string_view field : {call, uuid.empty() ? "-" : uuid, result, extra}) {
        if (!field.empty()) {
            line += " ";
            line += field;
        }
    }
    line += "\n";
    const Fd log = open_shared(home() + "/calls.log", O_WRONLY | O_APPEND);
    if (log) {
        // One write, so that lines of several processes do not mix. A full disk loses lines.
        (void)!write(log.get(), line.data(), line.size());
    }
}

}  // namespace

void log_call(std::string_view call, std::string_view uuid, std::string_view result,
              std::string_view extra) noexcept
{
    try {
        append(call, uuid, result, extra);
    } catch (const std::bad_alloc&) {
        return;  // the call itself says that memory is short
    }
}

void log_call(std::string_view call, std::string_view uuid, int result) noexcept
{
    char digits[16] = "";
    (void)std::snprintf(digits, sizeof digits, "%d", result);
    log_call(call, uuid, digits);
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fake_cuda {
namespace {

/// The text of this node's file, else of the default file; `path` is the one tried last.
std::optional<std::string> steering_text(std::string& path)
{
    const char* const node = std::getenv("SLURMD_NODENAME");
    const bool usable =
        node != nullptr && *node != '\0' && std::string_view(node).find('/') == std::string::npos;
    if (usable) {
        path = home() + "/" + node + ".gpus";
        auto text = read_file(path);
        if (text || errno != ENOENT) {
            return text;
        }
    }
    path = home() + "/default.gpus";
    return read_file(path);
}

Process* load()
{
    auto loaded = std::make_unique<Process>();
    std::string path;
    const auto text = steering_text(path);
    if (text) {
        Steering steering = parse_steering(*text, path, loaded->problem);
        if (loaded->problem.empty()) {
            loaded->steering = std::move(steering);
        }
    } else {
        loaded->problem = path + ": " + std::strerror(errno) +
                          "; allowed is a steering file there, or NODE.gpus beside it";
    }
    return loaded.release();
}

}  // namespace

std::unique_ptr<Allocation> Allocation::make(std::size_t bytes)
{
    void* const host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED) {
        return nullptr;
    }
    return std::unique_ptr<Allocation>(new Allocation(static_cast<unsigned char*>(host), bytes));
}

Allocation::~Allocation()
{
    munmap(host_, bytes_);
}

Process& process()
{
    static Process* const only = load();
    return *only;
}

int ready()
{
    const Process& here = process();
    if (here.steering.stub) {
        return stub_library;
    }
    if (here.owner != getpid() || here.init_result != success) {
        return not_initialized;
    }
    return success;
}

std::size_t free_memory(const Device& device)
{
    std::size_t taken = device.used();
    for (const auto& context : process().contexts) {
        if (!(context->device == device)) {
            continue;
        }
        taken += process().steering.context_memory;
        for (const auto& [pointer, allocation] : context->allocations) {
            taken += allocation->bytes();
        }
    }
    return taken < device.total() ? device.total() - taken : 0;
}

}  // namespace fake_cuda

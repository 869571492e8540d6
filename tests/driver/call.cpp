// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <algorithm>
#include <iterator>

namespace fake_cuda {
namespace {

/// True for a code after which a context is of no use any more.
bool is_sticky(int code)
{
    constexpr int kSticky[] = {214, 220, 226, 700, 702, 714, 715, 716, 717, 718, 719};
    return std::find(std::begin(kSticky), std::end(kSticky), code) != std::end(kSticky);
}

}  // namespace

std::mutex& call_mutex()
{
    static std::mutex mutex;
    return mutex;
}

int find_device(int ordinal, const Device*& device)
{
    const auto& devices = process().devices;
    if (const int refused = ready(); refused != success) {
        return refused;
    }
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) {
        return invalid_device;
    }
    device = &devices[static_cast<std::size_t>(ordinal)];
    return success;
}

int enter_device(const char* call, Stage stage, int ordinal, const Device*& device)
{
    const int refused = find_device(ordinal, device);
    return refused != success ? refused : meet_faults(call, stage, {*device});
}

int enter_context(const char* call, std::initializer_list<Stage> stages, ContextHandle*& context)
{
    if (const int refused = ready(); refused != success) {
        return refused;
    }
    if (process().contexts.empty()) {
        return invalid_context;
    }
    context = process().contexts.back().get();
    int code = context->sticky;
    for (const Stage stage : stages) {
        code = code != success ? code : meet_faults(call, stage, {context->device});
    }
    context->sticky = is_sticky(code) ? code : 0;
    return code;
}

}  // namespace fake_cuda

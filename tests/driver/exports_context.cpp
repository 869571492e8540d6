// SPDX-License-Identifier: Apache-2.0
#include <sys/file.h>

#include <algorithm>
#include <memory>
#include <string>

#include "abi.hpp"
#include "call.hpp"

namespace fake_cuda {
namespace {

constexpr char kCreate[] = "cuCtxCreate_v2";
constexpr char kDestroy[] = "cuCtxDestroy_v2";

/// Takes the GPU for this context alone, as exclusive-process mode does. Under MPS that mode binds
/// the server, not its clients.
int take_exclusive(ContextHandle& context)
{
    if (context.device.gpu->mode != Mode::exclusive_process || process().steering.mps) {
        return success;
    }
    context.lock = open_in("locks", context.device.uuid());
    if (!context.lock) {
        return unknown;
    }
    return flock(context.lock.get(), LOCK_EX | LOCK_NB) == 0 ? success : device_unavailable;
}

int create(const Device& device, ContextHandle** context)
{
    if (context == nullptr) {
        return invalid_value;
    }
    if (device.gpu->mode == Mode::prohibited) {
        return device_unavailable;
    }
    if (free_memory(device) < process().steering.context_memory) {
        return out_of_memory;
    }
    auto made = std::make_unique<ContextHandle>();
    made->device = device;
    const int refused = take_exclusive(*made);
    if (refused == success) {
        *context = made.get();
        process().contexts.push_back(std::move(made));
    }
    return refused;
}

/// Between the log's begin and its result: the time that a context takes, and the faults.
int create_slowly(int ordinal, ContextHandle** context, std::string& uuid)
{
    const Device* device = nullptr;
    if (const int refused = find_device(ordinal, device); refused != success) {
        return refused;
    }
    uuid = device->uuid();
    log_call(kCreate, uuid, "begin");
    const ParallelTrap trap(kCreate);
    take_time(process().steering.context);
    const int fault = meet_faults(kCreate, Stage::context, {*device});
    return fault != success ? fault : create(*device, context);
}

int destroy(ContextHandle* context, std::string& uuid)
{
    if (const int refused = ready(); refused != success) {
        return refused;
    }
    auto& contexts = process().contexts;
    const auto found = std::find_if(contexts.begin(), contexts.end(),
                                    [&](const auto& known) { return known.get() == context; });
    if (found == contexts.end()) {
        return context == nullptr ? invalid_value : invalid_context;
    }
    uuid = context->device.uuid();
    const int fault = meet_faults(kDestroy, Stage::destroy, {context->device});
    if (fault == success) {
        contexts.erase(found);
    }
    return fault;
}

}  // namespace
}  // namespace fake_cuda

int cuCtxCreate_v2(fake_cuda::ContextHandle** context, unsigned /*flags*/, int device)
{
    return fake_cuda::answer(fake_cuda::kCreate, [&](std::string& uuid) {
        return fake_cuda::create_slowly(device, context, uuid);
    });
}

/// Frees the context's memory and, in exclusive-process mode, the GPU.
int cuCtxDestroy_v2(fake_cuda::ContextHandle* context)
{
    return fake_cuda::answer(fake_cuda::kDestroy,
                             [&](std::string& uuid) { return fake_cuda::destroy(context, uuid); });
}

int cuCtxSynchronize()
{
    return fake_cuda::in_context("cuCtxSynchronize", {fake_cuda::Stage::sync},
                                 [](fake_cuda::ContextHandle& /*context*/) { return 0; });
}

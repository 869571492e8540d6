// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <mutex>
#include <new>
#include <string>

#include "faults.hpp"
#include "log.hpp"
#include "process.hpp"

// The frame of every exported function: one caller at a time, no exception out, one log line.

namespace fake_cuda {

std::mutex& call_mutex();

/// \param body  int(std::string& uuid); `uuid` is what the log line names
template <class Body>
int answer(const char* call, Body body) noexcept
{
    const std::lock_guard<std::mutex> lock(call_mutex());
    std::string uuid;
    int code = unknown;
    try {
        code = body(uuid);
    } catch (const std::bad_alloc&) {
        code = out_of_memory;
    } catch (...) {
        code = unknown;
    }
    log_call(call, uuid, code);
    return code;
}

/// 0, or 3, 34 or 101; sets `device` to the visible device with this number.
int find_device(int ordinal, const Device*& device);

/// Finds the device with this number and lets the faults of `stage` act.
///
/// \return 0, or what the call has to return
int enter_device(const char* call, Stage stage, int ordinal, const Device*& device);

/// Finds the current context and lets the faults of `stages` act.
///
/// \return 0, or what the call has to return; `context` is set in both cases when there is one
int enter_context(const char* call, std::initializer_list<Stage> stages, ContextHandle*& context);

/// For a call that concerns one device of those counted. \param body  int(const Device&)
template <class Body>
int on_device(const char* call, Stage stage, int ordinal, Body body) noexcept
{
    return answer(call, [&](std::string& uuid) -> int {
        const Device* device = nullptr;
        const int refused = enter_device(call, stage, ordinal, device);
        uuid = device == nullptr ? "" : device->uuid();
        return refused != success ? refused : body(*device);
    });
}

/// For a call in the current context. \param body  int(ContextHandle&)
template <class Body>
int in_context(const char* call, std::initializer_list<Stage> stages, Body body) noexcept
{
    return answer(call, [&](std::string& uuid) -> int {
        ContextHandle* context = nullptr;
        const int refused = enter_context(call, stages, context);
        uuid = context == nullptr ? "" : context->device.uuid();
        return refused != success ? refused : body(*context);
    });
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "behaviour.hpp"
#include "files.hpp"
#include "selection.hpp"

namespace fake_cuda {

/// Lets every fault act that the steering file has for this call: those of the node, of groups
/// that are visible together, of GPUs, of MIG instances, each in the order written. One that does
/// anything but return a code leaves a log line first. May not return.
///
/// \param devices  those that the call concerns; for cuInit all visible ones
/// \return the first code that one of them gives, or 0
int meet_faults(const char* call, Stage stage, const std::vector<Device>& devices);

/// Sleeps all of `time`, whatever signals come.
void take_time(std::chrono::nanoseconds time);

/// With `deadlock_parallel`, what two processes inside cuInit or cuCtxCreate at the same time meet:
/// both hang, till killed. Without it, nothing.
class ParallelTrap {
public:
    explicit ParallelTrap(const char* call);
    ParallelTrap(const ParallelTrap&) = delete;
    ParallelTrap& operator=(const ParallelTrap&) = delete;
    /// Hangs when another process came in meanwhile.
    ~ParallelTrap();

private:
    const char* call_;
    Fd stuck_;   ///< shared lock: a process that hangs
    Fd inside_;  ///< exclusive lock: the process that is inside
};

}  // namespace fake_cuda

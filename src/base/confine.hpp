#pragma once

#include <sys/types.h>

#include "src/base/environment.hpp"
#include "src/base/result.hpp"

namespace auto_gpus {

/// The program that this process runs, also after its file was replaced by a newer one: what is
/// started by this path is of the same build.
inline constexpr char kOwnProgram[] = "/proc/self/exe";

/// What a helper program does to itself first thing, so that it cannot outlive or disturb the
/// task that it serves. All of these act on the calling process.

/// Has the kernel kill this process when its parent ends.
/// \param parent  the pid of the process that started it
/// \return false when that parent is already gone: end at once
bool die_with_parent(pid_t parent) noexcept;

/// Closes every descriptor above `last`: sockets and pipes of the step that were open without
/// close-on-exec (PMI_FD under --mpi=pmi2 is one) must not be held by a helper.
void close_descriptors_above(int last) noexcept;

/// No core file, whatever limit and pattern the node has.
void forbid_core_dump() noexcept;

/// Applies the limits that Slurm will set for the task just before exec: SLURM_RLIMIT_AS, DATA,
/// STACK, MEMLOCK and NOFILE of its environment ("U…" when propagated by the user), each at most
/// the hard limit. What is absent or not a number stays as it is.
void apply_task_limits(const Environment& task) noexcept;

}  // namespace auto_gpus

#pragma once

#include <cstdint>
#include <string>

namespace auto_gpus {

/// How many processes the kernel has killed so far because the memory limit of the calling
/// process's cgroup was reached: cgroup v2's memory.events, or v1's memory.oom_control, below
/// /sys/fs/cgroup. 0 where neither can be read.
std::uint64_t oom_kills() noexcept;

/// The number behind "oom_kill " in such a file's text; 0 when there is none.
std::uint64_t oom_kills_in(const std::string& text) noexcept;

}  // namespace auto_gpus

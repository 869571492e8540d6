#pragma once

#include <string_view>
#include <vector>

namespace auto_gpus {

/// The supervisor's main: runs the probes of the list in its environment side by side, streams
/// verdicts to kReportFd, takes commands from standard input (see plan.hpp), and ends when the
/// input ends, when its parent dies, or when the time is up. Never loads the driver itself
/// (what the task preloads is loaded here too).
///
/// \param arguments  what followed kSuperviseWord
/// \return the exit status
int supervise(const std::vector<std::string_view>& arguments);

/// The probe's main: one check, its evidence to kReportFd.
/// \param arguments  what followed kCheckWord
int check(const std::vector<std::string_view>& arguments);

}  // namespace auto_gpus

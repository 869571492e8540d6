#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/deadline.hpp"

namespace auto_gpus {

inline constexpr char kProgramName[] = "auto-gpus";

/// First arguments of the program when it is started by ourselves.
inline constexpr char kSuperviseWord[] = "supervise";
inline constexpr char kCheckWord[] = "check";

/// Names of the probes that are not of one token, in verdicts and commands.
inline constexpr char kWhole[] = "whole";
inline constexpr char kChosen[] = "chosen";
inline constexpr char kSurvey[] = "survey";
inline constexpr char kEvidence[] = "evidence";

/// What a supervisor is told on its command line. The list to probe is in its environment, as the
/// task has it; where it has none, the survey is what is probed. Commands come on its standard
/// input, one a line:
///
///     chosen 0,3      probe these positions of the list as one list
///     survey          probe without CUDA_VISIBLE_DEVICES
///     evidence        ask NVML what may explain a fault
///
/// and the end of the input means: end all probes, then end. Verdicts go to kReportFd, one a line.
struct SupervisorPlan {
    int parent = 0;              ///< pid of the task child; the supervisor dies with it
    milliseconds timeout{0};     ///< for all verdicts, from now
    milliseconds retry{0};       ///< for how long faults that may pass are tried again
    std::uint64_t min_free = 0;  ///< bytes
    std::string libcuda;         ///< empty: by the loader's search
};

std::vector<std::string> to_arguments(const SupervisorPlan& plan);
/// \param arguments  what followed kSuperviseWord
std::optional<SupervisorPlan> plan_from_arguments(const std::vector<std::string_view>& arguments);

}  // namespace auto_gpus

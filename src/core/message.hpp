#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/core/decision.hpp"
#include "src/core/options.hpp"
#include "src/core/outcome.hpp"
#include "src/core/token_list.hpp"

namespace auto_gpus {

/// Set for clients of an MPS daemon; messages that MPS may explain name it.
inline constexpr char kMpsPipeDirectory[] = "CUDA_MPS_PIPE_DIRECTORY";

/// Who reads the texts, and what happens to the task.
enum class Audience {
    task,    ///< a task that does not start when GPUs are short
    shell,   ///< salloc's interactive step, which opens all the same
    person,  ///< somebody who called the program
};

/// What the texts of one decision are made from.
struct Report {
    std::string node;  ///< SLURMD_NODENAME
    const TokenList& list;
    const Settings& settings;
    const Need& need;
    const Watch& watch;
    Clock::duration took{0};  ///< until the decision
    std::string mps_pipe;     ///< kMpsPipeDirectory of the task; empty: none
    Audience audience = Audience::task;
};

/// Tokens that were passed over for the chosen ones, as AUTO_GPUS_REJECTED has them:
/// "1:ECC_UNCORRECTABLE,3:UNDECIDED"; empty when none.
std::string rejected_text(const Report& report, const std::vector<std::size_t>& chosen);

/// Full UUIDs of the chosen tokens, by comma.
std::string uuids_text(const Watch& watch, const std::vector<std::size_t>& chosen);

/// More GPUs are asked for than the list has: why, with where the request came from.
Refusal too_short(const Settings& settings, const TokenList& list);

/// The lines on stderr, each with "auto-gpus: NODE: " and a newline.
std::string success_text(const Report& report, const std::vector<std::size_t>& chosen);
std::string short_text(const Report& report, const Short& found);
std::string refusal_text(const std::string& node, const Refusal& refusal);
std::string warning_text(const std::string& node, const std::string& warning);

}  // namespace auto_gpus

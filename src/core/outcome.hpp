#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/core/decision.hpp"

namespace auto_gpus {

/// The reason of each token as the decision left it: UNDECIDED for one without an answer,
/// LIST_CONFLICT for `positions` that conflict, DUPLICATE for one that is another's GPU.
std::vector<Verdict> final_verdicts(const Watch& watch, const Short& found = {});

/// The reason that every probe gives for the whole node; nothing when they differ or are GPUs' own.
std::optional<Reason> node_wide_reason(const std::vector<Verdict>& verdicts, const Watch& watch);

/// The exit code of a task that found too few usable GPUs.
/// \param short_code  the site's `exit_code=`
int short_exit_code(const Watch& watch, int short_code);

/// Tokens before the last chosen one that are not chosen, and later ones that are known to be bad.
std::vector<std::size_t> skipped_positions(const std::vector<Verdict>& verdicts,
                                           const std::vector<std::size_t>& chosen);

std::size_t count_usable(const std::vector<Verdict>& verdicts);

}  // namespace auto_gpus

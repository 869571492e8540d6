#pragma once

#include <string>
#include <vector>

#include "src/core/message.hpp"

namespace auto_gpus {

/// What to do when GPUs are short, as the last line of the table says it.
std::string advice_text(const std::vector<Verdict>& verdicts, const Report& report,
                        const Short& found);

}  // namespace auto_gpus

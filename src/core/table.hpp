#pragma once

#include <string>
#include <vector>

#include "src/core/message.hpp"

namespace auto_gpus {

/// One line of a message: "auto-gpus: NODE: TEXT" and a newline.
std::string line(const std::string& node, const std::string& text);

/// The text, cut to the 64 lines that a message may have.
std::string at_most_lines(const std::string& text, const std::string& node);

/// A line for each token, in columns: token, reason, model, UUID, PCI bus id, detail.
/// \param stages  with the time that each stage took
std::string table_text(const std::vector<Verdict>& verdicts, const Report& report, bool stages);

}  // namespace auto_gpus

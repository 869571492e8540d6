#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/reason.hpp"
#include "src/core/request.hpp"

namespace auto_gpus {

/// How the chosen GPUs are written.
enum class Emit {
    keep,  ///< the tokens as they were
    uuid,  ///< full UUIDs
};
std::optional<Emit> parse_emit(std::string_view text) noexcept;

/// What the administrator set: the words after the plugin's path in plugstack.conf.
struct Site {
    Request default_request;
    std::chrono::seconds timeout{60};
    std::chrono::seconds max_timeout{600};
    std::uint64_t min_free = 0;  ///< bytes
    Emit emit = Emit::keep;
    bool verbose = false;
    std::string program;  ///< absolute path; empty: the installed one
    std::string libcuda;  ///< absolute path; empty: the task's own loader decides
    bool unallocated_means_all = false;
    std::chrono::seconds retry{5};
    int short_code = kExitShort;

    /// Words that are wrong: each BAD_CONFIG with word, value and what is allowed. With any, a job
    /// that asked fails, and one that did not is left alone (default_request is off).
    std::vector<Refusal> problems;
};

/// One row of the table of words, from which the example file and the manual page are checked.
struct WordInfo {
    const char* name;
    const char* default_value;
    const char* allowed;
};
std::vector<WordInfo> all_words();

/// Reads the words; never fails: what is wrong is in `problems`.
Site parse_site(const std::vector<std::string>& words);

}  // namespace auto_gpus

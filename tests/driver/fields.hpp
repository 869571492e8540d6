// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "steering.hpp"

namespace fake_cuda {

/// The key=value words of one steering line. A reader asks for each key it knows and then calls
/// finish(), which refuses the words that nobody asked for. The first problem is kept.
class Fields {
public:
    /// \param words  the line's words after the first
    explicit Fields(std::vector<std::string> words) : words_(std::move(words)) {}

    void read(std::string_view key, std::string& into);
    void read(std::string_view key, std::chrono::nanoseconds& into);
    void read_size(std::string_view key, std::size_t& into);
    void read_number(std::string_view key, std::size_t& into);
    /// 1, on, yes or 0, off, no.
    void read_flag(std::string_view key, bool& into);
    void read_uuid(std::string_view key, std::string_view prefix, std::string& into);
    void read_pci(std::string_view key, std::string& into);
    void read_mode(std::string_view key, Mode& into);
    void read_list(std::string_view key, std::vector<std::string>& into);
    /// May be there several times.
    void read_behaviour(Behaviour& into);

    void finish();
    void refuse(std::string_view key, std::string_view value, std::string_view allowed);
    const std::string& problem() const { return problem_; }

private:
    /// Takes one word `key=…` out; false when there is none.
    bool take(std::string_view key, std::string& value);

    std::vector<std::string> words_;
    std::string known_;
    std::string problem_;
};

}  // namespace fake_cuda

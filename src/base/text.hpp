#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auto_gpus {

bool starts_with(std::string_view text, std::string_view prefix) noexcept;
bool ends_with(std::string_view text, std::string_view suffix) noexcept;

/// The pieces of `text` between `separator`s, empty ones included; "" has one, empty, piece.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// A plain decimal number: digits only, no sign, no blanks, at most `largest`. Else nothing.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t largest) noexcept;

/// The text with every byte that is not printable ASCII as \xNN (a backslash as \\), for messages
/// that repeat what somebody else wrote. At most `longest` bytes of the input are shown; what is
/// longer ends in "… (N bytes)".
std::string printable(std::string_view text, std::size_t longest = 80);

/// printable() in single quotes.
std::string quoted(std::string_view text, std::size_t longest = 80);

/// "0.31 s": seconds with two digits below 10 s, else one.
std::string seconds_text(std::chrono::steady_clock::duration time);
/// "0.3 s": for a wait, whose hundredths say nothing.
std::string rough_seconds_text(std::chrono::steady_clock::duration time);

/// Microseconds for the wire, at most what 32 bits hold (71 minutes).
std::uint32_t microseconds_32(std::chrono::steady_clock::duration time) noexcept;

/// "512 MiB", "1.5 GiB": whole MiB below 1 GiB, else GiB with one digit.
std::string size_text(std::uint64_t bytes);

}  // namespace auto_gpus

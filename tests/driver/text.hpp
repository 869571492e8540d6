// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fake_cuda {

bool starts_with(std::string_view text, std::string_view prefix);

/// Cuts at every `separator`; "" gives one empty part, "a,,b" gives three.
std::vector<std::string> split(std::string_view text, char separator);

/// Cuts a steering line at blanks. "…" keeps blanks together (the quotes go), a word that begins
/// with # ends the line. Nothing when a quote is left open.
std::optional<std::vector<std::string>> split_words(std::string_view line);

/// Decimal digits and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// "400ms", "5s", "6.6s", "20us"; a bare number is seconds.
std::optional<std::chrono::nanoseconds> parse_time(std::string_view text);

/// "81559M", "80G", "64K", "1T": powers of 1024. "0" needs no unit, any other number does.
std::optional<std::size_t> parse_size(std::string_view text);

/// `prefix` ("GPU-", "MIG-"), then lower-case hexadecimal in the form 8-4-4-4-12.
bool is_uuid(std::string_view text, std::string_view prefix);

/// "0000:17:00.0", lower case.
bool is_pci_id(std::string_view text);

/// `text` as one field of a log line: blanks, control characters and backslashes become \xNN.
/// "" gives `""`, and "-" gives `\x2d`, since - stands for "not set".
std::string escaped(std::string_view text);

}  // namespace fake_cuda

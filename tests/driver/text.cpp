// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace fake_cuda {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/// 'x' in `form` stands for a hexadecimal digit, any other character for itself.
bool has_form(std::string_view text, std::string_view form)
{
    return text.size() == form.size() &&
           std::equal(text.begin(), text.end(), form.begin(),
                      [](char c, char f) { return f == 'x' ? is_hex(c) : c == f; });
}

bool ends_with(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

bool starts_with(std::string_view text, std::string_view prefix)
{
    return text.substr(0, prefix.size()) == prefix;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

std::optional<std::vector<std::string>> split_words(std::string_view line)
{
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    bool quoted = false;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (c == '"') {
            quoted = !quoted;
            in_word = true;
        } else if (quoted || (!blank && (in_word || c != '#'))) {
            word += c;
            in_word = true;
        } else if (!blank) {
            break;  // a comment
        } else if (in_word) {
            words.push_back(std::move(word));
            word.clear();
            in_word = false;
        }
    }
    if (quoted) {
        return std::nullopt;
    }
    if (in_word) {
        words.push_back(std::move(word));
    }
    return words;
}

std::optional<std::uint64_t> parse_number(std::string_view text)
{
    if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), is_digit)) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (const char c : text) {
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

std::optional<std::chrono::nanoseconds> parse_time(std::string_view text)
{
    double unit = 1e9;
    std::string_view digits = text;
    if (ends_with(text, "ms") || ends_with(text, "us")) {
        unit = ends_with(text, "ms") ? 1e6 : 1e3;
        digits.remove_suffix(2);
    } else if (ends_with(text, "s")) {
        digits.remove_suffix(1);
    }
    const bool plain = !digits.empty() && is_digit(digits.front()) && digits.size() < 9 &&
                       digits.find_first_not_of("0123456789.") == std::string_view::npos &&
                       std::count(digits.begin(), digits.end(), '.') < 2;
    if (!plain) {
        return std::nullopt;
    }
    const double value = std::strtod(std::string(digits).c_str(), nullptr);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(value * unit));
}

std::optional<std::size_t> parse_size(std::string_view text)
{
    constexpr std::string_view kUnits = "KMGT";
    if (text == "0") {
        return 0;
    }
    const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
    if (unit == std::string_view::npos) {
        return std::nullopt;
    }
    const auto number = parse_number(text.substr(0, text.size() - 1));
    const std::size_t shift = 10 * (unit + 1);
    if (!number || *number > (std::numeric_limits<std::size_t>::max() >> shift)) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(*number) << shift;
}

bool is_uuid(std::string_view text, std::string_view prefix)
{
    return starts_with(text, prefix) &&
           has_form(text.substr(prefix.size()), "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

bool is_pci_id(std::string_view text)
{
    return has_form(text, "xxxx:xx:xx.x");
}

std::string escaped(std::string_view text)
{
    if (text.empty()) {
        return "\"\"";
    }
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= ' ' || byte == 0x7f || c == '\\' || text == "-") {
            out += "\\x";
            out += kHexDigits[byte >> 4U];
            out += kHexDigits[byte & 15U];
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace fake_cuda

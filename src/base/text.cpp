#include "src/base/text.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <limits>

namespace auto_gpus {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values)
{
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), pattern, values...);
    return out.data();
}

bool is_plain(unsigned char byte) noexcept
{
    return byte >= 0x20 && byte < 0x7f && byte != '\\';
}

}  // namespace

bool starts_with(std::string_view text, std::string_view prefix) noexcept
{
    return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) noexcept
{
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> pieces;
    for (;;) {
        const std::size_t end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return pieces;
        }
        text.remove_prefix(end + 1);
    }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator)
{
    std::string joined;
    for (const std::string& piece : pieces) {
        if (&piece != &pieces.front()) {
            joined += separator;
        }
        joined += piece;
    }
    return joined;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t largest) noexcept
{
    if (text.empty()) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    for (const char letter : text) {
        if (letter < '0' || letter > '9') {
            return std::nullopt;
        }
        const auto digit = static_cast<std::uint64_t>(letter - '0');
        if (value > (largest - digit) / 10 || digit > largest) {
            return std::nullopt;
        }
        value = value * 10 + digit;
    }
    return value;
}

std::string printable(std::string_view text, std::size_t longest)
{
    std::string shown;
    for (const char letter : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(letter);
        if (is_plain(byte)) {
            shown += letter;
        } else {
            shown += byte == '\\' ? std::string("\\\\") : format("\\x%02x", byte);
        }
    }
    if (text.size() > longest) {
        shown += "... (" + std::to_string(text.size()) + " bytes)";
    }
    return shown;
}

std::string quoted(std::string_view text, std::size_t longest)
{
    return "'" + printable(text, longest) + "'";
}

std::string seconds_text(std::chrono::steady_clock::duration time)
{
    const double seconds = std::chrono::duration<double>(time).count();
    return format(seconds < 9.995 ? "%.2f s" : "%.1f s", seconds);
}

std::string rough_seconds_text(std::chrono::steady_clock::duration time)
{
    return format("%.1f s", std::chrono::duration<double>(time).count());
}

std::uint32_t microseconds_32(std::chrono::steady_clock::duration time) noexcept
{
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, kMost));
}

std::string size_text(std::uint64_t bytes)
{
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    if (bytes < kGiB) {
        return format("%" PRIu64 " MiB", bytes / kMiB);
    }
    return format("%.1f GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
}

}  // namespace auto_gpus

#include "src/core/request.hpp"

#include <limits>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr std::string_view kDigits = "0123456789";

Malformed malformed(std::string why)
{
    return Malformed{std::move(why)};
}

Result<std::size_t, Malformed> parse_gpu_count(std::string_view text)
{
    auto count = parse_count(text, 1, Request::kLargest);
    if (!count) {
        return count.error();
    }
    return static_cast<std::size_t>(count.value());
}

Result<Request, Malformed> parse_range(std::string_view low, std::string_view high)
{
    const auto min = parse_gpu_count(low);
    if (!min) {
        return malformed("MIN: " + min.error().why);
    }
    const auto max = parse_gpu_count(high);
    if (!max) {
        return malformed("MAX: " + max.error().why);
    }
    if (max.value() < min.value()) {
        return malformed("MAX is below MIN");
    }
    return Request{Request::Kind::range, min.value(), max.value()};
}

}  // namespace

std::string Request::text() const
{
    switch (kind) {
        case Kind::off:
            return "off";
        case Kind::count:
            return std::to_string(min);
        case Kind::range:
            return std::to_string(min) + "-" + std::to_string(max);
        case Kind::at_least:
            return std::to_string(min) + "+";
        case Kind::all:
            break;
    }
    return "all";
}

Result<Request, Malformed> parse_request(std::string_view text)
{
    if (text == "off" || text == "0") {
        return Request{};
    }
    if (text == "all") {
        return Request{Request::Kind::all, 0, 0};
    }
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos && dash > 0) {
        return parse_range(text.substr(0, dash), text.substr(dash + 1));
    }
    const bool at_least = ends_with(text, "+");
    const auto count = parse_gpu_count(at_least ? text.substr(0, text.size() - 1) : text);
    if (!count) {
        return count.error();
    }
    if (at_least) {
        return Request{Request::Kind::at_least, count.value(), Request::kLargest};
    }
    return Request{Request::Kind::count, count.value(), count.value()};
}

Result<std::uint64_t, Malformed> parse_size(std::string_view text)
{
    constexpr std::string_view kUnits = "KMGT";
    std::size_t unit = 1;  // MiB
    if (!text.empty()) {
        const std::size_t found = kUnits.find(text.back());
        if (found != std::string_view::npos) {
            unit = found;
            text.remove_suffix(1);
        }
    }
    const std::size_t shift = 10 * (unit + 1);
    const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> shift;
    if (text.empty() || text.find_first_not_of(kDigits) != std::string_view::npos) {
        return malformed("not a size");
    }
    const auto count = parse_number(text, largest);
    if (!count) {
        return malformed("larger than any memory");
    }
    return *count << shift;
}

Result<std::uint64_t, Malformed> parse_count(std::string_view text, std::uint64_t least,
                                             std::uint64_t largest)
{
    if (text.empty()) {
        return malformed("the number is missing");
    }
    if (text.find_first_not_of(kDigits) != std::string_view::npos) {
        return malformed("not a whole number");
    }
    const auto count = parse_number(text, largest);
    if (!count) {
        return malformed("larger than " + std::to_string(largest));
    }
    if (*count < least) {
        return malformed("smaller than " + std::to_string(least));
    }
    return *count;
}

}  // namespace auto_gpus

#include "src/core/token_list.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// strtoul's reading of an index: blanks and a plus sign may lead, anything may follow the digits.
std::optional<std::uint64_t> leading_index(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (starts_with(text, "+")) {
        text.remove_prefix(1);
    }
    const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
    if (digits.empty()) {
        return std::nullopt;
    }
    constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
    return parse_number(digits, kLargest).value_or(kLargest);
}

std::optional<Token> parse_token(std::string_view text)
{
    Token token;
    token.text = std::string(text);
    if (starts_with(text, "GPU-")) {
        token.form = TokenForm::gpu;
        return token;
    }
    if (starts_with(text, "MIG-")) {
        token.form = TokenForm::mig;
        return token;
    }
    const auto index = leading_index(text);
    if (!index) {
        return std::nullopt;
    }
    token.index = *index;
    return token;
}

bool same_gpu(const Token& one, const Token& other)
{
    if (one.form != other.form) {
        return false;
    }
    return one.form == TokenForm::index ? one.index == other.index : one.text == other.text;
}

Refusal refused(Reason reason, std::string cause)
{
    return {reason, std::move(cause), info(reason).remedy};
}

Refusal names_nothing(std::string_view value, std::string_view first)
{
    if (value == "NoDevFiles") {
        return refused(
            Reason::not_allocated,
            std::string(kVisibleDevices) + " is 'NoDevFiles': no GPU was allocated to this step");
    }
    return refused(Reason::bad_token, "entry 1 of " + std::string(kVisibleDevices) + " is " +
                                          quoted(first) +
                                          ", which names no GPU, and the driver stops there");
}

}  // namespace

Result<TokenList, Refusal> parse_token_list(std::string_view value)
{
    if (value.empty()) {
        return refused(Reason::empty_list, std::string(kVisibleDevices) +
                                               " is empty: no GPU was allocated to this step, or "
                                               "something emptied the list");
    }
    const std::vector<std::string_view> entries = split(value, ',');
    if (entries.size() > kMostTokens) {
        return refused(Reason::bad_token,
                       std::string(kVisibleDevices) + " has " + std::to_string(entries.size()) +
                           " entries; at most " + std::to_string(kMostTokens) + " are read");
    }
    TokenList list;
    for (const std::string_view entry : entries) {
        const std::size_t position = list.tokens.size() + 1;
        if (entry.size() > kLongestToken) {
            return refused(Reason::bad_token, "entry " + std::to_string(position) + " of " +
                                                  kVisibleDevices + " is " + quoted(entry, 40) +
                                                  ", longer than any name of a GPU");
        }
        std::optional<Token> token = parse_token(entry);
        if (!token) {
            list.stopped = true;
            list.stopped_at = std::string(entry);
            break;
        }
        const auto same = [&](const Token& earlier) { return same_gpu(earlier, *token); };
        if (std::any_of(list.tokens.begin(), list.tokens.end(), same)) {
            return refused(Reason::duplicate, "duplicate " + printable(entry) + " in " +
                                                  kVisibleDevices + "=" + printable(value) +
                                                  ": CUDA would show no GPU");
        }
        list.tokens.push_back(std::move(*token));
    }
    if (list.tokens.empty()) {
        return names_nothing(value, entries.front());
    }
    return list;
}

std::string joined(const TokenList& list, const std::vector<std::size_t>& positions)
{
    std::vector<std::string> texts;
    texts.reserve(positions.size());
    for (const std::size_t position : positions) {
        texts.push_back(list.tokens.at(position).text);
    }
    return join(texts, ",");
}

std::string joined(const TokenList& list)
{
    std::vector<std::string> texts;
    texts.reserve(list.tokens.size());
    for (const Token& token : list.tokens) {
        texts.push_back(token.text);
    }
    return join(texts, ",");
}

}  // namespace auto_gpus

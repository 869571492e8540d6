// The text form of evidence and verdicts, between probe, supervisor and task. One list of fields
// serves both directions.
#include <limits>
#include <string_view>
#include <type_traits>

#include "src/base/text.hpp"
#include "src/core/verdict.hpp"

namespace auto_gpus {
namespace {

constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kLongestList = std::size_t{16} * 1024;

template <class E, class Visit>
void each_field(E& evidence, Visit&& visit)
{
    visit("stage", evidence.stage);
    for (std::size_t i = 0; i < kStageCount; ++i) {
        visit(name(static_cast<Stage>(i)), evidence.began_us[i]);
    }
    visit("libcuda", evidence.libcuda);
    visit("load_error", evidence.load_error);
    visit("call", evidence.call);
    visit("result", evidence.result);
    visit("version", evidence.driver_version);
    visit("count", evidence.count);
    visit("uuid", evidence.uuid);
    visit("pci", evidence.pci);
    visit("model", evidence.model);
    visit("mode", evidence.compute_mode);
    visit("mps", evidence.mps);
    visit("total_bytes", evidence.total);
    visit("free_bytes", evidence.free);
    visit("address_limit", evidence.address_limit);
    visit("mismatch", evidence.mismatch);
    visit("offset", evidence.mismatch_offset);
    visit("expected", evidence.expected);
    visit("found", evidence.found);
    visit("notes", evidence.notes);
    visit("uuids", evidence.uuids);
}

template <class V, class Visit>
void each_verdict_field(V& verdict, Visit&& visit)
{
    visit("reason", verdict.reason);
    visit("final", verdict.final);
    visit("ending", verdict.ending);
    visit("exit", verdict.exit_code);
    visit("signal", verdict.signal);
    visit("stuck", verdict.stuck_pid);
    visit("tries", verdict.tries);
    visit("took", verdict.took_us);
}

// --- values to text

std::string escaped(std::string_view text)
{
    constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte > 0x20 && byte < 0x7f && byte != '%') {
            out += letter;
        } else {
            out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
        }
    }
    return out;
}

std::string to_text(const std::string& value)
{
    return escaped(value);
}
std::string to_text(Stage value)
{
    return name(value);
}
std::string to_text(Reason value)
{
    return name(value);
}
std::string to_text(Ending value)
{
    return std::to_string(static_cast<int>(value));
}
template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
std::string to_text(Number value)
{
    return std::to_string(value);
}

// --- text to values

int hex_digit(char letter) noexcept
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

bool from_text(std::string_view text, std::string& value)
{
    value.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            value += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low < 0) {
            return false;
        }
        value += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return true;
}

bool from_text(std::string_view text, Stage& value)
{
    const auto stage = stage_from_name(text);
    value = stage.value_or(value);
    return stage.has_value();
}

bool from_text(std::string_view text, Reason& value)
{
    const auto reason = reason_from_name(text);
    value = reason.value_or(value);
    return reason.has_value();
}

bool from_text(std::string_view text, Ending& value)
{
    const auto number = parse_number(text, static_cast<std::uint64_t>(Ending::broke_protocol));
    value = static_cast<Ending>(number.value_or(0));
    return number.has_value();
}

template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
bool from_text(std::string_view text, Number& value)
{
    const bool negative = std::is_signed_v<Number> && starts_with(text, "-");
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
    const auto number = parse_number(text.substr(negative ? 1 : 0), kMost + (negative ? 1 : 0));
    if (!number) {
        return false;
    }
    value = static_cast<Number>(negative ? 0 - *number : *number);  // two's complement
    return true;
}

std::size_t longest(std::string_view key)
{
    return key == "uuids" || key == "notes" ? kLongestList : kLongestText;
}

bool is_too_long(std::string_view key, std::string_view text)
{
    return text.size() > longest(key);
}

/// Sets the field called `key` among those that `each` visits. \return false: none, or malformed
template <class Each>
bool set_field(Each&& each, std::string_view key, std::string_view text)
{
    bool done = false;
    each([&](std::string_view field, auto& value) {
        if (!done && field == key) {
            done = !is_too_long(key, text) && from_text(text, value);
        }
    });
    return done;
}

/// Calls `set(key, text)` for each "key=text" of a line. \return false as soon as one is refused
template <class Set>
bool each_pair(std::string_view line, Set&& set)
{
    for (const std::string_view pair : split(line, ' ')) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos ||
            !set(pair.substr(0, equals), pair.substr(equals + 1))) {
            return false;
        }
    }
    return true;
}

bool set_evidence(Evidence& evidence, std::string_view key, std::string_view text)
{
    return set_field([&](auto&& visit) { each_field(evidence, visit); }, key, text);
}

bool set_verdict(Verdict& verdict, std::string_view key, std::string_view text)
{
    return set_field([&](auto&& visit) { each_verdict_field(verdict, visit); }, key, text);
}

/// What of an encoded text fits its bound: the end of a long one is cut off, at a whole character.
std::string bounded(std::string_view key, std::string text)
{
    if (!is_too_long(key, text)) {
        return text;
    }
    text.resize(longest(key));
    const std::size_t escape = text.rfind('%');
    if (escape != std::string::npos && escape + 3 > text.size()) {
        text.resize(escape);
    }
    return text;
}

}  // namespace

std::string encode_changes(const Evidence& before, const Evidence& now)
{
    std::vector<std::string> texts_before;
    each_field(before, [&](std::string_view, const auto& value) {
        texts_before.push_back(to_text(value));
    });
    std::string line;
    std::size_t position = 0;
    each_field(now, [&](std::string_view key, const auto& value) {
        const std::string text = bounded(key, to_text(value));
        if (text != texts_before[position++]) {
            line += (line.empty() ? "" : " ") + std::string(key) + "=" + text;
        }
    });
    return line;
}

bool decode_into(Evidence& evidence, std::string_view line)
{
    return each_pair(line, [&](std::string_view key, std::string_view text) {
        return set_evidence(evidence, key, text);
    });
}

std::string encode(const std::string& who, const Verdict& verdict)
{
    std::string line = "who=" + who;
    each_verdict_field(verdict, [&](std::string_view key, const auto& value) {
        line += " " + std::string(key) + "=" + to_text(value);
    });
    const std::string evidence = encode_changes(Evidence{}, verdict.evidence);
    return evidence.empty() ? line : line + " " + evidence;
}

std::string decode(std::string_view line, Verdict& verdict)
{
    std::string who;
    const bool well_formed = each_pair(line, [&](std::string_view key, std::string_view text) {
        if (key == "who") {
            who = std::string(text.substr(0, kLongestText));
            return true;
        }
        return set_verdict(verdict, key, text) || set_evidence(verdict.evidence, key, text);
    });
    return well_formed ? who : std::string();
}

}  // namespace auto_gpus

#include "src/core/site.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr std::uint64_t kLongestTimeout = 86400;
constexpr std::uint64_t kLongestRetry = 600;

using Applied = std::optional<Malformed>;

template <class T, class Target>
Applied assign(Target& target, const Result<T, Malformed>& parsed)
{
    if (!parsed) {
        return parsed.error();
    }
    target = Target(parsed.value());
    return std::nullopt;
}

/// A word with two values, the first of which means `false`.
Applied assign_choice(bool& target, std::string_view value, std::string_view no,
                      std::string_view yes)
{
    if (value != no && value != yes) {
        return Malformed{"unknown value"};
    }
    target = value == yes;
    return std::nullopt;
}

Applied assign_path(std::string& target, std::string_view value)
{
    if (!starts_with(value, "/")) {
        return Malformed{"not an absolute path"};
    }
    target = std::string(value);
    return std::nullopt;
}

Applied set_emit(Site& site, std::string_view value)
{
    const auto emit = parse_emit(value);
    if (!emit) {
        return Malformed{"unknown value"};
    }
    site.emit = *emit;
    return std::nullopt;
}

Applied set_exit_code(Site& site, std::string_view value)
{
    return assign(site.short_code, parse_count(value, 1, 255));
}

struct Word {
    WordInfo info;
    Applied (*apply)(Site& site, std::string_view value);
};

constexpr Word kWords[] = {
    {{"default", "off", "N, MIN-MAX, MIN+, all, off or 0"},
     [](Site& s, std::string_view v) { return assign(s.default_request, parse_request(v)); }},
    {{"timeout", "60", "seconds, 1 to max_timeout"},
     [](Site& s, std::string_view v) {
         return assign(s.timeout, parse_count(v, 1, kLongestTimeout));
     }},
    {{"max_timeout", "600", "seconds, 1 to 86400"},
     [](Site& s, std::string_view v) {
         return assign(s.max_timeout, parse_count(v, 1, kLongestTimeout));
     }},
    {{"min_free", "0", "a size such as 512M or 20G; a bare number is MiB"},
     [](Site& s, std::string_view v) { return assign(s.min_free, parse_size(v)); }},
    {{"emit", "keep", "keep or uuid"}, set_emit},
    {{"check", "context", "context"},
     [](Site&, std::string_view v) -> Applied {
         return v == "context" ? Applied{} : Malformed{"unknown value"};
     }},
    {{"min_check", "context", "context"},
     [](Site&, std::string_view v) -> Applied {
         return v == "context" ? Applied{} : Malformed{"unknown value"};
     }},
    {{"verbose", "no", "yes or no"},
     [](Site& s, std::string_view v) { return assign_choice(s.verbose, v, "no", "yes"); }},
    {{"program", "", "an absolute path"},
     [](Site& s, std::string_view v) { return assign_path(s.program, v); }},
    {{"libcuda", "", "an absolute path"},
     [](Site& s, std::string_view v) { return assign_path(s.libcuda, v); }},
    {{"unallocated", "refuse", "refuse or all"},
     [](Site& s, std::string_view v) {
         return assign_choice(s.unallocated_means_all, v, "refuse", "all");
     }},
    {{"retry", "5", "seconds, 0 (never) to 600"},
     [](Site& s, std::string_view v) { return assign(s.retry, parse_count(v, 0, kLongestRetry)); }},
    {{"exit_code", "75", "1 to 255"}, set_exit_code},
};

void complain(Site& site, std::string_view text, const std::string& why, const std::string& allowed)
{
    site.problems.push_back(
        {Reason::bad_config, "plugstack.conf: " + quoted(text) + ": " + why, "use " + allowed});
}

std::string all_word_names()
{
    std::vector<std::string> names;
    for (const Word& word : kWords) {
        names.emplace_back(word.info.name);
    }
    return join(names, "=, ") + "=";
}

void apply_word(Site& site, std::string_view text, std::set<std::string_view>& seen)
{
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto word = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const Word& row) { return name == row.info.name; });
    if (word == std::end(kWords) || equals == std::string_view::npos) {
        complain(site, text, word == std::end(kWords) ? "unknown word" : "the value is missing",
                 all_word_names());
        return;
    }
    if (!seen.insert(word->info.name).second) {
        complain(site, text, std::string(name) + "= is there twice", "each word once");
        return;
    }
    if (const Applied failed = word->apply(site, text.substr(equals + 1))) {
        complain(site, text, failed->why, std::string(name) + "= with " + word->info.allowed);
    }
}

void check_bounds(Site& site, bool timeout_given)
{
    if (site.timeout <= site.max_timeout) {
        return;
    }
    if (timeout_given) {
        const std::string both = "timeout=" + std::to_string(site.timeout.count()) +
                                 " max_timeout=" + std::to_string(site.max_timeout.count());
        complain(site, both, "the default is above the maximum",
                 "timeout= with at most the value of max_timeout=");
    }
    site.timeout = site.max_timeout;
}

}  // namespace

std::optional<Emit> parse_emit(std::string_view text) noexcept
{
    if (text == "keep") {
        return Emit::keep;
    }
    if (text == "uuid") {
        return Emit::uuid;
    }
    return std::nullopt;
}

std::vector<WordInfo> all_words()
{
    std::vector<WordInfo> infos;
    for (const Word& word : kWords) {
        infos.push_back(word.info);
    }
    return infos;
}

Site parse_site(const std::vector<std::string>& words)
{
    Site site;
    std::set<std::string_view> seen;
    for (const std::string& word : words) {
        apply_word(site, word, seen);
    }
    check_bounds(site, seen.count("timeout") > 0);
    if (!site.problems.empty()) {
        site.default_request = Request{};
    }
    return site;
}

}  // namespace auto_gpus

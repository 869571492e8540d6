#include "src/core/options.hpp"

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr std::array<OptionInfo, kOptionCount> kOptions{{
    {Option::request, "auto-gpus", "N", "AUTO_GPUS", "N (1 to 65535), MIN-MAX, MIN+, all, off or 0",
     "start tasks only on N GPUs that answer; also\nMIN-MAX, MIN+, all, off"},
    {Option::timeout, "auto-gpus-timeout", "SECONDS", "AUTO_GPUS_TIMEOUT", "whole seconds, 1 to ",
     "give up after SECONDS (60)"},
    {Option::min_free, "auto-gpus-min-free", "SIZE", "AUTO_GPUS_MIN_FREE",
     "a size such as 512M or 20G; a bare number is MiB", "refuse GPUs with less free memory (20G)"},
    {Option::emit, "auto-gpus-emit", "FORM", "AUTO_GPUS_EMIT", "keep or uuid",
     "keep: list entries as they are; or uuid"},
    {Option::check, "auto-gpus-check", "LEVEL", "AUTO_GPUS_CHECK", "context",
     "how GPUs are tried: context"},
    {Option::verbose, "auto-gpus-verbose", nullptr, "AUTO_GPUS_VERBOSE", "1, or 0 for no",
     "report every GPU also when all is well"},
}};

constexpr bool in_order()
{
    for (std::size_t i = 0; i < kOptions.size(); ++i) {
        if (kOptions[i].option != static_cast<Option>(i)) {
            return false;
        }
    }
    return true;
}
static_assert(in_order(), "the table of options is indexed by Option");

std::string allowed_forms(Option option, const Site& site)
{
    std::string forms = info(option).allowed;
    if (option == Option::timeout) {
        forms += std::to_string(site.max_timeout.count());
    }
    return forms;
}

/// Puts one option's value into the settings. \return why it is malformed
std::optional<Malformed> apply(Settings& settings, Option option, std::string_view text,
                               const Site& site)
{
    const auto put = [](auto& target, const auto& parsed) -> std::optional<Malformed> {
        if (!parsed) {
            return parsed.error();
        }
        target = std::decay_t<decltype(target)>(parsed.value());
        return std::nullopt;
    };
    switch (option) {
        case Option::request:
            return put(settings.request, parse_request(text));
        case Option::timeout: {
            const auto largest = static_cast<std::uint64_t>(site.max_timeout.count());
            return put(settings.timeout, parse_count(text, 1, largest));
        }
        case Option::min_free:
            return put(settings.min_free, parse_size(text));
        case Option::emit: {
            const auto emit = parse_emit(text);
            settings.emit = emit.value_or(settings.emit);
            return emit ? std::optional<Malformed>{} : Malformed{"unknown value"};
        }
        case Option::check:
            return text == "context" ? std::optional<Malformed>{} : Malformed{"unknown value"};
        case Option::verbose:  // by its presence; an environment default has a value, too
            settings.verbose = true;
            return text.empty() || text == "1" || text == "(null)" ? std::optional<Malformed>{}
                                                                   : Malformed{"unknown value"};
    }
    return Malformed{"unknown option"};
}

Refusal bad_option(Option option, std::string_view text, const std::string& place,
                   const Malformed& malformed, const Site& site)
{
    return {Reason::bad_option, place + "=" + quoted(text) + ": " + malformed.why,
            "use " + allowed_forms(option, site)};
}

}  // namespace

const std::array<OptionInfo, kOptionCount>& all_options() noexcept
{
    return kOptions;
}

const OptionInfo& info(Option option) noexcept
{
    return kOptions[static_cast<std::size_t>(option)];
}

std::optional<Refusal> check_option(Option option, std::string_view text, const std::string& place,
                                    const Site& site)
{
    Settings ignored;
    if (const auto malformed = apply(ignored, option, text, site)) {
        return bad_option(option, text, place, *malformed, site);
    }
    return std::nullopt;
}

Result<Settings, Refusal> resolve(const OptionTexts& texts, const Site& site)
{
    Settings settings;
    settings.request = site.default_request;
    settings.timeout = site.timeout;
    settings.min_free = site.min_free;
    settings.emit = site.emit;
    settings.verbose = site.verbose;
    if (!text_of(texts, Option::request)) {
        settings.origin = Origin::site_default;
    }
    for (const OptionInfo& row : kOptions) {
        const auto& text = text_of(texts, row.option);
        if (!text) {
            continue;
        }
        if (const auto malformed = apply(settings, row.option, *text, site)) {
            return bad_option(row.option, *text, std::string("--") + row.name, *malformed, site);
        }
    }
    return settings;
}

}  // namespace auto_gpus

#include "src/core/options.hpp"

#include <cstring>
#include <set>

#include "src/base/text.hpp"
#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

using std::chrono::seconds;

struct Bad {
    const char* name;
    Option option;
    const char* place;
    std::string_view text;
    const char* cause;
    const char* remedy;
};
constexpr Bad kBad[] = {
    {"request", Option::request, "--auto-gpus", "-1", "--auto-gpus='-1': not a whole number",
     "use N (1 to 65535), MIN-MAX, MIN+, all, off or 0"},
    {"request, by a variable", Option::request, "SLURM_AUTO_GPUS", "3-2",
     "SLURM_AUTO_GPUS='3-2': MAX is below MIN", "use N (1 to 65535), MIN-MAX, MIN+, all, off or 0"},
    {"request, empty", Option::request, "--auto-gpus", "", "--auto-gpus='': the number is missing",
     "use N (1 to 65535), MIN-MAX, MIN+, all, off or 0"},
    {"request, control characters", Option::request, "--auto-gpus", "2\n\x1b[31m",
     "--auto-gpus='2\\x0a\\x1b[31m': not a whole number",
     "use N (1 to 65535), MIN-MAX, MIN+, all, off or 0"},
    {"timeout 0", Option::timeout, "--auto-gpus-timeout", "0",
     "--auto-gpus-timeout='0': smaller than 1", "use whole seconds, 1 to 120"},
    {"timeout above the site's maximum", Option::timeout, "--auto-gpus-timeout", "121",
     "--auto-gpus-timeout='121': larger than 120", "use whole seconds, 1 to 120"},
    {"timeout with a unit", Option::timeout, "--auto-gpus-timeout", "60s",
     "--auto-gpus-timeout='60s': not a whole number", "use whole seconds, 1 to 120"},
    {"min-free", Option::min_free, "--auto-gpus-min-free", "20GB",
     "--auto-gpus-min-free='20GB': not a size",
     "use a size such as 512M or 20G; a bare number is MiB"},
    {"emit", Option::emit, "--auto-gpus-emit", "UUID", "--auto-gpus-emit='UUID': unknown value",
     "use keep or uuid"},
    {"emit, empty", Option::emit, "--auto-gpus-emit", "", "--auto-gpus-emit='': unknown value",
     "use keep or uuid"},
    {"check", Option::check, "--auto-gpus-check", "memory",
     "--auto-gpus-check='memory': unknown value", "use context"},
    {"verbose", Option::verbose, "SLURM_AUTO_GPUS_VERBOSE", "yes",
     "SLURM_AUTO_GPUS_VERBOSE='yes': unknown value", "use 1, or 0 for no"},
};

Site a_site()
{
    Site site;
    site.timeout = seconds(50);
    site.max_timeout = seconds(120);
    site.min_free = 7;
    site.emit = Emit::uuid;
    return site;
}

START_TEST(a_malformed_value_is_named_with_all_allowed_forms)
{
    const Bad& row = kBad[_i];
    const auto refusal = check_option(row.option, row.text, row.place, a_site());
    ck_assert_msg(refusal.has_value(), "%s: not refused", row.name);
    ck_assert_msg(refusal->reason == Reason::bad_option, "%s", row.name);
    same_text(row.name, refusal->cause, row.cause);
    same_text(row.name, refusal->remedy, row.remedy);
    // The same text from resolve(), which knows the place by itself.
    OptionTexts texts;
    text_of(texts, row.option) = std::string(row.text);
    const auto settings = resolve(texts, a_site());
    ck_assert_msg(!settings, "%s: resolved", row.name);
    ck_assert_msg(settings.error().reason == Reason::bad_option, "%s", row.name);
    const std::string after_place = std::string(row.cause).substr(std::strlen(row.place));
    same_text(row.name, settings.error().cause,
              std::string("--") + info(row.option).name + after_place);
    same_text(row.name, settings.error().remedy, row.remedy);
}
END_TEST

struct Good {
    Option option;
    const char* text;
};
constexpr Good kGood[] = {
    {Option::request, "2"},     {Option::request, "2-4"}, {Option::request, "2+"},
    {Option::request, "all"},   {Option::request, "off"}, {Option::request, "0"},
    {Option::timeout, "1"},     {Option::timeout, "120"}, {Option::min_free, "20G"},
    {Option::min_free, "0"},    {Option::emit, "keep"},   {Option::emit, "uuid"},
    {Option::check, "context"}, {Option::verbose, "1"},   {Option::verbose, ""},
};

START_TEST(well_formed_values_pass)
{
    const Good& row = kGood[_i];
    ck_assert_msg(!check_option(row.option, row.text, "here", a_site()), "%s=%s",
                  info(row.option).name, row.text);
}
END_TEST

START_TEST(the_sites_values_hold_where_nothing_is_given)
{
    Site site = a_site();
    site.default_request = Request{Request::Kind::count, 3, 3};
    site.verbose = true;
    const auto settings = resolve(OptionTexts{}, site);
    ck_assert(static_cast<bool>(settings));
    const Settings& got = settings.value();
    same_text("request", got.request.text(), "3");
    ck_assert(got.origin == Origin::site_default);
    ck_assert(got.timeout == seconds(50));
    ck_assert_uint_eq(got.min_free, 7);
    ck_assert(got.emit == Emit::uuid);
    ck_assert(got.verbose);
}
END_TEST

START_TEST(what_is_given_goes_before_the_site)
{
    Site site = a_site();
    site.default_request = Request{Request::Kind::count, 3, 3};
    OptionTexts texts;
    text_of(texts, Option::request) = "1-2";
    text_of(texts, Option::timeout) = "9";
    text_of(texts, Option::min_free) = "1";
    text_of(texts, Option::emit) = "keep";
    text_of(texts, Option::check) = "context";
    text_of(texts, Option::verbose) = "";
    const auto settings = resolve(texts, site);
    ck_assert(static_cast<bool>(settings));
    const Settings& got = settings.value();
    same_text("request", got.request.text(), "1-2");
    ck_assert(got.origin == Origin::typed);
    ck_assert(got.timeout == seconds(9));
    ck_assert_uint_eq(got.min_free, 1U << 20U);
    ck_assert(got.emit == Emit::keep);
    ck_assert(got.verbose);
}
END_TEST

START_TEST(off_goes_before_the_sites_default)
{
    Site site;
    site.default_request = Request{Request::Kind::count, 3, 3};
    OptionTexts texts;
    text_of(texts, Option::request) = "off";
    const auto settings = resolve(texts, site);
    ck_assert(static_cast<bool>(settings));
    ck_assert(!settings.value().request.active());
    ck_assert(settings.value().origin == Origin::typed);
}
END_TEST

START_TEST(the_first_malformed_one_is_told)
{
    OptionTexts texts;
    text_of(texts, Option::request) = "2";
    text_of(texts, Option::timeout) = "soon";
    text_of(texts, Option::emit) = "both";
    const auto settings = resolve(texts, Site{});
    ck_assert(!settings);
    has("timeout comes first", settings.error().cause, "--auto-gpus-timeout='soon'");
}
END_TEST

START_TEST(a_long_value_is_cut)
{
    const auto refusal =
        check_option(Option::request, std::string(5000, '\n'), "--auto-gpus", Site{});
    ck_assert(refusal.has_value());
    has("its length", refusal->cause, "(5000 bytes)");
    ck_assert_uint_lt(refusal->cause.size(), 500);
    lacks("one line", refusal->cause, "\n");
}
END_TEST

/// What srun --help shows must fit: Slurm pads a name to its column.
START_TEST(the_table_of_options_is_complete)
{
    std::set<std::string> names;
    for (const OptionInfo& row : all_options()) {
        ck_assert_msg(&info(row.option) == &row, "%s", row.name);
        ck_assert_msg(names.insert(row.name).second, "%s", row.name);
        ck_assert_msg(starts_with(row.name, "auto-gpus"), "%s", row.name);
        std::string variable = row.name;
        for (char& letter : variable) {
            letter = letter == '-' ? '_' : static_cast<char>(letter & ~0x20);
        }
        same_text(row.name, row.variable, variable);
        for (const std::string_view line : split(row.help, '\n')) {
            ck_assert_msg(line.size() <= 52, "%s", row.name);
        }
        ck_assert_msg((row.argument == nullptr) == (row.option == Option::verbose), "%s", row.name);
    }
}
END_TEST

}  // namespace

Suite* options_suite()
{
    return suite_of("options",
                    {{a_malformed_value_is_named_with_all_allowed_forms, std::size(kBad)},
                     {well_formed_values_pass, std::size(kGood)},
                     {the_sites_values_hold_where_nothing_is_given},
                     {what_is_given_goes_before_the_site},
                     {off_goes_before_the_sites_default},
                     {the_first_malformed_one_is_told},
                     {a_long_value_is_cut},
                     {the_table_of_options_is_complete}});
}

}  // namespace auto_gpus::unit

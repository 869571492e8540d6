#include "src/core/site.hpp"

#include <set>

#include "src/base/text.hpp"
#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

using std::chrono::seconds;

/// All that the words can set, as one text.
std::string shown(const Site& site)
{
    return "default=" + site.default_request.text() +
           " timeout=" + std::to_string(site.timeout.count()) +
           " max=" + std::to_string(site.max_timeout.count()) +
           " free=" + std::to_string(site.min_free) +
           " emit=" + (site.emit == Emit::uuid ? "uuid" : "keep") +
           " verbose=" + (site.verbose ? "yes" : "no") + " program=" + site.program +
           " libcuda=" + site.libcuda +
           " unallocated=" + (site.unallocated_means_all ? "all" : "refuse") +
           " retry=" + std::to_string(site.retry.count()) +
           " exit=" + std::to_string(site.short_code);
}

struct Good {
    const char* name;
    const char* words;   // by blanks
    const char* before;  // what is different from the defaults …
    const char* after;   // … and how
};
constexpr Good kGood[] = {
    {"default", "default=2", "default=off", "default=2"},
    {"default off", "default=off", "", ""},
    {"default, elastic", "default=1-4", "default=off", "default=1-4"},
    {"default all", "default=all", "default=off", "default=all"},
    {"timeout", "timeout=90", "timeout=60", "timeout=90"},
    {"the shortest timeout", "timeout=1", "timeout=60", "timeout=1"},
    {"the longest timeout", "timeout=86400 max_timeout=86400", "timeout=60 max=600",
     "timeout=86400 max=86400"},
    {"a maximum above the default", "max_timeout=3600", "max=600", "max=3600"},
    {"a maximum below the default lowers it", "max_timeout=30", "timeout=60 max=600",
     "timeout=30 max=30"},
    {"maximum and default alike", "max_timeout=60", "max=600", "max=60"},
    {"the order does not matter", "max_timeout=1000 timeout=800", "timeout=60 max=600",
     "timeout=800 max=1000"},
    {"min_free", "min_free=20G", "free=0", "free=21474836480"},
    {"min_free in MiB", "min_free=1", "free=0", "free=1048576"},
    {"emit", "emit=uuid", "emit=keep", "emit=uuid"},
    {"emit keep", "emit=keep", "", ""},
    {"check", "check=context", "", ""},
    {"min_check", "min_check=context", "", ""},
    {"verbose", "verbose=yes", "verbose=no", "verbose=yes"},
    {"not verbose", "verbose=no", "", ""},
    {"program", "program=/opt/a/bin/auto-gpus", "program=", "program=/opt/a/bin/auto-gpus"},
    {"libcuda", "libcuda=/usr/lib/libcuda.so.1", "libcuda=", "libcuda=/usr/lib/libcuda.so.1"},
    {"a path may have an equals sign", "program=/a=b", "program=", "program=/a=b"},
    {"unallocated", "unallocated=all", "unallocated=refuse", "unallocated=all"},
    {"unallocated refuse", "unallocated=refuse", "", ""},
    {"retry", "retry=30", "retry=5", "retry=30"},
    {"retry never", "retry=0", "retry=5", "retry=0"},
    {"retry longest", "retry=600", "retry=5", "retry=600"},
    {"exit_code", "exit_code=99", "exit=75", "exit=99"},
    {"exit_code largest", "exit_code=255", "exit=75", "exit=255"},
};

Site site_of(std::string_view words)
{
    std::vector<std::string> all;
    for (const std::string_view word : split(words, ' ')) {
        all.emplace_back(word);
    }
    return parse_site(all);
}

START_TEST(every_word_is_read)
{
    const Good& row = kGood[_i];
    const Site site = site_of(row.words);
    ck_assert_msg(site.problems.empty(), "%s: %s", row.name,
                  site.problems.empty() ? "" : site.problems[0].cause.c_str());
    std::string want = shown(Site{});
    const std::string before = row.before;
    want.replace(want.find(before), before.size(), row.after);
    same_text(row.name, shown(site), want);
}
END_TEST

struct Bad {
    const char* name;
    const char* words;
    const char* cause;
    const char* remedy;  // its beginning
};
constexpr Bad kBad[] = {
    {"an unknown word", "colour=red", "plugstack.conf: 'colour=red': unknown word",
     "use default=, timeout=, max_timeout=, "},
    {"an unknown word without a value", "colour", "plugstack.conf: 'colour': unknown word",
     "use default="},
    {"an empty word", "", "plugstack.conf: '': unknown word", "use default="},
    {"an equals sign alone", "=", "plugstack.conf: '=': unknown word", "use default="},
    {"a value alone", "=1", "plugstack.conf: '=1': unknown word", "use default="},
    {"capital letters", "TIMEOUT=5", "plugstack.conf: 'TIMEOUT=5': unknown word", "use default="},
    {"a prefix of a word", "time=5", "plugstack.conf: 'time=5': unknown word", "use default="},
    {"a word and more", "timeouts=5", "plugstack.conf: 'timeouts=5': unknown word", "use default="},
    {"the option's name", "--auto-gpus=1", "plugstack.conf: '--auto-gpus=1': unknown word",
     "use default="},
    {"control characters", "\x1b[m=\n", "plugstack.conf: '\\x1b[m=\\x0a': unknown word",
     "use default="},
    {"a missing value", "timeout", "plugstack.conf: 'timeout': the value is missing", "use "},
    {"an empty value", "timeout=", "plugstack.conf: 'timeout=': the number is missing",
     "use timeout= with seconds, 1 to max_timeout"},
    {"twice", "retry=1 retry=1", "plugstack.conf: 'retry=1': retry= is there twice",
     "use each word once"},
    {"default, malformed", "default=some", "plugstack.conf: 'default=some': not a whole number",
     "use default= with N, MIN-MAX, MIN+, all, off or 0"},
    {"default, reversed", "default=4-2", "plugstack.conf: 'default=4-2': MAX is below MIN",
     "use default= with N, "},
    {"timeout 0", "timeout=0", "plugstack.conf: 'timeout=0': smaller than 1", "use timeout= with "},
    {"timeout above a day", "timeout=86401", "plugstack.conf: 'timeout=86401': larger than 86400",
     "use timeout= with "},
    {"max_timeout 0", "max_timeout=0", "plugstack.conf: 'max_timeout=0': smaller than 1",
     "use max_timeout= with seconds, 1 to 86400"},
    {"the default above the maximum", "timeout=100 max_timeout=50",
     "plugstack.conf: 'timeout=100 max_timeout=50': the default is above the maximum",
     "use timeout= with at most the value of max_timeout="},
    {"the default above the maximum of the build", "timeout=601",
     "plugstack.conf: 'timeout=601 max_timeout=600': the default is above the maximum",
     "use timeout= with at most"},
    {"min_free", "min_free=lots", "plugstack.conf: 'min_free=lots': not a size",
     "use min_free= with a size such as 512M or 20G"},
    {"emit", "emit=index", "plugstack.conf: 'emit=index': unknown value",
     "use emit= with keep or uuid"},
    {"check", "check=deep", "plugstack.conf: 'check=deep': unknown value",
     "use check= with context"},
    {"min_check", "min_check=", "plugstack.conf: 'min_check=': unknown value",
     "use min_check= with context"},
    {"verbose", "verbose=1", "plugstack.conf: 'verbose=1': unknown value",
     "use verbose= with yes or no"},
    {"program", "program=auto-gpus", "plugstack.conf: 'program=auto-gpus': not an absolute path",
     "use program= with an absolute path"},
    {"program, empty", "program=", "plugstack.conf: 'program=': not an absolute path",
     "use program= with an absolute path"},
    {"libcuda", "libcuda=libcuda.so.1",
     "plugstack.conf: 'libcuda=libcuda.so.1': not an absolute path",
     "use libcuda= with an absolute path"},
    {"unallocated", "unallocated=none", "plugstack.conf: 'unallocated=none': unknown value",
     "use unallocated= with refuse or all"},
    {"retry", "retry=601", "plugstack.conf: 'retry=601': larger than 600", "use retry= with "},
    {"retry, negative", "retry=-1", "plugstack.conf: 'retry=-1': not a whole number",
     "use retry= with seconds, 0 (never) to 600"},
    {"exit_code 0 would be success", "exit_code=0", "plugstack.conf: 'exit_code=0': smaller than 1",
     "use exit_code= with 1 to 255"},
    {"exit_code", "exit_code=256", "plugstack.conf: 'exit_code=256': larger than 255",
     "use exit_code= with 1 to 255"},
};

START_TEST(wrong_words_are_named_with_what_is_allowed)
{
    const Bad& row = kBad[_i];
    const Site site = site_of(row.words);
    ck_assert_msg(site.problems.size() == 1, "%s: %zu problems", row.name, site.problems.size());
    const Refusal& problem = site.problems[0];
    ck_assert_msg(problem.reason == Reason::bad_config, "%s", row.name);
    same_text(row.name, problem.cause, row.cause);
    same_text(row.name, problem.remedy.substr(0, std::string(row.remedy).size()), row.remedy);
}
END_TEST

START_TEST(with_a_wrong_word_no_task_asks_by_default)
{
    for (const char* words :
         {"default=2 colour=red", "colour=red default=2", "default=2 default=3",
          "default=2 timeout=0", "default=4-2", "default=2 timeout=100 max_timeout=50"}) {
        ck_assert_msg(!site_of(words).default_request.active(), "%s", words);
    }
    ck_assert(site_of("default=2 timeout=9").default_request.active());
}
END_TEST

START_TEST(every_wrong_word_is_told)
{
    const Site site = site_of("a=1 retry=9 b=2 retry=8 timeout=x");
    ck_assert_uint_eq(site.problems.size(), 4);
    ck_assert_int_eq(static_cast<int>(site.retry.count()), 9);
}
END_TEST

START_TEST(a_timeout_is_never_above_the_maximum)
{
    for (const char* words :
         {"", "timeout=100 max_timeout=50", "max_timeout=1", "timeout=601", "timeout=600",
          "timeout=x max_timeout=5", "timeout=700 max_timeout=x"}) {
        const Site site = site_of(words);
        ck_assert_msg(site.timeout <= site.max_timeout && site.timeout >= seconds(1), "%s", words);
    }
}
END_TEST

START_TEST(no_words_are_the_defaults)
{
    const Site site = parse_site({});
    ck_assert(site.problems.empty());
    same_text("defaults", shown(site),
              "default=off timeout=60 max=600 free=0 emit=keep verbose=no program= libcuda= "
              "unallocated=refuse retry=5 exit=75");
}
END_TEST

/// What the table of words says of its defaults is true: a word set to its default changes nothing.
START_TEST(the_table_of_words_is_true)
{
    std::set<std::string> names;
    for (const WordInfo& word : all_words()) {
        ck_assert_msg(names.insert(word.name).second, "%s", word.name);
        ck_assert_msg(*word.allowed != '\0', "%s", word.name);
        if (*word.default_value != '\0') {
            const Site site = site_of(std::string(word.name) + "=" + word.default_value);
            ck_assert_msg(site.problems.empty(), "%s", word.name);
            same_text(word.name, shown(site), shown(Site{}));
        }
    }
    for (const char* word :
         {"default", "timeout", "max_timeout", "min_free", "emit", "check", "min_check", "verbose",
          "program", "libcuda", "unallocated", "retry", "exit_code"}) {
        ck_assert_msg(names.count(word) == 1, "%s is missing", word);
    }
}
END_TEST

}  // namespace

Suite* site_suite()
{
    return suite_of("site", {{every_word_is_read, std::size(kGood)},
                             {wrong_words_are_named_with_what_is_allowed, std::size(kBad)},
                             {with_a_wrong_word_no_task_asks_by_default},
                             {every_wrong_word_is_told},
                             {a_timeout_is_never_above_the_maximum},
                             {no_words_are_the_defaults},
                             {the_table_of_words_is_true}});
}

}  // namespace auto_gpus::unit

#include "src/base/oom.hpp"

#include <limits>

#include "tests/unit/base_suites.hpp"

namespace auto_gpus::unit {
namespace {

struct Text {
    const char* name;
    const char* text;
    std::uint64_t want;
};
constexpr Text kTexts[] = {
    {"cgroup v2", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n", 2},
    {"cgroup v1", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7},
    {"none", "low 0\noom 3\n", 0},
    {"empty", "", 0},
    {"no newline at the end", "oom_kill 5", 5},
    {"no number", "oom_kill \n", 0},
    {"words", "oom_kill many\n", 0},
    {"2^64", "oom_kill 18446744073709551616\n", 0},
    {"the most", "oom_kill 18446744073709551615\n", std::numeric_limits<std::uint64_t>::max()},
};

START_TEST(kills_are_counted)
{
    const Text& row = kTexts[_i];
    ck_assert_msg(oom_kills_in(row.text) == row.want, "%s", row.name);
}
END_TEST

/// Nothing runs out of memory here; a count that cannot be read is 0.
START_TEST(the_count_stands_still)
{
    ck_assert_uint_eq(oom_kills(), oom_kills());
}
END_TEST

}  // namespace

Suite* oom_suite()
{
    return suite_of("oom", {{kills_are_counted, std::size(kTexts)}, {the_count_stands_still}});
}

}  // namespace auto_gpus::unit

// What the unit tests share: assertions that name their row, and the making of suites.
#pragma once

#include <check.h>

#undef fail  // a macro of Check's old interface, and the name of a member of std::ios

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace auto_gpus::unit {

/// Fails with the row's name and both texts unless they are equal.
inline void same_text(const char* row, std::string_view got, std::string_view want)
{
    const std::string shown(got);
    const std::string wanted(want);
    ck_assert_msg(got == want, "%s:\n got  \"%s\"\n want \"%s\"", row, shown.c_str(),
                  wanted.c_str());
}

/// Fails unless `part` is in `text`.
inline void has(const char* row, std::string_view text, std::string_view part)
{
    const std::string shown(text);
    const std::string wanted(part);
    ck_assert_msg(text.find(part) != std::string_view::npos, "%s: \"%s\" is not in \"%s\"", row,
                  wanted.c_str(), shown.c_str());
}

/// Fails when `part` is in `text`.
inline void lacks(const char* row, std::string_view text, std::string_view part)
{
    const std::string shown(text);
    const std::string unwanted(part);
    ck_assert_msg(text.find(part) == std::string_view::npos, "%s: \"%s\" is in \"%s\"", row,
                  unwanted.c_str(), shown.c_str());
}

/// Fails with the row's name unless `good`.
inline void holds(const char* row, bool good, const char* what)
{
    ck_assert_msg(good, "%s: %s", row, what);
}

/// One test function, run once for each row of its table.
struct Entry {
    const TTest* test;
    std::size_t rows = 1;
};

/// \param seconds  how long one test may take before Check ends it
inline Suite* suite_of(const char* name, std::initializer_list<Entry> entries, int seconds = 60)
{
    Suite* const suite = suite_create(name);
    TCase* const tests = tcase_create(name);
    tcase_set_timeout(tests, seconds);
    for (const Entry& entry : entries) {
        tcase_add_loop_test(tests, entry.test, 0, static_cast<int>(entry.rows));
    }
    suite_add_tcase(suite, tests);
    return suite;
}

/// Runs the suites, each test in a process of its own, and says what failed.
/// \return the program's exit status
inline int run(std::initializer_list<Suite*> suites)
{
    SRunner* const runner = srunner_create(nullptr);
    for (Suite* const suite : suites) {
        srunner_add_suite(runner, suite);
    }
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace auto_gpus::unit

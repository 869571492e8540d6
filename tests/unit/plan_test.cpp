#include "src/core/plan.hpp"

#include <limits>

#include "tests/unit/core_suites.hpp"

namespace auto_gpus::unit {
namespace {

const SupervisorPlan kPlans[] = {
    {1234, milliseconds(60000), milliseconds(5000), 21474836480U, ""},
    {1, milliseconds(0), milliseconds(0), 0, "/usr/lib/libcuda.so.1"},
    {std::numeric_limits<int>::max(), milliseconds(86400000), milliseconds(600000),
     std::numeric_limits<std::uint64_t>::max(), "/a b/\n\xff=,"},
};

START_TEST(a_plan_comes_through_the_arguments)
{
    const SupervisorPlan& plan = kPlans[_i];
    const std::vector<std::string> arguments = to_arguments(plan);
    ck_assert(!arguments.empty());
    same_text("the first", arguments[0], kSuperviseWord);
    const auto got = plan_from_arguments({arguments.begin() + 1, arguments.end()});
    ck_assert(got.has_value());
    ck_assert_int_eq(got->parent, plan.parent);
    ck_assert(got->timeout == plan.timeout);
    ck_assert(got->retry == plan.retry);
    ck_assert_uint_eq(got->min_free, plan.min_free);
    same_text("libcuda", got->libcuda, plan.libcuda);
}
END_TEST

struct Bad {
    const char* name;
    std::vector<std::string_view> arguments;
};
const Bad kBad[] = {
    {"none", {}},
    {"one missing", {"1", "2", "3", "4"}},
    {"one too many", {"1", "2", "3", "4", "", ""}},
    {"no pid", {"", "2", "3", "4", ""}},
    {"a negative pid", {"-1", "2", "3", "4", ""}},
    {"a pid above an int", {"2147483648", "2", "3", "4", ""}},
    {"words for a timeout", {"1", "soon", "3", "4", ""}},
    {"a negative timeout", {"1", "-2", "3", "4", ""}},
    {"a timeout above any site's", {"1", "86400001", "3", "4", ""}},
    {"a timeout that overflows", {"1", "18446744073709551616", "3", "4", ""}},
    {"a retry with a point", {"1", "2", "3.5", "4", ""}},
    {"a retry above any site's", {"1", "2", "86400001", "4", ""}},
    {"a size with a unit", {"1", "2", "3", "4G", ""}},
    {"2^64 bytes", {"1", "2", "3", "18446744073709551616", ""}},
    {"a blank", {" 1", "2", "3", "4", ""}},
};

START_TEST(malformed_arguments_are_refused)
{
    ck_assert_msg(!plan_from_arguments(kBad[_i].arguments), "%s", kBad[_i].name);
}
END_TEST

}  // namespace

Suite* plan_suite()
{
    return suite_of("plan", {{a_plan_comes_through_the_arguments, std::size(kPlans)},
                             {malformed_arguments_are_refused, std::size(kBad)}});
}

}  // namespace auto_gpus::unit

#include "src/base/result.hpp"

#include <cerrno>
#include <memory>

#include "tests/unit/base_suites.hpp"

namespace auto_gpus::unit {
namespace {

START_TEST(a_system_error_has_the_kernels_words)
{
    const Error error = system_error("cannot make a pipe", EMFILE, "Raise the limit");
    ck_assert(error.fault == Fault::system_call);
    same_text("cause", error.cause, "cannot make a pipe: Too many open files");
    same_text("remedy", error.remedy, "Raise the limit");
}
END_TEST

START_TEST(a_result_is_one_or_the_other)
{
    Result<std::unique_ptr<int>> good(std::make_unique<int>(7));
    ck_assert(static_cast<bool>(good));
    const std::unique_ptr<int> moved = std::move(good).value();
    ck_assert_int_eq(*moved, 7);

    const Result<int> bad(Error{Fault::helper, "gone", "Look"});
    ck_assert(!bad);
    same_text("error", bad.error().cause, "gone");
    bool thrown = false;
    try {
        (void)bad.value();
    } catch (const std::bad_variant_access&) {
        thrown = true;
    }
    ck_assert_msg(thrown, "the wrong side was read");
}
END_TEST

}  // namespace

Suite* result_suite()
{
    return suite_of("result",
                    {{a_system_error_has_the_kernels_words}, {a_result_is_one_or_the_other}});
}

}  // namespace auto_gpus::unit

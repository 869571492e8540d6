#include "src/base/deadline.hpp"

#include <limits>

#include "tests/unit/base_suites.hpp"

namespace auto_gpus::unit {
namespace {

using std::chrono::ceil;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

/// The answer lies between what is right before the call and after it, however slow the machine.
START_TEST(poll_timeout_is_rounded_up)
{
    for (int i = 0; i < 200; ++i) {
        const TimePoint before = Clock::now();
        const Deadline deadline(before + seconds(5) + microseconds(37 * i));
        const auto timeout = deadline.poll_timeout();
        const auto least = ceil<milliseconds>(deadline.when() - Clock::now()).count();
        const auto most = ceil<milliseconds>(deadline.when() - before).count();
        ck_assert_int_ge(timeout, least);
        ck_assert_int_le(timeout, most);
    }
}
END_TEST

struct Clamp {
    const char* name;
    TimePoint when;
    int want;
};
const Clamp kClamps[] = {
    {"now", Clock::now(), 0},
    {"an hour ago", Clock::now() - hours(1), 0},
    {"the beginning of the clock", TimePoint{}, 0},
    {"the earliest time there is", TimePoint::min(), 0},
    {"in 30 days, more than poll takes", Clock::now() + hours(30 * 24),
     std::numeric_limits<int>::max()},
    {"never", TimePoint::max(), std::numeric_limits<int>::max()},
};

START_TEST(poll_timeout_is_clamped)
{
    const Clamp& row = kClamps[_i];
    const int got = Deadline(row.when).poll_timeout();
    ck_assert_msg(got == row.want, "%s: %d", row.name, got);
}
END_TEST

START_TEST(a_deadline_passes)
{
    ck_assert(Deadline(Clock::now()).passed());
    ck_assert(Deadline(TimePoint::min()).passed());
    ck_assert(!Deadline(TimePoint::max()).passed());
    ck_assert(!Deadline::after(hours(1)).passed());
    ck_assert(Deadline::after(milliseconds(-1)).passed());
}
END_TEST

START_TEST(the_earlier_one_counts)
{
    const TimePoint now = Clock::now();
    const Deadline deadline(now + seconds(10));
    ck_assert(deadline.earlier(now + seconds(3)).when() == now + seconds(3));
    ck_assert(deadline.earlier(now + seconds(30)).when() == now + seconds(10));
    ck_assert(deadline.earlier(TimePoint::max()).when() == now + seconds(10));
    ck_assert(deadline.earlier(deadline.when()).when() == deadline.when());
}
END_TEST

}  // namespace

Suite* deadline_suite()
{
    return suite_of("deadline", {{poll_timeout_is_rounded_up},
                                 {poll_timeout_is_clamped, std::size(kClamps)},
                                 {a_deadline_passes},
                                 {the_earlier_one_counts}});
}

}  // namespace auto_gpus::unit

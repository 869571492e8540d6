#include "src/base/confine.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "src/base/io.hpp"
#include "tests/unit/base_suites.hpp"
#include "tests/unit/processes.hpp"

namespace auto_gpus::unit {
namespace {

// --- descriptors

constexpr int kLast = 5;

/// In a child: Check's own descriptors must stay open in the test.
/// \return how many are open in the end, when they are the right ones
int closed_above_last()
{
    for (const int number : {3, 4, 5, 6, 7, 63, 200, 1000}) {
        if (::dup2(STDIN_FILENO, number) < 0) {
            return 100;
        }
    }
    close_descriptors_above(kLast);
    int open_ones = 0;
    for (int number = 0; number < 1024; ++number) {
        const bool is_open = ::fcntl(number, F_GETFD) >= 0;
        if (is_open != (number <= kLast)) {
            return 101;
        }
        open_ones += is_open ? 1 : 0;
    }
    return open_ones;
}

START_TEST(descriptors_above_are_closed_and_others_stay)
{
    ck_assert_int_eq(exit_of_child(closed_above_last), kLast + 1);
}
END_TEST

START_TEST(nothing_above_is_well)
{
    ck_assert_int_eq(exit_of_child([] {
                         close_descriptors_above(2);
                         close_descriptors_above(2);
                         return ::fcntl(2, F_GETFD) >= 0 && ::fcntl(3, F_GETFD) < 0 ? 0 : 1;
                     }),
                     0);
}
END_TEST

// --- limits

constexpr rlim_t kTop = rlim_t{1} << 52U;  // far from what a sanitizer needs
constexpr rlim_t kBefore = kTop / 2;

struct Limit {
    const char* name;
    const char* text;  // null: the variable is absent
    rlim_t want;
};
constexpr Limit kLimits[] = {
    {"a number", "1125899906842624", kTop / 4},
    {"propagated by the user", "U1125899906842624", kTop / 4},
    {"above the hard limit", "9007199254740992", kTop},
    {"propagated, above the hard limit", "U9007199254740992", kTop},
    {"no limit, as Slurm writes it", "18446744073709551615", kTop},
    {"absent", nullptr, kBefore},
    {"empty", "", kBefore},
    {"a mark without a number", "U", kBefore},
    {"words", "unlimited", kBefore},
    {"negative", "-1", kBefore},
    {"junk behind", "1024k", kBefore},
    {"2^64", "18446744073709551616", kBefore},
    {"two marks", "UU1024", kBefore},
};

START_TEST(the_soft_limit_follows_the_tasks)
{
    const Limit& row = kLimits[_i];
    const rlimit before{kBefore, kTop};
    ck_assert_int_eq(::setrlimit(RLIMIT_AS, &before), 0);
    Environment task;
    if (row.text != nullptr) {
        task.set("SLURM_RLIMIT_AS", row.text);
    }
    apply_task_limits(task);
    rlimit now{};
    ck_assert_int_eq(::getrlimit(RLIMIT_AS, &now), 0);
    ck_assert_msg(now.rlim_cur == row.want, "%s: %llu", row.name,
                  static_cast<unsigned long long>(now.rlim_cur));
    ck_assert_msg(now.rlim_max == kTop, "%s: the hard limit changed", row.name);
}
END_TEST

struct Resource {
    const char* variable;
    decltype(RLIMIT_AS) resource;
    bool followed;
};
constexpr Resource kResources[] = {
    {"SLURM_RLIMIT_AS", RLIMIT_AS, true},         {"SLURM_RLIMIT_DATA", RLIMIT_DATA, true},
    {"SLURM_RLIMIT_STACK", RLIMIT_STACK, true},   {"SLURM_RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, true},
    {"SLURM_RLIMIT_NOFILE", RLIMIT_NOFILE, true}, {"SLURM_RLIMIT_NPROC", RLIMIT_NPROC, false},
    {"SLURM_RLIMIT_FSIZE", RLIMIT_FSIZE, false},  {"SLURM_RLIMIT_CPU", RLIMIT_CPU, false},
    {"SLURM_RLIMIT_CORE", RLIMIT_CORE, false},
};

START_TEST(only_the_limits_that_matter_to_a_driver_are_followed)
{
    const Resource& row = kResources[_i];
    rlimit before{};
    ck_assert_int_eq(::getrlimit(row.resource, &before), 0);
    // One below the soft limit for AS and the like: nothing that runs now must feel it.
    const rlim_t soft = before.rlim_cur == RLIM_INFINITY ? kTop : before.rlim_cur;
    Environment task;
    task.set(row.variable, "U" + std::to_string(soft - 1));
    apply_task_limits(task);
    rlimit now{};
    ck_assert_int_eq(::getrlimit(row.resource, &now), 0);
    ck_assert_msg(now.rlim_cur == (row.followed ? soft - 1 : before.rlim_cur), "%s", row.variable);
    ck_assert_msg(now.rlim_max == before.rlim_max, "%s", row.variable);
}
END_TEST

// --- core files

START_TEST(a_crash_leaves_no_core)
{
    const int status = status_of_child([] {
        rlimit core{};
        (void)::getrlimit(RLIMIT_CORE, &core);
        core.rlim_cur = core.rlim_max;
        (void)::setrlimit(RLIMIT_CORE, &core);
        forbid_core_dump();
        ::signal(SIGQUIT, SIG_DFL);
        return ::raise(SIGQUIT);
    });
    ck_assert(WIFSIGNALED(status));
    ck_assert(!WCOREDUMP(status));
}
END_TEST

struct Core {
    const char* name;
    rlim_t hard;
};
constexpr Core kCores[] = {{"some", 1 << 20}, {"none", 0}};

START_TEST(the_core_limit_is_below_a_page)
{
    const rlimit before{kCores[_i].hard, kCores[_i].hard};
    ck_assert_int_eq(::setrlimit(RLIMIT_CORE, &before), 0);
    forbid_core_dump();
    rlimit now{};
    ck_assert_int_eq(::getrlimit(RLIMIT_CORE, &now), 0);
    ck_assert_msg(now.rlim_cur <= 1 && now.rlim_max <= 1, "%s", kCores[_i].name);
}
END_TEST

// --- the parent

START_TEST(the_wrong_parent_is_noticed)
{
    ck_assert(!die_with_parent(::getpid()));
    ck_assert(!die_with_parent(0));
    ck_assert(die_with_parent(::getppid()));
    int signal = 0;
    ck_assert_int_eq(::prctl(PR_GET_PDEATHSIG, &signal), 0);
    ck_assert_int_eq(signal, SIGKILL);
}
END_TEST

[[noreturn]] void live_as_long_as(pid_t parent, int report)
{
    if (::write(report, die_with_parent(parent) ? "y" : "n", 1) != 1) {
        ::_exit(1);
    }
    for (;;) {
        ::pause();
    }
}

/// The pipe hangs up only when the grandchild is dead.
START_TEST(it_ends_with_its_parent)
{
    auto made = make_pipe();
    ck_assert(static_cast<bool>(made));
    Pipe pipe = std::move(made).value();
    const int status = exit_of_child([&] {
        const pid_t parent = ::getpid();
        if (::fork() == 0) {
            live_as_long_as(parent, pipe.write.get());
        }
        pollfd ready{pipe.read.get(), POLLIN, 0};
        return ::poll(&ready, 1, -1) == 1 ? 0 : 1;
    });
    ck_assert_int_eq(status, 0);
    pipe.write.reset();
    same_text("what it said before its end", read_to_end(pipe.read.get()), "y");
}
END_TEST

}  // namespace

Suite* confine_suite()
{
    return suite_of("confine",
                    {{descriptors_above_are_closed_and_others_stay},
                     {nothing_above_is_well},
                     {the_soft_limit_follows_the_tasks, std::size(kLimits)},
                     {only_the_limits_that_matter_to_a_driver_are_followed, std::size(kResources)},
                     {a_crash_leaves_no_core},
                     {the_core_limit_is_below_a_page, std::size(kCores)},
                     {the_wrong_parent_is_noticed},
                     {it_ends_with_its_parent}});
}

}  // namespace auto_gpus::unit

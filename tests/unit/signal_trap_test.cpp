#include "src/base/signal_trap.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <optional>

#include "tests/unit/base_suites.hpp"
#include "tests/unit/processes.hpp"

namespace auto_gpus::unit {
namespace {

volatile sig_atomic_t delivered = 0;  // how often the handler ran

void note(int /*signal*/)
{
    delivered = delivered + 1;
}

/// A known state: these signals handled by note(), and not blocked.
void handle(std::initializer_list<int> signals)
{
    delivered = 0;
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : signals) {
        ck_assert(::signal(signal, note) != SIG_ERR);
        ::sigaddset(&set, signal);
    }
    ck_assert_int_eq(::sigprocmask(SIG_UNBLOCK, &set, nullptr), 0);
}

SignalTrap trap(std::initializer_list<int> signals)
{
    auto made = SignalTrap::set(signals);
    ck_assert(static_cast<bool>(made));
    return std::move(made).value();
}

void block(int signal)
{
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ck_assert_int_eq(::sigprocmask(SIG_BLOCK, &set, nullptr), 0);
}

void unblock(int signal)
{
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ck_assert_int_eq(::sigprocmask(SIG_UNBLOCK, &set, nullptr), 0);
}

/// The mask and all dispositions, as one text.
std::string signal_state()
{
    std::string text;
    sigset_t mask;
    ck_assert_int_eq(::sigprocmask(SIG_SETMASK, nullptr, &mask), 0);
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0) {
            text += std::to_string(signal) + (::sigismember(&mask, signal) == 1 ? "b" : "o") +
                    (action.sa_handler == SIG_DFL   ? "d"
                     : action.sa_handler == SIG_IGN ? "i"
                                                    : "h") +
                    std::to_string(action.sa_flags) + " ";
        }
    }
    return text;
}

START_TEST(signals_become_events)
{
    handle({SIGTERM, SIGINT});
    SignalTrap signals = trap({SIGTERM, SIGINT});
    pollfd event{signals.descriptor(), POLLIN, 0};
    ck_assert_int_eq(::poll(&event, 1, 0), 0);
    ck_assert_int_eq(signals.take(), 0);
    ck_assert_int_eq(::raise(SIGTERM), 0);
    ck_assert_int_eq(::poll(&event, 1, 0), 1);
    ck_assert_int_eq(signals.take(), SIGTERM);
    ck_assert_int_eq(::raise(SIGINT), 0);
    ck_assert_int_eq(signals.take(), SIGINT);
    ck_assert_int_eq(signals.take(), 0);
    ck_assert_int_eq(delivered, 0);
}
END_TEST

START_TEST(a_taken_signal_is_not_delivered_later)
{
    handle({SIGTERM});
    {
        SignalTrap signals = trap({SIGTERM});
        ck_assert_int_eq(::raise(SIGTERM), 0);
        ck_assert_int_eq(signals.take(), SIGTERM);
    }
    ck_assert_int_eq(delivered, 0);
}
END_TEST

START_TEST(a_signal_that_nobody_took_is_delivered_in_the_end)
{
    handle({SIGTERM, SIGHUP});
    {
        SignalTrap signals = trap({SIGTERM, SIGHUP});
        ck_assert_int_eq(::raise(SIGTERM), 0);
        ck_assert_int_eq(::raise(SIGHUP), 0);
        ck_assert_int_ne(signals.take(), 0);
        ck_assert_int_eq(delivered, 0);
    }
    ck_assert_int_eq(delivered, 1);
}
END_TEST

/// Slurm 24.11 ignores or swallows them in task_init.
START_TEST(a_signal_that_the_host_ignores_is_taken_all_the_same)
{
    ck_assert(::signal(SIGTERM, SIG_IGN) != SIG_ERR);
    SignalTrap signals = trap({SIGTERM});
    ck_assert_int_eq(::raise(SIGTERM), 0);
    ck_assert_int_eq(signals.take(), SIGTERM);
}
END_TEST

START_TEST(mask_and_dispositions_are_as_before)
{
    handle({SIGTERM, SIGPIPE});
    ck_assert(::signal(SIGHUP, SIG_IGN) != SIG_ERR);
    ck_assert(::signal(SIGQUIT, SIG_DFL) != SIG_ERR);
    block(SIGINT);
    block(SIGUSR2);
    const std::string before = signal_state();
    {
        SignalTrap signals = trap({SIGTERM, SIGINT, SIGHUP, SIGQUIT});
        lacks("while it lives", signal_state(), before);
        SignalTrap moved = std::move(signals);
        lacks("while it lives", signal_state(), before);
    }
    same_text("after it", signal_state(), before);
}
END_TEST

START_TEST(a_closed_pipe_is_an_error_and_not_death)
{
    handle({SIGPIPE});
    {
        SignalTrap signals = trap({SIGTERM});
        std::array<int, 2> ends{};
        ck_assert_int_eq(::pipe(ends.data()), 0);
        ck_assert_int_eq(::close(ends[0]), 0);
        for (int i = 0; i < 3; ++i) {
            ck_assert_int_eq(::write(ends[1], "x", 1), -1);
            ck_assert_int_eq(errno, EPIPE);
        }
        ck_assert_int_eq(signals.take(), 0);
    }
    ck_assert_int_eq(delivered, 0);
}
END_TEST

START_TEST(a_pipe_signal_of_before_stays)
{
    handle({SIGPIPE});
    block(SIGPIPE);
    ck_assert_int_eq(::raise(SIGPIPE), 0);
    {
        SignalTrap signals = trap({SIGTERM});
    }
    ck_assert_int_eq(delivered, 0);
    unblock(SIGPIPE);
    ck_assert_int_eq(delivered, 1);
}
END_TEST

START_TEST(moving_it_restores_once)
{
    handle({SIGTERM});
    {
        std::optional<SignalTrap> first = trap({SIGTERM});
        SignalTrap second = std::move(*first);
        first.reset();
        ck_assert_int_eq(::raise(SIGTERM), 0);
        ck_assert_int_eq(delivered, 0);
        ck_assert_int_eq(second.take(), SIGTERM);
    }
    ck_assert_int_eq(::raise(SIGTERM), 0);
    ck_assert_int_eq(delivered, 1);
}
END_TEST

START_TEST(traps_nest)
{
    handle({SIGTERM, SIGUSR1});
    SignalTrap outer = trap({SIGTERM});
    {
        SignalTrap inner = trap({SIGUSR1});
        ck_assert_int_eq(::raise(SIGUSR1), 0);
        ck_assert_int_eq(inner.take(), SIGUSR1);
    }
    ck_assert_int_eq(::raise(SIGTERM), 0);
    ck_assert_int_eq(delivered, 0);
    ck_assert_int_eq(outer.take(), SIGTERM);
}
END_TEST

START_TEST(without_descriptors_it_is_an_error_and_changes_nothing)
{
    handle({SIGTERM});
    const std::string before = signal_state();
    rlimit limit{};
    ck_assert_int_eq(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none{0, limit.rlim_max};
    ck_assert_int_eq(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const bool made = static_cast<bool>(SignalTrap::set({SIGTERM}));
    ck_assert_int_eq(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert(!made);
    same_text("signals", signal_state(), before);
}
END_TEST

}  // namespace

Suite* signal_trap_suite()
{
    return suite_of("signal trap", {{signals_become_events},
                                    {a_taken_signal_is_not_delivered_later},
                                    {a_signal_that_nobody_took_is_delivered_in_the_end},
                                    {a_signal_that_the_host_ignores_is_taken_all_the_same},
                                    {mask_and_dispositions_are_as_before},
                                    {a_closed_pipe_is_an_error_and_not_death},
                                    {a_pipe_signal_of_before_stays},
                                    {moving_it_restores_once},
                                    {traps_nest},
                                    {without_descriptors_it_is_an_error_and_changes_nothing}});
}

}  // namespace auto_gpus::unit

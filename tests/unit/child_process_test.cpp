#include "src/base/child_process.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cstdint>

#include "src/base/io.hpp"
#include "src/base/text.hpp"
#include "tests/unit/base_suites.hpp"
#include "tests/unit/processes.hpp"

namespace auto_gpus::unit {
namespace {

Program shell(const std::string& script)
{
    Program program;
    program.path = "/bin/sh";
    program.name = "sh";
    program.arguments = {"-c", script};
    program.environment.set("PATH", "/usr/bin:/bin");
    return program;
}

/// A child and what it reports.
struct Reporter {
    ChildProcess child;
    UniqueFd report;
};

Reporter start(Program program)
{
    auto pipe = make_pipe();
    ck_assert(static_cast<bool>(pipe));
    program.report = pipe.value().write.get();
    auto child = ChildProcess::spawn(std::move(program));
    ck_assert(static_cast<bool>(child));
    return {std::move(child).value(), std::move(pipe.value().read)};
}

/// Waits until the child is dead, and leaves its status there.
void await_end(const ChildProcess& child)
{
    siginfo_t ended{};
    (void)::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT);
}

ExitStatus reaped(ChildProcess& child)
{
    await_end(child);
    const auto status = child.try_reap();
    ck_assert(status.has_value());
    ck_assert(child.reaped());
    ck_assert(!child.try_reap());
    return *status;
}

std::string reported(Program program)
{
    Reporter reporter = start(std::move(program));
    std::string report = read_to_end(reporter.report.get());
    ck_assert_int_eq(reaped(reporter.child).code, 0);
    return report;
}

struct Ending {
    const char* name;
    const char* script;
    int code;
    int signal;
};
constexpr Ending kEndings[] = {
    {"well", "exit 0", 0, 0},
    {"with a status", "exit 7", 7, 0},
    {"with the largest status", "exit 255", 255, 0},
    {"by a signal", "kill -SEGV $$", 0, SIGSEGV},
    {"killed", "kill -KILL $$", 0, SIGKILL},
};

START_TEST(the_end_of_a_child_is_told)
{
    const Ending& row = kEndings[_i];
    for (const bool own_group : {false, true}) {
        Program program = shell(row.script);
        program.own_group = own_group;
        auto child = ChildProcess::spawn(std::move(program));
        ck_assert(static_cast<bool>(child));
        const ExitStatus status = reaped(child.value());
        ck_assert_msg(status.code == row.code && status.signal == row.signal && !status.unknown,
                      "%s: status %d, signal %d", row.name, status.code, status.signal);
    }
}
END_TEST

START_TEST(a_living_child_is_not_waited_for)
{
    for (const bool own_group : {false, true}) {
        auto input = make_pipe();
        ck_assert(static_cast<bool>(input));
        Program program = shell("read line; exit 3");
        program.input = input.value().read.get();
        ck_assert_int_eq(::fcntl(program.input, F_SETFL, 0), 0);  // the shell is to wait for it
        program.own_group = own_group;
        auto child = ChildProcess::spawn(std::move(program));
        ck_assert(static_cast<bool>(child));
        ck_assert(!child.value().try_reap());
        ck_assert(!child.value().reaped());
        input.value().write.reset();
        ck_assert_int_eq(reaped(child.value()).code, 3);
    }
}
END_TEST

START_TEST(a_missing_program_is_named)
{
    constexpr const char* kPaths[] = {"/nowhere/auto-gpus", "/etc/passwd", "/"};
    for (const char* path : kPaths) {
        Program program = shell("exit 0");
        program.path = path;
        const auto child = ChildProcess::spawn(std::move(program));
        ck_assert_msg(!child, "%s", path);
        ck_assert(child.error().fault == Fault::helper);
        has(path, child.error().cause, std::string("cannot start ") + path + ": ");
        ck_assert(!child.error().remedy.empty());
    }
}
END_TEST

START_TEST(a_lost_status_is_an_answer)
{
    for (const bool own_group : {false, true}) {
        ::signal(SIGCHLD, SIG_IGN);
        Program program = shell("exit 7");
        program.own_group = own_group;
        auto child = ChildProcess::spawn(std::move(program));
        ck_assert(static_cast<bool>(child));
        const ExitStatus status = reaped(child.value());
        ck_assert(status.unknown);
    }
}
END_TEST

START_TEST(the_child_gets_its_arguments_and_environment_alone)
{
    Program program = shell("printf '%s|' \"$0\" \"$@\" >&3; env >&3");
    program.arguments.insert(program.arguments.end(), {"zero", "a b", "", "$HOME"});
    program.environment.set("CUDA_VISIBLE_DEVICES", "0,1");
    ::setenv("OF_THE_PARENT", "1", 1);
    const std::string report = reported(std::move(program));
    has("arguments", report, "zero|a b||$HOME|");
    has("variable", report, "CUDA_VISIBLE_DEVICES=0,1\n");
    lacks("the parent's", report, "OF_THE_PARENT");
}
END_TEST

START_TEST(standard_descriptors_lead_nowhere)
{
    const std::string report =
        reported(shell("for i in 0 1 2; do all=\"$all $(readlink /proc/$$/fd/$i)\"; done\n"
                       "echo $all >&3"));
    same_text("three of them", report, "/dev/null /dev/null /dev/null\n");
}
END_TEST

START_TEST(standard_input_is_what_was_given)
{
    auto input = make_pipe();
    ck_assert(static_cast<bool>(input));
    ck_assert(write_until(input.value().write.get(), "a line\n", Deadline::after(milliseconds(1))));
    input.value().write.reset();
    Program program = shell("cat >&3");
    program.input = input.value().read.get();
    same_text("read", reported(std::move(program)), "a line\n");
}
END_TEST

/// The mask in a line of /proc/PID/status, of the signals that programs can set.
std::uint64_t mask_in(const std::string& status, const std::string& field)
{
    constexpr std::uint64_t kOfTheLibrary = std::uint64_t{3} << 31U;  // 32 and 33, with pthreads
    const std::size_t at = status.find(field + ":\t");
    ck_assert_msg(at != std::string::npos, "%s", status.c_str());
    return std::stoull(status.substr(at + field.size() + 2, 16), nullptr, 16) & ~kOfTheLibrary;
}

START_TEST(signals_are_as_at_the_beginning)
{
    sigset_t all;
    ::sigfillset(&all);
    for (const int number : {SIGTERM, SIGINT, SIGPIPE, SIGQUIT, SIGUSR1, SIGRTMIN}) {
        ck_assert(::signal(number, SIG_IGN) != SIG_ERR);
    }
    ck_assert_int_eq(::sigprocmask(SIG_SETMASK, &all, nullptr), 0);
    for (const bool own_group : {false, true}) {
        Program program = shell("cat /proc/self/status >&3");
        program.own_group = own_group;
        const std::string status = reported(std::move(program));
        ck_assert_uint_eq(mask_in(status, "SigBlk"), 0);
        ck_assert_uint_eq(mask_in(status, "SigIgn"), 0);
    }
}
END_TEST

/// Both write ends are gone only when the child's child is.
START_TEST(what_is_left_of_its_group_ends_with_it)
{
    Program program = shell("sleep 1000 & echo started >&3; exit 0");
    program.own_group = true;
    Reporter reporter = start(std::move(program));
    await_end(reporter.child);
    ck_assert_int_eq(reaped(reporter.child).code, 0);
    same_text("the pipe hung up", read_to_end(reporter.report.get()), "started\n");
}
END_TEST

START_TEST(a_signal_reaches_the_whole_group)
{
    Program program = shell("sleep 1000 & echo started >&3; wait");
    program.own_group = true;
    Reporter reporter = start(std::move(program));
    pollfd started{reporter.report.get(), POLLIN, 0};
    ck_assert_int_eq(::poll(&started, 1, -1), 1);
    reporter.child.signal(SIGTERM);
    same_text("the pipe hung up", read_to_end(reporter.report.get()), "started\n");
    ck_assert_int_eq(reaped(reporter.child).signal, SIGTERM);
    reporter.child.signal(SIGTERM);  // nobody: its number may be another's by now
}
END_TEST

START_TEST(a_group_is_made_only_when_it_is_wanted)
{
    const std::string own = std::to_string(::getpgrp());
    Program program = shell("cut -d' ' -f5 /proc/$$/stat >&3");
    same_text("the parent's group", reported(program), own + "\n");
    program.own_group = true;
    lacks("its own", "/" + reported(program), "/" + own + "\n");
}
END_TEST

START_TEST(a_child_has_one_owner)
{
    auto spawned = ChildProcess::spawn(shell("exit 4"));
    ck_assert(static_cast<bool>(spawned));
    ChildProcess first = std::move(spawned).value();
    ChildProcess second = std::move(first);
    ck_assert_int_eq(reaped(second).code, 4);
    auto other = ChildProcess::spawn(shell("exit 5"));
    ck_assert(static_cast<bool>(other));
    second = std::move(other).value();
    ck_assert_int_eq(reaped(second).code, 5);
}
END_TEST

}  // namespace

Suite* child_process_suite()
{
    return suite_of("child process", {{the_end_of_a_child_is_told, std::size(kEndings)},
                                      {a_living_child_is_not_waited_for},
                                      {a_missing_program_is_named},
                                      {a_lost_status_is_an_answer},
                                      {the_child_gets_its_arguments_and_environment_alone},
                                      {standard_descriptors_lead_nowhere},
                                      {standard_input_is_what_was_given},
                                      {signals_are_as_at_the_beginning},
                                      {what_is_left_of_its_group_ends_with_it},
                                      {a_signal_reaches_the_whole_group},
                                      {a_group_is_made_only_when_it_is_wanted},
                                      {a_child_has_one_owner}});
}

}  // namespace auto_gpus::unit

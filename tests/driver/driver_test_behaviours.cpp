// SPDX-License-Identifier: Apache-2.0
//
// What each word after behaviour= does to a process that checks its GPUs.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::count_lines;
using driver_test::Node;
using driver_test::set_variable;
using driver_test::walk_in_child;

namespace {

/// A node of one GPU that behaves so.
std::string one_gpu(const std::string& behaviour)
{
    return "gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 behaviour=" +
           behaviour + "\n";
}

struct Row {
    const char* behaviour;
    const char* outcome;
};

const Row kRows[] = {
    {"ok", "ok"},
    {"busy46", "ctx:46"},
    {"proh", "ctx:46"},
    {"proh:999", "ctx:999"},
    {"init:999", "init:999"},
    {"enumerate:3", "count:3"},
    {"attributes:999", "name:999"},
    {"ctx:214", "ctx:214"},
    {"meminfo:999", "meminfo:999"},
    {"alloc:2", "alloc:2"},
    {"set:719", "set:719"},
    {"module:209", "module:209"},
    {"launch:700", "set:700"},
    {"sync:214", "sync:214"},
    {"copy:719", "copy:719"},
    {"free:719", "free:719"},
    {"destroy:719", "destroy:719"},
    {"mismatch", "wrong at 2048"},
    {"mismatch:7", "wrong at 7"},
    {"mismatch:4096", "ok"},
    {"gone", "init:100"},
    {"ctx:214+ctx:46", "ctx:214"},
    {"ok+sync:700 behaviour=ctx:46", "ctx:46"},
    {"die:SIGSEGV", "signal 11"},
    {"die:SIGKILL@init", "signal 9"},
    {"die:SIGBUS@copy", "signal 7"},
    {"die:6@alloc", "signal 6"},
    {"exit:3", "exit 3"},
    {"exit:4@destroy", "exit 4"},
};

START_TEST(behaviour_shows)
{
    const Row& row = kRows[_i];
    const Node node(one_gpu(row.behaviour));
    const std::string outcome = walk_in_child(node);
    ck_assert_msg(outcome == row.outcome, "%s: %s instead of %s", row.behaviour, outcome.c_str(),
                  row.outcome);
}
END_TEST

const Row kHangs[] = {
    {"hangK", "hangs, SIGTERM ends it"},
    {"hangK@sync", "hangs, SIGTERM ends it"},
    {"hangT@ctx", "hangs, SIGKILL ends it"},
    {"spin", "hangs, SIGKILL ends it"},
    {"hangD@copy:/nowhere", "hangs, SIGTERM ends it"},
};

START_TEST(hang_has_no_end)
{
    const Row& row = kHangs[_i];
    const Node node(one_gpu(row.behaviour));
    const std::string outcome = driver_test::hang_in_child(node);
    ck_assert_msg(outcome == row.outcome, "%s: %s instead of %s", row.behaviour, outcome.c_str(),
                  row.outcome);
}
END_TEST

START_TEST(slow_takes_its_time)
{
    const char* const behaviours[] = {"slow:300ms", "slow:0.3s@init", "slow:300000us@destroy"};
    const Node node(one_gpu(behaviours[_i]));
    const auto start = std::chrono::steady_clock::now();
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
    ck_assert(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(300));
}
END_TEST

START_TEST(times_of_the_driver_add_up)
{
    const Node node("driver init=100ms init_per_gpu=50ms context=150ms\n" + one_gpu("ok"));
    const auto start = std::chrono::steady_clock::now();
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
    ck_assert(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(300));
}
END_TEST

struct Series {
    const char* behaviour;
    const char* outcomes[4];  // of one process after the other
};

const Series kSeries[] = {
    {"trans46:2", {"ctx:46", "ctx:46", "ok", "ok"}},
    {"trans802:1", {"init:802", "ok", "ok", "ok"}},
    {"trans304:1@init", {"init:304", "ok", "ok", "ok"}},
    {"die:SIGKILL*1", {"signal 9", "ok", "ok", "ok"}},
    {"alloc:2*1+trans46:2", {"ctx:46", "ctx:46", "alloc:2", "ok"}},
};

START_TEST(tries_are_counted_by_process)
{
    const Series& series = kSeries[_i];
    const Node node(one_gpu(series.behaviour));
    for (const char* const expected : series.outcomes) {
        const std::string outcome = walk_in_child(node);
        ck_assert_msg(outcome == expected, "%s: %s instead of %s", series.behaviour,
                      outcome.c_str(), expected);
    }
}
END_TEST

START_TEST(refused_process_stays_refused)
{
    const Node node(one_gpu("trans46:1"));
    const driver_test::Driver driver(node);
    fake_cuda::ContextHandle* context = nullptr;
    ck_assert_int_eq(driver.init(0), 0);
    ck_assert_int_eq(driver.create(&context, 0, 0), 46);
    ck_assert_int_eq(driver.create(&context, 0, 0), 46);
    const std::string fresh = walk_in_child(Node(one_gpu("ok")));
    ck_assert_str_eq(fresh.c_str(), "init:3");  // forked from a process with a driver
    ck_assert_int_eq(driver.create(&context, 0, 0), 46);
}
END_TEST

START_TEST(time_window_ends)
{
    const Node node(one_gpu("trans802_for:400ms"));
    const std::string early = walk_in_child(node);
    ck_assert_str_eq(early.c_str(), "init:802");
    (void)usleep(500000);
    const std::string late = walk_in_child(node);
    ck_assert_str_eq(late.c_str(), "ok");
}
END_TEST

// Rubbish on 1, 2 and 3, and yet the work is done.
START_TEST(noise_is_heard)
{
    const Node node(one_gpu("noise"));
    const std::string outcome = driver_test::in_child([&] {
        const int others = fcntl(STDERR_FILENO + 1, F_DUPFD, 20);  // in_child's pipe may be on 3
        for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO + 1; ++fd) {
            const std::string path = node.folder() + "/heard" + std::to_string(fd);
            const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
            (void)dup2(file, fd);
        }
        std::string result = driver_test::walk(node);
        (void)dup2(others, STDERR_FILENO + 1);
        for (const char* const name : {"heard1", "heard2", "heard3"}) {
            result += std::to_string(count_lines(node.read(name), "usable 0 0"));
        }
        return result;
    });
    ck_assert_str_eq(outcome.c_str(), "ok111");
}
END_TEST

// The child that the driver leaves holds the write end: no end of file before it goes.
START_TEST(fork_keeps_descriptors)
{
    const Node node(one_gpu("fork:600ms"));
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
    close(ends[1]);
    pollfd event{ends[0], POLLIN, 0};
    ck_assert_int_eq(poll(&event, 1, 100), 0);
    ck_assert_int_eq(poll(&event, 1, 5000), 1);
}
END_TEST

constexpr char kTwo[] =
    "gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0\n"
    "gpu uuid=GPU-00000000-0000-0000-0000-000000000002 pci=0000:02:00.0 behaviour=";

struct ScopeRow {
    const char* name;
    const char* rest;  // after the second gpu's behaviour=
    const char* list;
    const char* outcome;
};

const ScopeRow kScopes[] = {
    {"init fault of a visible gpu", "init:999", "0,1", "init:999"},
    {"init fault of an invisible gpu", "init:999", "0", "ok"},
    {"together, both visible",
     "ok\ntogether gpus=GPU-00000000-0000-0000-0000-000000000001,"
     "GPU-00000000-0000-0000-0000-000000000002 behaviour=init:2",
     "0,1", "init:2"},
    {"together, one visible",
     "ok\ntogether gpus=GPU-00000000-0000-0000-0000-000000000001,"
     "GPU-00000000-0000-0000-0000-000000000002 behaviour=init:2",
     "1", "ok"},
    {"together at another stage",
     "ok\ntogether gpus=GPU-00000000-0000-0000-0000-000000000001,"
     "GPU-00000000-0000-0000-0000-000000000002 behaviour=sync:700",
     "0,1", "sync:700"},
    {"all, at cuInit", "ok\nall behaviour=init:802", "1", "init:802"},
    {"all, with nothing visible", "ok\nall behaviour=init:802", "", "init:802"},
    {"all, at another stage", "ok\nall behaviour=ctx:999", "1", "ctx:999"},
    {"all comes first", "init:999\nall behaviour=init:802", "1", "init:802"},
};

START_TEST(fault_has_its_scope)
{
    const ScopeRow& row = kScopes[_i];
    const Node node(std::string(kTwo) + row.rest);
    set_variable("CUDA_VISIBLE_DEVICES", row.list);
    const std::string outcome = walk_in_child(node);
    ck_assert_msg(outcome == row.outcome, "%s: %s instead of %s", row.name, outcome.c_str(),
                  row.outcome);
}
END_TEST

}  // namespace

TCase* driver_test::behaviour_cases()
{
    TCase* const cases = tcase_create("behaviours");
    const auto rows = [](const auto& table) { return static_cast<int>(std::size(table)); };
    tcase_set_timeout(cases, 30);
    tcase_add_loop_test(cases, behaviour_shows, 0, rows(kRows));
    tcase_add_loop_test(cases, hang_has_no_end, 0, rows(kHangs));
    tcase_add_loop_test(cases, slow_takes_its_time, 0, 3);
    tcase_add_test(cases, times_of_the_driver_add_up);
    tcase_add_loop_test(cases, tries_are_counted_by_process, 0, rows(kSeries));
    tcase_add_test(cases, refused_process_stays_refused);
    tcase_add_test(cases, time_window_ends);
    tcase_add_test(cases, noise_is_heard);
    tcase_add_test(cases, fork_keeps_descriptors);
    tcase_add_loop_test(cases, fault_has_its_scope, 0, rows(kScopes));
    return cases;
}

// SPDX-License-Identifier: Apache-2.0
//
// What several processes, or contexts, do to each other.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::Driver;
using driver_test::Node;
using driver_test::start_child;
using driver_test::walk_in_child;

namespace {

std::string exclusive_node(const char* driver_words)
{
    return std::string("driver ") + driver_words +
           "\ngpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 "
           "mode=exclusive_process\n";
}

/// A process that holds a context on device 0; FOLDER/held is there when it does.
pid_t start_holder(const Node& node)
{
    const pid_t holder = start_child([&] {
        const Driver driver(node);
        fake_cuda::ContextHandle* context = nullptr;
        if (driver.init(0) == 0 && driver.create(&context, 0, 0) == 0) {
            node.write("held", "");
        }
        pause();
    });
    ck_assert(driver_test::appears(node.folder() + "/held"));
    return holder;
}

void kill_and_reap(pid_t child)
{
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, nullptr, 0), child);
}

START_TEST(exclusive_gpu_serves_one_process)
{
    const Node node(exclusive_node(""));
    const pid_t holder = start_holder(node);
    const std::string during = walk_in_child(node);
    kill_and_reap(holder);
    ck_assert_str_eq(during.c_str(), "ctx:46");
    const std::string after = walk_in_child(node);
    ck_assert_str_eq(after.c_str(), "ok");
}
END_TEST

START_TEST(exclusive_gpu_serves_one_context)
{
    const Node node(exclusive_node(""));
    const Driver driver(node);
    fake_cuda::ContextHandle* first = nullptr;
    fake_cuda::ContextHandle* second = nullptr;
    int mode = 0;
    ck_assert_int_eq(driver.init(0), 0);
    ck_assert_int_eq(driver.attribute(&mode, 20, 0), 0);
    ck_assert_int_eq(mode, 3);
    ck_assert_int_eq(driver.create(&first, 0, 0), 0);
    ck_assert_int_eq(driver.create(&second, 0, 0), 46);
    ck_assert_int_eq(driver.destroy(first), 0);
    ck_assert_int_eq(driver.create(&second, 0, 0), 0);
}
END_TEST

START_TEST(mps_server_shares_exclusive_gpu)
{
    const Node node(exclusive_node("mps=1"));
    const pid_t holder = start_holder(node);
    const std::string during = walk_in_child(node);
    kill_and_reap(holder);
    ck_assert_str_eq(during.c_str(), "ok");
}
END_TEST

START_TEST(default_mode_is_shared)
{
    const Node node("gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0");
    const pid_t holder = start_holder(node);
    const std::string during = walk_in_child(node);
    kill_and_reap(holder);
    ck_assert_str_eq(during.c_str(), "ok");
}
END_TEST

// A child that the driver left behind has the GPU's descriptor too.
START_TEST(left_child_keeps_exclusive_gpu)
{
    const Node node(
        "gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 "
        "mode=exclusive_process behaviour=fork:1s@sync*1");
    const std::string first = walk_in_child(node);
    ck_assert_str_eq(first.c_str(), "ok");
    const std::string during = walk_in_child(node);
    ck_assert_str_eq(during.c_str(), "ctx:46");
    (void)sleep(2);
    const std::string after = walk_in_child(node);
    ck_assert_str_eq(after.c_str(), "ok");
}
END_TEST

constexpr char kDeadlock[] =
    "driver deadlock_parallel=1\n"
    "gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0\n"
    "gpu uuid=GPU-00000000-0000-0000-0000-000000000002 pci=0000:02:00.0\n";

START_TEST(parallel_processes_deadlock)
{
    const Node node(kDeadlock);
    pid_t children[2];
    for (pid_t& child : children) {
        child = start_child([&] {
            (void)driver_test::walk(node);
            node.write("done", "");
        });
    }
    (void)sleep(2);
    for (const pid_t child : children) {
        ck_assert_int_eq(waitpid(child, nullptr, WNOHANG), 0);
        kill_and_reap(child);
    }
    ck_assert_int_eq(driver_test::count_lines(node.log(), "cuInit - does:deadlock"), 2);
    const std::string alone = walk_in_child(node);
    ck_assert_str_eq(alone.c_str(), "ok");
}
END_TEST

START_TEST(serial_processes_do_not_deadlock)
{
    const Node node(kDeadlock);
    for (int i = 0; i < 2; ++i) {
        const std::string outcome = walk_in_child(node);
        ck_assert_str_eq(outcome.c_str(), "ok");
    }
}
END_TEST

START_TEST(forked_child_has_no_driver)
{
    const Node node("gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0");
    const Driver driver(node);
    fake_cuda::ContextHandle* context = nullptr;
    ck_assert_int_eq(driver.init(0), 0);
    ck_assert_int_eq(driver.create(&context, 0, 0), 0);
    const std::string seen = driver_test::in_child([&] {
        int number = 0;
        fake_cuda::DevicePointer memory = 0;
        std::string codes;
        for (const int code : {driver.init(0), driver.count(&number), driver.alloc(&memory, 4),
                               driver.destroy(context), driver.version(&number)}) {
            codes += std::to_string(code) + " ";
        }
        return codes;
    });
    ck_assert_str_eq(seen.c_str(), "3 3 3 3 0 ");
    ck_assert_int_eq(driver.destroy(context), 0);
}
END_TEST

// Only cuInit makes a process unfit for forking.
START_TEST(fork_before_init_is_fine)
{
    const Node node("gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0");
    const Driver driver(node);
    int version = 0;
    ck_assert_int_eq(driver.version(&version), 0);
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
}
END_TEST

}  // namespace

TCase* driver_test::process_cases()
{
    TCase* const cases = tcase_create("processes");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, exclusive_gpu_serves_one_process);
    tcase_add_test(cases, exclusive_gpu_serves_one_context);
    tcase_add_test(cases, mps_server_shares_exclusive_gpu);
    tcase_add_test(cases, default_mode_is_shared);
    tcase_add_test(cases, left_child_keeps_exclusive_gpu);
    tcase_add_test(cases, parallel_processes_deadlock);
    tcase_add_test(cases, serial_processes_do_not_deadlock);
    tcase_add_test(cases, forked_child_has_no_driver);
    tcase_add_test(cases, fork_before_init_is_fine);
    return cases;
}

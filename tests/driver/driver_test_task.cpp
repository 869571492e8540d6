// SPDX-License-Identifier: Apache-2.0
//
// The program cuda-task, which stands for a user's.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <string>
#include <vector>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::Node;
using driver_test::set_variable;

namespace {

constexpr char kTwo[] =
    "gpu model=\"NVIDIA H100\" uuid=GPU-1b2c3d4e-0000-0000-0000-000000000001 pci=0000:17:00.0\n"
    "gpu model=\"NVIDIA H100\" uuid=GPU-1b2c3d4e-0000-0000-0000-000000000002 pci=0000:2a:00.0 ";

pid_t start_task(const Node& node, std::vector<std::string> words)
{
    return driver_test::start_child([&] {
        const int out = open((node.folder() + "/out").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        (void)dup2(out, STDOUT_FILENO);
        (void)dup2(out, STDERR_FILENO);
        set_variable("LD_LIBRARY_PATH", node.folder().c_str());
        std::vector<char*> arguments;
        words.insert(words.begin(), "cuda-task");
        std::transform(words.begin(), words.end(), std::back_inserter(arguments),
                       [](std::string& word) { return word.data(); });
        arguments.push_back(nullptr);
        (void)execv(CUDA_TASK, arguments.data());
        _exit(127);
    });
}

int status_of(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Row {
    const char* rest;  // after the second gpu
    std::vector<std::string> words;
    int status;
    const char* output;
};

const char* const kFirst =
    "device 0: NVIDIA H100 GPU-1b2c3d4e-0000-0000-0000-000000000001 0000:17:00.0 ok\n";

std::vector<Row> rows()
{
    return {
        {"",
         {},
         0,
         "device 1: NVIDIA H100 GPU-1b2c3d4e-0000-0000-0000-000000000002 0000:2a:00.0 ok\n"},
        {"behaviour=ctx:214", {}, 1, "device 1: cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)\n"},
        {"behaviour=ctx:214", {"--device", "0"}, 0, ""},
        {"behaviour=mismatch", {}, 1, "device 1: wrong result: a5c3f00c instead of a5c3f00d\n"},
    };
}
constexpr int kRowCount = 4;

START_TEST(task_tells_each_device)
{
    const Row row = rows().at(static_cast<std::size_t>(_i));
    const Node node(std::string(kTwo) + row.rest);
    ck_assert_int_eq(status_of(start_task(node, row.words)), row.status);
    const std::string output = node.read("out");
    const std::string expected = std::string(kFirst) + row.output;
    ck_assert_str_eq(output.c_str(), expected.c_str());
}
END_TEST

START_TEST(task_says_what_failed_first)
{
    const Node node(std::string(kTwo) + "behaviour=init:999");
    ck_assert_int_eq(status_of(start_task(node, {})), 1);
    const std::string output = node.read("out");
    ck_assert_str_eq(output.c_str(), "cuInit: CUDA_ERROR_UNKNOWN (999)\n");
}
END_TEST

START_TEST(task_holds_the_gpu)
{
    const Node node(std::string(kTwo) + "mode=exclusive_process");
    const std::string ready = node.folder() + "/ready";
    const pid_t task = start_task(node, {"--hold", "60", "--ready", ready});
    ck_assert(driver_test::appears(ready));
    const std::string during = driver_test::walk_in_child(node);
    ck_assert_int_eq(kill(task, SIGTERM), 0);
    (void)status_of(task);
    ck_assert_str_eq(during.c_str(), "ctx:46");
    const std::string after = driver_test::walk_in_child(node);
    ck_assert_str_eq(after.c_str(), "ok");
}
END_TEST

START_TEST(task_refuses_unknown_words)
{
    const Node node(kTwo);
    ck_assert_int_eq(status_of(start_task(node, {"--hold", "long"})), 2);
    ck_assert_int_eq(status_of(start_task(node, {"--keep", "1"})), 2);
}
END_TEST

}  // namespace

TCase* driver_test::task_cases()
{
    TCase* const cases = tcase_create("cuda-task");
    tcase_set_timeout(cases, 30);
    tcase_add_loop_test(cases, task_tells_each_device, 0, kRowCount);
    tcase_add_test(cases, task_says_what_failed_first);
    tcase_add_test(cases, task_holds_the_gpu);
    tcase_add_test(cases, task_refuses_unknown_words);
    return cases;
}

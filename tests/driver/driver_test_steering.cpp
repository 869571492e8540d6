// SPDX-License-Identifier: Apache-2.0
//
// How the driver finds and reads its steering file, and what it writes to its log.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::count_lines;
using driver_test::Node;
using driver_test::set_variable;
using driver_test::walk_in_child;

namespace {

#define UUID_1 "uuid=GPU-00000000-0000-0000-0000-000000000001"
#define UUID_2 "uuid=GPU-00000000-0000-0000-0000-000000000002"
#define GPU_1 "gpu " UUID_1 " pci=0000:01:00.0"

struct Row {
    const char* text;
    const char* problem;  // a part of what is said
};

const Row kBad[] = {
    {"gpus", "1: 'gpus' begins no line; allowed are driver gpu mig together all"},
    {"\n# fine\ndriver speed=1", "3: 'speed=1' is unknown or there twice; allowed are version="},
    {"driver version=x", "version='x' is not a number"},
    {"driver init=fast", "init='fast' is not a time"},
    {"driver stub=maybe", "stub='maybe' is not 1, on"},
    {"driver mps_list=0,b", "mps_list='b' is not a list of positions"},
    {"driver stub=1 stub=0", "'stub=0' is unknown or there twice"},
    {"gpu pci=0000:01:00.0", "uuid='' is not GPU-"},
    {"gpu uuid=GPU-12 pci=0000:01:00.0", "uuid='GPU-12' is not GPU-"},
    {"gpu " UUID_1, "pci='' is not a PCI id"},
    {"gpu " UUID_1 " pci=01:00.0", "pci='01:00.0' is not a PCI id"},
    {"gpu " UUID_1 " pci=0000:1B:00.0", "is not a PCI id such as 0000:17:00.0, in lower case"},
    {GPU_1 " total=16", "total='16' is not a size"},
    {GPU_1 " total=1G used=2G", "used='more than total'"},
    {GPU_1 " mode=exclusive", "mode='exclusive' is not default, exclusive_process or prohibited"},
    {GPU_1 " model=\"open", "a quotation mark is left open"},
    {GPU_1 " behaviour=sleepy", "behaviour 'sleepy': allowed are ok busy46"},
    {GPU_1 " behaviour=ok+ctx", "behaviour 'ctx': a stage's own name takes a CUresult"},
    {GPU_1 " behaviour=ctx:0", "behaviour 'ctx:0': a stage's own name takes a CUresult"},
    {GPU_1 " behaviour=hangK@lunch", "after @ comes one of init enumerate"},
    {GPU_1 " behaviour=hangK:3", "behaviour 'hangK:3': takes no argument"},
    {GPU_1 " behaviour=slow", "behaviour 'slow': takes a time"},
    {GPU_1 " behaviour=die:SIGNOT", "behaviour 'die:SIGNOT': takes a signal"},
    {GPU_1 " behaviour=exit:256", "behaviour 'exit:256': takes an exit status"},
    {GPU_1 " behaviour=hangD:frozen", "behaviour 'hangD:frozen': takes a folder"},
    {GPU_1 " behaviour=trans46", "behaviour 'trans46': write trans46:2"},
    {GPU_1 " behaviour=trans46_for:0s", "write trans46:2"},
    {GPU_1 " behaviour=ctx:46*0", "after * comes a number of processes"},
    {GPU_1 " behaviour=slow:1s@init:2s", "at most one :argument and one @stage"},
    {GPU_1 " behaviour=mismatch:x", "write mismatch or mismatch:OFFSET"},
    {GPU_1 " behaviour=gone*2", "takes no argument, stage or tries"},
    {GPU_1 "\ngpu " UUID_1 " pci=0000:02:00.0",
     "2: uuid='GPU-00000000-0000-0000-0000-000000000001"},
    {GPU_1 "\ngpu " UUID_2 " pci=0000:01:00.0", "2: pci='0000:01:00.0' is not new"},
    {GPU_1 "\nmig parent=GPU-00000000-0000-0000-0000-000000000001", "that says mig=on"},
    {GPU_1 "\ntogether gpus=GPU-1 behaviour=init:2", "gpus='GPU-1' is not a full uuid"},
    {GPU_1 "\ntogether behaviour=init:2", "gpus='' is not a list"},
    {"all behaviour=gone", "is not for this line, but for a gpu"},
};

/// Runs cuInit in a child; gives what it returned and what it said on stderr.
std::string init_and_stderr(const Node& node)
{
    return driver_test::in_child([&] {
        const std::string path = node.folder() + "/stderr";
        const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
        (void)dup2(file, STDERR_FILENO);
        const driver_test::Driver driver(node);
        const std::string code = std::to_string(driver.init(0));
        return code + " " + node.read("stderr");
    });
}

START_TEST(bad_steering_is_refused)
{
    const Row& row = kBad[_i];
    const Node node(row.text);
    const std::string said = init_and_stderr(node);
    const std::string start = "999 simulated libcuda: " + node.folder() + "/default.gpus:";
    ck_assert_msg(
        said.compare(0, start.size(), start) == 0 && said.find(row.problem) != std::string::npos,
        "'%s' gives '%s'", row.text, said.c_str());
    ck_assert_int_eq(count_lines(node.log(), "error="), 1);
    ck_assert_int_eq(count_lines(node.log(), "cuInit - 999"), 1);
}
END_TEST

START_TEST(missing_steering_is_refused)
{
    const Node node("");
    ck_assert_int_eq(unlink((node.folder() + "/default.gpus").c_str()), 0);
    const std::string said = init_and_stderr(node);
    ck_assert_msg(said.find("default.gpus: No such file") != std::string::npos, "%s", said.c_str());
    ck_assert_int_eq(said.compare(0, 4, "999 "), 0);
}
END_TEST

START_TEST(node_has_its_own_file)
{
    const Node node(GPU_1 " model=default");
    node.write("gpu07.gpus", GPU_1 " model=seven");
    const char* const rows[][2] = {{"gpu07", "seven"},
                                   {"gpu08", "default"},
                                   {nullptr, "default"},
                                   {"", "default"},
                                   {"./gpu07", "default"}};
    for (const auto& [name, model] : rows) {
        set_variable("SLURMD_NODENAME", name);
        const std::string seen = driver_test::in_child([&] { return driver_test::visible(node); });
        ck_assert_str_eq(seen.c_str(), model);
    }
}
END_TEST

START_TEST(stub_refuses_everything)
{
    const driver_test::Driver driver{Node("driver stub=1\n" GPU_1)};
    const char* name = "";
    int number = 0;
    ck_assert_int_eq(driver.init(0), 34);
    ck_assert_int_eq(driver.version(&number), 34);
    ck_assert_int_eq(driver.count(&number), 34);
    ck_assert_int_eq(driver.sync(), 34);
    ck_assert_int_ne(driver.error_name(34, &name), 0);
    ck_assert_ptr_null(name);
}
END_TEST

std::vector<std::string> fields_of(const std::string& log, std::size_t line)
{
    std::istringstream lines(log);
    std::string text;
    for (std::size_t i = 0; i <= line; ++i) {
        std::getline(lines, text);
    }
    std::istringstream words(text);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) {
        fields.push_back(word);
    }
    return fields;
}

START_TEST(log_tells_every_call)
{
    const Node node(GPU_1);
    set_variable("SLURMD_NODENAME", "gpu07");
    set_variable("CUDA_VISIBLE_DEVICES", "0 x\n");
    set_variable("CUDA_CACHE_DISABLE", "1");
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
    const std::string log = node.log();
    const auto first = fields_of(log, 0);
    ck_assert_uint_ge(first.size(), 11);
    ck_assert_str_eq(first[2].c_str(), "gpu07");
    ck_assert_str_eq(first[3].c_str(), "0\\x20x\\x0a");
    ck_assert_str_eq(first[4].c_str(), "cuInit");
    ck_assert_str_eq(first[5].c_str(), "-");
    ck_assert_str_eq(first[6].c_str(), "begin");
    ck_assert_str_eq(first[7].c_str(), "devices=1");
    ck_assert_int_eq(count_lines(log, " cache_disable=1 "), 1);
    const std::string gpu = "GPU-00000000-0000-0000-0000-000000000001";
    const std::string create = "cuCtxCreate_v2 " + gpu;
    ck_assert_int_eq(count_lines(log, create + " begin"), 1);
    ck_assert_int_eq(count_lines(log, create + " 0"), 1);
    for (const char* const call :
         {"cuDeviceGetCount - 0", "cuDeviceGet ", "cuDeviceGetName ", "cuMemGetInfo_v2 ",
          "cuMemAlloc_v2 ", "cuMemsetD32_v2 ", "cuModuleLoadData ", "cuModuleGetFunction ",
          "cuLaunchKernel ", "cuCtxSynchronize ", "cuMemcpyDtoH_v2 ", "cuMemFree_v2 ",
          "cuCtxDestroy_v2 "}) {
        ck_assert_msg(count_lines(log, std::string(" ") + call) == 1, "%s", call);
    }
}
END_TEST

struct ListRow {
    const char* list;
    const char* field;
};

const ListRow kLists[] = {{nullptr, "-"}, {"", "\"\""}, {"-", "\\x2d"}, {"1,2", "1,2"}};

START_TEST(log_tells_the_list)
{
    const Node node(GPU_1);
    set_variable("CUDA_VISIBLE_DEVICES", kLists[_i].list);
    (void)walk_in_child(node);
    const auto first = fields_of(node.log(), 0);
    ck_assert_str_eq(first.at(3).c_str(), kLists[_i].field);
}
END_TEST

struct TraceRow {
    const char* behaviour;
    const char* trace;
};

const TraceRow kTraces[] = {
    {"hangK@ctx", "cuCtxCreate_v2 GPU-00000000-0000-0000-0000-000000000001 does:hangK@ctx"},
    {"hangT", "cuInit GPU-00000000-0000-0000-0000-000000000001 does:ignore-SIGTERM"},
    {"die:SIGSEGV", "does:die:SIGSEGV"},
    {"hangD@init:/nowhere", "does:no-such-folder"},

};

START_TEST(hang_and_death_leave_a_trace)
{
    const Node node(std::string(GPU_1 " behaviour=") + kTraces[_i].behaviour);
    (void)driver_test::hang_in_child(node);
    ck_assert_int_eq(count_lines(node.log(), kTraces[_i].trace), 1);
}
END_TEST

START_TEST(unwritable_log_is_no_fault)
{
    const Node node(GPU_1);
    ck_assert_int_eq(mkdir((node.folder() + "/calls.log").c_str(), 0755), 0);
    const std::string outcome = walk_in_child(node);
    ck_assert_str_eq(outcome.c_str(), "ok");
}
END_TEST

START_TEST(shared_files_serve_all_users)
{
    const Node node(GPU_1 " mode=exclusive_process behaviour=trans46:1");
    (void)umask(077);
    (void)walk_in_child(node);
    (void)walk_in_child(node);
    const std::string uuid = "GPU-00000000-0000-0000-0000-000000000001";
    for (const std::string& file :
         {std::string("calls.log"), "locks/" + uuid, "state/" + uuid + ".0"}) {
        struct stat found {};
        ck_assert_int_eq(stat((node.folder() + "/" + file).c_str(), &found), 0);
        ck_assert_uint_eq(found.st_mode & 0777U, 0666);
    }
    const std::string tries = node.read("state/" + uuid + ".0");
    ck_assert_str_eq(tries.c_str(), "2");
}
END_TEST

}  // namespace

TCase* driver_test::steering_cases()
{
    TCase* const cases = tcase_create("steering");
    const auto rows = [](const auto& table) { return static_cast<int>(std::size(table)); };
    tcase_set_timeout(cases, 30);
    tcase_add_loop_test(cases, bad_steering_is_refused, 0, rows(kBad));
    tcase_add_test(cases, missing_steering_is_refused);
    tcase_add_test(cases, node_has_its_own_file);
    tcase_add_test(cases, stub_refuses_everything);
    tcase_add_test(cases, log_tells_every_call);
    tcase_add_loop_test(cases, log_tells_the_list, 0, rows(kLists));
    tcase_add_loop_test(cases, hang_and_death_leave_a_trace, 0, rows(kTraces));
    tcase_add_test(cases, unwritable_log_is_no_fault);
    tcase_add_test(cases, shared_files_serve_all_users);
    return cases;
}

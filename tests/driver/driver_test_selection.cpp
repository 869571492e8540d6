// SPDX-License-Identifier: Apache-2.0
//
// Which devices a process sees, and in which order.

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::Node;
using driver_test::set_variable;
using driver_test::visible;

namespace {

// b is faster than a; a and b share the prefix GPU-ab, c and d do not.
constexpr char kFour[] = R"(
gpu model=a uuid=GPU-ab000000-0000-0000-0000-00000000000a pci=0000:01:00.0
gpu model=b uuid=GPU-ab100000-0000-0000-0000-00000000000b pci=0000:02:00.0
gpu model=c uuid=GPU-c0000000-0000-0000-0000-00000000000c pci=0000:03:00.0
gpu model=d uuid=GPU-d0000000-0000-0000-0000-00000000000d pci=0000:04:00.0
)";

// m and n are cut up, e is in MIG mode with no instance, f is whole.
constexpr char kMig[] = R"(
gpu model=m uuid=GPU-a0000000-0000-0000-0000-000000000001 pci=0000:01:00.0 mig=on
mig parent=GPU-a0000000-0000-0000-0000-000000000001 uuid=MIG-10000000-0000-0000-0000-000000000001 gi=7 ci=0 profile=x
mig parent=GPU-a0000000-0000-0000-0000-000000000001 uuid=MIG-20000000-0000-0000-0000-000000000002 gi=8 ci=0 profile=y
gpu model=e uuid=GPU-e0000000-0000-0000-0000-000000000002 pci=0000:02:00.0 mig=on
gpu model=f uuid=GPU-f0000000-0000-0000-0000-000000000003 pci=0000:03:00.0
gpu model=n uuid=GPU-b0000000-0000-0000-0000-000000000004 pci=0000:04:00.0 mig=on
mig parent=GPU-b0000000-0000-0000-0000-000000000004 uuid=MIG-30000000-0000-0000-0000-000000000003 behaviour=gone
mig parent=GPU-b0000000-0000-0000-0000-000000000004 uuid=MIG-40000000-0000-0000-0000-000000000004 profile=z
)";

constexpr char kSingle[] =
    "gpu model=a uuid=GPU-ab000000-0000-0000-0000-00000000000a pci=0000:01:00.0";

struct Row {
    const char* name;
    const char* node;
    const char* list;  // nullptr: not set
    const char* seen;
};

const Row kRows[] = {
    {"unset shows all", kFour, nullptr, "a,b,c,d"},
    {"empty shows none", kFour, "", "init:100"},
    {"one index", kFour, "2", "c"},
    {"list order counts", kFour, "3,0", "d,a"},
    {"stops at a negative index", kFour, "0,2,-1,1", "a,c"},
    {"negative first", kFour, "-1,0", "init:100"},
    {"stops past the end", kFour, "1,4,0", "b"},
    {"past the end first", kFour, "4", "init:100"},
    {"overflowing index", kFour, "0,99999999999999999999", "a"},
    {"trailing junk", kFour, "1gpu2,2ampere", "b,c"},
    {"no ranges", kFour, "0-2", "a"},
    {"no digits", kFour, "NoDevFiles", "init:100"},
    {"stops at an empty token", kFour, "0,,1", "a"},
    {"blank before an index", kFour, "0, 1", "a,b"},
    {"duplicate", kFour, "0,0", "init:100"},
    {"late duplicate", kFour, "0,1,2,1", "init:100"},
    {"duplicate after the stop", kFour, "0,-1,0", "a"},
    {"full uuid", kFour, "GPU-c0000000-0000-0000-0000-00000000000c", "c"},
    {"unique prefix", kFour, "GPU-d", "d"},
    {"prefixes in list order", kFour, "GPU-d,GPU-ab1", "d,b"},
    {"ambiguous prefix", kFour, "GPU-d,GPU-ab,GPU-c", "d"},
    {"unknown uuid", kFour, "GPU-c,GPU-dead,GPU-d", "c"},
    {"prefix of nothing", kSingle, "GPU-", "init:100"},
    {"uuid and prefix of one", kFour, "GPU-c0000000-0000-0000-0000-00000000000c,GPU-c", "init:100"},
    {"index then uuid", kFour, "3,GPU-c,1", "d"},
    {"uuid then index", kFour, "GPU-c,1", "c"},
    {"MIG uuid", kMig, "MIG-20000000-0000-0000-0000-000000000002", "m MIG y"},
    {"MIG uuid must be whole", kMig, "MIG-2", "init:100"},
    {"older MIG name", kMig, "MIG-GPU-a0000000-0000-0000-0000-000000000001/8/0", "m MIG y"},
    {"older MIG name, unknown", kMig, "MIG-GPU-a0000000-0000-0000-0000-000000000001/9/0",
     "init:100"},
    {"one MIG device at most", kMig,
     "MIG-20000000-0000-0000-0000-000000000002,MIG-10000000-0000-0000-0000-000000000001",
     "m MIG y"},
    {"duplicate MIG", kMig,
     "MIG-20000000-0000-0000-0000-000000000002,MIG-20000000-0000-0000-0000-000000000002",
     "init:100"},
    {"uuid of a cut GPU", kMig, "GPU-a", "m MIG x"},
    {"index of a cut GPU", kMig, "0", "m MIG x"},
    {"first instance gone", kMig, "GPU-b", "n MIG z"},
    {"instance gone", kMig, "MIG-30000000-0000-0000-0000-000000000003", "init:100"},
    {"MIG mode, no instance", kMig, "GPU-e", "init:100"},
    {"MIG and unset", kMig, nullptr, "m MIG x,f"},
    {"MIG and a whole GPU", kMig, "MIG-20000000-0000-0000-0000-000000000002,GPU-f", "m MIG y,f"},
};

START_TEST(list_selects)
{
    const Row& row = kRows[_i];
    const Node node(row.node);
    set_variable("CUDA_VISIBLE_DEVICES", row.list);
    const std::string seen = visible(node);
    ck_assert_msg(seen == row.seen, "%s: %s instead of %s", row.name, seen.c_str(), row.seen);
}
END_TEST

struct OrderRow {
    const char* order;
    const char* seen;
};

const OrderRow kOrders[] = {
    {nullptr, "fast,tie-low,tie-high,slow"},
    {"FASTEST_FIRST", "fast,tie-low,tie-high,slow"},
    {"PCI_BUS_ID", "slow,tie-low,tie-high,fast"},
};

START_TEST(order_follows_variable)
{
    const Node node(R"(
gpu model=tie-high uuid=GPU-00000000-0000-0000-0000-000000000003 pci=0000:0a:00.0 speed=5
gpu model=slow     uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 speed=1
gpu model=fast     uuid=GPU-00000000-0000-0000-0000-000000000004 pci=0001:00:00.0 speed=9
gpu model=tie-low  uuid=GPU-00000000-0000-0000-0000-000000000002 pci=0000:09:00.0 speed=5
)");
    set_variable("CUDA_DEVICE_ORDER", kOrders[_i].order);
    const std::string seen = visible(node);
    ck_assert_str_eq(seen.c_str(), kOrders[_i].seen);
}
END_TEST

// A device file that is missing stands for one that a device cgroup forbids: both fail access().
START_TEST(fenced_gpu_is_not_counted)
{
    const std::string there = driver_test::base_folder + "/device-" + std::to_string(getpid());
    const std::string text =
        "gpu model=a uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 "
        "device=/nowhere/nvidia5\n"
        "gpu model=b uuid=GPU-00000000-0000-0000-0000-000000000002 pci=0000:02:00.0 device=" +
        there +
        "\n"
        "gpu model=c uuid=GPU-00000000-0000-0000-0000-000000000003 pci=0000:03:00.0 "
        "behaviour=gone\n"
        "gpu model=d uuid=GPU-00000000-0000-0000-0000-000000000004 pci=0000:04:00.0\n";
    const Node node(text);
    node.write("../device-" + std::to_string(getpid()), "");
    const std::string all = driver_test::in_child([&] { return visible(node); });
    ck_assert_str_eq(all.c_str(), "b,d");
    set_variable("CUDA_VISIBLE_DEVICES", "1");
    const std::string second = driver_test::in_child([&] { return visible(node); });
    ck_assert_str_eq(second.c_str(), "d");
    set_variable("CUDA_VISIBLE_DEVICES", "GPU-00000000-0000-0000-0000-000000000001");
    const std::string fenced = driver_test::in_child([&] { return visible(node); });
    ck_assert_str_eq(fenced.c_str(), "init:100");
}
END_TEST

START_TEST(read_access_is_not_enough)
{
    if (getuid() == 0) {
        // Root may write what its mode forbids: be somebody else.
        ck_assert_int_eq(chmod(driver_test::base_folder.c_str(), 0755), 0);
    }
    const std::string device = driver_test::base_folder + "/ro-" + std::to_string(getpid());
    const Node node("gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 device=" +
                    device);
    node.write("../ro-" + std::to_string(getpid()), "");
    ck_assert_int_eq(chmod(device.c_str(), 0444), 0);
    const std::string seen = driver_test::in_child([&]() -> std::string {
        if (getuid() == 0 && setuid(65534) != 0) {
            return "cannot change user";
        }
        return visible(node);
    });
    ck_assert_str_eq(seen.c_str(), "init:100");
}
END_TEST

struct MpsRow {
    const char* pipe;
    const char* list;
    const char* seen;
};

const MpsRow kMps[] = {
    {nullptr, "0,2", "a,c"},       {"/run/mps", nullptr, "a,c"}, {"/run/mps", "0,1", "a,c"},
    {"/run/mps", "2", "init:100"}, {"/run/mps", "0,2", "a"},
};

START_TEST(mps_daemon_renumbers)
{
    const Node node(std::string("driver mps_list=0,2\n") + kFour);
    set_variable("CUDA_MPS_PIPE_DIRECTORY", kMps[_i].pipe);
    set_variable("CUDA_VISIBLE_DEVICES", kMps[_i].list);
    const std::string seen = visible(node);
    ck_assert_str_eq(seen.c_str(), kMps[_i].seen);
}
END_TEST

START_TEST(list_is_read_once)
{
    const Node node(kFour);
    const driver_test::Driver driver(node);
    int count = 0;
    set_variable("CUDA_VISIBLE_DEVICES", "1,2");
    ck_assert_int_eq(driver.init(0), 0);
    set_variable("CUDA_VISIBLE_DEVICES", "1");
    ck_assert_int_eq(driver.init(0), 0);
    ck_assert_int_eq(driver.count(&count), 0);
    ck_assert_int_eq(count, 2);
}
END_TEST

}  // namespace

TCase* driver_test::selection_cases()
{
    TCase* const cases = tcase_create("selection");
    const auto rows = [](const auto& table) { return static_cast<int>(std::size(table)); };
    tcase_add_loop_test(cases, list_selects, 0, rows(kRows));
    tcase_add_loop_test(cases, order_follows_variable, 0, rows(kOrders));
    tcase_add_test(cases, fenced_gpu_is_not_counted);
    tcase_add_test(cases, read_access_is_not_enough);
    tcase_add_loop_test(cases, mps_daemon_renumbers, 0, rows(kMps));
    tcase_add_test(cases, list_is_read_once);
    return cases;
}

// SPDX-License-Identifier: Apache-2.0
//
// CUDA's own rules: what is refused when, and what a device says of itself.

#include <dlfcn.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::Driver;
using driver_test::Node;

namespace {

constexpr char kOne[] =
    "driver version=12080 mps=1\n"
    "gpu model=\"A B\" uuid=GPU-0123abcd-0000-0000-0000-0000000000ff pci=0001:17:1a.0 total=16G "
    "used=1G\n";
constexpr std::size_t kGiB = std::size_t{1} << 30U;

/// Every call that needs a driver; in a context where it needs one, with arguments that are right.
std::vector<std::function<int()>> all_calls(const Driver& d)
{
    static int number = 0;
    static char text[64];
    static fake_cuda::Uuid uuid;
    static std::size_t size = 0;
    static fake_cuda::DevicePointer memory = 0;
    static fake_cuda::ContextHandle* context = nullptr;
    static fake_cuda::ModuleHandle* module = nullptr;
    static fake_cuda::FunctionHandle* function = nullptr;
    return {
        [&d] { return d.count(&number); },
        [&d] { return d.get(&number, 0); },
        [&d] { return d.name(text, sizeof text, 0); },
        [&d] { return d.attribute(&number, 20, 0); },
        [&d] { return d.pci(text, sizeof text, 0); },
        [&d] { return d.parent_uuid(&uuid, 0); },
        [&d] { return d.uuid(&uuid, 0); },
        [&d] { return d.total(&size, 0); },
        [&d] { return d.create(&context, 0, 0); },
        [&d] { return d.info(&size, &size); },
        [&d] { return d.alloc(&memory, 4096); },
        [&d] { return d.set(memory, 1, 1024); },
        [&d] { return d.to_device(memory, text, sizeof text); },
        [&d] { return d.to_host(text, memory, sizeof text); },
        [&d] { return d.load_module(&module, ".version 3.2\n.target sm_20\n"); },
        [&d] { return d.get_function(&function, module, "fill"); },
        [&d] { return d.launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr); },
        [&d] { return d.sync(); },
        [&d] { return d.free(memory); },
        [&d] { return d.destroy(context); },
    };
}

constexpr std::size_t kFirstInContext = 9;
constexpr std::size_t kFirstAfterContext = 19;

START_TEST(nothing_works_before_init)
{
    const Driver driver{Node(kOne)};
    for (const auto& call : all_calls(driver)) {
        ck_assert_int_eq(call(), fake_cuda::not_initialized);
    }
    int version = 0;
    const char* name = nullptr;
    ck_assert_int_eq(driver.version(&version), 0);
    ck_assert_int_eq(version, 12080);
    ck_assert_int_eq(driver.error_name(214, &name), 0);
    ck_assert_str_eq(name, "CUDA_ERROR_ECC_UNCORRECTABLE");
    ck_assert_int_eq(driver.error_name(12345, &name), fake_cuda::invalid_value);
    ck_assert_ptr_null(name);
}
END_TEST

START_TEST(all_works_after_init)
{
    const Driver driver{Node(kOne)};
    ck_assert_int_eq(driver.init(0), 0);
    std::size_t position = 0;
    for (const auto& call : all_calls(driver)) {
        ck_assert_msg(call() == 0, "call %zu fails", position);
        ++position;
    }
}
END_TEST

START_TEST(work_needs_a_context)
{
    const Driver driver{Node(kOne)};
    ck_assert_int_eq(driver.init(0), 0);
    const auto calls = all_calls(driver);
    for (std::size_t i = kFirstInContext; i < kFirstAfterContext; ++i) {
        ck_assert_msg(calls[i]() == fake_cuda::invalid_context, "call %zu works", i);
    }
}
END_TEST

START_TEST(init_refuses_flags)
{
    const Driver driver{Node(kOne)};
    ck_assert_int_eq(driver.init(1), fake_cuda::invalid_value);
    ck_assert_int_eq(driver.init(0), 0);
}
END_TEST

START_TEST(failed_init_stays_failed)
{
    const Driver driver{Node(std::string(kOne) + "all behaviour=trans802_for:10ms")};
    int count = 0;
    ck_assert_int_eq(driver.init(0), 802);
    (void)usleep(50000);
    ck_assert_int_eq(driver.init(0), 802);
    ck_assert_int_eq(driver.count(&count), fake_cuda::not_initialized);
}
END_TEST

START_TEST(null_pointers_are_refused)
{
    const Driver d{Node(kOne)};
    fake_cuda::ContextHandle* context = nullptr;
    fake_cuda::ModuleHandle* module = nullptr;
    std::size_t size = 0;
    ck_assert_int_eq(d.init(0), 0);
    ck_assert_int_eq(d.create(&context, 0, 0), 0);
    const int codes[] = {
        d.version(nullptr),
        d.error_name(0, nullptr),
        d.count(nullptr),
        d.get(nullptr, 0),
        d.name(nullptr, 10, 0),
        d.attribute(nullptr, 20, 0),
        d.pci(nullptr, 20, 0),
        d.parent_uuid(nullptr, 0),
        d.uuid(nullptr, 0),
        d.total(nullptr, 0),
        d.create(nullptr, 0, 0),
        d.destroy(nullptr),
        d.info(nullptr, &size),
        d.info(&size, nullptr),
        d.alloc(nullptr, 4),
        d.to_host(nullptr, 0, 4),
        d.to_device(0, nullptr, 4),
        d.load_module(&module, nullptr),
        d.load_module(nullptr, ".version"),
    };
    for (std::size_t i = 0; i < std::size(codes); ++i) {
        ck_assert_msg(codes[i] == fake_cuda::invalid_value, "call %zu gives %d", i, codes[i]);
    }
}
END_TEST

START_TEST(device_tells_what_it_is)
{
    const Driver d{Node(kOne)};
    char text[64];
    std::size_t total = 0;
    fake_cuda::Uuid uuid{};
    ck_assert_int_eq(d.init(0), 0);
    ck_assert_int_eq(d.name(text, sizeof text, 0), 0);
    ck_assert_str_eq(text, "A B");
    ck_assert_int_eq(d.name(text, 2, 0), 0);
    ck_assert_str_eq(text, "A");
    ck_assert_int_eq(d.pci(text, 13, 0), 0);
    ck_assert_str_eq(text, "0001:17:1a.0");
    ck_assert_int_eq(d.pci(text, 12, 0), fake_cuda::invalid_value);
    ck_assert_int_eq(d.uuid(&uuid, 0), 0);
    ck_assert_uint_eq(uuid.bytes[0], 0x01);
    ck_assert_uint_eq(uuid.bytes[3], 0xcd);
    ck_assert_uint_eq(uuid.bytes[15], 0xff);
    ck_assert_int_eq(d.total(&total, 0), 0);
    ck_assert_uint_eq(total, 16 * kGiB);
    const int attributes[][2] = {{20, 0}, {75, 9}, {76, 0}, {16, 16}, {133, 1}, {33, 23}, {50, 1}};
    for (const auto& [number, expected] : attributes) {
        int value = -1;
        ck_assert_int_eq(d.attribute(&value, number, 0), 0);
        ck_assert_int_eq(value, expected);
    }
    int value = 0;
    ck_assert_int_eq(d.attribute(&value, 9999, 0), fake_cuda::invalid_value);
    ck_assert_int_eq(d.get(&value, 1), fake_cuda::invalid_device);
    ck_assert_int_eq(d.get(&value, -1), fake_cuda::invalid_device);
}
END_TEST

START_TEST(instance_has_its_own_uuid)
{
    const Driver d{
        Node("gpu uuid=GPU-aa000000-0000-0000-0000-000000000000 pci=0000:01:00.0 mig=on "
             "total=80G\nmig parent=GPU-aa000000-0000-0000-0000-000000000000 "
             "uuid=MIG-bb000000-0000-0000-0000-000000000000")};
    fake_cuda::Uuid uuid{};
    std::size_t total = 0;
    ck_assert_int_eq(d.init(0), 0);
    ck_assert_int_eq(d.uuid(&uuid, 0), 0);
    ck_assert_uint_eq(uuid.bytes[0], 0xbb);
    ck_assert_int_eq(d.parent_uuid(&uuid, 0), 0);
    ck_assert_uint_eq(uuid.bytes[0], 0xaa);
    ck_assert_int_eq(d.total(&total, 0), 0);
    ck_assert_uint_eq(total, 10 * kGiB);
}
END_TEST

// They exist in the real library, with 32-bit sizes; nobody may take them by mistake.
START_TEST(old_names_are_not_there)
{
    const Driver d{Node(kOne)};
    for (const char* const name :
         {"cuCtxCreate", "cuCtxDestroy", "cuMemAlloc", "cuMemFree", "cuMemGetInfo", "cuMemsetD32",
          "cuMemcpyHtoD", "cuMemcpyDtoH", "cuDeviceTotalMem", "init", "_ZN9fake_cuda7processEv"}) {
        ck_assert_msg(dlsym(d.library, name) == nullptr, "%s is exported", name);
    }
}
END_TEST

}  // namespace

TCase* driver_test::rule_cases()
{
    TCase* const cases = tcase_create("rules");
    tcase_add_test(cases, nothing_works_before_init);
    tcase_add_test(cases, all_works_after_init);
    tcase_add_test(cases, work_needs_a_context);
    tcase_add_test(cases, init_refuses_flags);
    tcase_add_test(cases, failed_init_stays_failed);
    tcase_add_test(cases, null_pointers_are_refused);
    tcase_add_test(cases, device_tells_what_it_is);
    tcase_add_test(cases, instance_has_its_own_uuid);
    tcase_add_test(cases, old_names_are_not_there);
    return cases;
}

// SPDX-License-Identifier: Apache-2.0
//
// Memory is honest: what is written comes back, what does not fit is refused.

#include <sys/resource.h>

#include <string>

#include "driver_test.hpp"
#include "driver_test_node.hpp"

using driver_test::Driver;
using driver_test::Node;

namespace {

constexpr char kOne[] =
    "driver version=12080 mps=1\n"
    "gpu model=\"A B\" uuid=GPU-0123abcd-0000-0000-0000-0000000000ff pci=0001:17:1a.0 total=16G "
    "used=1G\n";
constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kGiB = std::size_t{1} << 30U;

/// An initialised driver with a context on device 0.
struct InContext : Driver {
    explicit InContext(const std::string& steering) : Driver(Node(steering))
    {
        ck_assert_int_eq(init(0), 0);
        ck_assert_int_eq(create(&context, 0, 0), 0);
    }

    std::size_t free_bytes() const
    {
        std::size_t free_now = 0;
        std::size_t all = 0;
        ck_assert_int_eq(info(&free_now, &all), 0);
        ck_assert_uint_eq(all, 16 * kGiB);
        return free_now;
    }

    fake_cuda::ContextHandle* context = nullptr;
};

START_TEST(free_memory_is_counted)
{
    const InContext d(kOne);
    const std::size_t at_first = 15 * kGiB - 400 * kMiB;
    fake_cuda::DevicePointer memory = 0;
    ck_assert_uint_eq(d.free_bytes(), at_first);
    ck_assert_int_eq(d.alloc(&memory, kGiB), 0);
    ck_assert_uint_eq(d.free_bytes(), at_first - kGiB);
    ck_assert_int_eq(d.free(memory), 0);
    ck_assert_uint_eq(d.free_bytes(), at_first);
    ck_assert_int_eq(d.alloc(&memory, at_first + 1), fake_cuda::out_of_memory);
    ck_assert_int_eq(d.alloc(&memory, at_first), 0);
    ck_assert_int_eq(d.alloc(&memory, 1), fake_cuda::out_of_memory);
    ck_assert_int_eq(d.alloc(&memory, 0), fake_cuda::invalid_value);
}
END_TEST

START_TEST(full_gpu_takes_no_context)
{
    const Driver d{
        Node("gpu uuid=GPU-00000000-0000-0000-0000-000000000001 pci=0000:01:00.0 "
             "total=16G used=16G")};
    fake_cuda::ContextHandle* context = nullptr;
    ck_assert_int_eq(d.init(0), 0);
    ck_assert_int_eq(d.create(&context, 0, 0), fake_cuda::out_of_memory);
}
END_TEST

START_TEST(memory_keeps_what_is_written)
{
    const InContext d(kOne);
    fake_cuda::DevicePointer first = 0;
    fake_cuda::DevicePointer second = 0;
    unsigned words[4] = {1, 2, 3, 4};
    unsigned back[4] = {};
    ck_assert_int_eq(d.alloc(&first, 64), 0);
    ck_assert_int_eq(d.alloc(&second, 64), 0);
    ck_assert_int_eq(d.set(first, 0x01020304, 16), 0);
    ck_assert_int_eq(d.set(second, 7, 16), 0);
    ck_assert_int_eq(d.to_device(first + 16, words, sizeof words), 0);
    ck_assert_int_eq(d.to_host(back, first + 12, sizeof back), 0);
    ck_assert_uint_eq(back[0], 0x01020304);
    ck_assert_uint_eq(back[1], 1);
    ck_assert_uint_eq(back[3], 3);
    ck_assert_int_eq(d.to_host(back, second, sizeof back), 0);
    ck_assert_uint_eq(back[0], 7);
}
END_TEST

START_TEST(ranges_are_checked)
{
    const InContext d(kOne);
    fake_cuda::DevicePointer memory = 0;
    unsigned char bytes[64] = {};
    ck_assert_int_eq(d.alloc(&memory, 64), 0);
    ck_assert_int_eq(d.to_host(bytes, memory, 64), 0);
    const int codes[] = {
        d.to_host(bytes, memory + 1, 64),
        d.to_host(bytes, memory - 1, 2),
        d.to_host(bytes, memory + 64, 1),
        d.to_host(bytes, memory + 65, 1),
        d.to_device(memory + 32, bytes, 33),
        d.to_device(0, bytes, 1),
        d.set(memory, 1, 17),
        d.set(memory + 2, 1, 1),
        d.set(memory, 1, (std::size_t{1} << 62U) + 1),
        d.free(memory + 4),
    };
    for (std::size_t i = 0; i < std::size(codes); ++i) {
        ck_assert_msg(codes[i] == fake_cuda::invalid_value, "call %zu gives %d", i, codes[i]);
    }
    ck_assert_int_eq(d.free(memory), 0);
    ck_assert_int_eq(d.free(memory), fake_cuda::invalid_value);
    ck_assert_int_eq(d.to_host(bytes, memory, 1), fake_cuda::invalid_value);
}
END_TEST

START_TEST(handles_are_checked)
{
    const InContext d(kOne);
    fake_cuda::ModuleHandle* module = nullptr;
    fake_cuda::FunctionHandle* function = nullptr;
    auto* const stranger = reinterpret_cast<fake_cuda::FunctionHandle*>(&module);
    ck_assert_int_eq(d.load_module(&module, "ELF"), fake_cuda::invalid_ptx);
    ck_assert_int_eq(d.get_function(&function, nullptr, "k"), fake_cuda::invalid_handle);
    ck_assert_int_eq(d.launch(stranger, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                     fake_cuda::invalid_handle);
    ck_assert_int_eq(d.destroy(d.context), 0);
    ck_assert_int_eq(d.destroy(d.context), fake_cuda::invalid_context);
    ck_assert_int_eq(d.sync(), fake_cuda::invalid_context);
}
END_TEST

START_TEST(sticky_error_stays)
{
    const InContext d(std::string(kOne) + "all behaviour=sync:700");
    fake_cuda::DevicePointer memory = 0;
    ck_assert_int_eq(d.alloc(&memory, 64), 0);
    ck_assert_int_eq(d.sync(), 700);
    ck_assert_int_eq(d.set(memory, 1, 1), 700);
    ck_assert_int_eq(d.destroy(d.context), 0);
}
END_TEST

START_TEST(other_errors_do_not_stay)
{
    const InContext d(std::string(kOne) + "all behaviour=alloc:2");
    fake_cuda::DevicePointer memory = 0;
    ck_assert_int_eq(d.alloc(&memory, 64), 2);
    ck_assert_int_eq(d.sync(), 0);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
START_TEST(address_limit_is_out_of_memory)
{
    const InContext d(kOne);
    fake_cuda::DevicePointer memory = 0;
    const rlimit limit{2 * kGiB, 2 * kGiB};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(d.alloc(&memory, 4 * kGiB), fake_cuda::out_of_memory);
    ck_assert_int_eq(d.alloc(&memory, 16 * kMiB), 0);
}
END_TEST

START_TEST(init_reserves_addresses)
{
    const Driver d{Node(std::string("driver reserve=32G\n") + kOne)};
    const rlimit limit{16 * kGiB, 16 * kGiB};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(d.init(0), fake_cuda::out_of_memory);
}
END_TEST
#endif

}  // namespace

TCase* driver_test::memory_cases()
{
    TCase* const cases = tcase_create("memory");
    tcase_add_test(cases, free_memory_is_counted);
    tcase_add_test(cases, full_gpu_takes_no_context);
    tcase_add_test(cases, memory_keeps_what_is_written);
    tcase_add_test(cases, ranges_are_checked);
    tcase_add_test(cases, handles_are_checked);
    tcase_add_test(cases, sticky_error_stays);
    tcase_add_test(cases, other_errors_do_not_stay);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(cases, address_limit_is_out_of_memory);
    tcase_add_test(cases, init_reserves_addresses);
#endif
    return cases;
}

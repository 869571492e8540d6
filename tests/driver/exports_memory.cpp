// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <iterator>
#include <memory>

#include "abi.hpp"
#include "call.hpp"

namespace fake_cuda {
namespace {

/// Device addresses are this far apart at least, so that one past an end is nobody's.
constexpr std::size_t kGranule = std::size_t{2} << 20U;

/// A range of device memory, inside one allocation.
struct Range {
    const Allocation* allocation = nullptr;  ///< nullptr: no such range
    std::size_t offset = 0;

    unsigned char* host() const { return allocation->host() + offset; }
};

Range find_range(const ContextHandle& context, DevicePointer pointer, std::size_t bytes)
{
    auto after = context.allocations.upper_bound(pointer);
    if (after == context.allocations.begin()) {
        return {};
    }
    const auto& [start, allocation] = *std::prev(after);
    const std::size_t offset = pointer - start;
    const bool inside = offset <= allocation->bytes() && bytes <= allocation->bytes() - offset;
    return inside ? Range{allocation.get(), offset} : Range{};
}

int allocate(ContextHandle& context, DevicePointer* pointer, std::size_t bytes)
{
    if (pointer == nullptr || bytes == 0) {
        return invalid_value;
    }
    if (bytes > free_memory(context.device)) {
        return out_of_memory;
    }
    auto allocation = Allocation::make(bytes);
    if (!allocation) {
        return out_of_memory;
    }
    DevicePointer& next = process().next_pointer;
    context.allocations.emplace(next, std::move(allocation));
    *pointer = next;
    next += (bytes / kGranule + 2) * kGranule;
    return success;
}

int set(const ContextHandle& context, DevicePointer pointer, unsigned value, std::size_t count)
{
    const bool representable = count <= static_cast<std::size_t>(-1) / sizeof value;
    if (pointer % sizeof value != 0 || !representable) {
        return invalid_value;
    }
    const Range range = find_range(context, pointer, count * sizeof value);
    if (range.allocation == nullptr) {
        return invalid_value;
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(range.host() + i * sizeof value, &value, sizeof value);
    }
    return success;
}

const std::optional<Mismatch>& mismatch_of(const Device& device)
{
    const auto& own = device.behaviour().mismatch;
    return own ? own : device.gpu->behaviour.mismatch;
}

/// Copies out, and flips one bit where the steering file says that this GPU does so.
void read_back(const Device& device, const Range& range, unsigned char* to, std::size_t bytes)
{
    std::memcpy(to, range.host(), bytes);
    const auto& mismatch = mismatch_of(device);
    if (!mismatch) {
        return;
    }
    const std::size_t wrong = mismatch->offset.value_or(range.allocation->bytes() / 2);
    if (wrong >= range.offset && wrong - range.offset < bytes) {
        to[wrong - range.offset] ^= 1U;
    }
}

}  // namespace
}  // namespace fake_cuda

using fake_cuda::ContextHandle;
using fake_cuda::DevicePointer;
using fake_cuda::in_context;
using fake_cuda::Stage;

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total)
{
    return in_context("cuMemGetInfo_v2", {Stage::meminfo}, [&](const ContextHandle& context) {
        if (free == nullptr || total == nullptr) {
            return fake_cuda::invalid_value;
        }
        *free = fake_cuda::free_memory(context.device);
        *total = context.device.total();
        return fake_cuda::success;
    });
}

int cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes)
{
    return in_context("cuMemAlloc_v2", {Stage::alloc}, [&](ContextHandle& context) {
        return fake_cuda::allocate(context, pointer, bytes);
    });
}

int cuMemFree_v2(DevicePointer pointer)
{
    return in_context("cuMemFree_v2", {Stage::free}, [&](ContextHandle& context) {
        return pointer == 0 || context.allocations.erase(pointer) == 1 ? fake_cuda::success
                                                                       : fake_cuda::invalid_value;
    });
}

int cuMemsetD32_v2(DevicePointer pointer, unsigned value, std::size_t count)
{
    return in_context("cuMemsetD32_v2", {Stage::set, Stage::launch},
                      [&](const ContextHandle& context) {
                          return fake_cuda::set(context, pointer, value, count);
                      });
}

int cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes)
{
    return in_context("cuMemcpyHtoD_v2", {Stage::copy}, [&](const ContextHandle& context) {
        const auto range = fake_cuda::find_range(context, to, bytes);
        if (from == nullptr || range.allocation == nullptr) {
            return fake_cuda::invalid_value;
        }
        std::memcpy(range.host(), from, bytes);
        return fake_cuda::success;
    });
}

int cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes)
{
    return in_context("cuMemcpyDtoH_v2", {Stage::copy}, [&](const ContextHandle& context) {
        const auto range = fake_cuda::find_range(context, from, bytes);
        if (to == nullptr || range.allocation == nullptr) {
            return fake_cuda::invalid_value;
        }
        fake_cuda::read_back(context.device, range, static_cast<unsigned char*>(to), bytes);
        return fake_cuda::success;
    });
}

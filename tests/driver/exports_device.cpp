// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "abi.hpp"
#include "call.hpp"

namespace fake_cuda {
namespace {

unsigned hex_value(std::string_view digits)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    unsigned value = 0;
    for (const char c : digits) {
        value = value * 16U + static_cast<unsigned>(kDigits.find(c));
    }
    return value;
}

/// `uuid` is well-formed: prefix, then 32 digits with dashes between.
Uuid bytes_of(std::string_view uuid)
{
    Uuid bytes{};
    std::string digits;
    for (const char c : uuid.substr(sizeof "GPU-" - 1)) {
        if (c != '-') {
            digits += c;
        }
    }
    for (std::size_t i = 0; i < sizeof bytes.bytes; ++i) {
        bytes.bytes[i] =
            static_cast<unsigned char>(hex_value(std::string_view(digits).substr(2 * i, 2)));
    }
    return bytes;
}

/// Attributes with CUdevice_attribute's numbers.
std::optional<int> attribute_of(const Device& device, int attribute)
{
    const std::string_view pci = device.gpu->pci;  // 0000:17:00.0
    const Steering& steering = process().steering;
    switch (attribute) {
        case 1:  // threads per block, and its x and y
        case 2:
        case 3:
            return 1024;
        case 4:  // block z
            return 64;
        case 10:  // warp size
            return 32;
        case 13:  // clock rate, kHz
            return 1755000;
        case 16:  // multiprocessors
            return 16;
        case 20:
            return static_cast<int>(device.gpu->mode);
        case 32:  // ECC enabled
        case 41:  // unified addressing
            return 1;
        case 33:
            return static_cast<int>(hex_value(pci.substr(5, 2)));
        case 34:
            return static_cast<int>(hex_value(pci.substr(8, 2)));
        case 50:
            return static_cast<int>(hex_value(pci.substr(0, 4)));
        case 75:  // compute capability 9.0
            return 9;
        case 76:
            return 0;
        case 133:  // MPS enabled, there since CUDA 12.4
            return steering.version < 12040 ? std::nullopt : std::optional(steering.mps ? 1 : 0);
        default:
            return std::nullopt;
    }
}

int get_count(int* count)
{
    if (const int refused = ready(); refused != success) {
        return refused;
    }
    if (count == nullptr) {
        return invalid_value;
    }
    const auto& devices = process().devices;
    const int fault = meet_faults("cuDeviceGetCount", Stage::enumerate, devices);
    *count = fault == success ? static_cast<int>(devices.size()) : 0;
    return fault;
}

int copy_uuid(Uuid* to, const std::string& uuid)
{
    if (to == nullptr) {
        return invalid_value;
    }
    *to = bytes_of(uuid);
    return success;
}

}  // namespace
}  // namespace fake_cuda

using fake_cuda::Device;
using fake_cuda::on_device;
using fake_cuda::Stage;

int cuDeviceGetCount(int* count)
{
    return fake_cuda::answer("cuDeviceGetCount",
                             [&](std::string& /*uuid*/) { return fake_cuda::get_count(count); });
}

int cuDeviceGet(int* device, int ordinal)
{
    return on_device("cuDeviceGet", Stage::enumerate, ordinal, [&](const Device& /*device*/) {
        if (device == nullptr) {
            return fake_cuda::invalid_value;
        }
        *device = ordinal;
        return fake_cuda::success;
    });
}

int cuDeviceGetName(char* name, int length, int device)
{
    return on_device("cuDeviceGetName", Stage::attributes, device, [&](const Device& found) {
        if (name == nullptr || length <= 0) {
            return fake_cuda::invalid_value;
        }
        const std::string full =
            found.gpu->model + (found.instance == nullptr ? "" : " MIG " + found.instance->profile);
        name[full.copy(name, static_cast<std::size_t>(length) - 1)] = '\0';
        return fake_cuda::success;
    });
}

int cuDeviceGetAttribute(int* value, int attribute, int device)
{
    return on_device("cuDeviceGetAttribute", Stage::attributes, device, [&](const Device& found) {
        const auto known = fake_cuda::attribute_of(found, attribute);
        if (value == nullptr || !known) {
            return fake_cuda::invalid_value;
        }
        *value = *known;
        return fake_cuda::success;
    });
}

int cuDeviceGetPCIBusId(char* bus_id, int length, int device)
{
    return on_device("cuDeviceGetPCIBusId", Stage::attributes, device, [&](const Device& found) {
        const std::string& pci = found.gpu->pci;
        if (bus_id == nullptr || length <= static_cast<int>(pci.size())) {
            return fake_cuda::invalid_value;
        }
        std::memcpy(bus_id, pci.c_str(), pci.size() + 1);
        return fake_cuda::success;
    });
}

/// Of a MIG instance this gives the GPU's.
int cuDeviceGetUuid(fake_cuda::Uuid* uuid, int device)
{
    return on_device("cuDeviceGetUuid", Stage::attributes, device, [&](const Device& found) {
        return fake_cuda::copy_uuid(uuid, found.gpu->uuid);
    });
}

int cuDeviceGetUuid_v2(fake_cuda::Uuid* uuid, int device)
{
    return on_device("cuDeviceGetUuid_v2", Stage::attributes, device,
                     [&](const Device& found) { return fake_cuda::copy_uuid(uuid, found.uuid()); });
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device)
{
    return on_device("cuDeviceTotalMem_v2", Stage::attributes, device, [&](const Device& found) {
        if (bytes == nullptr) {
            return fake_cuda::invalid_value;
        }
        *bytes = found.total();
        return fake_cuda::success;
    });
}

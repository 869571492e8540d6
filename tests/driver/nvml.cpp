// SPDX-License-Identifier: Apache-2.0
//
// A simulated libnvidia-ml.so.1: the few functions that the evidence probe asks. What it says is in
// DIR/NODE.nvml (nvml_steering.hpp), DIR being the folder that it was loaded from; calls are noted
// in DIR/calls.log, as the simulated driver's are.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "files.hpp"
#include "log.hpp"
#include "nvml_steering.hpp"

namespace fake_nvml {
namespace {

enum Return : int {
    success = 0,
    invalid_argument = 2,
    not_supported = 3,
    not_found = 6,
    insufficient_size = 7,
    unknown = 999,
};

Steering load()
{
    const char* const node = std::getenv("SLURMD_NODENAME");
    const std::string path =
        fake_cuda::home() + "/" + (node == nullptr ? "default" : node) + ".nvml";
    const auto text = fake_cuda::read_file(path);
    std::string problem = text ? "" : std::strerror(errno);
    Steering steering = parse_steering(text.value_or(""), problem);
    if (!problem.empty()) {
        (void)dprintf(STDERR_FILENO, "simulated libnvidia-ml: %s: %s\n", path.c_str(),
                      problem.c_str());
        steering.fault.result = unknown;
    }
    return steering;
}

const Steering& steering()
{
    static const auto* const only = new Steering(load());
    return *only;
}

/// Hangs or fails where the steering file says so; else what `body` returns.
template <class Body>
int answer(const char* call, const char* name, const Fault& fault, const std::string& uuid,
           Body body)
{
    if (fault.hang == name) {
        fake_cuda::log_call(call, uuid, "does:hang");
        for (;;) {
            pause();
        }
    }
    const bool fails = fault.result != success && fault.at == name;
    const int result = fails ? static_cast<int>(fault.result) : body();
    fake_cuda::log_call(call, uuid, result);
    return result;
}

template <class Body>
int on_gpu(const char* call, const char* name, const void* device, Body body)
{
    if (device == nullptr) {
        return invalid_argument;
    }
    const Gpu& gpu = *static_cast<const Gpu*>(device);
    return answer(call, name, gpu.fault, gpu.uuid, [&] { return body(gpu); });
}

int write_text(char* to, std::size_t length, const std::string& text)
{
    if (to == nullptr || length <= text.size()) {
        return to == nullptr ? invalid_argument : insufficient_size;
    }
    std::memcpy(to, text.c_str(), text.size() + 1);
    return success;
}

/// nvmlPciInfo_t.
struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    char bus_id[32];
};

/// nvmlMemory_t.
struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

}  // namespace
}  // namespace fake_nvml

// NOLINTBEGIN(readability-identifier-naming): the vendor's names
extern "C" {
#pragma GCC visibility push(default)

int nvmlInit_v2()
{
    const auto& fault = fake_nvml::steering().fault;
    return fake_nvml::answer("nvmlInit_v2", "init", fault, {}, [] { return 0; });
}

int nvmlDeviceGetCount_v2(unsigned* count)
{
    const auto& all = fake_nvml::steering();
    return fake_nvml::answer("nvmlDeviceGetCount_v2", "count", all.fault, {}, [&] {
        *count = static_cast<unsigned>(all.gpus.size());
        return 0;
    });
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void** device)
{
    const auto& all = fake_nvml::steering();
    if (index >= all.gpus.size()) {
        return fake_nvml::invalid_argument;
    }
    return fake_nvml::on_gpu("nvmlDeviceGetHandleByIndex_v2", "handle", &all.gpus[index],
                             [&](const fake_nvml::Gpu& gpu) {
                                 *device = &gpu;
                                 return fake_nvml::success;
                             });
}

int nvmlDeviceGetPciInfo_v3(const void* device, fake_nvml::PciInfo* info)
{
    return fake_nvml::on_gpu(
        "nvmlDeviceGetPciInfo_v3", "pci", device, [&](const fake_nvml::Gpu& gpu) {
            *info = {};
            // NVML writes a domain of eight digits, CUDA one of four.
            return fake_nvml::write_text(info->bus_id, sizeof info->bus_id, "0000" + gpu.pci);
        });
}

int nvmlDeviceGetUUID(const void* device, char* text, unsigned length)
{
    return fake_nvml::on_gpu("nvmlDeviceGetUUID", "uuid", device, [&](const fake_nvml::Gpu& gpu) {
        return fake_nvml::write_text(text, length, gpu.uuid);
    });
}

int nvmlDeviceGetMemoryInfo(const void* device, fake_nvml::Memory* memory)
{
    return fake_nvml::on_gpu("nvmlDeviceGetMemoryInfo", "memory", device,
                             [&](const fake_nvml::Gpu& gpu) {
                                 *memory = {gpu.total, gpu.total - gpu.used, gpu.used};
                                 return fake_nvml::success;
                             });
}

int nvmlDeviceGetMigMode(const void* device, unsigned* current, unsigned* pending)
{
    return fake_nvml::on_gpu("nvmlDeviceGetMigMode", "mig", device, [&](const fake_nvml::Gpu& gpu) {
        *current = *pending = gpu.mig == fake_nvml::MigMode::on ? 1 : 0;
        return gpu.mig == fake_nvml::MigMode::none ? fake_nvml::not_supported : fake_nvml::success;
    });
}

int nvmlDeviceGetMigDeviceHandleByIndex(const void* device, unsigned index, const void** instance)
{
    return fake_nvml::on_gpu(
        "nvmlDeviceGetMigDeviceHandleByIndex", "mig", device, [&](const fake_nvml::Gpu& gpu) {
            *instance = &gpu;
            return index < gpu.instances ? fake_nvml::success : fake_nvml::not_found;
        });
}

#pragma GCC visibility pop
}
// NOLINTEND(readability-identifier-naming)

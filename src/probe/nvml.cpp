#include "src/probe/nvml.hpp"

#include <dlfcn.h>

#include <array>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

// The slice of NVML's ABI that is called here.
struct DeviceHandle;
using Device = DeviceHandle*;

// nvmlReturn_t's values that matter.
constexpr int kSuccess = 0;
constexpr int kNotFound = 6;
constexpr int kGpuIsLost = 15;
constexpr int kResetRequired = 16;

/// nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3.
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

struct Api {
    int (*init)() = nullptr;
    int (*count)(unsigned* count) = nullptr;
    int (*handle)(unsigned index, Device* device) = nullptr;
    int (*pci)(Device device, PciInfo* info) = nullptr;
    int (*uuid)(Device device, char* text, unsigned length) = nullptr;
    int (*memory)(Device device, Memory* memory) = nullptr;
    int (*mig_mode)(Device device, unsigned* current, unsigned* pending) = nullptr;
    int (*mig_handle)(Device device, unsigned index, Device* instance) = nullptr;
};

template <class Function>
bool bind(void* library, Function*& slot, const char* name)
{
    slot = reinterpret_cast<Function*>(::dlsym(library, name));
    return slot != nullptr;
}

bool load(Api& api)
{
    void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library != nullptr && bind(library, api.init, "nvmlInit_v2") &&
           bind(library, api.count, "nvmlDeviceGetCount_v2") &&
           bind(library, api.handle, "nvmlDeviceGetHandleByIndex_v2") &&
           bind(library, api.pci, "nvmlDeviceGetPciInfo_v3") &&
           bind(library, api.uuid, "nvmlDeviceGetUUID") &&
           bind(library, api.memory, "nvmlDeviceGetMemoryInfo") &&
           bind(library, api.mig_mode, "nvmlDeviceGetMigMode") &&
           bind(library, api.mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
}

const char* fault(int result) noexcept
{
    if (result == kResetRequired) {
        return "the GPU requires a reset";
    }
    return result == kGpuIsLost ? "the GPU is lost" : nullptr;
}

/// "00000000:17:00.0", as NVML has it, to the "0000:17:00.0" of CUDA.
std::string pci_text(const PciInfo& info)
{
    const std::string text(info.bus_id);
    constexpr std::size_t kExtra = 4;
    return starts_with(text, "00000000:") ? text.substr(kExtra) : text;
}

std::string note_of_memory(const Memory& memory)
{
    constexpr unsigned long long kWorthSaying = 512ULL << 20U;
    return memory.used < kWorthSaying ? std::string()
                                      : size_text(memory.used) + " of its memory is used";
}

std::string note(const Api& api, Device device)
{
    Memory memory{};
    const int result = api.memory(device, &memory);
    if (const char* const broken = fault(result)) {
        return broken;
    }
    unsigned current = 0;
    unsigned pending = 0;
    Device instance = nullptr;
    if (api.mig_mode(device, &current, &pending) == kSuccess && current == 1 &&
        api.mig_handle(device, 0, &instance) == kNotFound) {
        return "MIG mode is on without an instance";
    }
    return result == kSuccess ? note_of_memory(memory) : std::string();
}

std::string entry(const Api& api, unsigned index)
{
    Device device = nullptr;
    const int result = api.handle(index, &device);
    if (const char* const broken = fault(result)) {
        return std::string("- - ") + broken;
    }
    PciInfo pci{};
    std::array<char, 96> uuid{};
    if (result != kSuccess || api.pci(device, &pci) != kSuccess) {
        return {};
    }
    const bool named = api.uuid(device, uuid.data(), uuid.size()) == kSuccess;
    const std::string said = note(api, device);
    return said.empty() ? said : pci_text(pci) + " " + (named ? uuid.data() : "-") + " " + said;
}

}  // namespace

std::string nvml_notes()
{
    Api api;
    unsigned count = 0;
    if (!load(api) || api.init() != kSuccess || api.count(&count) != kSuccess) {
        return {};
    }
    std::vector<std::string> entries;
    for (unsigned index = 0; index < count; ++index) {
        std::string one = entry(api, index);
        if (!one.empty()) {
            entries.push_back(std::move(one));
        }
    }
    return join(entries, "|");
}

}  // namespace auto_gpus

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "src/base/result.hpp"

/// The slice of the CUDA driver ABI that the probe calls, so that building needs no CUDA toolkit.
/// tests/abi holds it against the real <cuda.h> where there is one, and its names against
/// NVIDIA's real libcuda.
namespace auto_gpus::cuda {

using Device = int;
struct ContextHandle;
using Pointer = unsigned long long;  ///< CUdeviceptr

/// CUuuid: the bytes without "GPU-".
struct Uuid {
    unsigned char bytes[16];
};

/// CUdevice_attribute, and its values that we ask for.
using Attribute = int;
inline constexpr Attribute kComputeMode = 20;
inline constexpr Attribute kMpsEnabled = 133;

// Exported names, versions included: <cuda.h> maps cuCtxDestroy to cuCtxDestroy_v2 by macro, and
// dlsym() does not see macros. The bare names are an ABI with 32-bit sizes.
inline constexpr char kInit[] = "cuInit";
inline constexpr char kDriverGetVersion[] = "cuDriverGetVersion";
inline constexpr char kDeviceGetCount[] = "cuDeviceGetCount";
inline constexpr char kDeviceGet[] = "cuDeviceGet";
inline constexpr char kDeviceGetName[] = "cuDeviceGetName";
inline constexpr char kDeviceGetAttribute[] = "cuDeviceGetAttribute";
inline constexpr char kDeviceGetPciBusId[] = "cuDeviceGetPCIBusId";
inline constexpr char kDeviceGetUuid[] = "cuDeviceGetUuid_v2";
inline constexpr char kDeviceGetUuidBeforeR470[] = "cuDeviceGetUuid";
inline constexpr char kDeviceTotalMem[] = "cuDeviceTotalMem_v2";
inline constexpr char kCtxCreate[] = "cuCtxCreate_v2";
inline constexpr char kCtxDestroy[] = "cuCtxDestroy_v2";
inline constexpr char kCtxSynchronize[] = "cuCtxSynchronize";
inline constexpr char kMemGetInfo[] = "cuMemGetInfo_v2";
inline constexpr char kMemAlloc[] = "cuMemAlloc_v2";
inline constexpr char kMemFree[] = "cuMemFree_v2";
inline constexpr char kMemsetD32[] = "cuMemsetD32_v2";
inline constexpr char kMemcpyDtoH[] = "cuMemcpyDtoH_v2";

/// The functions of one loaded driver; never partly filled.
struct Api {
    int (*init)(unsigned flags) = nullptr;
    int (*driver_get_version)(int* version) = nullptr;
    int (*device_get_count)(int* count) = nullptr;
    int (*device_get)(Device* device, int ordinal) = nullptr;
    int (*device_get_name)(char* name, int length, Device device) = nullptr;
    int (*device_get_attribute)(int* value, Attribute attribute, Device device) = nullptr;
    int (*device_get_pci_bus_id)(char* id, int length, Device device) = nullptr;
    int (*device_get_uuid)(Uuid* uuid, Device device) = nullptr;
    int (*device_total_mem)(std::size_t* bytes, Device device) = nullptr;
    int (*ctx_create)(ContextHandle** context, unsigned flags, Device device) = nullptr;
    int (*ctx_destroy)(ContextHandle* context) = nullptr;
    int (*ctx_synchronize)() = nullptr;
    int (*mem_get_info)(std::size_t* free, std::size_t* total) = nullptr;
    int (*mem_alloc)(Pointer* pointer, std::size_t bytes) = nullptr;
    int (*mem_free)(Pointer pointer) = nullptr;
    int (*memset_d32)(Pointer to, unsigned value, std::size_t count) = nullptr;
    int (*memcpy_dtoh)(void* to, Pointer from, std::size_t bytes) = nullptr;
};

/// A loaded libcuda. It stays loaded as long as the object; `api()` dangles after that.
class Driver {
public:
    /// Runs the constructors of the library in this process: for a probe only.
    /// \param name  "libcuda.so.1" for the loader's search, or an absolute path
    /// \return Fault::driver with the loader's words, or the function that is missing
    static Result<Driver> load(const std::string& name);

    [[nodiscard]] const Api& api() const noexcept { return api_; }

    /// Path of the file that was loaded.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    struct Unload {
        void operator()(void* library) const noexcept;
    };
    using Library = std::unique_ptr<void, Unload>;

    Driver(Library library, const Api& api, std::string path) noexcept
        : library_(std::move(library)), api_(api), path_(std::move(path))
    {}

    Library library_;
    Api api_;
    std::string path_;
};

}  // namespace auto_gpus::cuda

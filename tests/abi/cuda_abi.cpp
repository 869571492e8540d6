// Our slice of the driver ABI, held against NVIDIA's <cuda.h>. Compiling is the test.
#include <cuda.h>

#include <string_view>

#include "src/probe/driver.hpp"
#include "tests/abi/same_abi.hpp"

HOLDS(init, kInit, cuInit);
HOLDS(driver_get_version, kDriverGetVersion, cuDriverGetVersion);
HOLDS(device_get_count, kDeviceGetCount, cuDeviceGetCount);
HOLDS(device_get, kDeviceGet, cuDeviceGet);
HOLDS(device_get_name, kDeviceGetName, cuDeviceGetName);
HOLDS(device_get_attribute, kDeviceGetAttribute, cuDeviceGetAttribute);
HOLDS(device_get_pci_bus_id, kDeviceGetPciBusId, cuDeviceGetPCIBusId);
HOLDS(device_total_mem, kDeviceTotalMem, cuDeviceTotalMem);
HOLDS(ctx_destroy, kCtxDestroy, cuCtxDestroy);
HOLDS(ctx_synchronize, kCtxSynchronize, cuCtxSynchronize);
HOLDS(mem_get_info, kMemGetInfo, cuMemGetInfo);
HOLDS(mem_alloc, kMemAlloc, cuMemAlloc);
HOLDS(mem_free, kMemFree, cuMemFree);
HOLDS(memset_d32, kMemsetD32, cuMemsetD32);
HOLDS(memcpy_dtoh, kMemcpyDtoH, cuMemcpyDtoH);
// ctx_create and device_get_uuid: cuda_abi_versions.cpp.

static_assert(sizeof(auto_gpus::cuda::Api) == 17 * sizeof(void*),
              "a function of the table is not compared");
static_assert(sizeof(auto_gpus::cuda::Device) == sizeof(CUdevice));
static_assert(sizeof(auto_gpus::cuda::Pointer) == sizeof(CUdeviceptr));
static_assert(sizeof(auto_gpus::cuda::Uuid) == sizeof(CUuuid));
static_assert(sizeof(auto_gpus::cuda::Uuid::bytes) == sizeof(CUuuid::bytes));
static_assert(int{auto_gpus::cuda::kComputeMode} == int{CU_DEVICE_ATTRIBUTE_COMPUTE_MODE});
#if CUDA_VERSION >= 12040
static_assert(int{auto_gpus::cuda::kMpsEnabled} == int{CU_DEVICE_ATTRIBUTE_MPS_ENABLED});
#endif

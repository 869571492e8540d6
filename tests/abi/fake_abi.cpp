// The simulated driver's functions, held against the table by which the plugin calls them.
#include <string_view>

#include "src/probe/driver.hpp"
#include "tests/abi/same_abi.hpp"
#include "tests/driver/abi.hpp"

HOLDS(init, kInit, cuInit);
HOLDS(driver_get_version, kDriverGetVersion, cuDriverGetVersion);
HOLDS(device_get_count, kDeviceGetCount, cuDeviceGetCount);
HOLDS(device_get, kDeviceGet, cuDeviceGet);
HOLDS(device_get_name, kDeviceGetName, cuDeviceGetName);
HOLDS(device_get_attribute, kDeviceGetAttribute, cuDeviceGetAttribute);
HOLDS(device_get_pci_bus_id, kDeviceGetPciBusId, cuDeviceGetPCIBusId);
HOLDS(device_get_uuid, kDeviceGetUuid, cuDeviceGetUuid_v2);
HOLDS(device_get_uuid, kDeviceGetUuidBeforeR470, cuDeviceGetUuid);
HOLDS(device_total_mem, kDeviceTotalMem, cuDeviceTotalMem_v2);
HOLDS(ctx_create, kCtxCreate, cuCtxCreate_v2);
HOLDS(ctx_destroy, kCtxDestroy, cuCtxDestroy_v2);
HOLDS(ctx_synchronize, kCtxSynchronize, cuCtxSynchronize);
HOLDS(mem_get_info, kMemGetInfo, cuMemGetInfo_v2);
HOLDS(mem_alloc, kMemAlloc, cuMemAlloc_v2);
HOLDS(mem_free, kMemFree, cuMemFree_v2);
HOLDS(memset_d32, kMemsetD32, cuMemsetD32_v2);
HOLDS(memcpy_dtoh, kMemcpyDtoH, cuMemcpyDtoH_v2);

static_assert(sizeof(auto_gpus::cuda::Api) == 17 * sizeof(void*),
              "a function of the table is not compared");

// The functions that <cuda.h> has since replaced, by name or by signature: it declares the version
// that the table binds only with __CUDA_API_VERSION_INTERNAL.
#include <cuda.h>

#include <string_view>

#include "src/probe/driver.hpp"
#include "tests/abi/same_abi.hpp"

HOLDS(ctx_create, kCtxCreate, cuCtxCreate_v2);
HOLDS(device_get_uuid, kDeviceGetUuid, cuDeviceGetUuid_v2);
HOLDS(device_get_uuid, kDeviceGetUuidBeforeR470, cuDeviceGetUuid);

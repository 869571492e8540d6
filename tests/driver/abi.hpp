// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The slice of the CUDA driver ABI that the simulated driver has, declared here so that building
// needs no CUDA toolkit. Names as exported: <cuda.h> hides the _v2 behind macros.

namespace fake_cuda {

using DevicePointer = unsigned long long;
struct ContextHandle;
struct ModuleHandle;
struct FunctionHandle;
struct StreamHandle;

/// The 16 bytes of a UUID, without the words GPU- or MIG-.
struct Uuid {
    unsigned char bytes[16];
};

/// The CUresult values that the simulation decides on by itself. Any other comes from a steering
/// file.
enum Code : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    stub_library = 34,
    device_unavailable = 46,
    no_device = 100,
    invalid_device = 101,
    invalid_context = 201,
    invalid_ptx = 218,
    invalid_handle = 400,
    unknown = 999,
};

}  // namespace fake_cuda

extern "C" {
#pragma GCC visibility push(default)

int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuGetErrorName(int code, const char** name);

int cuDeviceGetCount(int* count);
int cuDeviceGet(int* device, int ordinal);
int cuDeviceGetName(char* name, int length, int device);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceGetPCIBusId(char* bus_id, int length, int device);
int cuDeviceGetUuid(fake_cuda::Uuid* uuid, int device);
int cuDeviceGetUuid_v2(fake_cuda::Uuid* uuid, int device);
int cuDeviceTotalMem_v2(std::size_t* bytes, int device);

int cuCtxCreate_v2(fake_cuda::ContextHandle** context, unsigned flags, int device);
int cuCtxDestroy_v2(fake_cuda::ContextHandle* context);
int cuCtxSynchronize(void);

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total);
int cuMemAlloc_v2(fake_cuda::DevicePointer* pointer, std::size_t bytes);
int cuMemFree_v2(fake_cuda::DevicePointer pointer);
int cuMemsetD32_v2(fake_cuda::DevicePointer pointer, unsigned value, std::size_t count);
int cuMemcpyHtoD_v2(fake_cuda::DevicePointer to, const void* from, std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, fake_cuda::DevicePointer from, std::size_t bytes);

int cuModuleLoadData(fake_cuda::ModuleHandle** module, const void* image);
int cuModuleGetFunction(fake_cuda::FunctionHandle** function, fake_cuda::ModuleHandle* module,
                        const char* name);
int cuLaunchKernel(fake_cuda::FunctionHandle* function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, fake_cuda::StreamHandle* stream, void** parameters,
                   void** extra);
#pragma GCC visibility pop
}

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "abi.hpp"
#include "call.hpp"
#include "error_names.hpp"
#include "text.hpp"

namespace fake_cuda {
namespace {

constexpr char kInit[] = "cuInit";

std::string field(const char* key, const char* variable)
{
    const char* const value = std::getenv(variable);
    return std::string(" ") + key + "=" + (value == nullptr ? "-" : escaped(value));
}

/// How many descriptors above 2 this process has open, up to a bound.
int open_descriptors()
{
    constexpr int kBound = 256;
    int count = 0;
    for (int fd = STDERR_FILENO + 1; fd < kBound; ++fd) {
        count += fcntl(fd, F_GETFD) == -1 ? 0 : 1;
    }
    return count;
}

/// What a test may want to know about the process that calls cuInit.
std::string circumstances(const Process& here)
{
    return "devices=" + std::to_string(here.devices.size()) + " uid=" + std::to_string(getuid()) +
           " ppid=" + std::to_string(getppid()) + " fds=" + std::to_string(open_descriptors()) +
           field("order", "CUDA_DEVICE_ORDER") + field("cache_disable", "CUDA_CACHE_DISABLE") +
           field("ld_library_path", "LD_LIBRARY_PATH") +
           field("injection", "CUDA_INJECTION64_PATH") +
           field("mps_pipe", "CUDA_MPS_PIPE_DIRECTORY");
}

/// The real driver takes much address space, which shows under RLIMIT_AS.
bool reserve(std::size_t bytes)
{
    return bytes == 0 || mmap(nullptr, bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

int initialise(Process& here)
{
    here.devices = visible_devices(
        here.steering, {std::getenv("CUDA_VISIBLE_DEVICES"), std::getenv("CUDA_DEVICE_ORDER"),
                        std::getenv("CUDA_MPS_PIPE_DIRECTORY")});
    log_call(kInit, {}, "begin", circumstances(here));
    const ParallelTrap trap(kInit);
    take_time(here.steering.init +
              here.steering.init_per_gpu * static_cast<long>(here.devices.size()));
    const int fault = meet_faults(kInit, Stage::init, here.devices);
    if (fault != success) {
        return fault;
    }
    if (here.devices.empty()) {
        return no_device;
    }
    return reserve(here.steering.reserve) ? success : out_of_memory;
}

int refuse_steering(const std::string& problem)
{
    (void)dprintf(STDERR_FILENO, "simulated libcuda: %s\n", problem.c_str());
    log_call(kInit, {}, "begin", "error=" + escaped(problem));
    return unknown;
}

int init(unsigned flags)
{
    Process& here = process();
    if (here.steering.stub) {
        return stub_library;
    }
    if (!here.problem.empty()) {
        return refuse_steering(here.problem);
    }
    if (here.init_result) {
        const bool forked = here.init_result == success && here.owner != getpid();
        return forked ? static_cast<int>(not_initialized) : *here.init_result;
    }
    if (flags != 0) {
        return invalid_value;
    }
    here.owner = getpid();
    here.init_result = initialise(here);
    return *here.init_result;
}

}  // namespace
}  // namespace fake_cuda

int cuInit(unsigned flags)
{
    return fake_cuda::answer(fake_cuda::kInit,
                             [&](std::string& /*uuid*/) { return fake_cuda::init(flags); });
}

int cuDriverGetVersion(int* version)
{
    return fake_cuda::answer("cuDriverGetVersion", [&](std::string& /*uuid*/) -> int {
        const fake_cuda::Process& here = fake_cuda::process();
        if (here.steering.stub) {
            return fake_cuda::stub_library;
        }
        if (version == nullptr) {
            return fake_cuda::invalid_value;
        }
        *version = here.steering.version;
        return here.problem.empty() ? fake_cuda::success : fake_cuda::unknown;
    });
}

int cuGetErrorName(int code, const char** name)
{
    return fake_cuda::answer("cuGetErrorName", [&](std::string& /*uuid*/) -> int {
        if (name == nullptr) {
            return fake_cuda::invalid_value;
        }
        const bool stub = fake_cuda::process().steering.stub;
        *name = stub ? nullptr : fake_cuda::error_name(code);
        if (stub) {
            return fake_cuda::stub_library;
        }
        return *name == nullptr ? fake_cuda::invalid_value : fake_cuda::success;
    });
}

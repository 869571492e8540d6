// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi.hpp"
#include "files.hpp"
#include "selection.hpp"
#include "steering.hpp"

namespace fake_cuda {

/// Device memory, held in an anonymous mapping of the same size that grows as it is written.
class Allocation {
public:
    /// \return nothing when the kernel refuses the mapping, as under a small RLIMIT_AS
    static std::unique_ptr<Allocation> make(std::size_t bytes);
    Allocation(const Allocation&) = delete;
    Allocation& operator=(const Allocation&) = delete;
    ~Allocation();

    unsigned char* host() const { return host_; }
    std::size_t bytes() const { return bytes_; }

private:
    Allocation(unsigned char* host, std::size_t bytes) : host_(host), bytes_(bytes) {}

    unsigned char* host_;
    std::size_t bytes_;
};

struct ModuleHandle {
    std::string ptx;
};

struct FunctionHandle {
    const ModuleHandle* module;
    std::string name;
};

/// A context, and all that ends with it.
struct ContextHandle {
    Device device;
    Fd lock;         ///< of an exclusive-process GPU
    int sticky = 0;  ///< the error that this context answers everything with, or 0
    std::map<DevicePointer, std::unique_ptr<Allocation>> allocations;
    std::vector<std::unique_ptr<ModuleHandle>> modules;
    std::vector<std::unique_ptr<FunctionHandle>> functions;
};

/// What the driver knows in this process.
struct Process {
    Steering steering;
    std::string problem;  ///< why there is no steering; "" when there is
    pid_t owner = 0;      ///< the process that called cuInit
    std::optional<int> init_result;
    std::vector<Device> devices;
    std::vector<std::unique_ptr<ContextHandle>> contexts;  ///< a stack, the last is current
    std::map<std::string, bool> decided;  ///< faults with a limit: do they show in this process?
    DevicePointer next_pointer = 0xfa1100000000;  ///< no host address: using it there faults
};

/// Made, and the steering file read, at the first call.
Process& process();

/// 0, or why a call that needs an initialised driver is refused (stub, no cuInit, forked).
int ready();

/// What is left of a device's memory as this process sees it.
std::size_t free_memory(const Device& device);

}  // namespace fake_cuda

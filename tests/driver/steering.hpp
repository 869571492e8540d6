// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "behaviour.hpp"

namespace fake_cuda {

/// A MIG instance (GPU instance and compute instance as one).
struct Instance {
    std::string uuid;
    std::string profile = "1g";
    std::string device;  ///< as in Gpu
    unsigned gi = 0;
    unsigned ci = 0;
    std::size_t total = 0;
    std::size_t used = 0;
    Behaviour behaviour;
};

/// A GPU of the simulated node, reachable or not.
struct Gpu {
    std::string model = "NVIDIA Simulated GPU";
    std::string uuid;
    std::string pci;
    std::string device;  ///< must be readable and writable for the GPU to be seen; "": always seen
    std::size_t total = std::size_t{16} << 30U;
    std::size_t used = 0;
    Mode mode = Mode::normal;
    std::size_t speed = 1;
    bool mig = false;
    Behaviour behaviour;
    std::vector<Instance> instances;
};

/// Faults that show only in a process that sees all the GPUs named.
struct Together {
    std::string name;                ///< "together" and its number in the file, from 1
    std::vector<std::string> uuids;  ///< GPU-… or MIG-…, full
    Behaviour behaviour;
};

/// One steering file.
struct Steering {
    int version = 12040;
    std::chrono::nanoseconds init{0};
    std::chrono::nanoseconds init_per_gpu{0};
    std::chrono::nanoseconds context{0};
    std::size_t context_memory = std::size_t{400} << 20U;
    std::size_t reserve = 0;  ///< address space taken by cuInit
    bool stub = false;
    bool mps = false;
    bool deadlock_parallel = false;
    bool mps_renumbers = false;
    std::vector<std::size_t> mps_list;  ///< counts if mps_renumbers
    std::vector<Gpu> gpus;
    std::vector<Together> together;
    Behaviour all;
};

/// Reads a steering file's text.
///
/// \param name  how the file is called in `problem`
/// \param problem  set to "name:line: what is wrong and what is allowed"; untouched when all is
/// well
Steering parse_steering(std::string_view text, const std::string& name, std::string& problem);

}  // namespace fake_cuda

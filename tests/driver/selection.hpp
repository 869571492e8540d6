// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steering.hpp"

namespace fake_cuda {

/// A CUDA device of this process: a GPU, or one of its MIG instances.
struct Device {
    const Gpu* gpu = nullptr;
    const Instance* instance = nullptr;  ///< nullptr: the whole GPU

    const std::string& uuid() const { return instance != nullptr ? instance->uuid : gpu->uuid; }
    const Behaviour& behaviour() const
    {
        return instance != nullptr ? instance->behaviour : gpu->behaviour;
    }
    std::size_t total() const { return instance != nullptr ? instance->total : gpu->total; }
    std::size_t used() const { return instance != nullptr ? instance->used : gpu->used; }

    friend bool operator==(const Device& a, const Device& b)
    {
        return a.gpu == b.gpu && a.instance == b.instance;
    }
};

/// The variables that decide which devices a process sees; nullptr is "not set".
struct Environment {
    const char* visible_devices;  ///< CUDA_VISIBLE_DEVICES
    const char* device_order;     ///< CUDA_DEVICE_ORDER
    const char* mps_pipe;         ///< CUDA_MPS_PIPE_DIRECTORY
};

/// The devices as the process counts them, from 0. Those that are gone, fenced off (no read and
/// write access to their device file) or in MIG mode without an instance do not count.
std::vector<Device> visible_devices(const Steering& steering, const Environment& environment);

}  // namespace fake_cuda

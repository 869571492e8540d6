// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "process.hpp"

namespace fake_cuda {

/// One cuLaunchKernel, checked: the function is of `context`, no dimension is 0.
struct Launch {
    ContextHandle& context;
    const FunctionHandle& function;  ///< its name, and the PTX through its module
    unsigned threads;                ///< of a block
    void** parameters;               ///< as given to cuLaunchKernel; may be nullptr
};

/// The place where kernels are simulated, by name. So far it knows none: a launch succeeds and
/// changes no memory.
int run_kernel(const Launch& launch);

}  // namespace fake_cuda

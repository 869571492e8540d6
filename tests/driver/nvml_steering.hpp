// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What the simulated NVML says, read from DIR/NODE.nvml. It knows nothing of the simulated driver:
// a test says what NVML sees, and what CUDA does, apart.

namespace fake_nvml {

/// One call that fails or never returns.
struct Fault {
    std::size_t result = 0;  ///< an nvmlReturn_t; 0: none
    std::string at;          ///< init, count, handle, pci, uuid, memory or mig
    std::string hang;        ///< the same names; empty: none
};

enum class MigMode { none, off, on };

struct Gpu {
    std::string uuid;
    std::string pci;
    std::size_t total = std::size_t{80} << 30U;
    std::size_t used = 0;
    MigMode mig = MigMode::none;
    std::size_t instances = 0;
    Fault fault;
};

struct Steering {
    Fault fault;  ///< of the node
    std::vector<Gpu> gpus;
};

/// Reads a steering file's text.
///
///     nvml result=18 at=init                # of the node; also hang=init, hang=count
///     gpu uuid=GPU-… pci=0000:17:00.0 total=81559M used=1092M mig=on instances=2 result=16
///     at=memory
///
/// \param problem  set to what is wrong and what is allowed; untouched when all is well
Steering parse_steering(std::string_view text, std::string& problem);

}  // namespace fake_nvml

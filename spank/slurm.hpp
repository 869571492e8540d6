#pragma once

// The one place that includes Slurm's headers. spank.h declares the hooks outside its own
// extern "C", so it is included within one.
extern "C" {
#include <slurm/spank.h>
}

#include <cstdint>

namespace auto_gpus::slurm {

// Step ids that are no ordinary step's (slurm.h, where the names differ between releases).
inline constexpr std::uint32_t kInteractiveStep = 0xfffffffa;
inline constexpr std::uint32_t kBatchStep = 0xfffffffb;
inline constexpr std::uint32_t kExternStep = 0xfffffffc;

}  // namespace auto_gpus::slurm

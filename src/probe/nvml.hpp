#pragma once

#include <string>

namespace auto_gpus {

/// What NVML says of the node's GPUs that explains a fault: "requires a reset", "is lost", "MIG
/// mode is on without an instance", or much memory used. For a probe's process: loads
/// libnvidia-ml there, and may hang as the driver may.
///
/// Evidence only, never a verdict: any error of NVML is no opinion, and "not supported" no fault.
///
/// \return one note a GPU, "PCI-ID UUID NOTE" joined by "|", the ids "-" when unknown; empty:
/// nothing
///         to say
/// Source: NVML API Reference; the order is that of the PCI bus, not CUDA's.
std::string nvml_notes();

}  // namespace auto_gpus

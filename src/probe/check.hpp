#pragma once

#include <functional>
#include <string>

#include "src/core/verdict.hpp"
#include "src/probe/driver.hpp"

namespace auto_gpus {

/// Takes what a check has found so far, at each new stage, in the probe's process.
/// \return false when the check is no longer wanted: it then destroys its context and ends
using Tell = std::function<bool(const Evidence&)>;

/// Loads `libcuda` in this process and runs the check, stage by stage. The list must be in the
/// environment already: the driver reads it once, in cuInit.
///
/// \param uuid_prefix  "GPU-" or "MIG-": the driver gives 16 bytes without it
/// \return all that was found; the last `tell` had the same. Only when its stage is done, and no
///         result, load_error or mismatch is set, did the GPU pass.
Evidence run_check(CheckKind kind, const std::string& libcuda, const std::string& uuid_prefix,
                   const Tell& tell);

}  // namespace auto_gpus

#pragma once

#include <string>
#include <vector>

#include "src/core/verdict.hpp"

namespace auto_gpus {

/// What NVML said of one GPU, out of the notes of an evidence probe ("PCI-ID UUID NOTE|…", see
/// probe/nvml.hpp; untrusted, malformed entries are passed over). For a GPU whose PCI id is not
/// known, because it broke before it could be asked, the faults that NVML knows on the node.
/// \param known  PCI ids of GPUs that are spoken of elsewhere
/// \return a phrase, or nothing
std::string note_for(const std::string& notes, const Evidence& evidence,
                     const std::vector<std::string>& known);

}  // namespace auto_gpus

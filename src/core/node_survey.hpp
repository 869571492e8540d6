#pragma once

#include "src/core/session.hpp"

namespace auto_gpus {

/// The list that stands for "all GPUs of the node", where there is no CUDA_VISIBLE_DEVICES: as many
/// indices as the driver shows.
///
/// \param order        with an empty list
/// \param interrupted  set to the signal when one of `signals` came; the result is a refusal then
/// \return NOT_ALLOCATED when the driver shows none, PROBE_FAILED when it could not be asked
Result<TokenList, Refusal> survey_node(SessionOrder order, SignalTrap& signals, int& interrupted);

}  // namespace auto_gpus

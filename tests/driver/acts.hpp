// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "behaviour.hpp"

namespace fake_cuda {

/// Carries out a fault other than Act::fail; `call` and `owner` are for the log. Returns only from
/// slow, noise and fork.
void act(const Fault& fault, const char* call, const std::string& owner);

/// Waits for ever, in a way that any signal with a default disposition ends.
[[noreturn]] void hang();

}  // namespace fake_cuda

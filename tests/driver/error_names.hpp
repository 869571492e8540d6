// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fake_cuda {

/// The driver's name for a CUresult, or nullptr for a number that it does not have.
const char* error_name(int code);

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace fake_cuda {

/// Appends one line to `DIR/calls.log` with a single write; silent when that cannot be done.
///
///     <monotonic ns> <pid> <node> <list> <call> <uuid> <result> [key=value …]
///
/// \param uuid    "" is written as -
/// \param result  "begin", a CUresult, or "does:" and a behaviour
/// \param extra   fields for the end of the line, escaped already
void log_call(std::string_view call, std::string_view uuid, std::string_view result,
              std::string_view extra = {}) noexcept;

void log_call(std::string_view call, std::string_view uuid, int result) noexcept;

}  // namespace fake_cuda

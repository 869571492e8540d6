#pragma once

#include <string>

#include "src/core/message.hpp"

namespace auto_gpus {

/// The last column of a token's line: why, with the failing call, figures and likely causes.
std::string detail_text(const Verdict& verdict, const Token& token, const Report& report);

/// "; NVML: the GPU requires a reset", or nothing.
std::string nvml_text(const Evidence& evidence, const Report& report);

/// "cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)"; empty when no call failed.
std::string call_text(const Evidence& evidence);

/// "killed by SIGSEGV in cuInit".
std::string crash_text(const Verdict& verdict);

/// "SIGSEGV", or "signal 99".
std::string signal_text(int signal);

}  // namespace auto_gpus

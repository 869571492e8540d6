#pragma once

namespace auto_gpus::cuda {

/// The CUresult values that the rules tell apart. Source: <cuda.h>; tests/abi holds them against
/// it where a toolkit is found.
inline constexpr int kSuccess = 0;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kNotInitialized = 3;
inline constexpr int kStubLibrary = 34;
inline constexpr int kDeviceUnavailable = 46;
inline constexpr int kNoDevice = 100;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kEccUncorrectable = 214;
inline constexpr int kNvlinkUncorrectable = 220;
inline constexpr int kContained = 226;
inline constexpr int kOperatingSystem = 304;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kIllegalInstruction = 715;
inline constexpr int kLaunchFailed = 719;
inline constexpr int kSystemNotReady = 802;
inline constexpr int kSystemDriverMismatch = 803;
inline constexpr int kCompatNotSupported = 804;
inline constexpr int kMpsFirst = 805;
inline constexpr int kMpsLast = 810;
inline constexpr int kUnknown = 999;

/// CU_DEVICE_ATTRIBUTE_COMPUTE_MODE's values.
inline constexpr int kDefault = 0;
inline constexpr int kProhibited = 2;
inline constexpr int kExclusiveProcess = 3;

/// The name as <cuda.h> has it, "CUDA_ERROR_ECC_UNCORRECTABLE"; "an unknown CUresult" when it is
/// not in our list. Of our own, because a stub libcuda gives no names.
const char* result_name(int result) noexcept;

}  // namespace auto_gpus::cuda

#pragma once

namespace auto_gpus::cuda {

/// The CUresult values that the rules tell apart. Source: <cuda.h>; tests/abi holds them against
/// it where a toolkit is found.
enum Result : int {
    kSuccess = 0,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kStubLibrary = 34,
    kDeviceUnavailable = 46,
    kNoDevice = 100,
    kInvalidDevice = 101,
    kEccUncorrectable = 214,
    kNvlinkUncorrectable = 220,
    kContained = 226,
    kOperatingSystem = 304,
    kIllegalAddress = 700,
    kIllegalInstruction = 715,
    kLaunchFailed = 719,
    kSystemNotReady = 802,
    kSystemDriverMismatch = 803,
    kCompatNotSupported = 804,
    kMpsFirst = 805,
    kMpsLast = 810,
    kUnknown = 999,
};

/// CU_DEVICE_ATTRIBUTE_COMPUTE_MODE's values.
enum ComputeMode : int { kDefault = 0, kProhibited = 2, kExclusiveProcess = 3 };

/// The name as <cuda.h> has it, "CUDA_ERROR_ECC_UNCORRECTABLE"; "an unknown CUresult" when it is
/// not in our list. Of our own, because a stub libcuda gives no names.
const char* result_name(int result) noexcept;

}  // namespace auto_gpus::cuda

// The CUresult values that the rules know, and their names, held against NVIDIA's <cuda.h>.
#include <cuda.h>

#include <cstdio>
#include <iterator>
#include <string_view>

#include "src/core/cuda_result.hpp"

namespace {

namespace cuda = auto_gpus::cuda;

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs)
{
    return static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(same(cuda::kDefault, CU_COMPUTEMODE_DEFAULT));
static_assert(same(cuda::kProhibited, CU_COMPUTEMODE_PROHIBITED));
static_assert(same(cuda::kExclusiveProcess, CU_COMPUTEMODE_EXCLUSIVE_PROCESS));

static_assert(same(cuda::kSuccess, CUDA_SUCCESS));
static_assert(same(cuda::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(cuda::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED));
static_assert(same(cuda::kStubLibrary, CUDA_ERROR_STUB_LIBRARY));
static_assert(same(cuda::kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(same(cuda::kNoDevice, CUDA_ERROR_NO_DEVICE));
static_assert(same(cuda::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE));
static_assert(same(cuda::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(same(cuda::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE));
static_assert(same(cuda::kOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM));
static_assert(same(cuda::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(same(cuda::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION));
static_assert(same(cuda::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED));
static_assert(same(cuda::kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY));
static_assert(same(cuda::kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
static_assert(same(cuda::kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
static_assert(same(cuda::kMpsFirst, CUDA_ERROR_MPS_CONNECTION_FAILED));
static_assert(same(cuda::kUnknown, CUDA_ERROR_UNKNOWN));
#if CUDA_VERSION >= 12000
static_assert(same(cuda::kMpsLast, CUDA_ERROR_MPS_CLIENT_TERMINATED));
#endif
#if CUDA_VERSION >= 12080
static_assert(same(cuda::kContained, CUDA_ERROR_CONTAINED));
#endif

struct Named {
    int result;
    const char* name;
};

/// All of the header's CUresult values.
constexpr Named kTheirs[] = {
#include "cuda_results.inc"
};

}  // namespace

// A name that we do not have is told with its number; a wrong one would mislead.
int main()
{
    const std::string_view nameless = cuda::result_name(-1);
    int wrong = 0;
    int unnamed = 0;
    for (const Named& theirs : kTheirs) {
        const std::string_view ours = cuda::result_name(theirs.result);
        if (ours == nameless) {
            ++unnamed;
            std::printf("no name of ours: %d %s\n", theirs.result, theirs.name);
        } else if (ours != theirs.name) {
            ++wrong;
            std::printf("wrong name: %d is %s, ours is %s\n", theirs.result, theirs.name,
                        cuda::result_name(theirs.result));
        }
    }
    std::printf("cuda.h %d: %zu results, %d wrong, %d without a name\n", CUDA_VERSION,
                std::size(kTheirs), wrong, unnamed);
    return wrong == 0 ? 0 : 1;
}

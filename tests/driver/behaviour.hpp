// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fake_cuda {

/// The driver call (or family of calls) in which a behaviour shows.
enum class Stage {
    init,        ///< cuInit
    enumerate,   ///< cuDeviceGetCount, cuDeviceGet
    attributes,  ///< name, attribute, PCI id, UUID, total memory
    context,     ///< cuCtxCreate; written "ctx"
    meminfo,     ///< cuMemGetInfo
    alloc,       ///< cuMemAlloc
    set,         ///< cuMemsetD32
    module,      ///< cuModuleLoadData, cuModuleGetFunction
    launch,      ///< cuLaunchKernel and cuMemsetD32
    sync,        ///< cuCtxSynchronize
    copy,        ///< cuMemcpyHtoD, cuMemcpyDtoH
    free,        ///< cuMemFree
    destroy,     ///< cuCtxDestroy
};

/// What a fault does when its stage is reached.
enum class Act {
    fail,         ///< the call returns `number`
    slow,         ///< the call takes `time` longer
    hang,         ///< never returns; any signal with a default disposition ends it
    hang_term,    ///< never returns; SIGTERM is blocked and noted in the log
    spin,         ///< a busy loop that only SIGKILL ends
    hang_frozen,  ///< makes a file in the folder `path`, on a frozen file system: D state
    die,          ///< the process dies on signal `number`
    exit,         ///< the process exits with `number`
    noise,        ///< rubbish on descriptors 1, 2 and 3
    fork,         ///< a child keeps all descriptors open for `time`
};

/// One thing that goes wrong, at one stage.
struct Fault {
    Act act = Act::fail;
    Stage stage = Stage::init;
    int number = 0;
    std::chrono::nanoseconds time{0};
    std::string path;
    std::uint64_t tries = 0;             ///< only in the first so many processes; 0: in all
    std::chrono::nanoseconds window{0};  ///< only so long after the first process; 0: for ever
    std::string text;                    ///< as written
};

/// COMPUTE_MODE, attribute 20, with the driver's numbers.
enum class Mode : int { normal = 0, prohibited = 2, exclusive_process = 3 };

/// Where a read-back is wrong: a byte offset in the allocation, or its middle.
struct Mismatch {
    std::optional<std::size_t> offset;
};

/// All that a steering file says about how one thing (GPU, instance, group, node) behaves.
struct Behaviour {
    std::vector<Fault> faults;
    bool gone = false;
    std::optional<Mode> mode;
    std::optional<Mismatch> mismatch;
};

/// Adds a list such as "slow:2s+ctx:214" to `into`.
///
/// \return "" or a sentence that names the part at fault and what is allowed
std::string add_behaviours(std::string_view list, Behaviour& into);

}  // namespace fake_cuda

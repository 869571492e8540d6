#include "src/core/reason.hpp"

namespace auto_gpus {
namespace {

constexpr std::array<ReasonInfo, kReasonCount> kReasons{{
    {Reason::usable, "usable", Scope::gpu, "the GPU passed the check", ""},
    {Reason::not_visible, "NOT_VISIBLE", Scope::gpu,
     "the driver does not enumerate this entry: fenced off, lost, past the end, or an unknown or "
     "ambiguous prefix",
     "compare the list with nvidia-smi -L; inside a device cgroup indices count from 0"},
    {Reason::busy_exclusive, "BUSY_EXCLUSIVE", Scope::gpu,
     "in use by another process, exclusive-process mode",
     "find the process that holds the GPU, or use another GPU"},
    {Reason::unavailable, "UNAVAILABLE", Scope::gpu, "the driver says busy or unavailable",
     "try another node; if the GPU keeps saying so, report the node"},
    {Reason::prohibited, "PROHIBITED", Scope::gpu, "compute mode prohibited",
     "have the administrator set the compute mode with nvidia-smi -c"},
    {Reason::ecc_uncorrectable, "ECC_UNCORRECTABLE", Scope::gpu, "uncorrectable ECC error",
     "exclude the node and report it: the GPU needs a reset or a replacement"},
    {Reason::out_of_memory, "OUT_OF_MEMORY", Scope::gpu, "the driver says out of memory",
     "look for left-over processes on the GPU; with plenty of memory free, report the GPU"},
    {Reason::low_memory, "LOW_MEMORY", Scope::gpu, "less free memory than asked for",
     "use another GPU, or lower --auto-gpus-min-free"},
    {Reason::wrong_result, "WRONG_RESULT", Scope::gpu, "data read back differs from what was set",
     "exclude the node and report it: the GPU computes wrong results"},
    {Reason::execution_fault, "EXECUTION_FAULT", Scope::gpu,
     "our own work on the GPU failed; likely a bad GPU", "exclude the node and report it"},
    {Reason::unknown_error, "UNKNOWN_ERROR", Scope::gpu,
     "the driver says unknown error; likely causes: /dev/nvidia-uvm missing or not permitted, or "
     "a GPU that requires a reset",
     "report the node; its administrator checks nvidia-uvm and nvidia-smi -q"},
    {Reason::driver_error, "DRIVER_ERROR", Scope::gpu, "the driver returned another error",
     "report the node with the call and the code"},
    {Reason::timeout, "TIMEOUT", Scope::gpu, "no answer by the deadline",
     "exclude the node and report it; a node without persistence mode may need a longer "
     "--auto-gpus-timeout"},
    {Reason::crashed, "CRASHED", Scope::gpu, "the probe was killed by a signal",
     "exclude the node and report it with the signal"},
    {Reason::memory_limit, "MEMORY_LIMIT", Scope::gpu,
     "the probe was killed by the job's memory limit", "ask for more memory with --mem"},
    {Reason::undecided, "UNDECIDED", Scope::gpu,
     "no answer when the others had decided; not waited for",
     "none needed; if it comes again, report the node"},
    {Reason::list_conflict, "LIST_CONFLICT", Scope::gpu,
     "each GPU works alone, the chosen list does not",
     "ask for one GPU, or exclude the node and report it"},
    {Reason::taken, "TAKEN", Scope::gpu, "another task of this step has it",
     "ask for more GPUs, or for fewer tasks"},
    {Reason::driver_missing, "DRIVER_MISSING", Scope::node, "libcuda cannot be loaded",
     "use a node with the NVIDIA driver, or report this one"},
    {Reason::driver_stub, "DRIVER_STUB", Scope::node,
     "libcuda is the CUDA toolkit's stub, not a driver",
     "take the folder of the stub out of LD_LIBRARY_PATH"},
    {Reason::driver_mismatch, "DRIVER_MISMATCH", Scope::node,
     "the user library and the kernel module of the driver differ",
     "report the node: it needs a reboot, or the module loaded anew"},
    {Reason::compat_unsupported, "COMPAT_UNSUPPORTED", Scope::node,
     "this libcuda is a forward-compatibility one that these GPUs do not support",
     "take the folder of the compat libcuda out of LD_LIBRARY_PATH"},
    {Reason::system_not_ready, "SYSTEM_NOT_READY", Scope::node,
     "the system is not yet initialised; likely causes: the fabric manager of an NVSwitch node is "
     "not up, a single GPU is not, or a kernel fault",
     "try later or another node, and report this one"},
    {Reason::no_device, "NO_DEVICE", Scope::node, "the driver sees no GPU on this node",
     "use a node with GPUs; if this one has some, report it"},
    {Reason::not_initialized, "NOT_INITIALIZED", Scope::node,
     "the driver could not be initialised; this is not the same as having no GPU",
     "exclude the node and report it"},
    {Reason::os_call_failed, "OS_CALL_FAILED", Scope::node,
     "an operating system call of the driver failed", "exclude the node and report it"},
    {Reason::mps_error, "MPS_ERROR", Scope::node, "the MPS server does not serve this process",
     "check the MPS daemon and CUDA_MPS_PIPE_DIRECTORY"},
    {Reason::address_limit, "ADDRESS_LIMIT", Scope::node,
     "the driver ran out of memory under a virtual memory limit",
     "raise it with ulimit -v unlimited before srun or sbatch, or have the site lift it"},
    {Reason::not_allocated, "NOT_ALLOCATED", Scope::request, "no GPU was allocated to this step",
     "ask for GPUs with --gpus=N or --gres=gpu:N"},
    {Reason::empty_list, "EMPTY_LIST", Scope::request, "CUDA_VISIBLE_DEVICES is empty",
     "ask for GPUs with --gpus=N or --gres=gpu:N"},
    {Reason::duplicate, "DUPLICATE", Scope::request,
     "CUDA_VISIBLE_DEVICES names a GPU twice, and CUDA would show none", "name each GPU once"},
    {Reason::bad_token, "BAD_TOKEN", Scope::request,
     "an entry of CUDA_VISIBLE_DEVICES names no GPU in any form",
     "use indices, GPU-<uuid> or MIG-<uuid>, separated by commas"},
    {Reason::list_too_short, "LIST_TOO_SHORT", Scope::request,
     "more GPUs are asked for than CUDA_VISIBLE_DEVICES has",
     "ask for fewer, or allocate more with --gpus=N or --gres=gpu:N"},
    {Reason::bad_config, "BAD_CONFIG", Scope::request,
     "a word of auto-gpus in plugstack.conf is wrong",
     "have the administrator mend plugstack.conf"},
    {Reason::bad_option, "BAD_OPTION", Scope::option, "an --auto-gpus option is malformed",
     "use one of the allowed forms"},
    {Reason::probe_failed, "PROBE_FAILED", Scope::own,
     "a helper program is missing, crashed or spoke out of turn",
     "have the administrator check the installation of auto-gpus on this node"},
    {Reason::internal, "INTERNAL", Scope::own, "auto-gpus failed", "report this"},
}};

constexpr bool in_order()
{
    for (std::size_t i = 0; i < kReasons.size(); ++i) {
        if (kReasons[i].reason != static_cast<Reason>(i)) {
            return false;
        }
    }
    return true;
}
static_assert(in_order(), "the table of reasons is indexed by Reason");

}  // namespace

const std::array<ReasonInfo, kReasonCount>& all_reasons() noexcept
{
    return kReasons;
}

const ReasonInfo& info(Reason reason) noexcept
{
    return kReasons[static_cast<std::size_t>(reason)];
}

std::optional<Reason> reason_from_name(std::string_view text) noexcept
{
    for (const ReasonInfo& row : kReasons) {
        if (text == row.name) {
            return row.reason;
        }
    }
    return std::nullopt;
}

bool is_node_wide(Reason reason) noexcept
{
    return info(reason).scope == Scope::node || reason == Reason::unknown_error;
}

int exit_code(Reason reason, int short_code) noexcept
{
    switch (info(reason).scope) {
        case Scope::request:
            return kExitRequest;
        case Scope::option:
            return kExitOption;
        case Scope::own:
            return kExitOwn;
        case Scope::gpu:
        case Scope::node:
            break;
    }
    return short_code;
}

}  // namespace auto_gpus

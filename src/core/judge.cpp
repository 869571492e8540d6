#include "src/core/cuda_result.hpp"
#include "src/core/verdict.hpp"

namespace auto_gpus {
namespace {

Reason of_busy_gpu(const Evidence& evidence)
{
    if (evidence.compute_mode == cuda::kProhibited) {
        return Reason::prohibited;
    }
    // Under MPS the mode binds the server, not its clients.
    const bool exclusive = evidence.compute_mode == cuda::kExclusiveProcess && !evidence.mps;
    return exclusive ? Reason::busy_exclusive : Reason::unavailable;
}

Reason of_out_of_memory(const Evidence& evidence)
{
    return evidence.address_limit != 0 ? Reason::address_limit : Reason::out_of_memory;
}

Reason of_result(const Evidence& evidence)
{
    const int result = evidence.result;
    const bool prohibited =
        evidence.compute_mode == cuda::kProhibited && evidence.stage == Stage::context;
    if (prohibited) {
        return Reason::prohibited;
    }
    if (result >= cuda::kMpsFirst && result <= cuda::kMpsLast) {
        return Reason::mps_error;
    }
    switch (result) {
        case cuda::kDeviceUnavailable:
            return of_busy_gpu(evidence);
        case cuda::kOutOfMemory:
            return of_out_of_memory(evidence);
        case cuda::kNotInitialized:
            return Reason::not_initialized;
        case cuda::kStubLibrary:
            return Reason::driver_stub;
        case cuda::kNoDevice:
            return Reason::not_visible;
        case cuda::kEccUncorrectable:
            return Reason::ecc_uncorrectable;
        case cuda::kNvlinkUncorrectable:
        case cuda::kContained:
        case cuda::kIllegalAddress:
        case cuda::kIllegalInstruction:
        case cuda::kLaunchFailed:
            return Reason::execution_fault;
        case cuda::kOperatingSystem:
            return Reason::os_call_failed;
        case cuda::kSystemNotReady:
            return Reason::system_not_ready;
        case cuda::kSystemDriverMismatch:
            return Reason::driver_mismatch;
        case cuda::kCompatNotSupported:
            return Reason::compat_unsupported;
        case cuda::kUnknown:
            return Reason::unknown_error;
        default:
            return Reason::driver_error;
    }
}

/// A load that failed for want of address space is not a missing driver.
Reason of_load_error(const Evidence& evidence)
{
    const bool no_map = evidence.load_error.find("failed to map") != std::string::npos ||
                        evidence.load_error.find("cannot allocate memory") != std::string::npos;
    return no_map && evidence.address_limit != 0 ? Reason::address_limit : Reason::driver_missing;
}

Reason of_reaped(const Verdict& verdict, const Standard& standard)
{
    const Evidence& evidence = verdict.evidence;
    if (verdict.exit_code != 0) {
        return Reason::probe_failed;
    }
    if (!evidence.load_error.empty()) {
        return of_load_error(evidence);
    }
    if (evidence.result != cuda::kSuccess) {
        return of_result(evidence);
    }
    if (evidence.mismatch) {
        return Reason::wrong_result;
    }
    if (evidence.stage != Stage::done) {
        return Reason::probe_failed;  // it ended in good order without having finished
    }
    if (standard.kind == CheckKind::evidence) {
        return Reason::usable;
    }
    if (evidence.count == 0) {
        return Reason::not_visible;
    }
    if (standard.kind == CheckKind::list) {
        return evidence.count > 0 ? Reason::usable : Reason::probe_failed;
    }
    if (evidence.count != 1) {
        return Reason::driver_error;  // one token shows one GPU, or the driver ignores the list
    }
    if (evidence.uuid.empty()) {
        return Reason::probe_failed;
    }
    return evidence.free < standard.min_free ? Reason::low_memory : Reason::usable;
}

}  // namespace

const char* name(CheckKind kind) noexcept
{
    switch (kind) {
        case CheckKind::work:
            return "work";
        case CheckKind::list:
            return "list";
        case CheckKind::evidence:
            break;
    }
    return "evidence";
}

std::optional<CheckKind> check_kind_from_name(std::string_view text) noexcept
{
    for (const CheckKind kind : {CheckKind::work, CheckKind::list, CheckKind::evidence}) {
        if (text == name(kind)) {
            return kind;
        }
    }
    return std::nullopt;
}

Reason judge(const Verdict& verdict, const Standard& standard)
{
    switch (verdict.ending) {
        case Ending::timed_out:
            return Reason::timeout;
        case Ending::killed:
            return Reason::crashed;
        case Ending::memory_limit:
            return Reason::memory_limit;
        case Ending::not_started:
        case Ending::broke_protocol:
            return Reason::probe_failed;
        case Ending::exited:
            break;
    }
    return of_reaped(verdict, standard);
}

bool may_pass(Reason reason) noexcept
{
    return reason == Reason::busy_exclusive || reason == Reason::unavailable ||
           reason == Reason::system_not_ready;
}

}  // namespace auto_gpus

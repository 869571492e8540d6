#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace auto_gpus {

/// Why a GPU, a node or a request is refused. The names are an interface: stable, documented.
enum class Reason {
    usable,
    // of one GPU
    not_visible,
    busy_exclusive,
    unavailable,
    prohibited,
    ecc_uncorrectable,
    out_of_memory,
    low_memory,
    wrong_result,
    execution_fault,
    unknown_error,
    driver_error,
    timeout,
    crashed,
    memory_limit,
    undecided,
    list_conflict,
    taken,
    // of the node, when every probe says so
    driver_missing,
    driver_stub,
    driver_mismatch,
    compat_unsupported,
    system_not_ready,
    no_device,
    not_initialized,
    os_call_failed,
    mps_error,
    address_limit,
    // of the request
    not_allocated,
    empty_list,
    duplicate,
    bad_token,
    list_too_short,
    bad_config,
    bad_option,
    // our own
    probe_failed,
    internal,
};
inline constexpr std::size_t kReasonCount = static_cast<std::size_t>(Reason::internal) + 1;

/// What a reason speaks of.
enum class Scope {
    gpu,      ///< one GPU
    node,     ///< the node's driver or installation, when every probe says so
    request,  ///< what was asked of this allocation
    option,   ///< a malformed option
    own,      ///< a fault of auto-gpus itself
};

/// Exit codes of a task that was not started.
inline constexpr int kExitShort = 75;    ///< too few usable GPUs here; `exit_code=` replaces it
inline constexpr int kExitRequest = 78;  ///< this allocation or configuration cannot satisfy it
inline constexpr int kExitOption = 64;   ///< a malformed option got past the first check
inline constexpr int kExitOwn = 70;      ///< our own fault

inline constexpr int kExitSignal = 128;  ///< and the signal, as a shell says it

/// One row of the table of reasons, from which messages, help and manual pages are made.
struct ReasonInfo {
    Reason reason;
    const char* name;  ///< "ECC_UNCORRECTABLE"; "usable" for Reason::usable
    Scope scope;
    const char* meaning;  ///< what it says, a clause without a dot
    const char* remedy;   ///< what to do about it, imperative, without a dot
};

const std::array<ReasonInfo, kReasonCount>& all_reasons() noexcept;
const ReasonInfo& info(Reason reason) noexcept;
inline const char* name(Reason reason) noexcept
{
    return info(reason).name;
}
std::optional<Reason> reason_from_name(std::string_view text) noexcept;

/// Whether every probe saying this makes it a statement about the node (999 is of both kinds).
bool is_node_wide(Reason reason) noexcept;

/// \param short_code  the site's `exit_code=`
int exit_code(Reason reason, int short_code) noexcept;

/// A request that is refused: why, in words, and what to do.
struct Refusal {
    Reason reason = Reason::internal;
    std::string cause;   ///< names the value and its place; no trailing dot
    std::string remedy;  ///< imperative; may be empty
};

}  // namespace auto_gpus

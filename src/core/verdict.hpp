#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/reason.hpp"
#include "src/core/stage.hpp"

namespace auto_gpus {

/// What a probe does.
enum class CheckKind {
    work,      ///< tries one GPU: context, 16 MiB allocated, set, copied back and compared
    list,      ///< counts the GPUs that it sees and reads their UUIDs
    evidence,  ///< asks NVML what may explain a fault
};
const char* name(CheckKind kind) noexcept;
std::optional<CheckKind> check_kind_from_name(std::string_view text) noexcept;

/// What a probe says of itself, sent as it goes, so that a hang leaves all that came before it.
struct Evidence {
    Stage stage = Stage::start;  ///< the last one begun
    std::array<std::uint32_t, kStageCount> began_us =
        {};                   ///< since the probe's start; 0: not begun
    std::string libcuda;      ///< path of the library loaded
    std::string load_error;   ///< the loader's words, when it could not be
    std::string call;         ///< the driver call that failed
    std::int32_t result = 0;  ///< and its CUresult
    std::int32_t driver_version = 0;
    std::int32_t count = -1;  ///< GPUs that the driver shows this probe; -1: not known
    std::string uuid;         ///< "GPU-…" or "MIG-…", in full
    std::string pci;          ///< "0000:17:00.0"
    std::string model;
    std::int32_t compute_mode = 0;
    bool mps = false;                   ///< an MPS client
    std::uint64_t total = 0;            ///< bytes
    std::uint64_t free = 0;             ///< bytes, our own context made
    std::uint64_t address_limit = 0;    ///< RLIMIT_AS in force, bytes; 0: none
    bool mismatch = false;              ///< the read-back differs …
    std::uint64_t mismatch_offset = 0;  ///< … at this byte …
    std::uint32_t expected = 0;         ///< … from this word
    std::uint32_t found = 0;
    std::string notes;  ///< of an evidence probe: see nvml_note.hpp
    std::string uuids;  ///< of a list probe: all UUIDs that the driver shows, by ","
};

/// How a probe ended, as its supervisor saw it.
enum class Ending {
    exited,        ///< with `exit_code`, and it was reaped
    killed,        ///< by `signal`, not ours, and it was reaped
    timed_out,     ///< ended by us at the deadline; `stuck_pid` is set when it could not be killed
    memory_limit,  ///< killed because the job's memory limit was reached
    not_started,
    broke_protocol,
};

/// What is known of one token, or of a list.
struct Verdict {
    Reason reason = Reason::undecided;
    bool final = true;  ///< false: this was one try, another one is coming
    Ending ending = Ending::exited;
    std::int32_t exit_code = 0;
    std::int32_t signal = 0;
    std::int32_t stuck_pid = 0;  ///< of a probe left behind: alive after SIGKILL and a wait
    std::uint32_t tries = 0;
    std::uint32_t took_us = 0;  ///< from the first probe's start to this
    Evidence evidence;

    [[nodiscard]] bool usable() const noexcept { return final && reason == Reason::usable; }
};

/// Bytes of the longest line that the codec writes or reads.
inline constexpr std::size_t kLongestLine = std::size_t{32} * 1024;

/// The fields of `now` that differ from `before`, as "key=value key=value", values
/// percent-encoded. Empty when nothing differs.
std::string encode_changes(const Evidence& before, const Evidence& now);

/// Applies such a line. Untrusted input: unknown keys, malformed values and over-long texts are
/// refused. \return false, with `evidence` partly changed, when the line is not one of ours
bool decode_into(Evidence& evidence, std::string_view line);

/// A verdict and whose it is: a token's position as a number, or a word ("whole").
std::string encode(const std::string& who, const Verdict& verdict);
/// \return whose it is; empty when the line is not one of ours
std::string decode(std::string_view line, Verdict& verdict);

/// What decides on a verdict besides the evidence.
struct Standard {
    std::uint64_t min_free = 0;  ///< bytes
    CheckKind kind = CheckKind::work;
};

/// The reason that evidence and ending add up to. `verdict.reason` is not looked at.
/// Source of the codes' meanings: CUDA's documentation of CUresult, and field reports.
Reason judge(const Verdict& verdict, const Standard& standard);

/// Whether such a fault may pass, so that a fresh process should try again.
bool may_pass(Reason reason) noexcept;

}  // namespace auto_gpus

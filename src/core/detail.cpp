#include "src/core/detail.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "src/base/text.hpp"
#include "src/core/cuda_result.hpp"
#include "src/core/nvml_note.hpp"

namespace auto_gpus {
namespace {

struct SignalName {
    int number;
    const char* name;
};
constexpr SignalName kSignalNames[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
    {SIGTERM, "SIGTERM"}, {SIGSYS, "SIGSYS"},   {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
};

std::string hex(std::uint32_t word)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%08x", static_cast<unsigned>(word));
    return text.data();
}

/// What a client of MPS looks at first.
std::string mps_hint(const Report& report)
{
    return report.mps_pipe.empty()
               ? ""
               : "; look at the MPS daemon of CUDA_MPS_PIPE_DIRECTORY=" + report.mps_pipe;
}

std::string last_seen_text(const Verdict& verdict)
{
    return std::string(", last seen in ") + activity(verdict.evidence.stage);
}

/// What a process that outlives SIGKILL means for the step.
std::string stuck_text(const Verdict& verdict)
{
    if (verdict.stuck_pid == 0) {
        return {};
    }
    return "; process " + std::to_string(verdict.stuck_pid) +
           " did not end on SIGKILL: the step's end may wait for Slurm's UnkillableStepTimeout, "
           "and the node may be drained then";
}

std::string timeout_text(const Verdict& verdict, const Report& report)
{
    return "no answer in " + std::to_string(report.settings.timeout.count()) + " s" +
           last_seen_text(verdict) + mps_hint(report) + stuck_text(verdict);
}

std::string not_visible_text(const Token& token, const Report& report)
{
    const auto& survey = report.watch.survey.verdict;
    if (!survey || survey->reason == Reason::timeout) {
        return "the driver does not show it";
    }
    const std::int32_t shown = std::max(survey->evidence.count, 0);
    std::string text =
        "the driver shows " + std::to_string(shown) + (shown == 1 ? " GPU" : " GPUs");
    if (token.form != TokenForm::index) {
        return text + "; unknown or ambiguous name among them";
    }
    if (token.index >= static_cast<std::uint64_t>(shown)) {
        text += "; a lost GPU, or an absolute index inside a device cgroup?";
    }
    return text;
}

std::string memory_text(const Evidence& evidence)
{
    return size_text(evidence.free) + " of " + size_text(evidence.total) + " free";
}

std::string low_memory_text(const Evidence& evidence, std::uint64_t wanted)
{
    std::string least = size_text(wanted);
    if (least == size_text(evidence.free)) {  // a difference that rounding would hide
        constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
        least = std::to_string(wanted / kMiB) + " MiB, " +
                std::to_string((wanted - evidence.free + kMiB - 1) / kMiB) + " MiB more,";
    }
    return memory_text(evidence) + ", at least " + least + " asked for";
}

std::string out_of_memory_text(const Evidence& evidence)
{
    const std::string call = call_text(evidence);
    if (evidence.free == 0) {
        return call + "; likely a full GPU, a bad GPU, or a limit";
    }
    const bool plenty = evidence.free > evidence.total / 2;
    return plenty ? call + " although " + memory_text(evidence) + ": likely a bad GPU or a limit"
                  : call + " with " + memory_text(evidence);
}

std::string wrong_result_text(const Evidence& evidence)
{
    return "byte " + std::to_string(evidence.mismatch_offset) +
           " of 16 MiB: " + hex(evidence.found) + " read, " + hex(evidence.expected) +
           " set, bits " + hex(evidence.found ^ evidence.expected) + " differ";
}

std::string probe_failed_text(const Verdict& verdict)
{
    switch (verdict.ending) {
        case Ending::not_started:
            return verdict.evidence.load_error;
        case Ending::broke_protocol:
            return std::string("the probe spoke out of turn in ") +
                   activity(verdict.evidence.stage);
        case Ending::exited:
        case Ending::killed:
        case Ending::memory_limit:
        case Ending::timed_out:
            break;
    }
    return "the probe ended with status " + std::to_string(verdict.exit_code) + " in " +
           activity(verdict.evidence.stage);
}

std::string reason_text(const Verdict& verdict, const Token& token, const Report& report)
{
    const Evidence& evidence = verdict.evidence;
    switch (verdict.reason) {
        case Reason::usable:
            return seconds_text(std::chrono::microseconds(verdict.took_us));
        case Reason::not_visible:
            return not_visible_text(token, report);
        case Reason::low_memory:
            return low_memory_text(evidence, report.settings.min_free);
        case Reason::out_of_memory:
            return out_of_memory_text(evidence);
        case Reason::wrong_result:
            return wrong_result_text(evidence);
        case Reason::timeout:
            return timeout_text(verdict, report);
        case Reason::crashed:
            return crash_text(verdict);
        case Reason::undecided:
            return "no answer in " + rough_seconds_text(report.took) +
                   (verdict.stuck_pid == 0 ? "" : last_seen_text(verdict)) + stuck_text(verdict);
        case Reason::probe_failed:
            return probe_failed_text(verdict);
        case Reason::driver_missing:
            return evidence.load_error;
        case Reason::address_limit:
            return (evidence.load_error.empty() ? call_text(evidence) : evidence.load_error) +
                   ", under a virtual memory limit of " + size_text(evidence.address_limit);
        case Reason::list_conflict:
        case Reason::duplicate:
        case Reason::taken:
            return info(verdict.reason).meaning;
        case Reason::driver_error:
            return evidence.call.empty() ? "the driver shows " + std::to_string(evidence.count) +
                                               " GPUs for this one entry"
                                         : call_text(evidence);
        case Reason::ecc_uncorrectable:
            return call_text(evidence);
        case Reason::unavailable:
        case Reason::mps_error:
            return call_text(evidence) + ": " + info(verdict.reason).meaning + mps_hint(report);
        default:
            break;
    }
    const std::string call = call_text(evidence);
    return call.empty() ? info(verdict.reason).meaning : call + ": " + info(verdict.reason).meaning;
}

}  // namespace

std::string signal_text(int signal)
{
    for (const SignalName& row : kSignalNames) {
        if (row.number == signal) {
            return row.name;
        }
    }
    return "signal " + std::to_string(signal);
}

std::string crash_text(const Verdict& verdict)
{
    return "killed by " + signal_text(verdict.signal) + " in " + activity(verdict.evidence.stage);
}

std::string call_text(const Evidence& evidence)
{
    if (evidence.call.empty()) {
        return {};
    }
    return evidence.call + ": " + cuda::result_name(evidence.result) + " (" +
           std::to_string(evidence.result) + ")";
}

std::string nvml_text(const Evidence& evidence, const Report& report)
{
    const auto& nvml = report.watch.evidence.verdict;
    if (!nvml) {
        return {};
    }
    std::vector<std::string> known;
    for (const TokenWatch& token : report.watch.tokens) {
        if (token.verdict && !token.verdict->evidence.pci.empty()) {
            known.push_back(token.verdict->evidence.pci);
        }
    }
    const std::string note = note_for(nvml->evidence.notes, evidence, known);
    return note.empty() ? note : "; NVML: " + printable(note, 400);
}

std::string detail_text(const Verdict& verdict, const Token& token, const Report& report)
{
    std::string text = reason_text(verdict, token, report);
    if (!verdict.usable() && verdict.reason != Reason::undecided) {
        text += nvml_text(verdict.evidence, report);
    }
    return text;
}

}  // namespace auto_gpus

#include "src/core/message.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/core/advice.hpp"
#include "src/core/detail.hpp"
#include "src/core/table.hpp"

namespace auto_gpus {
namespace {

using Positions = std::vector<std::size_t>;

constexpr std::size_t kMostTextBytes = 200;  // of one field that somebody else wrote

std::string asks_for(const Report& report)
{
    const bool of_site = report.settings.origin == Origin::site_default;
    return std::string(of_site ? "the site's default " : "") +
           "--auto-gpus=" + report.settings.request.text() + " asks for " +
           std::to_string(report.need.min);
}

std::string not_started(const Report& report)
{
    return report.audience == Audience::task ? "; no task started on this node" : "";
}

/// One line for a fault that every probe reports.
std::string node_wide_text(Reason reason, const std::vector<Verdict>& verdicts,
                           const Report& report)
{
    const Evidence& evidence = verdicts.front().evidence;
    std::string text = std::string(name(reason)) + ": ";
    const std::string said =
        !evidence.load_error.empty() ? evidence.load_error : call_text(evidence);
    text += said.empty() ? "" : printable(said, kMostTextBytes) + ", ";
    std::vector<std::string> others;
    for (const Verdict& verdict : verdicts) {
        const std::string call = call_text(verdict.evidence);
        if (!call.empty() && call != said &&
            std::find(others.begin(), others.end(), call) == others.end()) {
            others.push_back(call);
        }
    }
    text += others.empty() ? "" : "also " + printable(join(others, ", "), kMostTextBytes) + ", ";
    if (!evidence.libcuda.empty()) {
        text += "libcuda is " + printable(evidence.libcuda, kMostTextBytes) + ", ";
    }
    if (reason == Reason::address_limit) {
        text += "the limit is " + size_text(evidence.address_limit) + ", ";
    }
    text.replace(text.size() - 2, 2, ": ");
    text += std::string(info(reason).meaning) + nvml_text(evidence, report) + not_started(report) +
            "; " + info(reason).remedy;
    return line(report.node, text);
}

/// What the probe of the chosen list saw instead of the GPUs.
std::string list_says(const Report& report)
{
    const Evidence& evidence = report.watch.chosen.verdict->evidence;
    if (!evidence.call.empty()) {
        return call_text(evidence);
    }
    if (report.watch.chosen.verdict->reason == Reason::crashed) {
        return crash_text(*report.watch.chosen.verdict);
    }
    if (evidence.count == static_cast<std::int32_t>(report.watch.chosen.positions.size())) {
        return "the driver shows other GPUs";
    }
    return "the driver shows " + std::to_string(std::max(evidence.count, 0));
}

std::string head_text(const Report& report, const std::vector<Verdict>& verdicts,
                      const Short& found)
{
    const std::string gpus =
        "the GPUs " + printable(joined(report.list, found.positions), kMostTextBytes);
    switch (found.refusal) {
        case Step::Refusal::conflict:
            return gpus + " work one by one, but not together (" + printable(list_says(report)) +
                   "); " + asks_for(report);
        case Step::Refusal::unchecked:
            return gpus + " work one by one, but gave no answer together in time; " +
                   asks_for(report);
        case Step::Refusal::too_few:
        case Step::Refusal::own_fault:  // not a matter of GPUs: told as PROBE_FAILED
            break;
    }
    return std::to_string(count_usable(verdicts)) + " of " + std::to_string(verdicts.size()) +
           " GPUs usable, " + asks_for(report);
}

std::string skipped_text(const Report& report, const std::vector<Verdict>& verdicts,
                         const Positions& skipped)
{
    std::vector<std::string> texts;
    for (const std::size_t position : skipped) {
        std::string text =
            printable(report.list.tokens[position].text) + " " + name(verdicts[position].reason);
        if (verdicts[position].reason == Reason::undecided) {
            text +=
                " (" + detail_text(verdicts[position], report.list.tokens[position], report) + ")";
        }
        texts.push_back(std::move(text));
    }
    return join(texts, ", ");
}

/// Memory that others use: above 2 GiB and 5 % of the total, our own context included.
bool is_crowded(const Evidence& evidence)
{
    constexpr std::uint64_t kLeast = std::uint64_t{2} << 30U;
    const std::uint64_t used = evidence.total - std::min(evidence.free, evidence.total);
    return used > kLeast && used > evidence.total / 20;
}

std::string warnings(const Report& report, const std::vector<Verdict>& verdicts,
                     const Positions& chosen)
{
    std::string text;
    std::size_t mig = 0;
    for (const std::size_t position : chosen) {
        const Evidence& evidence = verdicts[position].evidence;
        mig += report.list.tokens[position].form == TokenForm::mig ? 1U : 0U;
        if (is_crowded(evidence)) {
            text += warning_text(report.node,
                                 printable(report.list.tokens[position].text) + " has " +
                                     size_text(evidence.total - evidence.free) + " of " +
                                     size_text(evidence.total) +
                                     " of memory used; --auto-gpus-min-free=SIZE would refuse it");
        }
    }
    if (mig > 1) {
        text += warning_text(report.node, "CUDA shows a process one MIG instance, not " +
                                              std::to_string(mig) + "; use one task for each");
    }
    return text;
}

}  // namespace

std::string rejected_text(const Report& report, const Positions& chosen)
{
    const std::vector<Verdict> verdicts = final_verdicts(report.watch);
    std::vector<std::string> texts;
    for (const std::size_t position : skipped_positions(verdicts, chosen)) {
        texts.push_back(report.list.tokens[position].text + ":" + name(verdicts[position].reason));
    }
    return join(texts, ",");
}

std::string uuids_text(const Watch& watch, const Positions& chosen)
{
    std::vector<std::string> uuids;
    for (const std::size_t position : chosen) {
        uuids.push_back(watch.tokens.at(position).verdict->evidence.uuid);
    }
    return join(uuids, ",");
}

std::string success_text(const Report& report, const Positions& chosen)
{
    const std::vector<Verdict> verdicts = final_verdicts(report.watch);
    const Positions skipped = skipped_positions(verdicts, chosen);
    std::string text;
    if (!skipped.empty() || report.settings.verbose) {
        text = "using " + printable(joined(report.list, chosen), kMostTextBytes);
        text += skipped.empty() ? "; decided in " + seconds_text(report.took)
                                : "; " + skipped_text(report, verdicts, skipped) + " skipped";
        text = line(report.node, text);
    }
    if (report.settings.verbose) {
        text += table_text(verdicts, report, true);
        if (report.watch.whole.asked && !report.watch.whole.verdict) {
            text += line(report.node, "the check of the whole list gave no answer");
        }
    }
    return at_most_lines(text + warnings(report, verdicts, chosen), report.node);
}

std::string short_text(const Report& report, const Short& found)
{
    const std::vector<Verdict> verdicts = final_verdicts(report.watch, found);
    if (const auto reason = node_wide_reason(verdicts, report.watch)) {
        return node_wide_text(*reason, verdicts, report);
    }
    return line(report.node, head_text(report, verdicts, found) + not_started(report)) +
           table_text(verdicts, report, report.settings.verbose) +
           line(report.node, advice_text(verdicts, report, found));
}

Refusal too_short(const Settings& settings, const TokenList& list)
{
    const std::size_t length = list.tokens.size();
    std::string cause = "--auto-gpus=" + settings.request.text() + " asks for " +
                        std::to_string(settings.request.min) + ", but " + kVisibleDevices +
                        " has " + std::to_string(length) + (length == 1 ? " entry" : " entries");
    if (list.stopped) {
        cause += " before " + quoted(list.stopped_at) + ", where the driver stops reading";
    }
    std::string remedy = info(Reason::list_too_short).remedy;
    if (settings.origin == Origin::inherited) {
        cause += "; the request is the job's, from its sbatch or salloc";
        remedy = "give this srun its own, or --auto-gpus=off";
    } else if (settings.origin == Origin::environment) {
        cause += "; the request is an environment default, from a variable ..._AUTO_GPUS";
        remedy = "give this step its own, or --auto-gpus=off";
    }
    return {Reason::list_too_short, std::move(cause), std::move(remedy)};
}

std::string refusal_text(const std::string& node, const Refusal& refusal)
{
    std::string text = std::string(name(refusal.reason)) + ": " + refusal.cause;
    if (!refusal.remedy.empty()) {
        text += "; " + refusal.remedy;
    }
    return line(node, text);
}

std::string warning_text(const std::string& node, const std::string& warning)
{
    return line(node, "warning: " + warning);
}

}  // namespace auto_gpus

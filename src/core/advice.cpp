#include "src/core/advice.hpp"

#include <algorithm>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

/// Whether somebody should look at the node: not for GPUs that are only taken, or not waited for.
bool worth_reporting(const std::vector<Verdict>& verdicts)
{
    return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
        switch (verdict.reason) {
            case Reason::usable:
            case Reason::busy_exclusive:
            case Reason::low_memory:
            case Reason::undecided:
            case Reason::duplicate:
            case Reason::taken:
            case Reason::memory_limit:
                return false;
            default:
                return true;
        }
    });
}

bool any_of(const std::vector<Verdict>& verdicts, Reason reason)
{
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& verdict) { return verdict.reason == reason; });
}

}  // namespace

std::string advice_text(const std::vector<Verdict>& verdicts, const Report& report,
                        const Short& found)
{
    std::string report_it = worth_reporting(verdicts) ? "report the node" : "try again later";
    if (report.audience == Audience::person) {
        return report_it;
    }
    if (any_of(verdicts, Reason::duplicate)) {
        return info(Reason::duplicate).remedy;
    }
    std::vector<std::string> ways;
    const bool of_list = found.refusal != Step::Refusal::too_few;
    const std::size_t usable = of_list ? 1 : count_usable(verdicts);
    if (any_of(verdicts, Reason::memory_limit)) {
        ways.emplace_back(info(Reason::memory_limit).remedy);
    }
    if (usable > 0) {
        ways.push_back("use --auto-gpus=" + std::to_string(usable));
    }
    ways.push_back((usable > 0 ? "" : "use ") + ("--exclude=" + printable(report.node)));
    if (report.settings.origin == Origin::site_default) {
        ways.emplace_back("--auto-gpus=off");
    }
    if (found.refusal == Step::Refusal::unchecked) {
        ways.emplace_back("a longer --auto-gpus-timeout");
    }
    const bool all_late = std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
        return verdict.reason == Reason::timeout;
    });
    return join(ways, ", or ") + (worth_reporting(verdicts) ? ", and " : ", or ") + report_it +
           (all_late ? "; persistence mode off? then a longer --auto-gpus-timeout helps" : "");
}

}  // namespace auto_gpus

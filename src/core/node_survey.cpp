#include "src/core/node_survey.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/core/detail.hpp"

namespace auto_gpus {
namespace {

/// What the driver said instead of a number of GPUs.
std::string words_of(const Verdict& survey)
{
    if (survey.reason == Reason::timeout || survey.reason == Reason::undecided) {
        return std::string("no answer in time, last seen in ") + activity(survey.evidence.stage);
    }
    if (survey.reason == Reason::crashed) {
        return crash_text(survey);
    }
    return printable(survey.evidence.load_error + call_text(survey.evidence));
}

Refusal no_gpus(const Verdict& survey)
{
    const std::string unset = std::string(kVisibleDevices) + " is not set, and the driver ";
    const bool none = survey.reason == Reason::not_visible;
    const Reason reason = none ? Reason::not_allocated : survey.reason;
    const std::string words = words_of(survey);
    return {reason,
            unset + (none ? "shows no GPU on this node" : "did not say which GPUs this node has") +
                (words.empty() ? words : " (" + words + ")"),
            info(reason).remedy};
}

}  // namespace

Result<TokenList, Refusal> survey_node(SessionOrder order, SignalTrap& signals, int& interrupted)
{
    order.environment.unset(kVisibleDevices);
    Session session(std::move(order), signals);
    const SessionResult result = session.run();
    if (const auto* signal = std::get_if<Interrupted>(&result)) {
        interrupted = signal->signal;
    }
    if (const auto* broken = std::get_if<Broken>(&result)) {
        return Refusal{Reason::probe_failed, broken->error.cause, broken->error.remedy};
    }
    const auto& survey = session.watch().survey.verdict;
    if (!survey || !survey->usable()) {
        return no_gpus(survey.value_or(Verdict{}));
    }
    // The number is the driver's: one more than can be is enough for the list to be refused.
    const auto count = std::min(static_cast<std::size_t>(survey->evidence.count), kMostTokens + 1);
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < count; ++i) {
        indices.push_back(std::to_string(i));
    }
    return parse_token_list(join(indices, ","));
}

}  // namespace auto_gpus

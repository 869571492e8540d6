#include "src/core/node_survey.hpp"

#include "src/base/text.hpp"
#include "src/core/detail.hpp"

namespace auto_gpus {
namespace {

Refusal no_gpu(const std::optional<Verdict>& survey)
{
    std::string cause =
        std::string(kVisibleDevices) + " is not set, and the driver shows no GPU on this node";
    const std::string why =
        survey ? survey->evidence.load_error + call_text(survey->evidence) : std::string();
    if (!why.empty()) {
        cause += " (" + printable(why) + ")";
    }
    return {Reason::not_allocated, std::move(cause), info(Reason::not_allocated).remedy};
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
        return no_gpu(survey);
    }
    std::vector<std::string> indices;
    indices.reserve(static_cast<std::size_t>(survey->evidence.count));
    for (int i = 0; i < survey->evidence.count; ++i) {
        indices.push_back(std::to_string(i));
    }
    return parse_token_list(join(indices, ","));
}

}  // namespace auto_gpus

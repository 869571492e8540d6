#include "src/core/outcome.hpp"

#include <algorithm>

#include "src/core/cuda_result.hpp"

namespace auto_gpus {
namespace {

using Positions = std::vector<std::size_t>;

bool contains(const Positions& positions, std::size_t position)
{
    return std::find(positions.begin(), positions.end(), position) != positions.end();
}

}  // namespace

std::vector<Verdict> final_verdicts(const Watch& watch, const Short& found)
{
    std::vector<Verdict> verdicts;
    for (const TokenWatch& token : watch.tokens) {
        Verdict verdict = token.verdict.value_or(Verdict{});
        if (token.stuck && !token.answered()) {
            verdict.stuck_pid = token.stuck->stuck_pid;
            verdict.evidence.stage = token.stuck->evidence.stage;
        }
        const auto same = [&](const Verdict& earlier) {
            return earlier.usable() && earlier.evidence.uuid == verdict.evidence.uuid;
        };
        if (verdict.usable() && std::any_of(verdicts.begin(), verdicts.end(), same)) {
            verdict.reason = Reason::duplicate;
        }
        if (found.refusal == Step::Refusal::conflict &&
            contains(found.positions, verdicts.size())) {
            verdict.reason = Reason::list_conflict;
        }
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

std::optional<Reason> node_wide_reason(const std::vector<Verdict>& verdicts, const Watch& watch)
{
    const auto all = [&](auto&& test) {
        return std::all_of(verdicts.begin(), verdicts.end(), test);
    };
    const auto& survey = watch.survey.verdict;
    const bool no_gpu_at_all = survey && survey->evidence.result == cuda::kNoDevice;
    if (no_gpu_at_all &&
        all([](const Verdict& verdict) { return verdict.evidence.result == cuda::kNoDevice; })) {
        return Reason::no_device;
    }
    // 999 of a single GPU that could be asked for its name is that GPU's.
    const bool of_one_gpu = verdicts.size() == 1 && !verdicts.front().evidence.model.empty() &&
                            info(verdicts.front().reason).scope == Scope::gpu;
    const Reason first = verdicts.front().reason;
    const bool same = all([&](const Verdict& verdict) { return verdict.reason == first; });
    const bool all_of_node =
        all([](const Verdict& verdict) { return info(verdict.reason).scope == Scope::node; });
    if (all_of_node || (same && is_node_wide(first) && !of_one_gpu)) {
        return first;
    }
    return std::nullopt;
}

int short_exit_code(const Watch& watch, int short_code)
{
    const std::vector<Verdict> verdicts = final_verdicts(watch);
    if (std::any_of(verdicts.begin(), verdicts.end(),
                    [](const Verdict& verdict) { return verdict.reason == Reason::duplicate; })) {
        return kExitRequest;  // of the list, not of the GPUs
    }
    const bool all_own =
        std::all_of(watch.tokens.begin(), watch.tokens.end(), [](const TokenWatch& token) {
            return token.verdict && info(token.verdict->reason).scope == Scope::own;
        });
    return all_own ? kExitOwn : short_code;
}

Positions skipped_positions(const std::vector<Verdict>& verdicts, const Positions& chosen)
{
    Positions skipped;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const bool known_bad = !verdicts[i].usable() && verdicts[i].reason != Reason::undecided;
        const bool passed_over = !chosen.empty() && i < chosen.back() && !verdicts[i].usable();
        if (!contains(chosen, i) && (known_bad || passed_over)) {
            skipped.push_back(i);
        }
    }
    return skipped;
}

std::size_t count_usable(const std::vector<Verdict>& verdicts)
{
    return static_cast<std::size_t>(std::count_if(
        verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.usable(); }));
}

}  // namespace auto_gpus

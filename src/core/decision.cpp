#include "src/core/decision.hpp"

#include <algorithm>
#include <string_view>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

using Duration = Clock::duration;
using Positions = std::vector<std::size_t>;

constexpr milliseconds kShortestGrace{250};
constexpr milliseconds kShortestListWait{100};
constexpr milliseconds kShortestSurveyWait{1000};
constexpr milliseconds kShortestQuiet{3000};
constexpr milliseconds kEvidenceWait{500};
constexpr milliseconds kCheckReserve{300};

/// What is read off a Watch once, for one decision.
struct State {
    Positions usable;               ///< in list order
    Positions pending;              ///< not answered for good, in list order
    std::vector<TimePoint> yes_at;  ///< when usable ones answered, sorted
    std::vector<TimePoint> no_at;   ///< when others did, sorted
};

/// The earlier entry that turned out to be the same GPU; null when there is none.
const TokenWatch* earlier_name(const Watch& watch, std::size_t position)
{
    const std::string& uuid = watch.tokens[position].verdict->evidence.uuid;
    for (std::size_t earlier = 0; earlier < position; ++earlier) {
        const TokenWatch& other = watch.tokens[earlier];
        if (other.usable() && other.verdict->evidence.uuid == uuid) {
            return &other;
        }
    }
    return nullptr;
}

State read(const Watch& watch)
{
    State state;
    for (std::size_t i = 0; i < watch.tokens.size(); ++i) {
        const TokenWatch& token = watch.tokens[i];
        const TokenWatch* const other = token.usable() ? earlier_name(watch, i) : nullptr;
        if (!token.answered()) {
            state.pending.push_back(i);
        } else if (token.usable() && other == nullptr) {
            state.usable.push_back(i);
            state.yes_at.push_back(token.at);
        } else {
            // Two names of one GPU are known when both have answered.
            state.no_at.push_back(other == nullptr ? token.at : std::max(token.at, other->at));
        }
    }
    std::sort(state.yes_at.begin(), state.yes_at.end());
    std::sort(state.no_at.begin(), state.no_at.end());
    return state;
}

/// `since` and the larger of `least` and a share of the time that had passed then.
TimePoint later(const Watch& watch, TimePoint since, Duration least, int share)
{
    return since + std::max<Duration>(least, (since - watch.started) / share);
}

/// A wait for what is not needed leaves time to check the list that will be chosen.
TimePoint early_enough(const Watch& watch, TimePoint until)
{
    if (watch.deadline == TimePoint::max()) {
        return until;
    }
    const Duration reserve =
        std::max<Duration>(kCheckReserve, (watch.deadline - watch.started) / 10);
    return std::min(until, watch.deadline - reserve);
}

TimePoint grace_end(const Watch& watch, TimePoint since)
{
    return later(watch, since, kShortestGrace, 4);
}

Step wait_until(TimePoint when)
{
    Step step;
    step.until = when;
    return step;
}

Step stop(Step::Kind kind, Positions positions = {}, Step::Refusal refusal = Step::Refusal::too_few)
{
    Step step;
    step.kind = kind;
    step.positions = std::move(positions);
    step.refusal = refusal;
    return step;
}

/// Whether NVML might know more of a fault.
bool is_worth_asking(const TokenWatch& token)
{
    return token.answered() && !token.usable() && token.verdict->evidence.load_error.empty() &&
           info(token.verdict->reason).scope != Scope::own;
}

/// A refusal, after a look at the node when some tokens show nothing: is it them, or all?
Step refuse(const Watch& watch, TimePoint now)
{
    if (watch.evidence.asked && !watch.evidence.answered()) {
        const TimePoint patience = watch.evidence.asked_at + kEvidenceWait;
        if (now < patience) {
            return wait_until(patience);
        }
    }
    const bool unseen =
        std::any_of(watch.tokens.begin(), watch.tokens.end(), [](const TokenWatch& token) {
            return token.verdict && token.verdict->reason == Reason::not_visible;
        });
    if (!unseen || watch.survey.answered()) {
        return stop(Step::Kind::refuse);
    }
    if (!watch.survey.asked) {
        return stop(Step::Kind::survey);
    }
    const TimePoint patience = later(watch, watch.survey.asked_at, kShortestSurveyWait, 1);
    return now < patience ? wait_until(patience) : stop(Step::Kind::refuse);
}

Step run_short(const State& state, const Need& need, const Watch& watch, TimePoint now)
{
    if (!watch.evidence.asked &&
        std::any_of(watch.tokens.begin(), watch.tokens.end(), is_worth_asking)) {
        return stop(Step::Kind::evidence);
    }
    if (!state.pending.empty()) {
        // The refusal that made it impossible is the one that left fewer than `min`.
        const std::size_t spare = watch.tokens.size() - std::min(need.min, watch.tokens.size());
        const TimePoint known_at = state.no_at.at(std::min(spare, state.no_at.size() - 1));
        const TimePoint until = grace_end(watch, known_at);
        if (now < until) {
            return wait_until(until);
        }
    }
    return refuse(watch, now);
}

/// Whether a list's probe ended without an answer, because the time was up.
bool gave_no_answer(const ListWatch& list)
{
    const Reason reason = list.verdict->reason;
    return reason == Reason::timeout || reason == Reason::undecided;
}

/// Tokens that could be taken, and since when.
struct Ready {
    Positions chosen;
    TimePoint since;
};

/// The list probes' say on them.
Step confirm(const TokenList& list, const Watch& watch, const Ready& ready, TimePoint now)
{
    if (ready.chosen.size() == 1) {
        return stop(Step::Kind::take, ready.chosen);  // probed as a list of one already
    }
    const bool heard = watch.whole.answered();
    if (!heard) {
        const TimePoint patience = later(watch, ready.since, kShortestListWait, 10);
        if (now < patience) {
            return wait_until(patience);
        }
    }
    const bool all_usable = std::all_of(watch.tokens.begin(), watch.tokens.end(),
                                        [](const TokenWatch& token) { return token.usable(); });
    const bool trusted =
        heard && !gave_no_answer(watch.whole) ? agrees(list, watch.whole, watch) : all_usable;
    return stop(trusted ? Step::Kind::take : Step::Kind::check_chosen, ready.chosen);
}

Step await_check(const TokenList& list, const Watch& watch)
{
    const Positions& chosen = watch.chosen.positions;
    if (!watch.chosen.answered()) {
        return wait_until(TimePoint::max());
    }
    if (agrees(list, watch.chosen, watch)) {
        return stop(Step::Kind::take, chosen);
    }
    const Reason reason = watch.chosen.verdict->reason;
    if (info(reason).scope == Scope::own) {
        return stop(Step::Kind::refuse, chosen, Step::Refusal::own_fault);
    }
    const bool silent =
        reason == Reason::timeout || reason == Reason::undecided || reason == Reason::memory_limit;
    return stop(Step::Kind::refuse, chosen,
                silent ? Step::Refusal::unchecked : Step::Refusal::conflict);
}

}  // namespace

Need need_of(const Request& request, const TokenList& list)
{
    const std::size_t length = list.tokens.size();
    return request.kind == Request::Kind::all ? Need{length, length}
                                              : Need{request.min, request.max};
}

bool agrees(const TokenList& list, const ListWatch& seen, const Watch& watch)
{
    if (!seen.verdict || !seen.verdict->usable()) {
        return false;
    }
    const bool mig = std::any_of(seen.positions.begin(), seen.positions.end(), [&](std::size_t i) {
        return list.tokens[i].form == TokenForm::mig;
    });
    // CUDA shows a process one MIG instance, whatever the list's length.
    const std::size_t expected = mig ? 1 : seen.positions.size();
    const auto uuids = split(seen.verdict->evidence.uuids, ',');
    if (uuids.size() != expected ||
        seen.verdict->evidence.count != static_cast<std::int32_t>(expected)) {
        return false;
    }
    for (std::size_t i = 0; i < expected; ++i) {
        const auto& verdict = watch.tokens[seen.positions[i]].verdict;
        const std::string_view alone = verdict ? std::string_view(verdict->evidence.uuid) : "";
        constexpr std::size_t kPrefix = 4;  // "GPU-" or "MIG-": not part of what the driver says
        if (alone.size() > kPrefix && uuids[i].size() > kPrefix &&
            alone.substr(kPrefix) != uuids[i].substr(kPrefix)) {
            return false;
        }
    }
    return true;
}

Step decide(const TokenList& list, const Need& need, const Watch& watch, TimePoint now)
{
    if (watch.tokens.empty()) {  // no list: only the survey was asked for
        return watch.survey.answered() ? stop(Step::Kind::refuse) : wait_until(TimePoint::max());
    }
    if (watch.chosen.asked) {
        return await_check(list, watch);
    }
    const State state = read(watch);
    if (state.usable.size() + state.pending.size() < need.min) {
        return run_short(state, need, watch, now);
    }
    if (state.usable.empty() || state.usable.size() < need.min) {
        return wait_until(TimePoint::max());
    }
    const std::size_t wanted = std::min(need.max, watch.tokens.size());
    Ready ready{state.usable, state.yes_at.back()};
    if (ready.chosen.size() >= wanted) {
        ready.chosen.resize(wanted);
        ready.since = state.yes_at[wanted - 1];
        const bool lower = !state.pending.empty() && state.pending.front() < ready.chosen.back();
        const TimePoint until = early_enough(watch, grace_end(watch, ready.since));
        if (lower && now < until) {
            return wait_until(until);
        }
    } else if (!state.pending.empty()) {
        // More would be better: go on while answers keep coming.
        const TimePoint last =
            state.no_at.empty() ? ready.since : std::max(ready.since, state.no_at.back());
        const TimePoint until = early_enough(watch, later(watch, last, kShortestQuiet, 1));
        if (now < until) {
            return wait_until(until);
        }
    }
    return confirm(list, watch, ready, now);
}

}  // namespace auto_gpus

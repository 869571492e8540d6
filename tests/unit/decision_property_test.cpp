// What holds of every decision, whatever is known: tried on random states.
#include <algorithm>
#include <set>

#include "src/core/decision.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/random.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

constexpr int kStates = 100000;

struct Case {
    TokenList list;
    Need need;
    Watch watch;
    TimePoint now;
};

/// Usable, bad, being tried again, or without an answer; now and then two entries of one GPU.
TokenWatch random_token(std::mt19937_64& random, std::size_t position)
{
    constexpr Reason kBad[] = {Reason::not_visible, Reason::busy_exclusive, Reason::timeout,
                               Reason::probe_failed, Reason::ecc_uncorrectable};
    TokenWatch token;
    token.at = kStart + milliseconds(below(random, 8000));
    switch (below(random, 5)) {
        case 0:
            return token;
        case 1:
            token.verdict = verdict_of(kBad[below(random, std::size(kBad))], position);
            break;
        case 2:
            token.verdict = verdict_of(kBad[below(random, std::size(kBad))], position);
            token.verdict->final = false;
            break;
        default:
            token.verdict =
                verdict_of(Reason::usable, below(random, 8) == 0 ? below(random, 4) : position);
            break;
    }
    return token;
}

Verdict random_list_verdict(std::mt19937_64& random, const ListWatch& list)
{
    Verdict verdict = verdict_of(Reason::usable, 0);
    const std::size_t shown = list.positions.size() - below(random, 2);
    verdict.evidence.count = static_cast<std::int32_t>(shown);
    for (std::size_t i = 0; i < shown; ++i) {
        verdict.evidence.uuids += (i == 0 ? "" : ",") + uuid_of(list.positions[i]);
    }
    verdict.reason = below(random, 4) == 0 ? Reason::unknown_error : Reason::usable;
    verdict.final = below(random, 8) != 0;
    return verdict;
}

Case random_case(std::mt19937_64& random)
{
    constexpr const char* kLists[] = {"0",           "1,0",         "0,1,2",     "3,2,1,0",
                                      "0,1,2,3,4,5", "MIG-a,MIG-b", "GPU-a,1,2", "0,1,2,3,4,5,6,7"};
    Case made;
    made.list = list_of(kLists[below(random, std::size(kLists))]);
    const std::size_t length = made.list.tokens.size();
    made.need.min = 1 + below(random, length);
    made.need.max = below(random, 2) == 0 ? made.need.min : made.need.min + below(random, 9);
    made.watch = watch_of(made.list, "", milliseconds(0));
    made.now = kStart;
    for (std::size_t i = 0; i < length; ++i) {
        made.watch.tokens[i] = random_token(random, i);
        if (made.watch.tokens[i].verdict) {
            made.now = std::max(made.now, made.watch.tokens[i].at);
        }
    }
    if (below(random, 2) == 0) {
        made.watch.deadline = made.now + milliseconds(below(random, 20000));
    }
    made.now += milliseconds(below(random, 3) == 0 ? 0 : below(random, 12000));
    if (made.watch.whole.asked && below(random, 2) == 0) {
        made.watch.whole.verdict = random_list_verdict(random, made.watch.whole);
    }
    return made;
}

std::size_t count(const Watch& watch, bool (*test)(const TokenWatch&))
{
    return static_cast<std::size_t>(std::count_if(watch.tokens.begin(), watch.tokens.end(), test));
}

bool is_open(const TokenWatch& token)
{
    return !token.answered();
}

void check_positions(const Case& state, const Step& step)
{
    ck_assert_uint_ge(step.positions.size(), state.need.min);
    ck_assert_uint_le(step.positions.size(), state.need.max);
    std::set<std::string> uuids;
    for (std::size_t i = 0; i < step.positions.size(); ++i) {
        ck_assert(i == 0 || step.positions[i - 1] < step.positions[i]);
        const TokenWatch& token = state.watch.tokens.at(step.positions[i]);
        ck_assert(token.usable());
        ck_assert(uuids.insert(token.verdict->evidence.uuid).second);
    }
    // No usable GPU below the last one is passed over.
    for (std::size_t i = 0; i < step.positions.back(); ++i) {
        const TokenWatch& token = state.watch.tokens[i];
        ck_assert(!token.usable() || uuids.count(token.verdict->evidence.uuid) == 1);
    }
}

/// Asked, and not answered for good.
bool is_awaited(const ListWatch& list)
{
    return list.asked && !(list.verdict && list.verdict->final);
}

void check_wait(const Case& state, const Step& step)
{
    const Watch& watch = state.watch;
    ck_assert(step.until > state.now);
    ck_assert(is_awaited(watch.whole) || is_awaited(watch.chosen) || is_awaited(watch.survey) ||
              is_awaited(watch.evidence) || count(watch, is_open) > 0);
    if (step.until != TimePoint::max()) {
        const Step then = decide(state.list, state.need, watch, step.until);
        ck_assert_msg(then.kind != Step::Kind::wait || then.until > step.until,
                      "the wait does not end");
    }
}

void check_refusal(const Case& state, const Step& step)
{
    if (step.refusal != Step::Refusal::too_few) {
        ck_assert(state.watch.chosen.asked && !is_awaited(state.watch.chosen));
        return;
    }
    std::set<std::string> usable;
    for (const TokenWatch& token : state.watch.tokens) {
        if (token.usable()) {
            usable.insert(token.verdict->evidence.uuid);
        }
    }
    ck_assert_uint_lt(usable.size() + count(state.watch, is_open), state.need.min);
}

/// An answer of the first entry that has none.
void answer_one(Case& state, std::mt19937_64& random)
{
    state.now += milliseconds(below(random, 2000));
    for (std::size_t i = 0; i < state.watch.tokens.size(); ++i) {
        TokenWatch& token = state.watch.tokens[i];
        if (!token.answered()) {
            const bool good = below(random, 2) == 0;
            token = {verdict_of(good ? Reason::usable : Reason::crashed, i), state.now};
            return;
        }
    }
    ck_abort_msg("it waits for ever");
}

/// Time passes, or, where no time would help, an answer comes.
void wait(Case& state, const Step& step, std::mt19937_64& random)
{
    if (step.until != TimePoint::max()) {
        state.now = step.until;
    } else if (state.watch.chosen.asked) {
        state.watch.chosen.verdict = random_list_verdict(random, state.watch.chosen);
    } else {
        answer_one(state, random);
    }
}

/// Does what the step asks for. \return whether there is more to decide
bool carry_out(Case& state, const Step& step, std::mt19937_64& random)
{
    if (step.kind == Step::Kind::wait) {
        wait(state, step, random);
        return true;
    }
    ListWatch* const asked = step.kind == Step::Kind::survey         ? &state.watch.survey
                             : step.kind == Step::Kind::evidence     ? &state.watch.evidence
                             : step.kind == Step::Kind::check_chosen ? &state.watch.chosen
                                                                     : nullptr;
    if (asked == nullptr) {
        return false;
    }
    ck_assert_msg(!asked->asked, "the same question twice");
    *asked = {true, state.now, step.positions, {}};
    if (step.positions.empty() && below(random, 2) == 0) {
        asked->verdict = verdict_of(Reason::not_visible, 0);
    }
    return true;
}

void check_step(const Case& state, const Step& step)
{
    same_text("asked twice", text_of_step(step),
              text_of_step(decide(state.list, state.need, state.watch, state.now)));
    switch (step.kind) {
        case Step::Kind::take:
        case Step::Kind::check_chosen:
            check_positions(state, step);
            break;
        case Step::Kind::wait:
            check_wait(state, step);
            break;
        case Step::Kind::refuse:
            check_refusal(state, step);
            break;
        case Step::Kind::survey:
        case Step::Kind::evidence:
            break;
    }
}

START_TEST(decisions_keep_their_promises)
{
    std::mt19937_64 random = random_numbers("decisions");
    for (int i = 0; i < kStates; ++i) {
        Case state = random_case(random);
        bool more = true;
        for (int steps = 0; more; ++steps) {
            ck_assert_int_lt(steps, 40);
            const Step step = decide(state.list, state.need, state.watch, state.now);
            check_step(state, step);
            more = carry_out(state, step, random);
        }
    }
}
END_TEST

}  // namespace

Suite* decision_property_suite()
{
    return suite_of("decision, random", {{decisions_keep_their_promises}}, 240);
}

}  // namespace auto_gpus::unit

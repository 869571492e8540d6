// Verdicts, lists and moments for the tests of the rules.
#pragma once

#include <string>
#include <string_view>

#include "src/core/decision.hpp"
#include "src/core/token_list.hpp"
#include "src/core/verdict.hpp"

namespace auto_gpus::unit {

/// When the first probe starts, on a clock that stands still.
inline constexpr TimePoint kStart{std::chrono::hours(1000)};

/// "GPU-00000003-aaaa-bbbb-cccc-000000000003".
std::string uuid_of(std::size_t number);

/// A list that must be well-formed.
TokenList list_of(std::string_view value);

/// What a probe of the list's entry `number` finds.
Verdict verdict_of(Reason reason, std::size_t number);

/// All fields as one text, for comparisons.
std::string text_of_evidence(const Evidence& evidence);
std::string text_of_verdict(const Verdict& verdict);

/// What is known at a moment, from a line of events "WHO:WHAT@MS", those after the moment left out.
///
///     0:ok@100         entry 0 answered after 100 ms that it is usable
///     1:ok=0@100       the same, and it is the GPU of entry 0
///     1:CODE@100       entry 1 answered with that reason
///     1:CODE?@100      the same, and it is being tried again
///     whole:agree@150  the probe of the whole list saw what its entries promise
///     whole:fewer@150, whole:other@150, whole:mig@150, whole:CODE@150, whole:CODE?@150
///     chosen:0,1@200   the probe of these as one list was asked for; then as `whole`
///     survey:ask@200   the probe of the node was asked for; then as `whole`
///     evidence:ask@200 NVML was asked; then evidence:ok@210
///     deadline:5000@0  the time is up after 5 s; without it there is no end
///
/// The whole list of several entries is asked for at the start.
Watch watch_of(const TokenList& list, std::string_view events, milliseconds moment);

/// "wait", "wait 350", "take 0,1", "check 0,1", "survey", "evidence", "refuse", "unchecked 0,1",
/// "conflict 0,1".
std::string text_of_step(const Step& step);

/// One row of a table of decisions.
struct Scene {
    const char* name;
    const char* list;
    Need need;
    const char* events;
    const char* looks;  ///< "MS STEP|MS STEP": what decide() says then
};
void check_scene(const Scene& scene);

}  // namespace auto_gpus::unit

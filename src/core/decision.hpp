#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/base/deadline.hpp"
#include "src/core/request.hpp"
#include "src/core/token_list.hpp"
#include "src/core/verdict.hpp"

namespace auto_gpus {

/// What came in so far of one token.
struct TokenWatch {
    std::optional<Verdict> verdict;  ///< the latest; a non-final one while it is tried again
    TimePoint at;                    ///< when it came
    /// Of one that was not waited for: how it ended, when that could not be enforced.
    std::optional<Verdict> stuck = {};

    [[nodiscard]] bool answered() const noexcept { return verdict && verdict->final; }
    [[nodiscard]] bool usable() const noexcept { return verdict && verdict->usable(); }
};

/// The probe of several tokens at once, or of the node without any list.
struct ListWatch {
    bool asked = false;
    TimePoint asked_at;
    std::vector<std::size_t> positions;  ///< of the tokens in it
    std::optional<Verdict> verdict;      ///< the latest; a non-final one while it is tried again

    [[nodiscard]] bool answered() const noexcept { return verdict && verdict->final; }
};

/// All that a decision looks at. Filled by the caller as verdicts come; when no more can come, it
/// gives every token a final verdict first.
struct Watch {
    TimePoint started;  ///< the first probe's start
    TimePoint deadline = TimePoint::max();
    std::vector<TokenWatch> tokens;  ///< in list order
    ListWatch whole;                 ///< the whole list; asked from the start when it has several
    ListWatch chosen;                ///< the tokens about to be taken
    ListWatch survey;                ///< without CUDA_VISIBLE_DEVICES
    ListWatch evidence;              ///< NVML's say on faults
};

/// How many GPUs a task needs of a list.
struct Need {
    std::size_t min = 0;
    std::size_t max = 0;
};

Need need_of(const Request& request, const TokenList& list);

/// What to do now.
struct Step {
    enum class Kind {
        wait,          ///< for a verdict, or until `until`
        check_chosen,  ///< probe `positions` as one list
        survey,        ///< probe the node without a list
        evidence,      ///< ask NVML
        take,          ///< `positions` are the task's GPUs
        refuse,        ///< see `refusal`
    };
    /// Why it is refused.
    enum class Refusal {
        too_few,    ///< usable GPUs
        conflict,   ///< `positions` work one by one, but not together
        unchecked,  ///< `positions` may work, but their probe as one list had no answer in time
        own_fault,  ///< that probe failed by a fault of ours
    };
    Kind kind = Kind::wait;
    TimePoint until = TimePoint::max();
    std::vector<std::size_t> positions;
    Refusal refusal = Refusal::too_few;
};

/// Too few usable GPUs, or `positions` that do not work together, or were not checked in time.
struct Short {
    Step::Refusal refusal = Step::Refusal::too_few;
    std::vector<std::size_t> positions;
};

/// The next step: a pure function of what is known and of the time.
///
/// Enough usable GPUs end the wait, but for a short grace to lower tokens; too few that can still
/// become usable end it early. The rules and their figures: README, "How it decides".
Step decide(const TokenList& list, const Need& need, const Watch& watch, TimePoint now);

/// Whether a list's probe saw what the single probes promise: as many GPUs, with their UUIDs.
bool agrees(const TokenList& list, const ListWatch& seen, const Watch& watch);

}  // namespace auto_gpus

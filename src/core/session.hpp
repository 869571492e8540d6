#pragma once

#include <string>
#include <variant>
#include <vector>

#include "src/base/child_process.hpp"
#include "src/base/deadline.hpp"
#include "src/base/io.hpp"
#include "src/base/signal_trap.hpp"
#include "src/core/decision.hpp"
#include "src/core/plan.hpp"

namespace auto_gpus {

/// The task's GPUs: positions in its list.
struct Taken {
    std::vector<std::size_t> positions;
};

/// A signal came while we waited, for the task to end by.
struct Interrupted {
    int signal = 0;
};

/// The supervisor could not be started, died, or spoke out of turn.
struct Broken {
    Error error;
};

using SessionResult = std::variant<Taken, Short, Interrupted, Broken>;

/// What one task wants to know of its GPUs.
struct SessionOrder {
    std::string program;      ///< absolute path of auto-gpus
    Environment environment;  ///< the task's; with CUDA_VISIBLE_DEVICES, the list
    TokenList list;           ///< the same, parsed; empty: only the survey of the node
    Need need;
    SupervisorPlan plan;  ///< but for `parent`
};

/// One task's dealings with its supervisor: starts it, follows its verdicts, decides.
///
/// run() blocks until the decision, a signal of `signals`, or a little after the deadline; when it
/// returns, supervisor and probes are ended and reaped, but for what cannot be killed. In the task
/// child or in the program; not for slurmstepd itself.
class Session {
public:
    /// \param signals  taken as interruptions, all of them
    Session(SessionOrder order, SignalTrap& signals);

    SessionResult run();

    /// All that is known, after run().
    [[nodiscard]] const Watch& watch() const noexcept { return watch_; }

private:
    struct Supervisor {
        Supervisor(ChildProcess started, UniqueFd commands_to, UniqueFd verdicts_from)
            : process(std::move(started)),
              commands(std::move(commands_to)),
              verdicts(std::move(verdicts_from))
        {}
        Supervisor(Supervisor&&) = default;
        Supervisor& operator=(Supervisor&&) = default;
        Supervisor(const Supervisor&) = delete;
        Supervisor& operator=(const Supervisor&) = delete;
        /// Ended and reaped by finish(), or here when an exception came between.
        ~Supervisor();

        ChildProcess process;
        UniqueFd commands;  ///< closed: it ends
        UniqueFd verdicts;
        LineReader lines{kLongestLine};
    };

    Result<Supervisor> start() const;
    void begin();
    SessionResult follow(Supervisor& supervisor);
    std::optional<SessionResult> act(Supervisor& supervisor, const Step& step);
    std::optional<SessionResult> await(Supervisor& supervisor, TimePoint until);
    bool take_verdicts(Supervisor& supervisor);
    bool take_verdict(const std::string& line);
    bool carry_out(Supervisor& supervisor, const Step& step);
    ListWatch& asked_by(Step::Kind kind);
    bool give_up(const Step& step);
    static bool command(Supervisor& supervisor, const std::string& line);
    std::optional<ExitStatus> finish(Supervisor supervisor, milliseconds grace);
    void note_stuck(Supervisor& supervisor);

    SessionOrder order_;
    SignalTrap& signals_;
    TimePoint deadline_;
    Watch watch_;
    std::optional<TimePoint> overdue_;  ///< when the deadline was seen to have passed
    bool closed_ = false;               ///< the supervisor says no more
};

}  // namespace auto_gpus

#pragma once

#include <optional>
#include <string>

#include "src/base/child_process.hpp"
#include "src/base/deadline.hpp"
#include "src/base/io.hpp"
#include "src/core/verdict.hpp"

namespace auto_gpus {

/// What to try, and how its process is told.
struct ProbeOrder {
    CheckKind kind = CheckKind::work;
    std::optional<std::string> visible;  ///< its whole CUDA_VISIBLE_DEVICES; nothing: unset
    std::string libcuda;                 ///< empty: by the loader's search
};

/// One probe: one process that tries a GPU once, from its start to its end. Never waits: its owner
/// polls descriptor() and SIGCHLD, and calls advance() after each event and at next_timer().
class ProbeRun {
public:
    /// Starts this program anew as a probe, with the supervisor's environment less what would
    /// disturb.
    static Result<ProbeRun> start(const Environment& environment, const ProbeOrder& order);

    /// The report pipe; -1 once it hung up.
    [[nodiscard]] int descriptor() const noexcept { return pipe_.get(); }

    /// Takes what the probe has said.
    void read();

    /// Reaps it if it ended; moves on an end that was asked for: SIGTERM, SIGKILL, abandoned.
    void advance(TimePoint now);

    /// Asks for its end. It has kTermGrace after SIGTERM and kKillWait after SIGKILL. What then
    /// stays in an uninterruptible call for kStuckFor cannot be killed and is abandoned; what does
    /// not may only be slow to die, on a busy node or with a context to take down, and has
    /// kSlowDeath.
    void end(TimePoint now);

    /// When advance() has something to do even without an event.
    [[nodiscard]] TimePoint next_timer() const noexcept { return next_step_; }

    /// True when it was reaped or abandoned: verdict() is what is known.
    [[nodiscard]] bool over() const noexcept { return state_ == State::over; }

    /// Ending and evidence; no reason yet.
    [[nodiscard]] const Verdict& verdict() const noexcept { return verdict_; }

private:
    enum class State { running, terminating, killing, over };
    static constexpr milliseconds kTermGrace{100};
    static constexpr milliseconds kKillWait{100};
    static constexpr milliseconds kStuckFor{100};
    static constexpr milliseconds kSlowDeath{500};
    static constexpr milliseconds kReapAgain{10};

    ProbeRun(ChildProcess child, UniqueFd pipe) noexcept;
    void take_line(const std::string& line);
    void reaped(const ExitStatus& status);
    void outlived_kill(TimePoint now);

    ChildProcess child_;
    UniqueFd pipe_;
    LineReader lines_{kLongestLine};
    Verdict verdict_;
    State state_ = State::running;
    bool broke_protocol_ = false;
    TimePoint killed_at_;                       ///< when SIGKILL was sent
    TimePoint stuck_since_ = TimePoint::max();  ///< uninterruptible since then, without a break
    TimePoint next_step_ = TimePoint::max();
};

}  // namespace auto_gpus

#pragma once

#include <signal.h>

#include <initializer_list>

#include "src/base/result.hpp"
#include "src/base/unique_fd.hpp"

namespace auto_gpus {

/// Takes signals as events for as long as it lives, and leaves the process as it found it.
///
/// The signals are blocked and read from a signalfd: no handler is installed, no disposition
/// changes, so a host that ignores or swallows them (Slurm 24.11 in task_init) gets its own back.
/// SIGPIPE is held off too, so that a write to a closed pipe is an error and not death.
/// For the single thread of a task child or of a program of ours.
class SignalTrap {
public:
    /// \return Fault::system_call when no signalfd can be made
    static Result<SignalTrap> set(std::initializer_list<int> signals);

    SignalTrap(SignalTrap&& other) noexcept;
    SignalTrap& operator=(SignalTrap&&) = delete;
    SignalTrap(const SignalTrap&) = delete;
    SignalTrap& operator=(const SignalTrap&) = delete;

    /// Restores the mask. A signal that came in and was not taken is delivered then, as it would
    /// have been without us. A SIGPIPE of our own making is dropped, and a SIGCHLD of our own
    /// child where the host has that one blocked (Slurm 25.05 in task_init).
    ~SignalTrap();

    /// Readable when a signal is there.
    [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

    /// \return the next signal's number, or 0
    int take() noexcept;

private:
    SignalTrap(UniqueFd events, const sigset_t& before) noexcept;

    UniqueFd events_;
    sigset_t before_;
    bool pipe_pending_before_ = false;
    bool child_pending_before_ = false;
};

}  // namespace auto_gpus

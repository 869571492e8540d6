#pragma once

#include <chrono>

namespace auto_gpus {

using Clock = std::chrono::steady_clock;  ///< CLOCK_MONOTONIC: no jump when the date is set
using TimePoint = Clock::time_point;
using std::chrono::milliseconds;

/// A point in time that a wait must not outlast. A value: pass it down from the top.
class Deadline {
public:
    explicit Deadline(TimePoint when) noexcept : when_(when) {}
    static Deadline after(Clock::duration wait) noexcept { return Deadline(Clock::now() + wait); }

    [[nodiscard]] TimePoint when() const noexcept { return when_; }
    [[nodiscard]] bool passed() const noexcept { return Clock::now() >= when_; }
    [[nodiscard]] Deadline earlier(TimePoint other) const noexcept
    {
        return Deadline(other < when_ ? other : when_);
    }

    /// Milliseconds left for poll(2): 0 when passed, rounded up, so that a poll that timed out
    /// finds the deadline passed and does not spin through its last millisecond.
    [[nodiscard]] int poll_timeout() const noexcept;

private:
    TimePoint when_;
};

}  // namespace auto_gpus

#pragma once

#include <optional>
#include <string>

#include "src/cli/probe_run.hpp"
#include "src/core/plan.hpp"

namespace auto_gpus {

/// What all subjects of one supervisor share.
struct ProbeSetting {
    Environment environment;  ///< the task's
    SupervisorPlan plan;
    TimePoint started;
    std::uint64_t oom_kills = 0;  ///< of the cgroup, before the first probe
};

/// One thing to be probed (a token, a list, the node), over all its tries.
///
/// A fault that may pass is tried again in a fresh process with back-off, as long as the plan says;
/// a probe killed by a signal KILL that was not ours is tried once more.
class Subject {
public:
    /// \param who  a token's position, or kWhole, kChosen, kSurvey
    Subject(std::string who, ProbeOrder order) : who_(std::move(who)), order_(std::move(order)) {}

    void start(const ProbeSetting& setting);

    /// Does what is due; appends verdicts, one a line, to `out`.
    /// \param closing  true when no more tries are to be made: what runs is ended
    void advance(const ProbeSetting& setting, TimePoint now, bool closing, std::string& out);

    /// The running probe's pipe, or -1.
    [[nodiscard]] int descriptor() const noexcept { return run_ ? run_->descriptor() : -1; }
    void read() { run_->read(); }
    [[nodiscard]] TimePoint next_timer() const noexcept;

    /// Nothing runs and nothing is planned.
    [[nodiscard]] bool over() const noexcept { return !run_ && !not_started_ && !retry_at_; }

private:
    void conclude(Verdict verdict, const ProbeSetting& setting, TimePoint now, bool closing,
                  std::string& out);
    [[nodiscard]] bool worth_another_try(const Verdict& verdict, const ProbeSetting& setting,
                                         TimePoint now) const;
    void publish(const ProbeSetting& setting, TimePoint now, std::string& out);

    std::string who_;
    ProbeOrder order_;
    std::optional<ProbeRun> run_;
    std::optional<Verdict> not_started_;  ///< of a try that did not become a process
    std::optional<TimePoint> retry_at_;
    Verdict latest_;
    std::uint32_t tries_ = 0;
    bool killed_before_ = false;
};

}  // namespace auto_gpus

#include "src/cli/subject.hpp"

#include <signal.h>

#include <algorithm>

#include "src/base/oom.hpp"
#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr milliseconds kFirstBackOff{100};
constexpr milliseconds kLongestBackOff{1000};

milliseconds back_off(std::uint32_t tries)
{
    return std::min(kFirstBackOff * (1U << std::min(tries - 1, 4U)), kLongestBackOff);
}

bool is_foreign_kill(const Verdict& verdict)
{
    return verdict.ending == Ending::killed && verdict.signal == SIGKILL;
}

}  // namespace

void Subject::start(const ProbeSetting& setting)
{
    retry_at_.reset();
    ++tries_;
    auto run = ProbeRun::start(setting.environment, order_);
    if (run) {
        run_.emplace(std::move(run).value());
        return;
    }
    Verdict failed;
    failed.ending = Ending::not_started;
    failed.evidence.load_error = run.error().cause;
    not_started_ = std::move(failed);
}

bool Subject::worth_another_try(const Verdict& verdict, const ProbeSetting& setting,
                                TimePoint now) const
{
    if (is_foreign_kill(verdict)) {
        return !killed_before_;
    }
    // No process or no memory for it now: the probes of other GPUs end soon.
    const bool may_start = verdict.ending == Ending::not_started;
    return (may_start || (may_pass(verdict.reason) && order_.kind == CheckKind::work)) &&
           now + back_off(tries_) < setting.started + setting.plan.retry;
}

void Subject::publish(const ProbeSetting& setting, TimePoint now, std::string& out)
{
    latest_.tries = tries_;
    latest_.took_us = microseconds_32(now - setting.started);
    out += encode(who_, latest_) + "\n";
}

void Subject::conclude(Verdict verdict, const ProbeSetting& setting, TimePoint now, bool closing,
                       std::string& out)
{
    if (is_foreign_kill(verdict) && oom_kills() > setting.oom_kills) {
        verdict.ending = Ending::memory_limit;
    }
    verdict.reason = judge(verdict, Standard{setting.plan.min_free, order_.kind});
    // Ended while it was tried again: the earlier answer says more than the want of time.
    const bool keep_earlier = verdict.reason == Reason::timeout && tries_ > 1 &&
                              latest_.reason != Reason::undecided && verdict.stuck_pid == 0;
    if (!keep_earlier) {
        latest_ = std::move(verdict);
    }
    const bool again = !closing && !keep_earlier && worth_another_try(latest_, setting, now);
    latest_.final = !again;
    killed_before_ = killed_before_ || is_foreign_kill(latest_);
    if (again) {
        retry_at_ = now + (is_foreign_kill(latest_) ? milliseconds{0} : back_off(tries_));
    }
    publish(setting, now, out);
}

void Subject::advance(const ProbeSetting& setting, TimePoint now, bool closing, std::string& out)
{
    if (run_) {
        if (closing) {
            run_->end(now);
        }
        run_->advance(now);
        if (run_->over()) {
            Verdict verdict = run_->verdict();
            run_.reset();
            conclude(std::move(verdict), setting, now, closing, out);
        }
        return;
    }
    if (not_started_) {
        conclude(*std::exchange(not_started_, std::nullopt), setting, now, closing, out);
        return;
    }
    if (!retry_at_ || (!closing && now < *retry_at_)) {
        return;
    }
    if (!closing) {
        start(setting);
        return;
    }
    retry_at_.reset();
    latest_.final = true;
    publish(setting, now, out);
}

TimePoint Subject::next_timer() const noexcept
{
    if (not_started_) {
        return TimePoint::min();  // to be told at once
    }
    return run_ ? run_->next_timer() : retry_at_.value_or(TimePoint::max());
}

}  // namespace auto_gpus

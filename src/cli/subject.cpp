#include "src/cli/subject.hpp"

#include <signal.h>

#include <algorithm>

#include "src/base/oom.hpp"

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
    latest_ = Verdict{};
    latest_.ending = Ending::not_started;
    latest_.reason = Reason::probe_failed;
    latest_.evidence.load_error = run.error().cause;
    retry_at_ = TimePoint::min();  // advance() publishes it
}

bool Subject::worth_another_try(const Verdict& verdict, const ProbeSetting& setting,
                                TimePoint now) const
{
    if (is_foreign_kill(verdict)) {
        return !killed_before_;
    }
    return may_pass(verdict.reason) && order_.kind == CheckKind::work &&
           now + back_off(tries_) < setting.started + setting.plan.retry;
}

void Subject::publish(const ProbeSetting& setting, TimePoint now, std::string& out)
{
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    latest_.tries = tries_;
    latest_.took_us =
        static_cast<std::uint32_t>(duration_cast<microseconds>(now - setting.started).count());
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
        retry_at_ = now + (may_pass(latest_.reason) ? back_off(tries_) : milliseconds{0});
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
    if (!retry_at_ || (!closing && now < *retry_at_)) {
        return;
    }
    if (!closing && latest_.ending != Ending::not_started) {
        start(setting);
        return;
    }
    retry_at_.reset();
    latest_.final = true;
    publish(setting, now, out);
}

TimePoint Subject::next_timer() const noexcept
{
    return run_ ? run_->next_timer() : retry_at_.value_or(TimePoint::max());
}

}  // namespace auto_gpus

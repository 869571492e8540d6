#include "src/cli/probe_run.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/confine.hpp"
#include "src/core/plan.hpp"
#include "src/core/token_list.hpp"

namespace auto_gpus {
namespace {

/// Variables with which a driver writes files, loads tools, or waits for a home folder.
constexpr const char* kDisturbing[] = {
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
    "CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION",
    "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
    "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
    "CUDA_COREDUMP_FILE",
    "CUDA_COREDUMP_PIPE",
    "CUDA_COREDUMP_GENERATION_FLAGS",
    "CUDA_COREDUMP_SHOW_PROGRESS",
};

Environment probe_environment(Environment environment, const ProbeOrder& order)
{
    for (const char* variable : kDisturbing) {
        environment.unset(variable);
    }
    if (order.visible) {
        environment.set(kVisibleDevices, *order.visible);
    } else {
        environment.unset(kVisibleDevices);
    }
    environment.set("CUDA_CACHE_DISABLE", "1");
    return environment;
}

}  // namespace

Result<ProbeRun> ProbeRun::start(const Environment& environment, const ProbeOrder& order)
{
    auto pipe = make_pipe();
    if (!pipe) {
        return pipe.error();
    }
    Program program;
    program.path = kOwnProgram;
    program.name = kProgramName;
    program.arguments = {kCheckWord, std::to_string(::getpid()), name(order.kind), order.libcuda};
    program.environment = probe_environment(environment, order);
    program.report = pipe.value().write.get();
    program.own_group = true;  // what the driver starts ends with the probe
    auto child = ChildProcess::spawn(std::move(program));
    if (!child) {
        return child.error();
    }
    return ProbeRun(std::move(child).value(), std::move(pipe.value().read));
}

ProbeRun::ProbeRun(ChildProcess child, UniqueFd pipe) noexcept
    : child_(std::move(child)), pipe_(std::move(pipe))
{}

void ProbeRun::take_line(const std::string& line)
{
    if (!decode_into(verdict_.evidence, line)) {
        broke_protocol_ = true;
    }
}

void ProbeRun::read()
{
    if (!pipe_) {
        return;
    }
    const LineReader::State state = lines_.fill(pipe_.get());
    std::string line;
    while (!broke_protocol_ && lines_.next(line)) {
        take_line(line);
    }
    if (state == LineReader::State::open && !broke_protocol_) {
        return;
    }
    broke_protocol_ = broke_protocol_ || state == LineReader::State::broken;
    pipe_.reset();
    // A hang-up announces the end; SIGCHLD will tell, and this is for the case that it does not.
    next_step_ = std::min(next_step_, Clock::now() + kReapAgain);
}

void ProbeRun::reaped(const ExitStatus& status)
{
    read();
    const bool finished =
        status.signal == 0 && status.code == 0 && verdict_.evidence.stage == Stage::done;
    if (broke_protocol_ || status.unknown) {
        verdict_.ending = Ending::broke_protocol;
    } else if (state_ != State::running && !finished) {
        verdict_.ending = Ending::timed_out;
    } else if (status.signal != 0) {
        verdict_.ending = Ending::killed;
        verdict_.signal = status.signal;
    } else {
        verdict_.ending = Ending::exited;
        verdict_.exit_code = status.code;
    }
    state_ = State::over;
}

void ProbeRun::end(TimePoint now)
{
    if (state_ == State::running) {
        state_ = State::terminating;
        child_.signal(SIGTERM);
        next_step_ = now + kTermGrace;
    }
}

void ProbeRun::outlived_kill(TimePoint now)
{
    if (!child_.is_uninterruptible()) {
        stuck_since_ = TimePoint::max();  // a passing one, as every process has at times
    } else if (stuck_since_ == TimePoint::max()) {
        stuck_since_ = now;
    }
    const bool stuck = stuck_since_ != TimePoint::max() && now >= stuck_since_ + kStuckFor;
    if (!stuck && now < killed_at_ + kSlowDeath) {
        next_step_ = now + kReapAgain;
        return;
    }
    verdict_.ending = Ending::timed_out;
    verdict_.stuck_pid = child_.pid();
    state_ = State::over;
}

void ProbeRun::advance(TimePoint now)
{
    if (over()) {
        return;
    }
    if (const auto status = child_.try_reap()) {
        reaped(*status);
        return;
    }
    if (now < next_step_) {
        return;
    }
    switch (state_) {
        case State::running:
            next_step_ = pipe_ ? TimePoint::max() : now + kReapAgain;
            break;
        case State::terminating:
            state_ = State::killing;
            child_.signal(SIGKILL);
            killed_at_ = now;
            next_step_ = now + kKillWait;
            break;
        case State::killing:
            outlived_kill(now);
            break;
        case State::over:
            break;
    }
}

}  // namespace auto_gpus

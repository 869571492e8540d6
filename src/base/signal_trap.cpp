#include "src/base/signal_trap.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace auto_gpus {
namespace {

bool is_pending(int signal) noexcept
{
    sigset_t pending;
    return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

void drop_pending(int signal) noexcept
{
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    const timespec at_once{0, 0};
    while (::sigtimedwait(&one, nullptr, &at_once) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<SignalTrap> SignalTrap::set(std::initializer_list<int> signals)
{
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int signal : signals) {
        ::sigaddset(&taken, signal);
    }
    UniqueFd events(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!events) {
        return system_error("cannot make a signal descriptor", errno,
                            "raise the limit of open files");
    }
    ::sigaddset(&taken, SIGPIPE);
    const bool pipe_pending = is_pending(SIGPIPE);
    const bool child_pending = is_pending(SIGCHLD);
    sigset_t before;
    if (::sigprocmask(SIG_BLOCK, &taken, &before) != 0) {
        return system_error("cannot block signals", errno, "report this");
    }
    SignalTrap trap(std::move(events), before);
    trap.pipe_pending_before_ = pipe_pending;
    trap.child_pending_before_ = child_pending;
    return trap;
}

SignalTrap::SignalTrap(UniqueFd events, const sigset_t& before) noexcept
    : events_(std::move(events)), before_(before)
{}

SignalTrap::SignalTrap(SignalTrap&& other) noexcept
    : events_(std::move(other.events_)),
      before_(other.before_),
      pipe_pending_before_(other.pipe_pending_before_),
      child_pending_before_(other.child_pending_before_)
{}

SignalTrap::~SignalTrap()
{
    if (!events_) {
        return;
    }
    if (!pipe_pending_before_) {
        drop_pending(SIGPIPE);
    }
    if (!child_pending_before_) {
        drop_pending(SIGCHLD);
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int SignalTrap::take() noexcept
{
    signalfd_siginfo event{};
    return ::read(events_.get(), &event, sizeof(event)) == sizeof(event)
               ? static_cast<int>(event.ssi_signo)
               : 0;
}

}  // namespace auto_gpus

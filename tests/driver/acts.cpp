// SPDX-License-Identifier: Apache-2.0
#include "acts.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "faults.hpp"
#include "files.hpp"
#include "log.hpp"

namespace fake_cuda {
namespace {

/// Like an uninterruptible wait as far as SIGTERM goes; what arrives is noted.
[[noreturn]] void hang_through_term(const char* call, const std::string& owner)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    for (;;) {
        int signal = 0;
        if (sigwait(&term, &signal) == 0) {
            log_call(call, owner, "does:ignore-SIGTERM");
        }
    }
}

[[noreturn]] void spin()
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (volatile unsigned turns = 0;;) {
        turns = turns + 1U;
    }
}

/// Making a file on a file system that was frozen (fsfreeze) waits in D state: SIGKILL waits too.
[[noreturn]] void hang_on_frozen(const std::string& folder, const char* call,
                                 const std::string& owner)
{
    const Fd file = open_shared(folder + "/" + std::to_string(getpid()), O_WRONLY);
    // Here only when the folder is missing, or not frozen (any more).
    log_call(call, owner, file ? "does:not-frozen" : "does:no-such-folder");
    hang();
}

[[noreturn]] void die(int signal_number)
{
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    (void)std::signal(signal_number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    (void)kill(getpid(), signal_number);
    (void)std::raise(signal_number);
    constexpr int kSignalBase = 128;
    _exit(kSignalBase + signal_number);
}

/// Half a line, other people's reports, bytes that are no text: on 3 as well, where a parent may
/// be listening.
void make_noise()
{
    constexpr std::string_view kNoise =
        "usable 0 0\n{\"verdict\": \"ok\"}\n\x01\x02\xff\xfe %s%n NVRM: Xid 79\n\n0";
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO, STDERR_FILENO + 1}) {
        (void)!write(fd, kNoise.data(), kNoise.size());
    }
}

void leave_child(std::chrono::nanoseconds time)
{
    if (fork() == 0) {
        take_time(time);
        _exit(0);
    }
}

}  // namespace

void hang()
{
    for (;;) {
        pause();
    }
}

void act(const Fault& fault, const char* call, const std::string& owner)
{
    switch (fault.act) {
        case Act::fail:
            return;
        case Act::slow:
            return take_time(fault.time);
        case Act::hang:
            hang();
        case Act::hang_term:
            hang_through_term(call, owner);
        case Act::spin:
            spin();
        case Act::hang_frozen:
            hang_on_frozen(fault.path, call, owner);
        case Act::die:
            die(fault.number);
        case Act::exit:
            _exit(fault.number);
        case Act::noise:
            return make_noise();
        case Act::fork:
            return leave_child(fault.time);
    }
}

}  // namespace fake_cuda

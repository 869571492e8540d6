#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "src/base/environment.hpp"
#include "src/base/result.hpp"

namespace auto_gpus {

/// Where a spawned program finds its report pipe; standard input, output and error are below.
inline constexpr int kReportFd = 3;

/// How a child ended.
struct ExitStatus {
    int code = 0;          ///< valid when signal is 0
    int signal = 0;        ///< the signal that killed it, or 0
    bool unknown = false;  ///< somebody else's wait took the status, or SIGCHLD is ignored
};

/// What to start, and what it gets.
struct Program {
    std::string path;                    ///< absolute; no shell, no PATH search
    std::string name;                    ///< argv[0]
    std::vector<std::string> arguments;  ///< what follows it
    Environment environment;
    int input = -1;          ///< borrowed for the call: standard input; -1 is /dev/null
    int report = -1;         ///< borrowed for the call: becomes kReportFd
    bool own_group = false;  ///< a process group of its own, which is signalled and ended with it
};

/// One child process, owned from spawn to reap. Never waits: ask try_reap() again after its pipe
/// hung up or SIGCHLD came, under a deadline of the caller.
///
/// Dropping one that was not reaped leaves it to the process that adopts it. Whoever owns it ends
/// it first.
class ChildProcess {
public:
    /// Starts `program` with standard output and error (and input, unless given) on /dev/null, an
    /// empty signal mask and default dispositions. Descriptors without close-on-exec reach the
    /// program, which closes them first thing (see confine.hpp).
    ///
    /// \return Fault::helper when the program is missing or cannot be executed
    static Result<ChildProcess> spawn(Program program);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess() = default;

    /// \return how it ended, once; nothing while it lives. Waits for this pid only: the host
    ///         process has children of its own. What is left of its own group is killed first.
    std::optional<ExitStatus> try_reap() noexcept;

    /// Sends a signal if the child was not reaped yet.
    void signal(int number) const noexcept;

    /// Whether it sits in a system call that no signal reaches (state D), as the kernel says now.
    [[nodiscard]] bool is_uninterruptible() const noexcept;

    /// The pid, also after the child was reaped.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool reaped() const noexcept { return reaped_; }

private:
    ChildProcess(pid_t pid, bool own_group) noexcept : pid_(pid), own_group_(own_group) {}

    pid_t pid_;
    bool own_group_;
    bool reaped_ = false;
};

}  // namespace auto_gpus

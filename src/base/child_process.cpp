#include "src/base/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "src/base/unique_fd.hpp"

namespace auto_gpus {
namespace {

/// Owner of posix_spawn's two parameter blocks.
class SpawnSetup {
public:
    SpawnSetup()
    {
        check(::posix_spawn_file_actions_init(&actions_));
        check(::posix_spawnattr_init(&attributes_));
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;
    ~SpawnSetup()
    {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    void null_device(int descriptor)
    {
        check(::posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", O_RDWR, 0));
    }

    void descriptor(int from, int to)
    {
        check(::posix_spawn_file_actions_adddup2(&actions_, from, to));
    }

    /// Empty mask and default dispositions for all signals; its own process group if wanted.
    void fresh_start(bool own_group)
    {
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        check(::posix_spawnattr_setsigmask(&attributes_, &none));
        check(::posix_spawnattr_setsigdefault(&attributes_, &all));
        const int group = own_group ? POSIX_SPAWN_SETPGROUP : 0;  // of 0, the default: its pid
        check(::posix_spawnattr_setflags(
            &attributes_,
            static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group)));
    }

    /// \return errno's value, 0 when the program runs
    int start(pid_t& pid, const std::string& path, std::vector<char*>& argv,
              std::vector<char*>& environment)
    {
        if (error_ != 0) {
            return error_;
        }
        return ::posix_spawn(&pid, path.c_str(), &actions_, &attributes_, argv.data(),
                             environment.data());
    }

private:
    void check(int error)
    {
        if (error_ == 0) {
            error_ = error;
        }
    }

    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    int error_ = 0;
};

std::vector<char*> argument_pointers(Program& program)
{
    std::vector<char*> pointers{program.name.data()};
    for (std::string& argument : program.arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

const char* remedy_for(int error) noexcept
{
    switch (error) {
        case EAGAIN:
            return "raise the limit of processes (ulimit -u, pids.max)";
        case ENOMEM:
            return "ask for more memory with --mem";
        default:
            return "install auto-gpus on this node as on the others";
    }
}

ExitStatus decoded(int status)
{
    ExitStatus ended;
    if (WIFSIGNALED(status)) {
        ended.signal = WTERMSIG(status);
    } else {
        ended.code = WEXITSTATUS(status);
    }
    return ended;
}

}  // namespace

Result<ChildProcess> ChildProcess::spawn(Program program)
{
    SpawnSetup setup;
    setup.fresh_start(program.own_group);
    if (program.input >= 0) {
        setup.descriptor(program.input, 0);
    } else {
        setup.null_device(0);
    }
    setup.null_device(1);
    setup.null_device(2);
    if (program.report >= 0) {
        setup.descriptor(program.report, kReportFd);
    }
    std::vector<char*> argv = argument_pointers(program);
    std::vector<char*> environment = program.environment.pointers();
    pid_t pid = -1;
    if (const int error = setup.start(pid, program.path, argv, environment); error != 0) {
        Error failed = system_error("cannot start " + program.path, error, remedy_for(error));
        failed.fault = Fault::helper;
        return failed;
    }
    return ChildProcess(pid, program.own_group);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.pid_), own_group_(other.own_group_), reaped_(std::exchange(other.reaped_, true))
{}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    pid_ = other.pid_;
    own_group_ = other.own_group_;
    reaped_ = std::exchange(other.reaped_, true);
    return *this;
}

std::optional<ExitStatus> ChildProcess::try_reap() noexcept
{
    if (reaped_) {
        return std::nullopt;
    }
    if (own_group_) {
        siginfo_t ended{};
        const auto id = static_cast<id_t>(pid_);
        if (::waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
            return std::nullopt;
        }
        ::kill(-pid_, SIGKILL);  // while the dead leader still keeps the group's number
    }
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
        return std::nullopt;
    }
    reaped_ = true;
    if (got < 0) {  // ECHILD: the status is lost, the child is gone
        ExitStatus lost;
        lost.unknown = true;
        return lost;
    }
    return decoded(status);
}

bool ChildProcess::is_uninterruptible() const noexcept
{
    const std::string path = "/proc/" + std::to_string(pid_) + "/stat";
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};  // "PID (name) S …"
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    const std::string_view stat(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string_view::npos && stat.substr(name_end, 3) == ") D";
}

void ChildProcess::signal(int number) const noexcept
{
    if (!reaped_) {
        ::kill(own_group_ ? -pid_ : pid_, number);
    }
}

}  // namespace auto_gpus

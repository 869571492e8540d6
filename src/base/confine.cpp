#include "src/base/confine.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

struct TaskLimit {
    const char* variable;
    decltype(RLIMIT_AS) resource;
};

constexpr TaskLimit kTaskLimits[] = {
    {"SLURM_RLIMIT_AS", RLIMIT_AS},         {"SLURM_RLIMIT_DATA", RLIMIT_DATA},
    {"SLURM_RLIMIT_STACK", RLIMIT_STACK},   {"SLURM_RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
    {"SLURM_RLIMIT_NOFILE", RLIMIT_NOFILE},
};

void lower_soft_limit(const TaskLimit& limit, std::string_view text) noexcept
{
    if (starts_with(text, "U")) {
        text.remove_prefix(1);
    }
    const auto wanted = parse_number(text, std::numeric_limits<rlim_t>::max());
    rlimit now{};
    if (!wanted || ::getrlimit(limit.resource, &now) != 0) {
        return;
    }
    now.rlim_cur = std::min<rlim_t>(*wanted, now.rlim_max);
    ::setrlimit(limit.resource, &now);
}

}  // namespace

bool die_with_parent(pid_t parent) noexcept
{
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent;
}

void close_descriptors_above(int last) noexcept
{
    const std::unique_ptr<DIR, CloseDirectory> open_ones(::opendir("/proc/self/fd"));
    if (!open_ones) {
        constexpr int kUsualMost = 1024;
        for (int descriptor = last + 1; descriptor < kUsualMost; ++descriptor) {
            ::close(descriptor);
        }
        return;
    }
    std::vector<int> found;
    while (const dirent* entry = ::readdir(open_ones.get())) {
        const auto number = parse_number(entry->d_name, std::numeric_limits<int>::max());
        if (number && static_cast<int>(*number) > last) {
            found.push_back(static_cast<int>(*number));
        }
    }
    const int own = ::dirfd(open_ones.get());
    for (const int descriptor : found) {
        if (descriptor != own) {
            ::close(descriptor);
        }
    }
}

void forbid_core_dump() noexcept
{
    // A core pattern that is a pipe ignores a limit of 0, but not one of 1 (kernel, fs/coredump.c);
    // a file needs a page. PR_SET_DUMPABLE would take /proc/self away from the driver.
    const rlimit smallest{1, 1};
    if (::setrlimit(RLIMIT_CORE, &smallest) != 0) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
    }
}

void apply_task_limits(const Environment& task) noexcept
{
    for (const TaskLimit& limit : kTaskLimits) {
        if (const auto text = task.get(limit.variable)) {
            lower_soft_limit(limit, *text);
        }
    }
}

}  // namespace auto_gpus

// The probe's own entry: a process that tries what its CUDA_VISIBLE_DEVICES shows, once.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "src/base/child_process.hpp"
#include "src/base/confine.hpp"
#include "src/base/text.hpp"
#include "src/cli/supervisor.hpp"
#include "src/core/plan.hpp"
#include "src/core/token_list.hpp"
#include "src/probe/check.hpp"

namespace auto_gpus {
namespace {

constexpr int kStatusBadCall = 64;
constexpr int kStatusOrphan = 70;

volatile sig_atomic_t unwanted = 0;  // set by SIGTERM while a context exists

void note_unwanted(int /*signal*/)
{
    unwanted = 1;
}

/// Once a context exists SIGTERM is a request to destroy it; before, it ends the probe at once.
void guard_context(Stage stage)
{
    if (stage == Stage::allocate) {
        ::signal(SIGTERM, note_unwanted);
    }
}

bool write_line(const std::string& line)
{
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t written = ::write(kReportFd, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        rest.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return true;
}

}  // namespace

int check(const std::vector<std::string_view>& arguments)
{
    constexpr std::size_t kArguments = 3;
    if (arguments.size() != kArguments) {
        return kStatusBadCall;
    }
    const auto parent = parse_number(arguments[0], std::numeric_limits<int>::max());
    const auto kind = check_kind_from_name(arguments[1]);
    if (!parent || !kind) {
        return kStatusBadCall;
    }
    if (!die_with_parent(static_cast<pid_t>(*parent))) {
        return kStatusOrphan;
    }
    ::prctl(PR_SET_NAME, kProgramName);  // it was started as /proc/self/exe
    close_descriptors_above(kReportFd);
    forbid_core_dump();
    const Environment environment(environ);
    apply_task_limits(environment);
    ::signal(SIGPIPE, SIG_IGN);

    const std::string libcuda(arguments[2].empty() ? "libcuda.so.1" : arguments[2]);
    const std::string visible = environment.get(kVisibleDevices).value_or("");
    Evidence told;
    run_check(*kind, libcuda, starts_with(visible, "MIG-") ? "MIG-" : "GPU-",
              [&](const Evidence& now) {
                  guard_context(now.stage);
                  const std::string changes = encode_changes(told, now);
                  told = now;
                  return (changes.empty() || write_line(changes + "\n")) && unwanted == 0;
              });
    // What the driver would do at exit is not waited for: the context is gone already.
    ::_exit(0);
}

}  // namespace auto_gpus

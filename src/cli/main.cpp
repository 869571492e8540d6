// The program auto-gpus: for people, and as supervisor and probe of the Slurm plugin.
#include <exception>
#include <string_view>
#include <vector>

#include "src/cli/commands.hpp"
#include "src/cli/supervisor.hpp"
#include "src/core/plan.hpp"

namespace {

int dispatch(int argc, char** argv)
{
    using namespace auto_gpus;
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments[0] == kSuperviseWord) {
        return supervise({arguments.begin() + 1, arguments.end()});
    }
    if (!arguments.empty() && arguments[0] == kCheckWord) {
        return check({arguments.begin() + 1, arguments.end()});
    }
    return run_command(argc, argv);
}

}  // namespace

int main(int argc, char** argv)
{
    constexpr int kStatusBroken = 70;
    try {
        return dispatch(argc, argv);
    } catch (const std::exception& broken) {
        auto_gpus::report_broken(broken.what());
        return kStatusBroken;
    }
}

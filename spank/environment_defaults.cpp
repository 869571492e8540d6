#include "spank/environment_defaults.hpp"

#include <errno.h>

#include <cstdlib>

namespace auto_gpus {
namespace {

std::optional<std::string> variable(const std::string& name)
{
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Which of Slurm's programs this is decides how its variables begin.
std::string default_prefix()
{
    if (spank_context() == S_CTX_LOCAL) {
        return "SLURM_";
    }
    return std::string(::program_invocation_short_name) == "salloc" ? "SALLOC_" : "SBATCH_";
}

void put(const OptionInfo& row, const std::string& slurms, const std::string& value)
{
    // An option without an argument says no by not being there: Slurm carries no value.
    const bool says_no = row.argument == nullptr && value == "0";
    if (says_no) {
        ::unsetenv(slurms.c_str());
    } else {
        ::setenv(slurms.c_str(), value.c_str(), 1);
    }
}

}  // namespace

void put_environment_defaults(PluginState& state)
{
    for (const OptionInfo& row : all_options()) {
        const std::string slurms = job_variable(row.option);
        OptionSource& source = source_of(state, row.option);
        if (spank_context() == S_CTX_LOCAL) {
            source.of_job = variable(slurms);
        } else {
            ::unsetenv(slurms.c_str());  // a job submitted from within a job is not that job's
        }
        source.variable = default_prefix() + row.variable;
        source.by_default = variable(source.variable);
        if (source.by_default) {
            put(row, slurms, *source.by_default);
        }
    }
}

void restore_environment(const PluginState& state)
{
    for (const OptionInfo& row : all_options()) {
        const OptionSource& source = source_of(state, row.option);
        if (!source.by_default) {
            continue;
        }
        const std::string slurms = job_variable(row.option);
        if (source.of_job) {
            ::setenv(slurms.c_str(), source.of_job->c_str(), 1);
        } else {
            ::unsetenv(slurms.c_str());
        }
    }
}

}  // namespace auto_gpus

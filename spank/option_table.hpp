#pragma once

#include <array>
#include <optional>
#include <string>

#include "spank/slurm.hpp"
#include "src/core/options.hpp"

namespace auto_gpus {

/// Where an option's value may come from besides the command line, in srun, sbatch and salloc.
struct OptionSource {
    std::optional<std::string> of_job;      ///< inherited from the job that we are in
    std::string variable;                   ///< name of the environment default …
    std::optional<std::string> by_default;  ///< … and its value, when it is set
};

/// What this process knows of the step: one per process, filled by slurm_spank_init and the option
/// callbacks, read by the later hooks.
struct PluginState {
    bool loaded = false;  ///< by the first line in plugstack.conf that names the plugin
    Site site;
    OptionTexts options;
    std::array<OptionSource, kOptionCount> sources;
    int requests_read = 0;             ///< how often --auto-gpus was read, from all places
    int defaults_read = 0;             ///< how often with the text of the environment default
    bool request_was_default = false;  ///< the last time from the environment default
    bool task_passed =
        false;  ///< in the task child: so that a second line in plugstack.conf does nothing
    bool task_asked = false;  ///< in the task child: the step asked, the site's default did not
};
PluginState& plugin_state();

inline OptionSource& source_of(PluginState& state, Option option)
{
    return state.sources.at(static_cast<std::size_t>(option));
}
inline const OptionSource& source_of(const PluginState& state, Option option)
{
    return state.sources.at(static_cast<std::size_t>(option));
}

/// Registers all options with srun, sbatch, salloc or slurmstepd.
/// \return false when Slurm refuses one
bool register_options(spank_t spank);

/// The variable in which Slurm carries an option's value from a job to its sruns.
std::string job_variable(Option option);

/// Set in the step's environment where the request was not typed for it, and removed in the task.
/// SLURM_… passes srun's --export=NONE too.
inline constexpr char kOriginVariable[] = "SLURM_SPANK_AUTO_GPUS_ORIGIN";
inline constexpr char kOriginInherited[] = "inherited";
inline constexpr char kOriginEnvironment[] = "environment";

/// How the names of the variables begin in which Slurm carries our options: to a step (some
/// releases leave them in the task), and from a job to its sruns.
inline constexpr char kStepVariables[] = "_SLURM_SPANK_OPTION_auto_gpus_";
inline constexpr char kJobVariables[] = "SLURM_SPANK__SLURM_SPANK_OPTION_auto_gpus_";

}  // namespace auto_gpus

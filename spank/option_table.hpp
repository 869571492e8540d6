#pragma once

#include <string>

#include "spank/slurm.hpp"
#include "src/core/options.hpp"

namespace auto_gpus {

/// What this process knows of the step: one per process, filled by slurm_spank_init and the option
/// callbacks, read by the later hooks.
struct PluginState {
    Site site;
    OptionTexts options;
    int request_callbacks = 0;  ///< how often --auto-gpus was read: environment, command line
    bool task_asked = false;    ///< in the task child: its request was explicit or inherited
};
PluginState& plugin_state();

/// Registers all options with srun, sbatch, salloc or slurmstepd.
/// \return false when Slurm refuses one
bool register_options(spank_t spank);

/// The variable in which Slurm carries an option's value from a job to its sruns.
std::string job_variable(Option option);

/// Set by srun in the step's environment when its request is the job's, and removed in the task.
/// SLURM_… passes --export=NONE too.
inline constexpr char kOriginVariable[] = "SLURM_SPANK_AUTO_GPUS_ORIGIN";
inline constexpr char kOriginInherited[] = "inherited";

/// Prefixes of the variables that Slurm carries our options in.
extern const char* const kOptionVariablePrefixes[2];

}  // namespace auto_gpus

#pragma once

#include <string>

#include "spank/option_table.hpp"

namespace auto_gpus {

/// Environment defaults in Slurm's manner: SLURM_AUTO_GPUS for srun, SBATCH_… and SALLOC_… for the
/// others. Slurm reads a plugin's options from variables of its own names (a job's, on their way to
/// its sruns), between the #SBATCH lines and the command line; there the defaults are put.

/// Before Slurm reads them: notes what srun inherits, and puts the defaults in. sbatch and salloc
/// inherit nothing: a job submitted from within a job is one of its own.
/// In slurm_spank_init of srun, sbatch and salloc.
void put_environment_defaults(PluginState& state);

/// After Slurm read them: its variables are as they were, so that tasks see no trace.
/// In slurm_spank_init_post_opt of srun, sbatch and salloc.
void restore_environment(const PluginState& state);

}  // namespace auto_gpus

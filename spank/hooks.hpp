#pragma once

#include "spank/slurm.hpp"

/// The bodies of the SPANK hooks. Each returns what the hook returns; exceptions are the caller's
/// (plugin.cpp) to catch. Of the remote hooks only task_init acts, since Slurm answers a failure of
/// the others with lost jobs and drained nodes; and it acts by ending the task's own process.
namespace auto_gpus::hooks {

/// srun, sbatch, salloc and slurmstepd (as root): reads the site's words, registers the options.
int init(spank_t spank, int argc, char** argv);

/// srun, sbatch, salloc: cleans up after the options; srun notes whether its request is its own or
/// the job's.
int init_post_opt(spank_t spank);

/// The task child (as the user, just before exec): lets the task go on, on GPUs that answered, or
/// does not return.
int task_init(spank_t spank);

/// An exception came out of a hook. In task_init it ends a task that asked, with INTERNAL.
int broken(const char* hook, const char* what) noexcept;

}  // namespace auto_gpus::hooks

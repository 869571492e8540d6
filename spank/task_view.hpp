#pragma once

#include <cstdint>
#include <string>

#include "spank/slurm.hpp"
#include "src/base/environment.hpp"

namespace auto_gpus {

/// One task as Slurm shows it in task_init, and the changes made to its environment.
class TaskView {
public:
    explicit TaskView(spank_t spank) : spank_(spank) {}

    /// The task's environment as it is now. Slurm's own getenv() would show slurmstepd's.
    [[nodiscard]] Environment environment() const;

    [[nodiscard]] std::uint32_t step_id() const;

    /// Whether this process is the job's user already: helpers must not run as anybody else.
    [[nodiscard]] bool runs_as_user() const;

    /// Sets a variable and reads it back, since spank_setenv can do nothing and say success (seen
    /// above 110 KB). \return false when the task would not get it
    [[nodiscard]] bool set(const std::string& name, const std::string& value);
    void unset(const std::string& name);

private:
    spank_t spank_;
};

}  // namespace auto_gpus

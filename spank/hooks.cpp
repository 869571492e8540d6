#include "spank/hooks.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "spank/environment_defaults.hpp"
#include "spank/option_table.hpp"
#include "spank/task_gate.hpp"

namespace auto_gpus::hooks {
namespace {

bool takes_options(spank_context_t context)
{
    return context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE;
}

/// Where the request came from, as the step is told; null when it was typed for it.
const char* request_origin(const PluginState& state)
{
    const OptionSource& request = source_of(state, Option::request);
    if (state.request_was_default) {
        return kOriginEnvironment;
    }
    // Within a job that asked, one reading is the job's, a second one this command line's.
    return request.of_job && state.requests_read == 1 ? kOriginInherited : nullptr;
}

/// What costs a step that does not ask anything: this look.
bool asks(const PluginState& state)
{
    return text_of(state.options, Option::request) || state.site.default_request.active();
}

/// Before 23.11 a batch script gets none of the job's options from Slurm after sbatch with
/// --export=NONE or a list; the variables that carry them to its sruns are there.
void adopt_job_options(const TaskView& task, PluginState& state)
{
    if (text_of(state.options, Option::request) || task.step_id() != slurm::kBatchStep) {
        return;
    }
    const Environment environment = task.environment();
    for (const OptionInfo& row : all_options()) {
        text_of(state.options, row.option) = environment.get(job_variable(row.option));
    }
}

/// The words that are wrong go to slurmd's log, not to a user who did not ask.
void log_problems(const Site& site)
{
    for (const Refusal& problem : site.problems) {
        slurm_info("auto-gpus: %s: %s; %s", name(problem.reason), problem.cause.c_str(),
                   problem.remedy.c_str());
    }
}

}  // namespace

int init(spank_t spank, int argc, char** argv)
{
    const spank_context_t context = spank_context();
    if (!takes_options(context)) {
        return 0;
    }
    PluginState& state = plugin_state();
    if (state.loaded) {
        slurm_debug("auto-gpus: plugstack.conf has the plugin twice: this line does nothing");
        return 0;
    }
    state.loaded = true;
    state.site = parse_site({argv, argv + argc});
    if (context == S_CTX_REMOTE) {
        log_problems(state.site);
    } else {
        put_environment_defaults(state);
    }
    if (!register_options(spank)) {
        slurm_error("auto-gpus: Slurm does not take the options; another plugin may have them");
        return context == S_CTX_REMOTE ? 0 : -1;
    }
    return 0;
}

int init_post_opt(spank_t /*spank*/)
{
    const PluginState& state = plugin_state();
    if (spank_context() == S_CTX_REMOTE) {
        return 0;
    }
    restore_environment(state);
    // The option's value reaches the step, but not where it came from.
    if (const char* const origin = request_origin(state)) {
        ::setenv(kOriginVariable, origin, 1);
    } else {
        ::unsetenv(kOriginVariable);
    }
    return 0;
}

int task_init(spank_t spank)
{
    PluginState& state = plugin_state();
    const TaskView task(spank);
    adopt_job_options(task, state);
    if (!asks(state) || state.task_passed) {
        return 0;
    }
    state.task_asked = text_of(state.options, Option::request).has_value();
    const auto status = TaskGate(task, state).pass();
    if (status) {
        // Slurm takes a failure of this hook as it likes, by release and by `optional`; the end of
        // the process it takes as the end of the task.
        ::_exit(*status);
    }
    state.task_passed = true;
    return 0;
}

int broken(const char* hook, const char* what) noexcept
{
    if (spank_context() != S_CTX_REMOTE) {
        slurm_error("auto-gpus: INTERNAL: %s: %s; report this", hook, what);
        return -1;
    }
    slurm_info("auto-gpus: INTERNAL: %s: %s", hook, what);
    if (plugin_state().task_asked) {
        // Memory may be what is missing: no strings here.
        std::array<char, 256> text{};
        std::snprintf(text.data(), text.size(), "auto-gpus: INTERNAL: %s: %s; report this\n", hook,
                      what);
        say_to_task(text.data());
        ::_exit(kExitOwn);
    }
    return 0;
}

}  // namespace auto_gpus::hooks

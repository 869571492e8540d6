#include "spank/task_view.hpp"

#include <unistd.h>

namespace auto_gpus {

Environment TaskView::environment() const
{
    char** variables = nullptr;
    if (spank_get_item(spank_, S_JOB_ENV, &variables) != ESPANK_SUCCESS) {
        return Environment();
    }
    return Environment(variables);
}

std::uint32_t TaskView::step_id() const
{
    std::uint32_t step = 0;
    return spank_get_item(spank_, S_JOB_STEPID, &step) == ESPANK_SUCCESS ? step : 0;
}

bool TaskView::runs_as_user() const
{
    uid_t user = 0;
    return spank_get_item(spank_, S_JOB_UID, &user) == ESPANK_SUCCESS && user == ::geteuid() &&
           user == ::getuid();
}

bool TaskView::set(const std::string& name, const std::string& value)
{
    return spank_setenv(spank_, name.c_str(), value.c_str(), 1) == ESPANK_SUCCESS &&
           environment().get(name) == value;
}

void TaskView::unset(const std::string& name)
{
    (void)spank_unsetenv(spank_, name.c_str());
}

}  // namespace auto_gpus

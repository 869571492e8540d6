#pragma once

#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {

Suite* child_process_suite();
Suite* confine_suite();
Suite* deadline_suite();
Suite* environment_suite();
Suite* io_suite();
Suite* oom_suite();
Suite* result_suite();
Suite* signal_trap_suite();
Suite* text_suite();

}  // namespace auto_gpus::unit

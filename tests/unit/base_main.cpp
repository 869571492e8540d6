#include "tests/unit/base_suites.hpp"

int main()
{
    using namespace auto_gpus::unit;
    return run({child_process_suite(), confine_suite(), deadline_suite(), environment_suite(),
                io_suite(), oom_suite(), result_suite(), signal_trap_suite(), text_suite()});
}

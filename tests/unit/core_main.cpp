#include "tests/unit/core_suites.hpp"

int main()
{
    using namespace auto_gpus::unit;
    return run({token_list_suite(), request_suite(), options_suite(), site_suite(), reason_suite(),
                plan_suite(), wire_suite(), wire_fuzz_suite(), judge_suite(), decision_suite(),
                decision_list_suite(), decision_short_suite(), decision_property_suite(),
                message_suite(), message_short_suite(), message_node_suite(), detail_suite()});
}

#pragma once

#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {

Suite* decision_suite();
Suite* decision_list_suite();
Suite* decision_property_suite();
Suite* decision_short_suite();
Suite* detail_suite();
Suite* judge_suite();
Suite* message_suite();
Suite* message_node_suite();
Suite* message_short_suite();
Suite* options_suite();
Suite* plan_suite();
Suite* reason_suite();
Suite* request_suite();
Suite* site_suite();
Suite* token_list_suite();
Suite* wire_suite();
Suite* wire_fuzz_suite();

}  // namespace auto_gpus::unit

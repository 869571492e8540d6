// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <check.h>

// A macro of old Check code, and the name of a member of std::ios.
#undef fail

namespace driver_test {

TCase* selection_cases();
TCase* behaviour_cases();
TCase* process_cases();
TCase* rule_cases();
TCase* memory_cases();
TCase* steering_cases();
TCase* task_cases();

}  // namespace driver_test

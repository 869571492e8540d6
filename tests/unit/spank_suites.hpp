#pragma once

#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {

Suite* installation_suite();

}  // namespace auto_gpus::unit

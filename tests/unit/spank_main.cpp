#include "tests/unit/spank_suites.hpp"

int main()
{
    return auto_gpus::unit::run({auto_gpus::unit::installation_suite()});
}

#include "tests/unit/random.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace auto_gpus::unit {

std::mt19937_64 random_numbers(const char* test)
{
    const char* const given = std::getenv("UNIT_SEED");
    const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device{}();
    std::printf("%s: UNIT_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
    std::fflush(stdout);  // before anything can go wrong
    return std::mt19937_64(seed);
}

}  // namespace auto_gpus::unit

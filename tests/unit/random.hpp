#pragma once

#include <random>

namespace auto_gpus::unit {

/// Random numbers for a test, with the seed printed: set UNIT_SEED to see the same run again.
std::mt19937_64 random_numbers(const char* test);

/// A number below `end`, which is not 0.
inline std::size_t below(std::mt19937_64& random, std::size_t end)
{
    return static_cast<std::size_t>(random() % end);
}

}  // namespace auto_gpus::unit

#include "src/core/plan.hpp"

#include <limits>

#include "src/base/text.hpp"

namespace auto_gpus {

std::vector<std::string> to_arguments(const SupervisorPlan& plan)
{
    return {kSuperviseWord,
            std::to_string(plan.parent),
            std::to_string(plan.timeout.count()),
            std::to_string(plan.retry.count()),
            std::to_string(plan.min_free),
            plan.libcuda};
}

std::optional<SupervisorPlan> plan_from_arguments(const std::vector<std::string_view>& arguments)
{
    constexpr std::size_t kArguments = 5;
    constexpr std::uint64_t kLongest = 1000ULL * 86400;
    if (arguments.size() != kArguments) {
        return std::nullopt;
    }
    const auto parent = parse_number(arguments[0], std::numeric_limits<int>::max());
    const auto timeout = parse_number(arguments[1], kLongest);
    const auto retry = parse_number(arguments[2], kLongest);
    const auto min_free = parse_number(arguments[3], std::numeric_limits<std::uint64_t>::max());
    if (!parent || !timeout || !retry || !min_free) {
        return std::nullopt;
    }
    return SupervisorPlan{static_cast<int>(*parent), milliseconds(*timeout), milliseconds(*retry),
                          *min_free, std::string(arguments[4])};
}

}  // namespace auto_gpus

#include "src/base/deadline.hpp"

#include <algorithm>
#include <limits>

namespace auto_gpus {

int Deadline::poll_timeout() const noexcept
{
    const TimePoint now = Clock::now();
    if (when_ <= now) {
        return 0;  // and no difference taken that might overflow
    }
    const auto left = std::chrono::ceil<milliseconds>(when_ - now).count();
    constexpr decltype(left) kLongest = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<decltype(left + 0)>(left, 0, kLongest));
}

}  // namespace auto_gpus

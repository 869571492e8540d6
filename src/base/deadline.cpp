#include "src/base/deadline.hpp"

#include <algorithm>
#include <limits>

namespace auto_gpus {

int Deadline::poll_timeout() const noexcept
{
    using std::chrono::ceil;
    const auto left = ceil<milliseconds>(when_ - Clock::now()).count();
    constexpr decltype(left) kLongest = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<decltype(left + 0)>(left, 0, kLongest));
}

}  // namespace auto_gpus

#include "src/base/io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace auto_gpus {
namespace {

constexpr int kLowestPipeFd = 10;
constexpr std::size_t kFillAtMost = std::size_t{64} * 1024;

/// Moves a descriptor up to kLowestPipeFd or above, close-on-exec.
UniqueFd moved_up(UniqueFd low) noexcept
{
    return UniqueFd(::fcntl(low.get(), F_DUPFD_CLOEXEC, kLowestPipeFd));
}

}  // namespace

void UniqueFd::reset(int descriptor) noexcept
{
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    descriptor_ = descriptor;
}

Result<Pipe> make_pipe()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return system_error("cannot make a pipe", errno, "raise the limit of open files");
    }
    Pipe pipe{moved_up(UniqueFd(ends[0])), moved_up(UniqueFd(ends[1]))};
    if (!pipe.read || !pipe.write || !set_nonblocking(pipe.read.get())) {
        return system_error("cannot set up a pipe", errno, "raise the limit of open files");
    }
    return pipe;
}

bool set_nonblocking(int descriptor) noexcept
{
    const int flags = ::fcntl(descriptor, F_GETFL);
    return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool write_until(int descriptor, std::string_view text, Deadline deadline) noexcept
{
    while (!text.empty()) {
        pollfd room{descriptor, POLLOUT, 0};
        const int ready = ::poll(&room, 1, deadline.poll_timeout());
        if (ready == 0 || (ready < 0 && errno != EINTR)) {
            return false;
        }
        if (ready < 0) {
            continue;
        }
        const ssize_t written =
            ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

LineReader::State LineReader::fill(int descriptor)
{
    std::array<char, 4096> chunk{};
    for (std::size_t taken = 0; taken < kFillAtMost;) {
        const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
        if (got > 0) {
            buffer_.append(chunk.data(), static_cast<std::size_t>(got));
            taken += static_cast<std::size_t>(got);
        } else if (got == 0) {
            return State::closed;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return State::broken;
        }
    }
    return holds_long_line() ? State::broken : State::open;
}

bool LineReader::holds_long_line() const
{
    for (std::size_t line = begin_; line < buffer_.size();) {
        const std::size_t end = std::min(buffer_.find('\n', line), buffer_.size());
        if (end - line > longest_) {
            return true;
        }
        line = end + 1;
    }
    return false;
}

bool LineReader::next(std::string& line)
{
    const std::size_t end = buffer_.find('\n', begin_);
    if (end == std::string::npos) {
        buffer_.erase(0, begin_);
        begin_ = 0;
        return false;
    }
    line.assign(buffer_, begin_, end - begin_);
    begin_ = end + 1;
    return true;
}

}  // namespace auto_gpus

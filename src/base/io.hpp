#pragma once

#include <string>
#include <string_view>

#include "src/base/deadline.hpp"
#include "src/base/result.hpp"
#include "src/base/unique_fd.hpp"

namespace auto_gpus {

/// Both ends of a pipe, close-on-exec and above descriptor 9, so that neither lies where a spawned
/// program expects its own.
struct Pipe {
    UniqueFd read;   ///< non-blocking
    UniqueFd write;  ///< blocking
};
Result<Pipe> make_pipe();

/// Makes `descriptor` non-blocking. \return false with errno set.
bool set_nonblocking(int descriptor) noexcept;

/// Writes all of `text` to a descriptor of somebody else (a task's stderr), never blocking past
/// the deadline. The descriptor's flags, which other processes share, stay as they are: pieces of
/// at most PIPE_BUF bytes are written when poll(2) says there is room.
/// \return false when the deadline passed or the other side is gone
bool write_until(int descriptor, std::string_view text, Deadline deadline) noexcept;

/// Collects what comes out of a pipe and hands it on by lines.
///
/// Bounded: a line longer than `longest` is a protocol violation, after which nothing is read.
class LineReader {
public:
    explicit LineReader(std::size_t longest) : longest_(longest) {}

    enum class State {
        open,    ///< nothing more for now
        closed,  ///< the writers are gone
        broken,  ///< a line was too long, or reading failed
    };

    /// Reads what `descriptor` (non-blocking) holds now, at most 64 KiB in one call.
    State fill(int descriptor);

    /// Takes the next whole line, without its newline, into `line`. \return false: none is there
    bool next(std::string& line);

private:
    [[nodiscard]] bool holds_long_line() const;

    std::size_t longest_;
    std::string buffer_;
    std::size_t begin_ = 0;
};

}  // namespace auto_gpus

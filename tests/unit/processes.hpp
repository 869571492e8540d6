// Processes and pipes for the tests of src/base: nothing here waits by the clock.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {

/// All that comes out of a descriptor until its writers are gone.
inline std::string read_to_end(int descriptor)
{
    std::string all;
    std::array<char, 4096> chunk{};
    for (;;) {
        pollfd ready{descriptor, POLLIN, 0};
        (void)::poll(&ready, 1, -1);
        const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
        if (got > 0) {
            all.append(chunk.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return all;
        }
    }
}

/// Runs `body` in a child of the test, where it may do to itself what it likes.
/// \return how it ended, as waitpid(2) has it; the body's result is the exit status
template <class Body>
int status_of_child(Body&& body)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(body());
    }
    int status = -1;
    ck_assert_int_eq(::waitpid(child, &status, 0), child);
    return status;
}

/// The same for a body that ends by itself. \return its exit status
template <class Body>
int exit_of_child(Body&& body)
{
    const int status = status_of_child(body);
    ck_assert_msg(WIFEXITED(status), "the child was killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

}  // namespace auto_gpus::unit

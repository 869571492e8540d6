// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fake_cuda {

/// Owns a descriptor.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    Fd& operator=(Fd&& other) noexcept;
    ~Fd();

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// The folder that this library was loaded from, links in it as they are.
const std::string& home();

/// Nothing (errno is set) when the file cannot be read.
std::optional<std::string> read_file(const std::string& path);

/// Opens a file that processes of several users share, made with mode 0666 when it is not there.
///
/// \param flags  O_RDWR, O_WRONLY | O_APPEND, …; close-on-exec is added
/// \return an empty Fd (errno is set) when neither works
Fd open_shared(const std::string& path, int flags);

/// `DIR/folder/name`, opened for reading and writing; the folder is made (mode 1777) when missing.
Fd open_in(const char* folder, std::string_view name);

/// Counts this process in `DIR/state/name`, a file with a decimal number.
///
/// \return how many were counted before; nothing when the file cannot be used
std::optional<std::uint64_t> count_in(std::string_view name);

/// The time since the first call with this `name` in any process, kept in `DIR/state/name`.
std::optional<std::chrono::nanoseconds> since_first(std::string_view name);

/// CLOCK_MONOTONIC.
std::chrono::nanoseconds now();

}  // namespace fake_cuda

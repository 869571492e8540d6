// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "text.hpp"

namespace fake_cuda {
namespace {

constexpr mode_t kFileMode = 0666;
constexpr mode_t kFolderMode = 01777;

std::string find_home()
{
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&home), &info) == 0 || info.dli_fname == nullptr) {
        return ".";
    }
    const std::string path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// The whole of a small file, from its start.
std::string contents(int fd)
{
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t count =
            pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
        if (count <= 0) {
            return text;
        }
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

bool replace_contents(int fd, const std::string& text)
{
    return ftruncate(fd, 0) == 0 &&
           pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// Opens a state file and waits for its lock.
Fd open_state(std::string_view name)
{
    Fd file = open_in("state", name);
    if (file && flock(file.get(), LOCK_EX) != 0) {
        return Fd();
    }
    return file;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept
{
    std::swap(fd_, other.fd_);
    return *this;
}

Fd::~Fd()
{
    if (fd_ >= 0) {
        close(fd_);
    }
}

const std::string& home()
{
    static const std::string* const folder = new std::string(find_home());
    return *folder;
}

std::optional<std::string> read_file(const std::string& path)
{
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        return std::nullopt;
    }
    return contents(file.get());
}

Fd open_shared(const std::string& path, int flags)
{
    // Without O_CREAT first: in a sticky folder the kernel refuses O_CREAT on another user's file
    // (sysctl fs.protected_regular).
    Fd file(open(path.c_str(), flags | O_CLOEXEC));
    if (file || errno != ENOENT) {
        return file;
    }
    // The mode must be right from the start, another user's process may open the file at once.
    const mode_t mask = umask(0);
    file = Fd(open(path.c_str(), flags | O_CLOEXEC | O_CREAT | O_EXCL, kFileMode));
    umask(mask);
    if (!file && errno == EEXIST) {
        file = Fd(open(path.c_str(), flags | O_CLOEXEC));
    }
    return file;
}

Fd open_in(const char* folder, std::string_view name)
{
    const std::string path = home() + "/" + folder;
    if (mkdir(path.c_str(), kFolderMode) == 0) {
        chmod(path.c_str(), kFolderMode);
    }
    return open_shared(path + "/" + std::string(name), O_RDWR);
}

std::optional<std::uint64_t> count_in(std::string_view name)
{
    const Fd file = open_state(name);
    if (!file) {
        return std::nullopt;
    }
    const std::uint64_t before = parse_number(contents(file.get())).value_or(0);
    if (!replace_contents(file.get(), std::to_string(before + 1))) {
        return std::nullopt;
    }
    return before;
}

std::optional<std::chrono::nanoseconds> since_first(std::string_view name)
{
    const Fd file = open_state(name);
    if (!file) {
        return std::nullopt;
    }
    const auto current = now();
    if (const auto first = parse_number(contents(file.get()))) {
        return current - std::chrono::nanoseconds(*first);
    }
    if (!replace_contents(file.get(), std::to_string(current.count()))) {
        return std::nullopt;
    }
    return std::chrono::nanoseconds(0);
}

std::chrono::nanoseconds now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace fake_cuda

#include "src/base/oom.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "src/base/text.hpp"
#include "src/base/unique_fd.hpp"

namespace auto_gpus {
namespace {

/// The beginning of a small file of the kernel's; empty when it cannot be read.
std::string read_small(const std::string& path)
{
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 8192> text{};
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

/// The file that counts for one line of /proc/self/cgroup, "4:memory:/path" or "0::/path".
std::string counting_file(std::string_view line)
{
    const auto parts = split(line, ':');
    if (parts.size() != 3) {
        return {};
    }
    const std::string path(parts[2]);
    if (parts[0] == "0") {
        return "/sys/fs/cgroup" + path + "/memory.events";
    }
    const auto controllers = split(parts[1], ',');
    const bool memory =
        std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    return memory ? "/sys/fs/cgroup/memory" + path + "/memory.oom_control" : std::string();
}

}  // namespace

std::uint64_t oom_kills_in(const std::string& text) noexcept
{
    constexpr std::string_view kWord = "oom_kill ";
    for (const std::string_view line : split(text, '\n')) {
        if (starts_with(line, kWord)) {
            return parse_number(line.substr(kWord.size()),
                                std::numeric_limits<std::uint64_t>::max())
                .value_or(0);
        }
    }
    return 0;
}

std::uint64_t oom_kills() noexcept
{
    std::uint64_t kills = 0;
    const std::string groups = read_small("/proc/self/cgroup");
    for (const std::string_view line : split(groups, '\n')) {
        const std::string file = counting_file(line);
        if (!file.empty()) {
            kills = std::max(kills, oom_kills_in(read_small(file)));
        }
    }
    return kills;
}

}  // namespace auto_gpus

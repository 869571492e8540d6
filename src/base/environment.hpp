#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auto_gpus {

/// A list of NAME=VALUE strings for a program to be started. Knows nothing of the environment of
/// the process it lives in.
class Environment {
public:
    Environment() = default;

    /// Copies a null-terminated array such as environ or Slurm's job environment; null is empty.
    explicit Environment(const char* const* variables);

    [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
    void set(std::string_view name, std::string_view value);
    void unset(std::string_view name);

    /// Names of all variables for which `starts` is a prefix of the name.
    [[nodiscard]] std::vector<std::string> names_with_prefix(std::string_view starts) const;

    /// Null-terminated, for execve(2); valid until the next change of this object.
    [[nodiscard]] std::vector<char*> pointers();

private:
    std::vector<std::string> variables_;
};

}  // namespace auto_gpus

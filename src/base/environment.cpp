#include "src/base/environment.hpp"

#include <algorithm>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

bool is_named(const std::string& variable, std::string_view name)
{
    return variable.size() > name.size() && variable[name.size()] == '=' &&
           starts_with(variable, name);
}

}  // namespace

Environment::Environment(const char* const* variables)
{
    for (; variables != nullptr && *variables != nullptr; ++variables) {
        variables_.emplace_back(*variables);
    }
}

std::optional<std::string> Environment::get(std::string_view name) const
{
    for (const std::string& variable : variables_) {
        if (is_named(variable, name)) {
            return variable.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

void Environment::set(std::string_view name, std::string_view value)
{
    unset(name);
    variables_.push_back(std::string(name) + "=" + std::string(value));
}

void Environment::unset(std::string_view name)
{
    variables_.erase(
        std::remove_if(variables_.begin(), variables_.end(),
                       [&](const std::string& variable) { return is_named(variable, name); }),
        variables_.end());
}

std::vector<std::string> Environment::names_with_prefix(std::string_view starts) const
{
    std::vector<std::string> names;
    for (const std::string& variable : variables_) {
        const std::string name = variable.substr(0, variable.find('='));
        if (starts_with(name, starts)) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<char*> Environment::pointers()
{
    std::vector<char*> all;
    all.reserve(variables_.size() + 1);
    for (std::string& variable : variables_) {
        all.push_back(variable.data());
    }
    all.push_back(nullptr);
    return all;
}

}  // namespace auto_gpus

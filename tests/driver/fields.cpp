// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include "text.hpp"

namespace fake_cuda {

bool Fields::take(std::string_view key, std::string& value)
{
    const std::string start = std::string(key) + "=";
    if ((known_ + " ").find(" " + start + " ") == std::string::npos) {
        known_ += " " + start;
    }
    for (auto word = words_.begin(); word != words_.end(); ++word) {
        if (starts_with(*word, start)) {
            value = word->substr(start.size());
            words_.erase(word);
            return true;
        }
    }
    return false;
}

void Fields::refuse(std::string_view key, std::string_view value, std::string_view allowed)
{
    if (problem_.empty()) {
        problem_ =
            std::string(key) + "='" + std::string(value) + "' is not " + std::string(allowed);
    }
}

void Fields::read(std::string_view key, std::string& into)
{
    std::string value;
    if (take(key, value)) {
        into = value;
    }
}

void Fields::read(std::string_view key, std::chrono::nanoseconds& into)
{
    std::string value;
    if (!take(key, value)) {
        return;
    }
    if (const auto time = parse_time(value)) {
        into = *time;
    } else {
        refuse(key, value, "a time such as 35ms or 2s");
    }
}

void Fields::read_size(std::string_view key, std::size_t& into)
{
    std::string value;
    if (!take(key, value)) {
        return;
    }
    if (const auto size = parse_size(value)) {
        into = *size;
    } else {
        refuse(key, value, "a size such as 0, 400M or 80G");
    }
}

void Fields::read_number(std::string_view key, std::size_t& into)
{
    std::string value;
    if (!take(key, value)) {
        return;
    }
    const auto number = parse_number(value);
    if (number && *number < 1000000000) {
        into = *number;
    } else {
        refuse(key, value, "a number from 0 to 999999999");
    }
}

void Fields::read_flag(std::string_view key, bool& into)
{
    std::string value;
    if (!take(key, value)) {
        return;
    }
    into = value == "1" || value == "on" || value == "yes";
    if (!into && value != "0" && value != "off" && value != "no") {
        refuse(key, value, "1, on, yes, 0, off or no");
    }
}

void Fields::read_uuid(std::string_view key, std::string_view prefix, std::string& into)
{
    read(key, into);
    if (!is_uuid(into, prefix)) {
        refuse(key, into,
               std::string(prefix) + "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx in lower case");
    }
}

void Fields::read_pci(std::string_view key, std::string& into)
{
    read(key, into);
    if (!is_pci_id(into)) {
        refuse(key, into, "a PCI id such as 0000:17:00.0, in lower case");
    }
}

void Fields::read_mode(std::string_view key, Mode& into)
{
    std::string value = "default";
    read(key, value);
    if (value == "prohibited") {
        into = Mode::prohibited;
    } else if (value == "exclusive_process") {
        into = Mode::exclusive_process;
    } else if (value != "default") {
        refuse(key, value, "default, exclusive_process or prohibited");
    }
}

void Fields::read_list(std::string_view key, std::vector<std::string>& into)
{
    std::string value;
    if (take(key, value)) {
        into = split(value, ',');
    }
}

void Fields::read_behaviour(Behaviour& into)
{
    std::string list;
    while (take("behaviour", list)) {
        const std::string wrong = add_behaviours(list, into);
        if (!wrong.empty() && problem_.empty()) {
            problem_ = wrong;
        }
    }
}

void Fields::finish()
{
    if (!words_.empty() && problem_.empty()) {
        problem_ = "'" + words_.front() + "' is unknown or there twice; allowed are" + known_;
    }
}

}  // namespace fake_cuda

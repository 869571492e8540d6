// SPDX-License-Identifier: Apache-2.0
#include "steering.hpp"

#include <algorithm>

#include "fields.hpp"
#include "text.hpp"

namespace fake_cuda {
namespace {

/// What a MIG instance has when nothing is said: an eighth, as 1g.10gb of an 80 GB GPU.
constexpr std::size_t kInstanceShare = 8;

void read_driver(Fields& fields, Steering& steering)
{
    auto version = static_cast<std::size_t>(steering.version);
    std::vector<std::string> positions;
    fields.read_number("version", version);
    fields.read("init", steering.init);
    fields.read("init_per_gpu", steering.init_per_gpu);
    fields.read("context", steering.context);
    fields.read_size("context_memory", steering.context_memory);
    fields.read_size("reserve", steering.reserve);
    fields.read_flag("stub", steering.stub);
    fields.read_flag("mps", steering.mps);
    fields.read_flag("deadlock_parallel", steering.deadlock_parallel);
    fields.read_list("mps_list", positions);
    steering.version = static_cast<int>(version);
    for (const std::string& text : positions) {
        const auto position = parse_number(text);
        if (!position) {
            fields.refuse("mps_list", text, "a list of positions such as 0,2");
            return;
        }
        steering.mps_renumbers = true;
        steering.mps_list.push_back(*position);
    }
}

bool has_uuid(const Steering& steering, const std::string& uuid)
{
    return std::any_of(steering.gpus.begin(), steering.gpus.end(), [&](const Gpu& gpu) {
        return gpu.uuid == uuid ||
               std::any_of(gpu.instances.begin(), gpu.instances.end(),
                           [&](const Instance& instance) { return instance.uuid == uuid; });
    });
}

void check_used(Fields& fields, std::size_t used, std::size_t total)
{
    if (used > total) {
        fields.refuse("used", "more than total", "allowed");
    }
}

void read_gpu(Fields& fields, Steering& steering)
{
    Gpu gpu;
    fields.read("model", gpu.model);
    fields.read_uuid("uuid", "GPU-", gpu.uuid);
    fields.read_pci("pci", gpu.pci);
    fields.read("device", gpu.device);
    fields.read_size("total", gpu.total);
    fields.read_size("used", gpu.used);
    fields.read_mode("mode", gpu.mode);
    fields.read_number("speed", gpu.speed);
    fields.read_flag("mig", gpu.mig);
    fields.read_behaviour(gpu.behaviour);
    check_used(fields, gpu.used, gpu.total);
    if (has_uuid(steering, gpu.uuid)) {
        fields.refuse("uuid", gpu.uuid, "new: an earlier line has it");
    }
    for (const Gpu& other : steering.gpus) {
        if (other.pci == gpu.pci) {
            fields.refuse("pci", gpu.pci, "new: an earlier line has it");
        }
    }
    gpu.mode = gpu.behaviour.mode.value_or(gpu.mode);
    steering.gpus.push_back(std::move(gpu));
}

/// `gone`, `mismatch`, `busy46` and `proh` are of one GPU, not of a group.
void read_faults(Fields& fields, Behaviour& behaviour)
{
    fields.read_behaviour(behaviour);
    if (behaviour.gone || behaviour.mode || behaviour.mismatch) {
        fields.refuse("behaviour", "gone, mismatch, busy46 or proh",
                      "for this line, but for a gpu");
    }
}

void read_mig(Fields& fields, Steering& steering)
{
    Instance instance;
    std::string parent;
    std::size_t gi = 0;
    std::size_t ci = 0;
    fields.read("parent", parent);
    const auto owner = std::find_if(steering.gpus.begin(), steering.gpus.end(),
                                    [&](const Gpu& gpu) { return gpu.uuid == parent && gpu.mig; });
    if (owner == steering.gpus.end()) {
        fields.refuse("parent", parent, "the uuid of a gpu line above that says mig=on");
        return;
    }
    instance.total = owner->total / kInstanceShare;
    fields.read_uuid("uuid", "MIG-", instance.uuid);
    fields.read("profile", instance.profile);
    fields.read("device", instance.device);
    fields.read_number("gi", gi);
    fields.read_number("ci", ci);
    fields.read_size("total", instance.total);
    fields.read_size("used", instance.used);
    fields.read_behaviour(instance.behaviour);
    check_used(fields, instance.used, instance.total);
    if (instance.behaviour.mode) {
        fields.refuse("behaviour", "busy46 or proh", "for an instance, but for its gpu");
    }
    if (has_uuid(steering, instance.uuid)) {
        fields.refuse("uuid", instance.uuid, "new: an earlier line has it");
    }
    instance.gi = static_cast<unsigned>(gi);
    instance.ci = static_cast<unsigned>(ci);
    owner->instances.push_back(std::move(instance));
}

void read_together(Fields& fields, Steering& steering)
{
    Together group;
    group.name = "together" + std::to_string(steering.together.size() + 1);
    fields.read_list("gpus", group.uuids);
    read_faults(fields, group.behaviour);
    for (const std::string& uuid : group.uuids) {
        if (!has_uuid(steering, uuid)) {
            fields.refuse("gpus", uuid, "a full uuid of a line above");
        }
    }
    if (group.uuids.empty()) {
        fields.refuse("gpus", "", "a list of uuids");
    }
    steering.together.push_back(std::move(group));
}

/// Reads one line that is not empty; returns what is wrong with it, or "".
std::string read_line(std::vector<std::string> words, Steering& steering)
{
    const std::string kind = words.front();
    words.erase(words.begin());
    Fields fields(std::move(words));
    if (kind == "driver") {
        read_driver(fields, steering);
    } else if (kind == "gpu") {
        read_gpu(fields, steering);
    } else if (kind == "mig") {
        read_mig(fields, steering);
    } else if (kind == "together") {
        read_together(fields, steering);
    } else if (kind == "all") {
        read_faults(fields, steering.all);
    } else {
        return "'" + kind + "' begins no line; allowed are driver gpu mig together all";
    }
    fields.finish();
    return fields.problem();
}

}  // namespace

Steering parse_steering(std::string_view text, const std::string& name, std::string& problem)
{
    Steering steering;
    unsigned number = 0;
    for (const std::string& line : split(text, '\n')) {
        ++number;
        const auto words = split_words(line);
        if (words && words->empty()) {
            continue;
        }
        const std::string wrong =
            words ? read_line(*words, steering) : "a quotation mark is left open";
        if (!wrong.empty()) {
            problem = name;
            problem += ":" + std::to_string(number) + ": " + wrong;
            return steering;
        }
    }
    return steering;
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <tuple>

#include "text.hpp"

namespace fake_cuda {
namespace {

using Gpus = std::vector<const Gpu*>;

bool reachable(const std::string& device, const Behaviour& behaviour)
{
    return !behaviour.gone && (device.empty() || access(device.c_str(), R_OK | W_OK) == 0);
}

const Instance* first_instance(const Gpu& gpu)
{
    for (const Instance& instance : gpu.instances) {
        if (reachable(instance.device, instance.behaviour)) {
            return &instance;
        }
    }
    return nullptr;
}

bool enumerates(const Gpu& gpu)
{
    return reachable(gpu.device, gpu.behaviour) && (!gpu.mig || first_instance(gpu) != nullptr);
}

/// With a list of its own, the MPS daemon shows its clients only those GPUs, counted from 0.
Gpus mps_view(const Gpus& all, const std::vector<std::size_t>& positions)
{
    Gpus shown;
    for (const std::size_t position : positions) {
        if (position < all.size()) {
            shown.push_back(all[position]);
        }
    }
    return shown;
}

Gpus enumerate(const Steering& steering, const Environment& environment)
{
    Gpus gpus;
    for (const Gpu& gpu : steering.gpus) {
        if (enumerates(gpu)) {
            gpus.push_back(&gpu);
        }
    }
    const bool by_pci = environment.device_order != nullptr &&
                        std::string_view(environment.device_order) == "PCI_BUS_ID";
    std::sort(gpus.begin(), gpus.end(), [by_pci](const Gpu* a, const Gpu* b) {
        const std::size_t a_speed = by_pci ? 0 : a->speed;
        const std::size_t b_speed = by_pci ? 0 : b->speed;
        return std::tie(b_speed, a->pci) < std::tie(a_speed, b->pci);
    });
    const bool renumbered = environment.mps_pipe != nullptr && steering.mps_renumbers;
    return renumbered ? mps_view(gpus, steering.mps_list) : gpus;
}

Device device_of(const Gpu& gpu)
{
    return Device{&gpu, gpu.mig ? first_instance(gpu) : nullptr};
}

/// As strtol: leading blanks and trailing junk are accepted, no digits are not.
std::optional<Device> by_index(const std::string& token, const Gpus& gpus)
{
    constexpr int kDecimal = 10;
    char* end = nullptr;
    const long index = std::strtol(token.c_str(), &end, kDecimal);
    if (end == token.c_str() || index < 0 || static_cast<std::size_t>(index) >= gpus.size()) {
        return std::nullopt;
    }
    return device_of(*gpus[static_cast<std::size_t>(index)]);
}

/// The one GPU whose UUID begins so; an ambiguous beginning names none.
std::optional<Device> by_gpu_uuid(const std::string& token, const Gpus& gpus)
{
    const auto fits = [&](const Gpu* gpu) { return starts_with(gpu->uuid, token); };
    const auto found = std::find_if(gpus.begin(), gpus.end(), fits);
    if (found == gpus.end() || std::any_of(found + 1, gpus.end(), fits)) {
        return std::nullopt;
    }
    return device_of(**found);
}

/// MIG-<uuid>, and the older MIG-GPU-<uuid>/<gi>/<ci>.
bool is_named(const Gpu& gpu, const Instance& instance, const std::string& token)
{
    return token == instance.uuid || token == "MIG-" + gpu.uuid + "/" +
                                                  std::to_string(instance.gi) + "/" +
                                                  std::to_string(instance.ci);
}

std::optional<Device> by_mig_name(const std::string& token, const Gpus& gpus)
{
    for (const Gpu* const gpu : gpus) {
        const auto found = std::find_if(gpu->instances.begin(), gpu->instances.end(),
                                        [&](const Instance& instance) {
                                            return is_named(*gpu, instance, token) &&
                                                   reachable(instance.device, instance.behaviour);
                                        });
        if (found != gpu->instances.end()) {
            return Device{gpu, &*found};
        }
    }
    return std::nullopt;
}

std::optional<Device> resolve(const std::string& token, const Gpus& gpus)
{
    constexpr std::string_view kGpuPrefix = "GPU-";
    if (starts_with(token, "MIG-")) {
        return by_mig_name(token, gpus);
    }
    if (starts_with(token, kGpuPrefix)) {
        return token.size() == kGpuPrefix.size() ? std::nullopt : by_gpu_uuid(token, gpus);
    }
    return by_index(token, gpus);
}

bool is_uuid_form(const std::string& token)
{
    return starts_with(token, "GPU-") || starts_with(token, "MIG-");
}

std::vector<Device> choose(const std::string& list, const Gpus& gpus)
{
    std::vector<Device> chosen;
    const std::vector<std::string> tokens = split(list, ',');
    for (const std::string& token : tokens) {
        const auto device = is_uuid_form(token) == is_uuid_form(tokens.front())
                                ? resolve(token, gpus)
                                : std::nullopt;
        if (!device) {
            break;
        }
        if (std::find(chosen.begin(), chosen.end(), *device) != chosen.end()) {
            return {};
        }
        chosen.push_back(*device);
    }
    return chosen;
}

/// A process enumerates one MIG device at most.
void drop_further_instances(std::vector<Device>& devices)
{
    bool seen = false;
    const auto dropped =
        std::remove_if(devices.begin(), devices.end(), [&seen](const Device& device) {
            const bool further = device.instance != nullptr && seen;
            seen = seen || device.instance != nullptr;
            return further;
        });
    devices.erase(dropped, devices.end());
}

}  // namespace

std::vector<Device> visible_devices(const Steering& steering, const Environment& environment)
{
    const Gpus gpus = enumerate(steering, environment);
    std::vector<Device> devices;
    if (environment.visible_devices != nullptr) {
        devices = choose(environment.visible_devices, gpus);
    } else {
        std::transform(gpus.begin(), gpus.end(), std::back_inserter(devices),
                       [](const Gpu* gpu) { return device_of(*gpu); });
    }
    drop_further_instances(devices);
    return devices;
}

}  // namespace fake_cuda

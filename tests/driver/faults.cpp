// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>

#include "acts.hpp"
#include "log.hpp"
#include "process.hpp"

namespace fake_cuda {
namespace {

/// Decides whether a fault with a limit shows, with the state that all processes share. Where that
/// state cannot be used the fault shows: a test must not pass for want of a folder.
bool ask_state(const Fault& fault, const std::string& key)
{
    bool usable = true;
    bool shows = true;
    if (fault.tries != 0) {
        const auto before = count_in(key);
        usable = before.has_value();
        shows = before.value_or(0) < fault.tries;
    }
    if (fault.window.count() != 0) {
        const auto age = since_first(key + ".since");
        usable = usable && age.has_value();
        shows = shows && age.value_or(std::chrono::nanoseconds(0)) < fault.window;
    }
    if (!usable) {
        (void)dprintf(STDERR_FILENO, "simulated libcuda: %s/state/%s: cannot be read and written\n",
                      home().c_str(), key.c_str());
    }
    return shows;
}

/// Once decided it stays so in this process: one that was refused is refused again.
bool shows_here(const Fault& fault, const std::string& key)
{
    if (fault.tries == 0 && fault.window.count() == 0) {
        return true;
    }
    auto& decided = process().decided;
    const auto known = decided.find(key);
    if (known != decided.end()) {
        return known->second;
    }
    return decided.emplace(key, ask_state(fault, key)).first->second;
}

/// Where a fault is met.
struct Place {
    const char* call;
    Stage stage;
};

int meet(const Behaviour& behaviour, const std::string& owner, const Place& place)
{
    for (std::size_t i = 0; i < behaviour.faults.size(); ++i) {
        const Fault& fault = behaviour.faults[i];
        if (fault.stage != place.stage || !shows_here(fault, owner + "." + std::to_string(i))) {
            continue;
        }
        if (fault.act == Act::fail) {
            return fault.number;
        }
        log_call(place.call, owner, "does:" + fault.text);
        act(fault, place.call, owner);
    }
    return success;
}

bool contains(const std::vector<Device>& devices, const std::string& uuid)
{
    return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
        return device.uuid() == uuid || device.gpu->uuid == uuid;
    });
}

/// True when all of the group are visible here and the call concerns one of them.
bool concerns(const Together& group, const std::vector<Device>& devices)
{
    const auto& uuids = group.uuids;
    return std::all_of(uuids.begin(), uuids.end(),
                       [](const auto& uuid) { return contains(process().devices, uuid); }) &&
           std::any_of(uuids.begin(), uuids.end(),
                       [&](const auto& uuid) { return contains(devices, uuid); });
}

int meet_device(const Device& device, const Place& place)
{
    const int code = meet(device.gpu->behaviour, device.gpu->uuid, place);
    if (code != success || device.instance == nullptr) {
        return code;
    }
    return meet(device.instance->behaviour, device.instance->uuid, place);
}

}  // namespace

int meet_faults(const char* call, Stage stage, const std::vector<Device>& devices)
{
    const Place place{call, stage};
    const Steering& steering = process().steering;
    int code = meet(steering.all, "all", place);
    for (const Together& group : steering.together) {
        if (code == success && concerns(group, devices)) {
            code = meet(group.behaviour, group.name, place);
        }
    }
    for (const Device& device : devices) {
        if (code == success) {
            code = meet_device(device, place);
        }
    }
    return code;
}

void take_time(std::chrono::nanoseconds time)
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    timespec rest{};
    rest.tv_sec = static_cast<time_t>(seconds.count());
    rest.tv_nsec = static_cast<long>((time - seconds).count());
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

// The locks go with the processes that hold them, however those end.
ParallelTrap::ParallelTrap(const char* call) : call_(call)
{
    if (!process().steering.deadlock_parallel) {
        return;
    }
    stuck_ = open_in("locks", "parallel-stuck");
    inside_ = open_in("locks", "parallel-inside");
    if (flock(inside_.get(), LOCK_EX | LOCK_NB) != 0) {
        (void)flock(stuck_.get(), LOCK_SH);
        log_call(call, {}, "does:deadlock");
        hang();
    }
    // Two that start side by side must meet, however fast they are.
    take_time(std::chrono::milliseconds(100));
}

ParallelTrap::~ParallelTrap()
{
    if (stuck_ && flock(stuck_.get(), LOCK_EX | LOCK_NB) != 0) {
        log_call(call_, {}, "does:deadlock");
        hang();
    }
}

}  // namespace fake_cuda

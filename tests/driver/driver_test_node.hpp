// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "abi.hpp"

// A simulated node for one test: a folder with the driver and a steering file, and processes that
// use it.

namespace driver_test {

/// Where all folders of this run lie. Made by main() and removed at the end.
extern std::string base_folder;

/// A folder with a link to libcuda.so.1 and `text` as default.gpus.
class Node {
public:
    explicit Node(const std::string& text);

    const std::string& folder() const { return folder_; }
    std::string library() const { return folder_ + "/libcuda.so.1"; }
    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;
    std::string log() const { return read("calls.log"); }

private:
    std::string folder_;
};

/// The functions of a driver that was loaded into this process. A missing one fails the test.
struct Driver {
    explicit Driver(const Node& node);

    void* library;
    decltype(&cuInit) init;
    decltype(&cuDriverGetVersion) version;
    decltype(&cuGetErrorName) error_name;
    decltype(&cuDeviceGetCount) count;
    decltype(&cuDeviceGet) get;
    decltype(&cuDeviceGetName) name;
    decltype(&cuDeviceGetAttribute) attribute;
    decltype(&cuDeviceGetPCIBusId) pci;
    decltype(&cuDeviceGetUuid) parent_uuid;
    decltype(&cuDeviceGetUuid_v2) uuid;
    decltype(&cuDeviceTotalMem_v2) total;
    decltype(&cuCtxCreate_v2) create;
    decltype(&cuCtxDestroy_v2) destroy;
    decltype(&cuCtxSynchronize) sync;
    decltype(&cuMemGetInfo_v2) info;
    decltype(&cuMemAlloc_v2) alloc;
    decltype(&cuMemFree_v2) free;
    decltype(&cuMemsetD32_v2) set;
    decltype(&cuMemcpyHtoD_v2) to_device;
    decltype(&cuMemcpyDtoH_v2) to_host;
    decltype(&cuModuleLoadData) load_module;
    decltype(&cuModuleGetFunction) get_function;
    decltype(&cuLaunchKernel) launch;
};

/// Sets or, for nullptr, unsets a variable of this process.
void set_variable(const char* name, const char* value);

/// The models of all visible devices with commas between, or "init:100" and the like.
std::string visible(const Node& node);

/// Goes the way of a whole check on every visible device: "ok", "wrong at 7", or the first call
/// that failed and its code ("ctx:214").
std::string walk(const Node& node);

/// Runs `work` in a child process and tells what it returned, or how the child ended instead:
/// "signal 11", "exit 3", "hangs, SIGTERM ends it" (tried after 20 seconds), "hangs, SIGKILL ends
/// it".
std::string in_child(const std::function<std::string()>& work);

/// walk() in a child.
std::string walk_in_child(const Node& node);

/// The same for a node whose driver hangs: the wait is over soon after the log says so.
std::string hang_in_child(const Node& node);

/// A child that runs `work` and can be waited for later; its descriptors are inherited.
pid_t start_child(const std::function<void()>& work);

/// Waits until `path` is there; false after ten seconds.
bool appears(const std::string& path);

/// How many lines of `text` have `part` in them.
int count_lines(const std::string& text, const std::string& part);

}  // namespace driver_test

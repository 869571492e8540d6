// SPDX-License-Identifier: Apache-2.0
#include "driver_test_node.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "driver_test.hpp"

namespace driver_test {

std::string base_folder;

namespace {

constexpr std::size_t kWords = 1024;
constexpr unsigned kPattern = 0x5a5aa5a5U;

constexpr int kManyNaps = 2000;

void nap()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Waits a while for `child`; false when it lives on.
bool ends_within(pid_t child, std::chrono::milliseconds limit, int& status)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return true;
        }
        nap();
    }
    return false;
}

std::string end_of(pid_t child, std::chrono::milliseconds patience)
{
    int status = 0;
    if (ends_within(child, patience, status)) {
        if (WIFSIGNALED(status)) {
            return "signal " + std::to_string(WTERMSIG(status));
        }
        return WEXITSTATUS(status) == 0 ? "" : "exit " + std::to_string(WEXITSTATUS(status));
    }
    (void)kill(child, SIGTERM);
    if (ends_within(child, std::chrono::milliseconds(500), status)) {
        return "hangs, SIGTERM ends it";
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    return "hangs, SIGKILL ends it";
}

std::string code(const char* call, int result)
{
    return std::string(call) + ":" + std::to_string(result);
}

struct Step {
    const char* call;
    std::function<int()> run;
};

/// The first step that fails, or "".
std::string first_failure(const std::vector<Step>& steps)
{
    for (const Step& step : steps) {
        if (const int result = step.run(); result != 0) {
            return code(step.call, result);
        }
    }
    return {};
}

std::string walk_device(const Driver& driver, int ordinal)
{
    int device = 0;
    char model[64];
    std::size_t free = 0;
    std::size_t total = 0;
    fake_cuda::ContextHandle* context = nullptr;
    fake_cuda::ModuleHandle* module = nullptr;
    fake_cuda::FunctionHandle* function = nullptr;
    fake_cuda::DevicePointer memory = 0;
    std::vector<unsigned> back(kWords);
    const std::size_t bytes = kWords * sizeof back[0];
    std::string failure = first_failure({
        {"get", [&] { return driver.get(&device, ordinal); }},
        {"name", [&] { return driver.name(model, sizeof model, device); }},
        {"ctx", [&] { return driver.create(&context, 0, device); }},
        {"meminfo", [&] { return driver.info(&free, &total); }},
        {"alloc", [&] { return driver.alloc(&memory, bytes); }},
        {"set", [&] { return driver.set(memory, kPattern, kWords); }},
        {"module", [&] { return driver.load_module(&module, ".version 3.2"); }},
        {"function", [&] { return driver.get_function(&function, module, "k"); }},
        {"launch",
         [&] { return driver.launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr); }},
        {"sync", [&] { return driver.sync(); }},
        {"copy", [&] { return driver.to_host(back.data(), memory, bytes); }},
        {"free", [&] { return driver.free(memory); }},
        {"destroy", [&] { return driver.destroy(context); }},
    });
    const auto* const start = reinterpret_cast<const unsigned char*>(back.data());
    for (std::size_t i = 0; failure.empty() && i < bytes; ++i) {
        if (start[i] != ((kPattern >> (8 * (i % 4))) & 0xffU)) {
            failure = "wrong at " + std::to_string(i);
        }
    }
    return failure;
}

}  // namespace

Node::Node(const std::string& text)
{
    static int number = 0;
    folder_ = base_folder + "/" + std::to_string(getpid()) + "-" + std::to_string(++number);
    ck_assert_int_eq(mkdir(folder_.c_str(), 0755), 0);
    ck_assert_int_eq(symlink(FAKE_CUDA_LIBRARY, library().c_str()), 0);
    write("default.gpus", text);
}

void Node::write(const std::string& name, const std::string& text) const
{
    std::ofstream(folder_ + "/" + name) << text;
}

std::string Node::read(const std::string& name) const
{
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
}

Driver::Driver(const Node& node) : library(dlopen(node.library().c_str(), RTLD_NOW | RTLD_LOCAL))
{
    ck_assert_ptr_nonnull(library);
    const auto bind = [this](auto& slot, const char* symbol) {
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, symbol));
        ck_assert_msg(slot != nullptr, "%s is missing", symbol);
    };
    bind(init, "cuInit");
    bind(version, "cuDriverGetVersion");
    bind(error_name, "cuGetErrorName");
    bind(count, "cuDeviceGetCount");
    bind(get, "cuDeviceGet");
    bind(name, "cuDeviceGetName");
    bind(attribute, "cuDeviceGetAttribute");
    bind(pci, "cuDeviceGetPCIBusId");
    bind(parent_uuid, "cuDeviceGetUuid");
    bind(uuid, "cuDeviceGetUuid_v2");
    bind(total, "cuDeviceTotalMem_v2");
    bind(create, "cuCtxCreate_v2");
    bind(destroy, "cuCtxDestroy_v2");
    bind(sync, "cuCtxSynchronize");
    bind(info, "cuMemGetInfo_v2");
    bind(alloc, "cuMemAlloc_v2");
    bind(free, "cuMemFree_v2");
    bind(set, "cuMemsetD32_v2");
    bind(to_device, "cuMemcpyHtoD_v2");
    bind(to_host, "cuMemcpyDtoH_v2");
    bind(load_module, "cuModuleLoadData");
    bind(get_function, "cuModuleGetFunction");
    bind(launch, "cuLaunchKernel");
}

void set_variable(const char* name, const char* value)
{
    const int failed = value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    ck_assert_int_eq(failed, 0);
}

std::string visible(const Node& node)
{
    const Driver driver(node);
    if (const int result = driver.init(0); result != 0) {
        return code("init", result);
    }
    int count = 0;
    ck_assert_int_eq(driver.count(&count), 0);
    std::string models;
    for (int i = 0; i < count; ++i) {
        char model[64];
        ck_assert_int_eq(driver.name(model, sizeof model, i), 0);
        models += (i == 0 ? "" : ",") + std::string(model);
    }
    int device = 0;
    ck_assert_int_eq(driver.get(&device, count), fake_cuda::invalid_device);
    return models;
}

std::string walk(const Node& node)
{
    const Driver driver(node);
    int count = 0;
    std::string failure = first_failure({
        {"init", [&] { return driver.init(0); }},
        {"count", [&] { return driver.count(&count); }},
    });
    for (int i = 0; i < count && failure.empty(); ++i) {
        failure = walk_device(driver, i);
    }
    return failure.empty() ? "ok" : failure;
}

std::string in_child(const std::function<std::string()>& work)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = start_child([&] {
        const std::string result = work();
        (void)!write(ends[1], result.data(), result.size());
    });
    close(ends[1]);
    std::string end = end_of(child, std::chrono::seconds(20));
    char buffer[4096];
    // The child is gone: what it wrote is here; one of its own may hold the other end open.
    const ssize_t count = end.empty() ? read(ends[0], buffer, sizeof buffer) : 0;
    close(ends[0]);
    return end.empty() ? std::string(buffer, static_cast<std::size_t>(count)) : end;
}

std::string walk_in_child(const Node& node)
{
    return in_child([&] { return walk(node); });
}

std::string hang_in_child(const Node& node)
{
    const pid_t child = start_child([&] { (void)walk(node); });
    for (int i = 0; i < kManyNaps && count_lines(node.log(), " does:") == 0; ++i) {
        nap();
    }
    return end_of(child, std::chrono::milliseconds(100));
}

pid_t start_child(const std::function<void()>& work)
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)signal(SIGTERM, SIG_DFL);  // Check's handler would end the whole test
        work();
        _exit(0);
    }
    return child;
}

bool appears(const std::string& path)
{
    for (int i = 0; i < kManyNaps; ++i) {
        if (access(path.c_str(), F_OK) == 0) {
            return true;
        }
        nap();
    }
    return false;
}

int count_lines(const std::string& text, const std::string& part)
{
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
        count += line.find(part) != std::string::npos ? 1 : 0;
    }
    return count;
}

}  // namespace driver_test

// SPDX-License-Identifier: Apache-2.0
//
// What a user's CUDA program does first: find libcuda.so.1 as the loader does, take every visible
// GPU, make a context and use a little memory. Prints a line for each GPU, or says on stderr what
// failed and ends with 1.
//
//     cuda-task [--device N] [--hold SECONDS] [--ready FILE]
//
//     --device N      only this ordinal
//     --hold SECONDS  keep the contexts so long
//     --ready FILE    make this file once all contexts are there

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi.hpp"

namespace {

using fake_cuda::ContextHandle;
using fake_cuda::DevicePointer;
using fake_cuda::Uuid;

constexpr unsigned kPattern = 0xa5c3f00dU;
constexpr std::size_t kWords = 4096;

struct Options {
    std::optional<int> device;
    long hold = 0;
    const char* ready = nullptr;
};

/// The driver's functions by name; a missing one ends the program.
class Driver {
public:
    explicit Driver(void* library) : library_(library) {}

    template <class Function>
    Function* get(Function* /*declared*/, const char* name) const
    {
        void* const found = dlsym(library_, name);
        if (found == nullptr) {
            (void)std::fprintf(stderr, "libcuda.so.1 has no %s\n", name);
            std::exit(1);
        }
        return reinterpret_cast<Function*>(found);
    }

private:
    void* library_;
};

#define CUDA(driver, name) (driver).get(decltype(&(name)){}, #name)

std::string name_of(const Driver& driver, int code)
{
    const char* name = nullptr;
    const int known = CUDA(driver, cuGetErrorName)(code, &name);
    return known == 0 && name != nullptr ? name : "CUresult";
}

/// Says what failed; true when nothing did.
bool succeeded(const Driver& driver, const std::string& where, int code)
{
    if (code != 0) {
        (void)std::fprintf(stderr, "%s: %s (%d)\n", where.c_str(), name_of(driver, code).c_str(),
                           code);
    }
    return code == 0;
}

std::string text_of(const Uuid& uuid)
{
    std::string text;
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char pair[3] = "";
        (void)std::snprintf(pair, sizeof pair, "%02x", unsigned{uuid.bytes[i]});
        text += (i == 4 || i == 6 || i == 8 || i == 10) ? "-" : "";
        text += pair;
    }
    return text;
}

/// Sets device memory and compares what comes back.
bool use_memory(const Driver& driver, const std::string& device)
{
    std::vector<unsigned> back(kWords);
    const std::size_t bytes = kWords * sizeof back[0];
    DevicePointer memory = 0;
    const bool done =
        succeeded(driver, device + "cuMemAlloc", CUDA(driver, cuMemAlloc_v2)(&memory, bytes)) &&
        succeeded(driver, device + "cuMemsetD32",
                  CUDA(driver, cuMemsetD32_v2)(memory, kPattern, kWords)) &&
        succeeded(driver, device + "cuCtxSynchronize", CUDA(driver, cuCtxSynchronize)()) &&
        succeeded(driver, device + "cuMemcpyDtoH",
                  CUDA(driver, cuMemcpyDtoH_v2)(back.data(), memory, bytes));
    if (!done) {
        return false;
    }
    for (const unsigned word : back) {
        if (word != kPattern) {
            (void)std::fprintf(stderr, "%swrong result: %08x instead of %08x\n", device.c_str(),
                               word, kPattern);
            return false;
        }
    }
    return succeeded(driver, device + "cuMemFree", CUDA(driver, cuMemFree_v2)(memory));
}

/// Uses one device and prints its line. The context stays.
bool use_device(const Driver& driver, int ordinal)
{
    const std::string device = "device " + std::to_string(ordinal) + ": ";
    char model[128] = "";
    char pci[32] = "";
    Uuid uuid{};
    int handle = 0;
    ContextHandle* context = nullptr;
    const bool done =
        succeeded(driver, device + "cuDeviceGet", CUDA(driver, cuDeviceGet)(&handle, ordinal)) &&
        succeeded(driver, device + "cuDeviceGetName",
                  CUDA(driver, cuDeviceGetName)(model, sizeof model, handle)) &&
        succeeded(driver, device + "cuDeviceGetUuid",
                  CUDA(driver, cuDeviceGetUuid_v2)(&uuid, handle)) &&
        succeeded(driver, device + "cuDeviceGetPCIBusId",
                  CUDA(driver, cuDeviceGetPCIBusId)(pci, sizeof pci, handle)) &&
        succeeded(driver, device + "cuCtxCreate",
                  CUDA(driver, cuCtxCreate_v2)(&context, 0, handle)) &&
        use_memory(driver, device);
    if (done) {
        const bool mig = std::string_view(model).find(" MIG ") != std::string_view::npos;
        (void)std::printf("%s%s %s%s %s ok\n", device.c_str(), model, mig ? "MIG-" : "GPU-",
                          text_of(uuid).c_str(), pci);
        (void)std::fflush(stdout);
    }
    return done;
}

bool use_all(const Driver& driver, const Options& options)
{
    int count = 0;
    if (!succeeded(driver, "cuInit", CUDA(driver, cuInit)(0)) ||
        !succeeded(driver, "cuDeviceGetCount", CUDA(driver, cuDeviceGetCount)(&count))) {
        return false;
    }
    if (options.device) {
        return use_device(driver, *options.device);
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        if (!use_device(driver, ordinal)) {
            return false;
        }
    }
    return true;
}

bool tell_ready(const char* path)
{
    const int fd = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) {
        (void)close(fd);
    } else if (path != nullptr) {
        perror(path);
    }
    return path == nullptr || fd >= 0;
}

/// A number of at most six digits.
std::optional<long> parse_number(const char* text)
{
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    const bool fits = end != text && *end == '\0' && number >= 0 && number <= 999999;
    return fits ? std::optional(number) : std::nullopt;
}

std::optional<Options> parse(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string_view name = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        const auto number = parse_number(value);
        if (name == "--ready" && *value != '\0') {
            options.ready = value;
        } else if (name == "--hold" && number) {
            options.hold = *number;
        } else if (name == "--device" && number) {
            options.device = static_cast<int>(*number);
        } else {
            return std::nullopt;
        }
    }
    return options;
}

}  // namespace

int main(int argc, char** argv)
{
    const auto options = parse(argc, argv);
    if (!options) {
        (void)std::fputs("usage: cuda-task [--device N] [--hold SECONDS] [--ready FILE]\n", stderr);
        return 2;
    }
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        (void)std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const Driver driver(library);
    if (!use_all(driver, *options) || !tell_ready(options->ready)) {
        return 1;
    }
    timespec rest{options->hold, 0};
    while (rest.tv_sec > 0 && nanosleep(&rest, &rest) != 0) {
    }
    return 0;
}

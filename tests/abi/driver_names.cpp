// driver_names LIBCUDA NAME...: whether LIBCUDA exports all that the probe binds, and every NAME.
#include <dlfcn.h>
#include <grp.h>
#include <unistd.h>

#include <cstdio>

#include "src/probe/driver.hpp"

namespace {

constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
constexpr unsigned kNobody = 65534;

/// How many of the names the library does not export; each is printed.
int count_missing(void* library, char** names)
{
    int missing = 0;
    for (; *names != nullptr; ++names) {
        if (::dlsym(library, *names) == nullptr) {
            std::printf("not exported: %s\n", *names);
            ++missing;
        }
    }
    return missing;
}

/// NVIDIA's driver makes /dev/nvidiactl where root asks it, even without a GPU: this process must
/// not.
bool give_up_root()
{
    return ::geteuid() != 0 ||
           (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
}

/// Without a GPU, NVIDIA's driver says so; with one, any answer may be right.
bool starts_as_expected(const auto_gpus::cuda::Api& api)
{
    const int result = api.init(0);
    const bool has_driver = ::access("/dev/nvidiactl", F_OK) == 0;
    std::printf("%s: %d\n", auto_gpus::cuda::kInit, result);
    return has_driver || result == kNoDevice;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        std::puts("usage: driver_names LIBCUDA NAME...");
        return 2;
    }
    const auto driver = auto_gpus::cuda::Driver::load(argv[1]);
    if (!driver) {
        std::printf("%s\n", driver.error().cause.c_str());
        return 1;
    }
    // Loaded already: this only counts.
    void* const library = ::dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr || count_missing(library, argv + 2) != 0) {
        return 1;
    }
    std::printf("%s exports all %d names\n", driver.value().path().c_str(), argc - 2);
    return give_up_root() && starts_as_expected(driver.value().api()) ? 0 : 1;
}

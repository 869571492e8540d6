#include "src/probe/driver.hpp"

#include <dlfcn.h>

namespace auto_gpus::cuda {
namespace {

/// Binds functions by name and remembers the first that was missing.
class Binder {
public:
    explicit Binder(void* library) : library_(library) {}

    template <class Function>
    Binder& bind(Function*& slot, const char* name, const char* older_name = nullptr)
    {
        slot = reinterpret_cast<Function*>(::dlsym(library_, name));
        if (slot == nullptr && older_name != nullptr) {
            slot = reinterpret_cast<Function*>(::dlsym(library_, older_name));
        }
        if (slot == nullptr && missing_ == nullptr) {
            missing_ = name;
        }
        return *this;
    }

    [[nodiscard]] const char* missing() const noexcept { return missing_; }

private:
    void* library_;
    const char* missing_ = nullptr;
};

std::string path_of(const Api& api, const std::string& name)
{
    Dl_info where{};
    if (::dladdr(reinterpret_cast<void*>(api.init), &where) == 0 || where.dli_fname == nullptr) {
        return name;
    }
    return where.dli_fname;
}

}  // namespace

void Driver::Unload::operator()(void* library) const noexcept
{
    ::dlclose(library);
}

Result<Driver> Driver::load(const std::string& name)
{
    // NODELETE: a driver with threads and a broken GPU is not to be unloaded, only left.
    Library library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
    if (!library) {
        const char* words = ::dlerror();
        return Error{Fault::driver, words != nullptr ? words : "dlopen of " + name + " failed",
                     "install the NVIDIA driver on this node"};
    }
    Api api;
    Binder binder(library.get());
    binder.bind(api.init, kInit)
        .bind(api.driver_get_version, kDriverGetVersion)
        .bind(api.device_get_count, kDeviceGetCount)
        .bind(api.device_get, kDeviceGet)
        .bind(api.device_get_name, kDeviceGetName)
        .bind(api.device_get_attribute, kDeviceGetAttribute)
        .bind(api.device_get_pci_bus_id, kDeviceGetPciBusId)
        .bind(api.device_get_uuid, kDeviceGetUuid, kDeviceGetUuidBeforeR470)
        .bind(api.device_total_mem, kDeviceTotalMem)
        .bind(api.ctx_create, kCtxCreate)
        .bind(api.ctx_destroy, kCtxDestroy)
        .bind(api.ctx_synchronize, kCtxSynchronize)
        .bind(api.mem_get_info, kMemGetInfo)
        .bind(api.mem_alloc, kMemAlloc)
        .bind(api.mem_free, kMemFree)
        .bind(api.memset_d32, kMemsetD32)
        .bind(api.memcpy_dtoh, kMemcpyDtoH);
    if (binder.missing() != nullptr) {
        return Error{Fault::driver, name + " has no function " + binder.missing(),
                     "update the NVIDIA driver on this node"};
    }
    std::string path = path_of(api, name);
    return Driver(std::move(library), api, std::move(path));
}

}  // namespace auto_gpus::cuda

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string_view>

#include "abi.hpp"
#include "call.hpp"
#include "kernels.hpp"
#include "text.hpp"

namespace fake_cuda {

int run_kernel(const Launch& /*launch*/)
{
    return success;
}

namespace {

template <class Handle>
bool knows(const std::vector<std::unique_ptr<Handle>>& handles, const Handle* handle)
{
    return std::any_of(handles.begin(), handles.end(),
                       [&](const auto& known) { return known.get() == handle; });
}

int load_module(ContextHandle& context, ModuleHandle** module, const void* image)
{
    if (module == nullptr || image == nullptr) {
        return invalid_value;
    }
    const std::string_view ptx = static_cast<const char*>(image);
    if (!starts_with(ptx, ".version")) {
        return invalid_ptx;
    }
    context.modules.push_back(std::make_unique<ModuleHandle>());
    *module = context.modules.back().get();
    (*module)->ptx = ptx;
    return success;
}

int get_function(ContextHandle& context, FunctionHandle** function, ModuleHandle* module,
                 const char* name)
{
    if (function == nullptr || name == nullptr) {
        return invalid_value;
    }
    if (!knows(context.modules, module)) {
        return invalid_handle;
    }
    context.functions.push_back(std::make_unique<FunctionHandle>());
    *function = context.functions.back().get();
    (*function)->module = module;
    (*function)->name = name;
    return success;
}

}  // namespace
}  // namespace fake_cuda

using fake_cuda::ContextHandle;
using fake_cuda::FunctionHandle;
using fake_cuda::in_context;
using fake_cuda::ModuleHandle;
using fake_cuda::Stage;

/// Takes any text that begins with ".version" for PTX.
int cuModuleLoadData(ModuleHandle** module, const void* image)
{
    return in_context("cuModuleLoadData", {Stage::module}, [&](ContextHandle& context) {
        return fake_cuda::load_module(context, module, image);
    });
}

/// Finds a function of any name.
int cuModuleGetFunction(FunctionHandle** function, ModuleHandle* module, const char* name)
{
    return in_context("cuModuleGetFunction", {Stage::module}, [&](ContextHandle& context) {
        return fake_cuda::get_function(context, function, module, name);
    });
}

// The vendor's signature.
// NOLINTNEXTLINE(readability-function-size)
int cuLaunchKernel(FunctionHandle* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned /*shared_bytes*/,
                   fake_cuda::StreamHandle* /*stream*/, void** parameters, void** /*extra*/)
{
    return in_context("cuLaunchKernel", {Stage::launch}, [&](ContextHandle& context) -> int {
        const unsigned dimensions[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
        if (std::count(std::begin(dimensions), std::end(dimensions), 0U) != 0) {
            return fake_cuda::invalid_value;
        }
        if (!fake_cuda::knows(context.functions, function)) {
            return fake_cuda::invalid_handle;
        }
        return fake_cuda::run_kernel({context, *function, block_x * block_y * block_z, parameters});
    });
}

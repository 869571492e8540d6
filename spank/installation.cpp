#include "spank/installation.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "spank/build_config.hpp"
#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

struct Free {
    void operator()(char* text) const noexcept { std::free(text); }
};

std::string resolved(const char* path)
{
    const std::unique_ptr<char, Free> real(::realpath(path, nullptr));
    return real ? real.get() : path;
}

}  // namespace

std::string program_beside(const std::string& plugin_path)
{
    const std::string below_prefix = std::string("/") + kPluginDir + "/" + kPluginFile;
    if (!ends_with(plugin_path, below_prefix)) {
        return kBuiltForProgram;
    }
    return plugin_path.substr(0, plugin_path.size() - below_prefix.size()) + "/" + kProgramBelow;
}

std::string installed_program()
{
    Dl_info where{};
    void* const here = reinterpret_cast<void*>(&installed_program);
    if (::dladdr(here, &where) == 0 || where.dli_fname == nullptr) {
        return kBuiltForProgram;
    }
    return program_beside(resolved(where.dli_fname));
}

}  // namespace auto_gpus

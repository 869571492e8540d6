// The ABI boundary: C linkage, no exceptions out, no decisions inside.
#include <exception>

#include "spank/hooks.hpp"
#include "spank/slurm.hpp"

namespace {

/// Runs one hook body and turns whatever comes out into SPANK's int. slurmstepd runs as root with
/// every other task of the step in it: an exception that passed this frame would end them all.
template <class Body>
int guarded(const char* hook, Body&& body) noexcept
{
    try {
        return body();
    } catch (const std::exception& broken) {
        return auto_gpus::hooks::broken(hook, broken.what());
    } catch (...) {
        return auto_gpus::hooks::broken(hook, "an unknown exception");
    }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

// A namespace-scope const has internal linkage in C++, inside extern "C" too. Declared extern
// first, the macro's definitions become symbols that Slurm can find.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(auto_gpus, 1)

int slurm_spank_init(spank_t spank, int argc, char** argv)
{
    return guarded(__func__, [&] { return auto_gpus::hooks::init(spank, argc, argv); });
}

int slurm_spank_init_post_opt(spank_t spank, int /*argc*/, char** /*argv*/)
{
    return guarded(__func__, [&] { return auto_gpus::hooks::init_post_opt(spank); });
}

int slurm_spank_task_init(spank_t spank, int /*argc*/, char** /*argv*/)
{
    return guarded(__func__, [&] { return auto_gpus::hooks::task_init(spank); });
}

#pragma GCC visibility pop
}

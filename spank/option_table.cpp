#include "spank/option_table.hpp"

#include <cctype>

namespace auto_gpus {
namespace {

bool asks_for_gpus(const std::string& request)
{
    const auto parsed = parse_request(request);
    return parsed && parsed.value().active();
}

/// Slurm calls this for each option it finds, in the environment first and then on the command
/// line; in slurmstepd too, where a forged variable comes past the check of srun.
int take_option(int value, const char* text, int remote)
{
    if (value < 0 || value >= static_cast<int>(kOptionCount)) {
        return 0;
    }
    PluginState& state = plugin_state();
    const auto option = static_cast<Option>(value);
    const std::string given = text == nullptr ? "" : text;
    text_of(state.options, option) = given;
    if (remote != 0) {
        return 0;  // checked again in task_init: an error here would only be logged
    }
    const OptionSource& source = source_of(state, option);
    // Slurm does not say where a text is from, but it reads the environment once: the same text a
    // second time was typed.
    const bool is_default = source.by_default == given;
    if (option == Option::request) {
        ++state.requests_read;
        state.defaults_read += is_default ? 1 : 0;
        state.request_was_default = is_default && state.defaults_read == 1;
    }
    const std::string place = is_default ? source.variable : std::string("--") + info(option).name;
    std::optional<Refusal> refusal = check_option(option, given, place, state.site);
    if (!refusal && option == Option::request && asks_for_gpus(given) &&
        !state.site.problems.empty()) {
        refusal = state.site.problems.front();
    }
    if (refusal) {
        slurm_error("auto-gpus: %s: %s; %s", name(refusal->reason), refusal->cause.c_str(),
                    refusal->remedy.c_str());
        return -1;
    }
    return 0;
}

int take_option_guarded(int value, const char* text, int remote)
{
    try {
        return take_option(value, text, remote);
    } catch (...) {
        slurm_error("auto-gpus: out of memory");
        return remote != 0 ? 0 : -1;
    }
}

}  // namespace

PluginState& plugin_state()
{
    static auto* const state = new PluginState;  // never destroyed: the host may unload us at exit
    return *state;
}

bool register_options(spank_t spank)
{
    for (const OptionInfo& row : all_options()) {
        // Slurm copies the texts, and takes them as char* without writing to them.
        spank_option option{};
        option.name = const_cast<char*>(row.name);
        option.arginfo = const_cast<char*>(row.argument);
        option.usage = const_cast<char*>(row.help);
        option.has_arg = row.argument != nullptr ? 1 : 0;
        option.val = static_cast<int>(row.option);
        option.cb = take_option_guarded;
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS) {
            return false;
        }
    }
    return true;
}

std::string job_variable(Option option)
{
    std::string variable = kJobVariables;
    for (const char* letter = info(option).name; *letter != '\0'; ++letter) {
        variable += std::isalnum(static_cast<unsigned char>(*letter)) != 0 ? *letter : '_';
    }
    return variable;
}

}  // namespace auto_gpus

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/core/reason.hpp"
#include "src/core/request.hpp"
#include "src/core/site.hpp"

namespace auto_gpus {

/// The options of srun, sbatch and salloc.
enum class Option { request, timeout, min_free, emit, check, verbose };
inline constexpr std::size_t kOptionCount = static_cast<std::size_t>(Option::verbose) + 1;

/// One row of the table of options, from which parser, --help and manual pages are made.
struct OptionInfo {
    Option option;
    const char* name;      ///< without the dashes: "auto-gpus-timeout"
    const char* argument;  ///< "SECONDS"; null when it takes none
    const char* variable;  ///< what follows SLURM_, SBATCH_ or SALLOC_
    const char* allowed;   ///< all allowed forms, after "use "
    const char* help;      ///< at most 52 columns, so that srun --help keeps to 80
};

const std::array<OptionInfo, kOptionCount>& all_options() noexcept;
const OptionInfo& info(Option option) noexcept;

/// The options' values as they were written; absent when not given. One without an argument has
/// any text when given.
using OptionTexts = std::array<std::optional<std::string>, kOptionCount>;

inline std::optional<std::string>& text_of(OptionTexts& texts, Option option)
{
    return texts.at(static_cast<std::size_t>(option));
}
inline const std::optional<std::string>& text_of(const OptionTexts& texts, Option option)
{
    return texts.at(static_cast<std::size_t>(option));
}

/// Where a request comes from; they are treated differently (see decision.hpp).
enum class Origin {
    typed,         ///< typed for this step, or on the line of this batch job
    environment,   ///< a default of the user's, such as SLURM_AUTO_GPUS
    inherited,     ///< a job's, reaching the sruns within
    site_default,  ///< plugstack.conf's default=
};

/// What one task asked for, checked.
struct Settings {
    Request request;
    Origin origin = Origin::typed;
    std::chrono::seconds timeout{60};
    std::uint64_t min_free = 0;  ///< bytes
    Emit emit = Emit::keep;
    bool verbose = false;
};

/// Checks one option's text, as where the user typed it.
/// \param place  how the user knows it: "--auto-gpus" or "SLURM_AUTO_GPUS"
/// \return BAD_OPTION with the value and all allowed forms, or nothing when it is well-formed
std::optional<Refusal> check_option(Option option, std::string_view text, const std::string& place,
                                    const Site& site);

/// All options of a task on top of the site's defaults.
/// \return BAD_OPTION as above
Result<Settings, Refusal> resolve(const OptionTexts& texts, const Site& site);

}  // namespace auto_gpus

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace auto_gpus {

/// Where a probe is. The order is that of the check.
enum class Stage {
    start,
    load,
    init,
    enumerate,
    attributes,
    context,
    allocate,
    set,
    copy,
    free,
    destroy,
    evidence,
    done
};
inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::done) + 1;

/// Short name, on the wire and in verbose reports: "context".
const char* name(Stage stage) noexcept;
std::optional<Stage> stage_from_name(std::string_view text) noexcept;

/// What a person reads when the probe hangs there: the driver call, "cuCtxCreate", or a phrase.
const char* activity(Stage stage) noexcept;

}  // namespace auto_gpus

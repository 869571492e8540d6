#include "src/core/stage.hpp"

namespace auto_gpus {
namespace {

struct StageInfo {
    const char* name;
    const char* activity;
};

constexpr std::array<StageInfo, kStageCount> kStages{{
    {"start", "the start of the probe"},
    {"load", "loading libcuda"},
    {"init", "cuInit"},
    {"enumerate", "cuDeviceGetCount"},
    {"attributes", "cuDeviceGetAttribute"},
    {"context", "cuCtxCreate"},
    {"allocate", "cuMemAlloc"},
    {"set", "cuMemsetD32"},
    {"copy", "cuMemcpyDtoH"},
    {"free", "cuMemFree"},
    {"destroy", "cuCtxDestroy"},
    {"evidence", "asking NVML"},
    {"done", "the end of the probe"},
}};

}  // namespace

const char* name(Stage stage) noexcept
{
    return kStages[static_cast<std::size_t>(stage)].name;
}

std::optional<Stage> stage_from_name(std::string_view text) noexcept
{
    for (std::size_t i = 0; i < kStageCount; ++i) {
        if (text == kStages[i].name) {
            return static_cast<Stage>(i);
        }
    }
    return std::nullopt;
}

const char* activity(Stage stage) noexcept
{
    return kStages[static_cast<std::size_t>(stage)].activity;
}

}  // namespace auto_gpus

// A decision on a node, as the messages tell it.
#pragma once

#include <string>

#include "src/core/message.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

/// The list of one task on gpu07, all GPUs usable; the tests change what they need.
struct Story {
    explicit Story(std::string_view value);

    /// What is known of one entry. A usable one is an idle "NVIDIA H100 80GB HBM3" on PCI bus
    /// 0000:1N:00.0; one with another reason broke before it could be asked who it is.
    Verdict& at(std::size_t position) { return watch.tokens.at(position).verdict.value(); }
    Verdict& says(std::size_t position, Reason reason);
    /// With the failing call.
    Verdict& fails(std::size_t position, Reason reason, Stage stage, int result);
    /// The GPU is known, whatever became of it.
    Verdict& knows(std::size_t position);
    void asks(const char* request);
    void surveyed(int count, int result = 0);

    [[nodiscard]] Report report(Audience audience = Audience::task) const
    {
        return {node, list, settings, need, watch, took, mps_pipe, audience};
    }

    std::string node = "gpu07";
    TokenList list;
    Settings settings;
    Need need;
    Watch watch;
    Clock::duration took = milliseconds(900);
    std::string mps_pipe;
};

/// The lines of a message; each must begin "auto-gpus: gpu07: ", end with a newline, and have
/// nothing in it but printable ASCII.
std::vector<std::string> lines_of(const char* row, const std::string& text);

}  // namespace auto_gpus::unit

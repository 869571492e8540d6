#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.hpp"

namespace auto_gpus {

/// Why a text is not a value: a clause such as "MAX is below MIN".
struct Malformed {
    std::string why;
};

/// How many usable GPUs a task asks for: the value of --auto-gpus.
struct Request {
    enum class Kind {
        off,       ///< "off", "0"
        count,     ///< "N": min == max
        range,     ///< "MIN-MAX"
        at_least,  ///< "MIN+": max is kLargest
        all,       ///< "all": every GPU of the list, which stays as it is
    };
    static constexpr std::size_t kLargest = 65535;

    Kind kind = Kind::off;
    std::size_t min = 0;  ///< of count, range and at_least: 1 to kLargest
    std::size_t max = 0;

    [[nodiscard]] bool active() const noexcept { return kind != Kind::off; }

    /// How it is written: "2", "2-4", "2+", "all", "off".
    [[nodiscard]] std::string text() const;

    friend bool operator==(const Request& one, const Request& other) noexcept
    {
        return one.kind == other.kind && one.min == other.min && one.max == other.max;
    }
};

/// "N", "MIN-MAX", "MIN+", "all", "off" or "0"; numbers are plain decimal, from 1.
Result<Request, Malformed> parse_request(std::string_view text);

/// "512M", "20G" (K, M, G, T: powers of 1024); a bare number is MiB, as with Slurm's --mem.
/// \return bytes
Result<std::uint64_t, Malformed> parse_size(std::string_view text);

/// A whole number from `least` to `largest`.
Result<std::uint64_t, Malformed> parse_count(std::string_view text, std::uint64_t least,
                                             std::uint64_t largest);

}  // namespace auto_gpus

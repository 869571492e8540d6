#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.hpp"
#include "src/core/reason.hpp"

namespace auto_gpus {

inline constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";

/// How a token names its GPU.
enum class TokenForm {
    index,  ///< digits first, as strtoul reads them: "3", "1gpu2"
    gpu,    ///< "GPU-…", a UUID or a prefix of one
    mig,    ///< "MIG-…", either form
};

/// One entry of CUDA_VISIBLE_DEVICES, kept byte for byte.
struct Token {
    std::string text;
    TokenForm form = TokenForm::index;
    std::uint64_t index = 0;  ///< of TokenForm::index; the largest value when it overflows
};

/// The entries that CUDA can read, in their order.
struct TokenList {
    std::vector<Token> tokens;
    bool stopped = false;    ///< the driver stops reading at an entry that it cannot read …
    std::string stopped_at;  ///< … and this is it
};

/// No node has this many GPUs or MIG instances; a list of more is a mistake, and probing it would
/// start as many processes.
inline constexpr std::size_t kMostTokens = 256;
/// The longest form, MIG-GPU-<uuid>/<gi>/<ci>, has about 50 bytes.
inline constexpr std::size_t kLongestToken = 256;

/// Reads a value of CUDA_VISIBLE_DEVICES as the driver does, but refuses what would show no GPU.
///
/// "2,-1,1" -> 2, stopped at "-1"       "GPU-af7b" -> that prefix
/// ""       -> EMPTY_LIST               "0,0"      -> DUPLICATE
/// "abc"    -> BAD_TOKEN                "NoDevFiles" (Slurm's word for none) -> NOT_ALLOCATED
///
/// Pure: looks at no device, so an index past the last GPU is a token like others.
/// Source: CUDA Programming Guide, "CUDA_VISIBLE_DEVICES", and reports of what drivers do.
Result<TokenList, Refusal> parse_token_list(std::string_view value);

/// The texts of `tokens` at `positions`, joined as CUDA_VISIBLE_DEVICES has them.
std::string joined(const TokenList& list, const std::vector<std::size_t>& positions);
std::string joined(const TokenList& list);  ///< of all tokens

}  // namespace auto_gpus

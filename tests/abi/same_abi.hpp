#pragma once

#include <type_traits>

/// Whether two types of independent declarations mean the same to a caller in machine code.
namespace auto_gpus::abi {

template <class T>
constexpr bool kIntLike = std::is_integral_v<T> || std::is_enum_v<T>;

/// Pointers are alike whatever they point to: handles have a name of their own on each side.
template <class Ours, class Theirs>
struct same_abi
    : std::bool_constant<std::is_same_v<Ours, Theirs> ||
                         (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                         (kIntLike<Ours> && kIntLike<Theirs> && sizeof(Ours) == sizeof(Theirs))> {};

template <class R1, class... A1, class R2, class... A2>
struct same_abi<R1 (*)(A1...), R2 (*)(A2...)>
    : std::bool_constant<sizeof...(A1) == sizeof...(A2) && same_abi<R1, R2>::value &&
                         (same_abi<A1, A2>::value && ...)> {};

}  // namespace auto_gpus::abi

#define NAME_OF_(symbol) #symbol
#define NAME_OF(symbol) NAME_OF_(symbol)

/// The table's `slot` is bound by the constant `name` to what a header declares as `symbol`, which
/// may be a macro for another name.
#define HOLDS(slot, name, symbol)                                                \
    static_assert(auto_gpus::abi::same_abi<decltype(auto_gpus::cuda::Api::slot), \
                                           decltype(&(symbol))>::value,          \
                  #slot " has another signature than " #symbol);                 \
    static_assert(std::string_view(auto_gpus::cuda::name) == NAME_OF(symbol),    \
                  #name " is not what " #symbol " is exported as")

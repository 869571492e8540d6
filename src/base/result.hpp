#pragma once

#include <string>
#include <utility>
#include <variant>

namespace auto_gpus {

/// What kind of thing went wrong. Callers branch on this; people read Error.
enum class Fault {
    system_call,  ///< the kernel refused; `cause` carries strerror()
    driver,       ///< libcuda is missing or lacks a function
    helper,       ///< a helper process died, lied or was not there
    bug,          ///< an invariant of ours broke
};

/// A failure as a person needs it: what happened, and what to do about it.
struct Error {
    Fault fault = Fault::bug;
    std::string cause;   ///< one sentence, no trailing dot, names the value at fault
    std::string remedy;  ///< imperative, in small letters, to follow a semicolon; or empty
};

/// Error of Fault::system_call for `what`, with the text of `error_number`.
Error system_error(const std::string& what, int error_number, std::string remedy);

/// A value, or the Error (or a kin of it) that prevented it. Ignoring one does not compile under
/// -Werror; reading the wrong side throws std::bad_variant_access.
template <class T, class E = Error>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const noexcept { return state_.index() == 0; }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }

    const E& error() const& { return std::get<1>(state_); }

private:
    std::variant<T, E> state_;
};

}  // namespace auto_gpus

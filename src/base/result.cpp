#include "src/base/result.hpp"

#include <cstring>

namespace auto_gpus {

Error system_error(const std::string& what, int error_number, std::string remedy)
{
    return {Fault::system_call, what + ": " + std::strerror(error_number), std::move(remedy)};
}

}  // namespace auto_gpus

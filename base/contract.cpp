#include "base/contract.h"

namespace flashlab {

void violated(std::string_view what, std::source_location where) {
    throw ContractViolation{std::string{what}, std::string{where.file_name()} + ":" + std::to_string(where.line()) + ": " + where.function_name()};
}

} // namespace flashlab

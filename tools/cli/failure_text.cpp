#include "tools/cli/failure_text.h"

#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/admit_scheme.h"

namespace flashlab {

std::string failure_text(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr || dynamic_cast<const std::length_error*>(&error) != nullptr)
        return "this host has no memory left for it: take a smaller device (--size, dram.size), or more memory (ulimit -v says what a process may "
               "have)";
    if (const auto* host = dynamic_cast<const std::system_error*>(&error))
        return fmt::format("the host refused: {}; {}", host->what(),
                           host->code() == std::errc::no_space_on_device || host->code() == std::errc::file_too_large
                               ? "make room there, or name another place"
                           : host->code() == std::errc::resource_unavailable_try_again ? "the limit of processes (ulimit -u) or memory is reached"
                                                                                       : "look whether the place is there and yours");
    if (const auto* broken = dynamic_cast<const ContractViolation*>(&error); broken != nullptr && admitted_schemes().empty())
        return fmt::format(
            "an internal check failed: {}. Please report it with the command; 'flashlab fsck DIR' tells whether the images are damaged",
            broken->what());
    return unexpected_failure(error.what());
}

std::string unexpected_failure(std::string_view what) {
    if (admitted_schemes().empty())
        return fmt::format("an unexpected error: {}. This is a defect of flashlab: please report it with the command", what);
    return fmt::format(
        "an unexpected error: {}. It may be a defect of the scheme '{}', which was loaded: 'flashlab grade' with its file looks for those", what,
        admitted_schemes().back()->name);
}

} // namespace flashlab

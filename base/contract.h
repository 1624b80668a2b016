/// Contracts between our own functions, checked in every build.
///
/// Idea       A broken promise is a defect, not a condition of the device: it throws ContractViolation and is never caught to go on.
/// Invariant  One condition per check.
/// Cost       A predicted branch.
/// Power cut  The FUSE guard turns a violation into a device that takes no more writes; the media stay as they are.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace flashlab {

class ContractViolation : public std::logic_error {
public:
    ContractViolation(const std::string& promise, std::string place) : logic_error{promise}, place_{std::move(place)} {}
    /// File, line and function, for developers. what() holds the broken promise alone: users whose images are damaged read it, too.
    [[nodiscard]] const std::string& place() const { return place_; }

private:
    std::string place_;
};

/// Throws ContractViolation naming the place; `what` says which promise was broken, with values.
[[noreturn]] void violated(std::string_view what, std::source_location where = std::source_location::current());

constexpr void ensure(bool holds, std::string_view what = "a condition", std::source_location where = std::source_location::current()) {
    if (!holds) [[unlikely]]
        violated(what, where);
}

} // namespace flashlab

/// Pages are counted in two ways, and a number of one is none of the other: a page of a file, and a logical page of the drive.
///
/// Idea       Points on a line, as instants are: a point and a count is a point, two points differ by a count, and two points do not add.
/// Invariant  No conversion between the two but an extent's.
/// Cost       None.
#pragma once

#include <compare>
#include <cstdint>

namespace flashlab {

template <class Tag>
class PageNumber {
public:
    constexpr explicit PageNumber(std::uint64_t value) : value_{value} {}
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
    friend constexpr auto operator<=>(PageNumber, PageNumber) = default;
    friend constexpr PageNumber operator+(PageNumber page, std::uint64_t pages) { return PageNumber{page.value_ + pages}; }
    friend constexpr std::uint64_t operator-(PageNumber to, PageNumber from) { return to.value_ - from.value_; }
    constexpr PageNumber& operator+=(std::uint64_t pages) {
        value_ += pages;
        return *this;
    }
    constexpr PageNumber& operator++() { return *this += 1; }

private:
    std::uint64_t value_;
};

using FilePage = PageNumber<struct FilePageTag>;       ///< of a file, from its start
using LogicalPage = PageNumber<struct LogicalPageTag>; ///< of the drive, as the file system's space counts them

/// Behind the last page that any file can have.
constexpr FilePage no_page{~std::uint64_t{0}};

} // namespace flashlab

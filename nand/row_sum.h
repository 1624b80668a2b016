/// Sums of a row's pages: what its parity page holds.
///
/// Idea       Data byte by byte, OOBs field by field. The sum of a row and all but one of its pages is that page.
/// Invariant  exclusive_or(exclusive_or(a, b, k), b, k) has a's fields.
/// Cost       A pass over the page.
/// Power cut  Keeps nothing.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "nand/page_oob.h"

namespace flashlab {

inline constexpr auto no_kind = static_cast<PageKind>(0);
/// Changes no sum.
inline constexpr PageOob no_page{Lpn{0}, WriteSequence{0}, no_kind, 0};

/// `kind`: parity, or no_kind where the sum is a page again.
[[nodiscard]] inline PageOob exclusive_or(const PageOob& a, const PageOob& b, PageKind kind) {
    const auto kinds = [](const PageOob& oob) { return std::to_underlying(oob.kind) & ~std::to_underlying(PageKind::parity); };
    return {Lpn{a.lpn.value() ^ b.lpn.value()}, WriteSequence{a.sequence.value() ^ b.sequence.value()},
            static_cast<PageKind>(std::to_underlying(kind) | (kinds(a) ^ kinds(b))), a.scheme_word ^ b.scheme_word,
            StreamId{static_cast<std::uint16_t>(a.stream.value() ^ b.stream.value())}};
}

inline void exclusive_or(std::span<std::byte> to, std::span<const std::byte> page) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] ^= page[i];
}

} // namespace flashlab

/// The out-of-band bytes of a programmed page: what recovery may believe.
///
/// Idea       LPN, write sequence, kind, stream and one word for the scheme, closed by a CRC, programmed together with the data.
/// Invariant  decode(encode(x)) == x; any flipped bit, and an erased (all-zero) record, fails to decode.
/// Cost       24 bytes a page.
/// Power cut  A torn program may leave an OOB that does not parse, or one that parses over data that do not (docs/crash-model.md, T2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "base/id.h"

namespace flashlab {

/// What a page holds. Zero is no kind: an erased record cannot parse. A parity page has the exclusive-or of its row's kinds in the bits below
/// `parity`, as all its fields are those of the row (nand/row_sum.h).
enum class PageKind : std::uint16_t { data = 1, translation = 2, checkpoint = 3, journal = 4, summary = 5, backup = 6, padding = 7, parity = 128 };

enum class OobError : std::uint8_t { bad_checksum, unknown_kind };

struct PageOob {
    static constexpr std::size_t encoded_size = 24;
    constexpr PageOob() = default;
    constexpr PageOob(Lpn lpn_, WriteSequence sequence_, PageKind kind_, std::uint32_t scheme_word_, StreamId stream_ = no_stream)
        : lpn{lpn_}, sequence{sequence_}, kind{kind_}, stream{stream_}, scheme_word{scheme_word_} {}
    Lpn lpn{0};
    WriteSequence sequence{0};
    PageKind kind = PageKind::data;
    StreamId stream{no_stream};    ///< with which data it was placed: ftl/blocks/separation_policy.h
    std::uint32_t scheme_word = 0; ///< the scheme's own: e.g. COFTL's chain position, a backup's origin PPN

    void encode(std::span<std::byte, encoded_size> out) const;
    [[nodiscard]] static std::expected<PageOob, OobError> decode(std::span<const std::byte, encoded_size> in);
    friend bool operator==(const PageOob&, const PageOob&) = default;
};

} // namespace flashlab

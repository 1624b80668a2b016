/// A CRC-32C that does not hold, taken as the ECC for which it stands: which bits were flipped?
///
/// Idea       A CRC is linear: what a flipped bit adds to it depends on its distance from the end alone. So the difference between the checksum that
///            is stored and the one that the bytes have says which bit, or which two bits, it was.
/// Invariant  One flipped bit is found in up to 2^28 bytes, checksum included, and two are never taken for one: such code words differ in four bits
///            at least. Two are found in up to 650 bytes, and three are never taken for two: those differ in six. More than that is nearly always
///            seen as more: by chance it looks like one bit in 2^32 / bits, like two in 2^33 / bits^2 of all cases.
/// Cost       A step for each bit. No state is kept for one bit; for two a table of eight bytes a bit.
/// Source     Castagnoli, Brauer, Herrmann, "Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits", IEEE Trans. Comm. 1993;
///            distances by length: Koopman, "32-Bit Cyclic Redundancy Codes for Internet Applications", DSN 2002.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace flashlab {

/// The number of a bit: 8 x its byte + its place in the byte. The checksum's four bytes follow the message.
using BitPlace = std::uint64_t;

/// `difference`: the checksum that is stored, exclusive-or the one that the message has. Not zero.
[[nodiscard]] std::optional<BitPlace> find_flipped_bit(std::uint64_t message_bytes, std::uint32_t difference);

/// For messages of one length, 650 bytes at most.
class FlippedBits {
public:
    explicit FlippedBits(std::size_t message_bytes);
    /// One or two places; nullopt: it was more.
    [[nodiscard]] std::optional<std::vector<BitPlace>> find(std::uint32_t difference) const;

private:
    [[nodiscard]] std::optional<BitPlace> place_of(std::uint32_t difference) const;
    std::vector<std::pair<std::uint32_t, BitPlace>> places_; ///< what a flipped bit adds, and its place; sorted
};

} // namespace flashlab

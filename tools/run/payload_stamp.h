/// The bytes that a run writes into sectors. They say where they belong, so that a later read shows whether the drive kept them.
///
/// Idea       A sector holds its number, the number of the write that made it, and words that follow from both. Nothing is remembered of what was
///            written.
/// Invariant  For find_wrong() a sector is right if it is all zero (never written, trimmed, or preconditioned), or whole and in its place. It does
///            not notice a lost overwrite, which leaves the older version.
/// Cost       A multiplication for each eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"

namespace flashlab {

class PayloadStamp {
public:
    /// Valid until the next call, like room().
    [[nodiscard]] std::span<const std::byte> stamped(Sector first, std::uint32_t sectors);
    [[nodiscard]] std::span<std::byte> room(std::uint32_t sectors);
    /// The content of sectors that were never written. It serves writes of which only the place matters.
    [[nodiscard]] std::span<const std::byte> zeros(std::uint32_t sectors);
    /// Describes the first sector that is wrong.
    [[nodiscard]] std::optional<std::string> find_wrong(Sector first, std::span<const std::byte> bytes);
    [[nodiscard]] std::uint64_t sectors_verified() const { return verified_; }

private:
    std::vector<std::byte> buffer_;
    std::vector<std::byte> zeros_;
    std::uint64_t writes_ = 0;
    std::uint64_t verified_ = 0;
};

} // namespace flashlab

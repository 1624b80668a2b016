/// The evidence of nand.img (base/image_evidence.h): what each block is, and what it was when it was last vouched for.
///
/// Idea       A block's digest covers its record and its page records; these cover the data. Erase counts and written pages only grow, and what was
///            written stays until an erase, unless a power cut spoils it. So an older block can be told after a kill, too.
/// Invariant  A block that was only written to since it was vouched for, or erased, or spoiled by a power cut, is no older than its evidence.
/// Cost       survey() reads the records that the host has stored, 32 bytes a written page.
/// Power cut  Nothing is written but a copy of the evidence that no generation names yet.
/// Source     nand/FORMAT.md, "Evidence".
#pragma once

#include <expected>
#include <span>
#include <vector>

#include "base/host_io_error.h"
#include "base/image_evidence.h"
#include "nand/geometry.h"
#include "nand/image_layout.h"

namespace flashlab {

inline constexpr std::uint32_t evidence_bad_mark = 1u << 31;

/// The evidence of nand.img, by descriptor: read by whoever opens the image, written by its store.
class NandEvidence {
public:
    template <class T>
    using Result = std::expected<T, HostIoError>;
    NandEvidence(int fd, const Geometry& geometry) : fd_{fd}, geometry_{geometry}, layout_{geometry} {}

    /// What all blocks are now. Areas that the host never stored are not read.
    [[nodiscard]] Result<std::vector<ImageEvidence>> survey() const;
    [[nodiscard]] Result<ImageEvidence> survey(BlockId block) const;
    /// The copy as the image has it. An entry whose checksum does not hold is EBADMSG.
    [[nodiscard]] Result<std::vector<ImageEvidence>> read(bool second) const;
    [[nodiscard]] Result<void> write(bool second, std::span<const ImageEvidence> evidence) const;

    enum class Age : std::uint8_t { as_vouched, later, older, damaged };
    /// damaged: a record of the block does not decode, so that its age cannot be told.
    [[nodiscard]] Result<Age> age_of(BlockId block, const ImageEvidence& vouched, const ImageEvidence& now) const;

private:
    [[nodiscard]] Result<std::vector<std::byte>> records_of(BlockId block) const;
    [[nodiscard]] ImageEvidence evidence_of(std::span<const std::byte> block_record, std::span<const std::byte> records) const;

    int fd_;
    Geometry geometry_;
    ImageLayout layout_;
};

} // namespace flashlab

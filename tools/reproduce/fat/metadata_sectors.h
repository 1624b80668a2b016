/// The two places of the FAT-like layout's metadata: the drive, or PRAM behind the PRAM filter (FSMS).
///
/// Idea       Sectors of 512 bytes by number, read and written one at a time. That is what the paper's hybrid block device driver sees of the file
///            system.
/// Invariant  A sector that was never written reads as zeros. The same calls leave the same bytes in either place.
/// Cost       On the drive a sector is a part of a logical page, so a write reads that page and writes it again. On PRAM a write reads 512 bytes and
///            writes the words that differ.
/// Power cut  On the drive a sector is old or new. On PRAM a cut may leave a sector half written and a word torn: there is no log, because the layout
///            promises no atomicity.
/// Source     Kim et al. (HY) 3.2 and Figure 5; HY1, HY2, HY8.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fs/fs_types.h"
#include "ftl/block_device.h"
#include "pram/pram.h"
#include "pram/redo_log.h"
#include "tools/reproduce/fat/fat_layout.h"

namespace flashlab {

class MetadataSectors {
public:
    virtual ~MetadataSectors() = default;
    [[nodiscard]] virtual FsResult<SimTime> read(std::uint64_t sector, std::span<std::byte, sector_bytes> to, SimTime now) = 0;
    [[nodiscard]] virtual FsResult<SimTime> write(std::uint64_t sector, std::span<const std::byte, sector_bytes> from, SimTime now) = 0;
};

/// FSMS off: sectors go through the translation layer, at their own addresses.
class DeviceMetadataSectors final : public MetadataSectors {
public:
    explicit DeviceMetadataSectors(BlockDevice& device) : device_{device} {}
    FsResult<SimTime> read(std::uint64_t sector, std::span<std::byte, sector_bytes> to, SimTime now) override;
    FsResult<SimTime> write(std::uint64_t sector, std::span<const std::byte, sector_bytes> from, SimTime now) override;

private:
    BlockDevice& device_;
};

/// FSMS on: sectors lie on PRAM.
class PramMetadataSectors final : public MetadataSectors {
public:
    /// The number of writes, for each number of words that changed in the sector.
    using ChangedWords = std::array<std::uint64_t, sector_bytes / 2 + 1>;

    /// `range` must be all zero or hold such a layout.
    PramMetadataSectors(Pram& pram, PramRange range) : pram_{pram}, range_{range} {}
    FsResult<SimTime> read(std::uint64_t sector, std::span<std::byte, sector_bytes> to, SimTime now) override;
    FsResult<SimTime> write(std::uint64_t sector, std::span<const std::byte, sector_bytes> from, SimTime now) override;
    [[nodiscard]] const ChangedWords& changed_words() const { return changed_words_; }
    void forget_changed_words() { changed_words_ = {}; }

private:
    [[nodiscard]] bool holds(std::uint64_t sector) const { return sector < range_.bytes / sector_bytes; }
    Pram& pram_;
    PramRange range_;
    ChangedWords changed_words_{};
};

} // namespace flashlab

/// PRAM cells in an image file, mapped into memory.
///
/// Idea       Header, wear counters and cells of FORMAT.md lie in one file.
///            The cells are the mapping itself, so that metadata are read through a pointer.
/// Invariant  Every byte is allocated on the host's disk before it is mapped: a full disk is an error of create() or open(), never SIGBUS.
///            This does not hold on btrfs, where every store may need new room: DESIGN.md.
///            One writer: an OFD lock is held while the object lives.
/// Cost       create() and open() are O(1) where the host's file system allocates by extents;
///            damaged_lines() reads what the host has stored of the cells.
/// Power cut  After kill -9 every store that was executed is there, in order. A power loss of the *host* may lose what sync() has not covered.
#pragma once

#include <array>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "base/image_generation.h"
#include "pram/pram.h"
#include "pram/pram_evidence.h"
#include "pram/pram_image_header.h"
#include "pram/pram_line_checks.h"

namespace flashlab {

/// read_write: for one process alone. private_copy: shared with other private copies only. Changes then stay in this process, so that recovery can
/// run on an image that must not change.
enum class PramImageAccess : std::uint8_t { read_write, private_copy };

class ImagePramStore final : public PramStore {
public:
    /// Makes a new all-zero image; fails when the file exists. On failure nothing is left behind.
    /// Errors are sentences that name the path and the remedy.
    [[nodiscard]] static std::expected<void, std::string> create(const std::filesystem::path& path, const PramConfig& config,
                                                                 const std::array<std::byte, 16>& uuid);
    [[nodiscard]] static std::expected<std::unique_ptr<ImagePramStore>, std::string> open(const std::filesystem::path& path,
                                                                                          PramImageAccess access = PramImageAccess::read_write);
    ~ImagePramStore() override;
    ImagePramStore(const ImagePramStore&) = delete;
    ImagePramStore& operator=(const ImagePramStore&) = delete;

    [[nodiscard]] std::span<std::byte> cells() override;
    [[nodiscard]] std::span<std::uint64_t> wear() override;
    [[nodiscard]] PramLineChecks* checks() override { return &checks_; }
    /// Offsets of damaged lines in the cells, `most` of them at most. The opener of an image asks this before it believes any content.
    [[nodiscard]] std::vector<std::uint64_t> damaged_lines(std::size_t most) const;
    /// Numbers of the regions whose wear counter was changed from outside, `most` of them at most.
    [[nodiscard]] std::vector<std::uint64_t> damaged_wear(std::size_t most) const;
    [[nodiscard]] std::expected<ImageGeneration, std::string> generation() const;
    void set_generation(const ImageGeneration& generation);
    /// What the parts of the image are now.
    [[nodiscard]] std::vector<ImageEvidence> survey() const;
    /// One of the two copies of what they were; empty: a checksum in it does not hold.
    [[nodiscard]] std::vector<ImageEvidence> evidence(bool second) const;
    void set_evidence(bool second, std::span<const ImageEvidence> evidence);
    /// Of nand.img (base/image_evidence.h); zero: none.
    [[nodiscard]] std::uint64_t& nand_tally() { return *reinterpret_cast<std::uint64_t*>(mapping_ + header_.state_offset() + nand_tally_at); }
    [[nodiscard]] std::uint64_t nand_tally() const { return const_cast<ImagePramStore*>(this)->nand_tally(); }
    static constexpr std::uint64_t nand_tally_at = 192; ///< in the last page
    [[nodiscard]] const PramImageHeader& header() const { return header_; }
    /// When it returns, all stores so far survive a power loss of the host.
    [[nodiscard]] std::expected<void, HostIoError> sync();

private:
    ImagePramStore(int fd, std::byte* mapping, const PramImageHeader& header);
    int fd_;
    std::byte* mapping_;
    PramImageHeader header_;
    PramLineChecks checks_;
};

} // namespace flashlab

/// PRAM cells in an image file, mapped.
///
/// Idea       Header, wear counters and cells of FORMAT.md in one file; the cells are the mapping itself, so reading metadata is a pointer.
/// Invariant  Every byte has its place on the host's disk before it is mapped: a full disk is an error of create() or open(), never SIGBUS.
///            Not so on btrfs, where every store may need new room: DESIGN.md.
///            One writer: an OFD lock is held while the object lives.
/// Cost       create() and open() are O(1) where the host's file system allocates by extents; damaged_lines() reads what the host has stored of the cells.
/// Power cut  kill -9 leaves every store that was executed, in order. A power loss of the *host* may lose what sync() has not covered.
#pragma once

#include <array>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "base/image_generation.h"
#include "pram/pram.h"
#include "pram/pram_image_header.h"
#include "pram/pram_line_checks.h"

namespace flashlab {

/// read_write: exclusive. private_copy: changes stay in this process (recovery for a look at the image); shared with other lookers only.
enum class PramImageAccess : std::uint8_t { read_write, private_copy };

class ImagePramStore final : public PramStore {
public:
    /// A new all-zero image; refuses an existing file. On failure nothing is left behind. Errors are sentences that name the path and the remedy.
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
    /// Places of damaged lines, offsets into the cells, at most `most`: whoever opens asks before anything is believed.
    [[nodiscard]] std::vector<std::uint64_t> damaged_lines(std::size_t most) const;
    [[nodiscard]] std::expected<ImageGeneration, std::string> generation() const;
    void set_generation(const ImageGeneration& generation);
    [[nodiscard]] const PramImageHeader& header() const { return header_; }
    /// Orders what was written before a power loss of the host.
    [[nodiscard]] std::expected<void, HostIoError> sync();

private:
    ImagePramStore(int fd, std::byte* mapping, const PramImageHeader& header);
    int fd_;
    std::byte* mapping_;
    PramImageHeader header_;
    PramLineChecks checks_;
};

} // namespace flashlab

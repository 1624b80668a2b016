/// Where each page, block and plane of the flash lies. Addresses are divided here and nowhere else.
///
/// Idea       channel > chip > die > plane > block > page, numbered device-wide in that order, so that an id alone names a place.
/// Invariant  block_of(page_of(b, i)) == b for every i < pages_per_block. All counts fit their ids (make() checks this).
/// Cost       A multiplication each (Divider); pages_per_block need not be a power of two (TLC parts have 768).
/// Source     Terms: ONFI 4.0.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/divider.h"
#include "base/id.h"

namespace flashlab {

enum class CellType : std::uint8_t { slc, mlc, tlc, qlc };

/// Plain counts as a preset or a TOML file gives them.
struct GeometryConfig {
    std::uint32_t channels = 8;
    std::uint32_t chips_per_channel = 1;
    std::uint32_t dies_per_chip = 1;
    std::uint32_t planes_per_die = 2;
    std::uint32_t blocks_per_plane = 256;
    std::uint32_t pages_per_block = 256;
    std::uint32_t page_bytes = 4096;
    std::uint32_t spare_bytes = 256;
    CellType cell = CellType::tlc;
    friend bool operator==(const GeometryConfig&, const GeometryConfig&) = default;
};

class Geometry {
public:
    /// Checks every count: non-zero, page_bytes a multiple of 512, totals within 32-bit ids. The error says which and what is allowed.
    [[nodiscard]] static std::expected<Geometry, std::string> make(const GeometryConfig& config);

    /// The geometry that the users of a striped array see: groups of `width` channels act as one (nand/striping.h),
    /// with fewer channels and wider pages.
    [[nodiscard]] std::expected<Geometry, std::string> striped(std::uint32_t width) const;

    /// The geometry that users of an array with parity see: `width` dies act as one, with width - 1 times the pages a block (nand/rain.h).
    [[nodiscard]] std::expected<Geometry, std::string> with_parity(std::uint32_t width) const;

    [[nodiscard]] const GeometryConfig& config() const { return config_; }
    [[nodiscard]] std::uint32_t channels() const { return config_.channels; }
    [[nodiscard]] std::uint32_t chips() const { return chips_; }
    [[nodiscard]] std::uint32_t dies() const { return dies_; }
    [[nodiscard]] std::uint32_t planes() const { return planes_; }
    [[nodiscard]] std::uint32_t planes_per_die() const { return config_.planes_per_die; }
    [[nodiscard]] std::uint32_t blocks_per_plane() const { return config_.blocks_per_plane; }
    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    [[nodiscard]] std::uint32_t pages_per_block() const { return config_.pages_per_block; }
    [[nodiscard]] std::uint32_t pages() const { return pages_; }
    [[nodiscard]] std::uint32_t page_bytes() const { return config_.page_bytes; }
    [[nodiscard]] std::uint32_t sectors_per_page() const { return config_.page_bytes / sector_bytes; }
    [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{pages_} * config_.page_bytes; }

    [[nodiscard]] BlockId block_of(Ppn p) const { return BlockId{pages_per_block_.divide(p.value())}; }
    [[nodiscard]] std::uint32_t page_in_block(Ppn p) const { return pages_per_block_.remainder(p.value()); }
    [[nodiscard]] Ppn page_of(BlockId b, std::uint32_t page) const { return Ppn{b.value() * config_.pages_per_block + page}; }
    [[nodiscard]] PlaneId plane_of(BlockId b) const { return PlaneId{blocks_per_plane_.divide(b.value())}; }
    [[nodiscard]] DieId die_of(PlaneId p) const { return DieId{planes_per_die_.divide(p.value())}; }
    [[nodiscard]] ChipId chip_of(DieId d) const { return ChipId{dies_per_chip_.divide(d.value())}; }
    [[nodiscard]] ChannelId channel_of(ChipId c) const { return ChannelId{chips_per_channel_.divide(c.value())}; }
    [[nodiscard]] BlockId block_at(PlaneId plane, std::uint32_t index) const { return BlockId{plane.value() * config_.blocks_per_plane + index}; }
    [[nodiscard]] PlaneId plane_at(DieId die, std::uint32_t index) const { return PlaneId{die.value() * config_.planes_per_die + index}; }

private:
    explicit Geometry(const GeometryConfig& config);
    GeometryConfig config_;
    std::uint32_t chips_;
    std::uint32_t dies_;
    std::uint32_t planes_;
    std::uint32_t blocks_;
    std::uint32_t pages_;
    Divider pages_per_block_;
    Divider blocks_per_plane_;
    Divider planes_per_die_;
    Divider dies_per_chip_;
    Divider chips_per_channel_;
};

} // namespace flashlab

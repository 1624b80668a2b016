#include "nand/geometry.h"

#include <algorithm>
#include <fmt/format.h>

#include "nand/nand_config.h"
#include "nand/page_oob.h"

namespace flashlab {

namespace {

constexpr std::uint64_t id_limit = 0xffff'ffffu; ///< one value stays free as a named "none" where 12 bytes a page count
constexpr std::uint32_t largest_page_bytes = 1u << 20;

std::expected<void, std::string> check_counts(const GeometryConfig& config) {
    const struct {
        const char* name;
        std::uint32_t value;
    } counts[] = {{"channels", config.channels},
                  {"chips_per_channel", config.chips_per_channel},
                  {"dies_per_chip", config.dies_per_chip},
                  {"planes_per_die", config.planes_per_die},
                  {"blocks_per_plane", config.blocks_per_plane},
                  {"pages_per_block", config.pages_per_block}};
    std::uint64_t product = 1;
    for (const auto& count : counts) {
        if (count.value == 0) return std::unexpected(fmt::format("nand.{} is 0: at least 1 is needed", count.name));
        product *= count.value;
        if (product > id_limit) {
            return std::unexpected(
                fmt::format("nand.{} = {} makes more than {} pages in all, and page numbers have 32 bits: give a smaller --size, or a "
                            "larger nand.page_bytes",
                            count.name, count.value, id_limit));
        }
    }
    return {};
}

std::expected<void, std::string> check_page(const GeometryConfig& config) {
    if (config.page_bytes == 0 || config.page_bytes % sector_bytes != 0 || config.page_bytes > largest_page_bytes) {
        return std::unexpected(
            fmt::format("nand.page_bytes = {}: a multiple of {} up to {} is needed", config.page_bytes, sector_bytes, largest_page_bytes));
    }
    if (config.spare_bytes < PageOob::encoded_size) {
        return std::unexpected(fmt::format("nand.spare_bytes = {}: the out-of-band record needs {}", config.spare_bytes, PageOob::encoded_size));
    }
    if (config.spare_bytes > config.page_bytes) {
        return std::unexpected(fmt::format("nand.spare_bytes = {}: at most nand.page_bytes ({})", config.spare_bytes, config.page_bytes));
    }
    if (config.cell > CellType::qlc) return std::unexpected("nand.cell: one of slc, mlc, tlc, qlc is needed");
    return {};
}

} // namespace

std::expected<Geometry, std::string> Geometry::make(const GeometryConfig& config) {
    if (auto counts = check_counts(config); !counts) return std::unexpected(counts.error());
    if (auto page = check_page(config); !page) return std::unexpected(page.error());
    return Geometry{config};
}

std::expected<Geometry, std::string> Geometry::striped(std::uint32_t width) const {
    if (width == 0 || config_.channels % width != 0) {
        return std::unexpected(fmt::format("nand.striping = {}: it must divide the {} channels", width, config_.channels));
    }
    if (width > largest_page_bytes / config_.page_bytes) {
        return std::unexpected(
            fmt::format("nand.striping = {}: pages of {} bytes make more than {} together", width, config_.page_bytes, largest_page_bytes));
    }
    GeometryConfig wide = config_;
    wide.channels /= width;
    wide.page_bytes *= width;
    wide.spare_bytes *= width;
    return make(wide);
}

std::expected<Geometry, std::string> Geometry::with_parity(std::uint32_t width) const {
    const std::uint32_t channels = config_.channels, each = dies_ / channels;
    const bool fits = width > 1 && (width <= channels ? channels % width == 0 : width % channels == 0 && each % (width / channels) == 0);
    if (!fits)
        return std::unexpected(fmt::format("nand.rain = {}: rows lie over all dies of some channels: 2 or more that divide the {} channels, or a "
                                           "multiple of them that divides the {} dies",
                                           width, channels, dies_));
    GeometryConfig seen = config_;
    seen.pages_per_block *= width - 1;
    seen.channels = std::max(1u, channels / width);
    if (width > channels) {
        seen.chips_per_channel = dies_ / width;
        seen.dies_per_chip = 1;
    }
    return make(seen);
}

Geometry::Geometry(const GeometryConfig& config)
    : config_{config}, chips_{config.channels * config.chips_per_channel}, dies_{chips_ * config.dies_per_chip},
      planes_{dies_ * config.planes_per_die}, blocks_{planes_ * config.blocks_per_plane}, pages_{blocks_ * config.pages_per_block},
      pages_per_block_{config.pages_per_block}, blocks_per_plane_{config.blocks_per_plane}, planes_per_die_{config.planes_per_die},
      dies_per_chip_{config.dies_per_chip}, chips_per_channel_{config.chips_per_channel} {}

std::expected<void, std::string> NandTiming::validate() const {
    constexpr Duration longest{std::chrono::seconds{10}};
    const struct {
        const char* name;
        Duration value;
        bool may_be_zero;
    } phases[] = {{"page_read_ns", page_read, false},
                  {"page_program_ns", page_program, false},
                  {"lsb_program_ns", lsb_program, true},
                  {"csb_program_ns", csb_program, true},
                  {"msb_program_ns", msb_program, true},
                  {"block_erase_ns", block_erase, false},
                  {"command_ns", command, true},
                  {"controller_page_read_ns", controller_page_read, true},
                  {"controller_page_program_ns", controller_page_program, true},
                  {"host_interface_command_ns", host_interface_command, true},
                  {"host_interface_confirm_ns", host_interface_confirm, true}};
    for (const auto& phase : phases) {
        if (phase.value < Duration{0} || (!phase.may_be_zero && phase.value == Duration{0}) || phase.value > longest) {
            return std::unexpected(
                fmt::format("{} = {}: between {} and {} is needed", phase.name, phase.value.count(), phase.may_be_zero ? 0 : 1, longest.count()));
        }
    }
    constexpr std::uint32_t slowest_bus = 1'000'000'000;
    if (bus_ps_per_byte > slowest_bus) return std::unexpected(fmt::format("bus_ps_per_byte = {}: at most {}", bus_ps_per_byte, slowest_bus));
    if (host_interface_ps_per_byte > slowest_bus) {
        return std::unexpected(fmt::format("host_interface_ps_per_byte = {}: at most {}", host_interface_ps_per_byte, slowest_bus));
    }
    return {};
}

} // namespace flashlab

#include "tools/drive/device_plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fs/file_system.h"
#include "fs/journal_format.h"
#include "ftl/cache/read_ahead.h"
#include "ftl/schemes/page_plan.h"
#include "tools/drive/device_presets.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

constexpr std::uint32_t blocks_of_a_good_group = 64;
constexpr std::uint64_t page_of_host = 4096;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
double bytes_of_block(const SsdConfig& config) { return 1.0 * config.nand.geometry.pages_per_block * config.nand.geometry.page_bytes; }
std::uint64_t logical_bytes(const FtlPlan& plan) { return std::uint64_t{plan.logical_pages} * plan.logical_page_bytes; }

std::uint64_t dies_of(const GeometryConfig& g) { return std::uint64_t{g.channels} * g.chips_per_channel * g.dies_per_chip; }
std::uint64_t planes_of(const GeometryConfig& g) { return dies_of(g) * g.planes_per_die; }

/// Of an SLC cache the blocks of its own, as a share of each plane's; none: their count stays as it is.
struct CacheShare {
    std::uint32_t own = 0, of_blocks = 1;
    [[nodiscard]] static CacheShare of(const SsdConfig& config) {
        const GeometryConfig& g = config.nand.geometry;
        return {static_cast<std::uint32_t>(round_up(config.ftl.options[page_option::slc_blocks], planes_of(g)) / planes_of(g)), g.blocks_per_plane};
    }
    /// In whole blocks of each plane: a small drive has more than its share, but not none.
    void apply(SsdConfig& config) const {
        if (own == 0) return;
        const GeometryConfig& g = config.nand.geometry;
        const auto a_plane = static_cast<std::uint32_t>(std::lround(1.0 * g.blocks_per_plane * own / of_blocks));
        config.ftl.options.set(page_option::slc_blocks, static_cast<std::uint32_t>(std::max(1u, a_plane) * planes_of(g)));
    }
};

std::expected<FtlPlan, std::string> plan_of(const SsdConfig& config) {
    const auto geometry = Geometry::make(config.nand.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    return plan_ftl(config, *geometry);
}

/// What a drive of another size keeps of its preset.
struct Scaling {
    CacheShare cache{};
    std::uint32_t halvings = 0; ///< of the blocks
    double block_bytes = 0;     ///< of the preset
    /// With the blocks that the configuration has now.
    [[nodiscard]] std::expected<FtlPlan, std::string> plan(SsdConfig& config) const {
        cache.apply(config);
        return plan_of(config);
    }
};

/// The least blocks_per_plane that holds `size`, with the channels as they are.
std::expected<std::uint32_t, std::string> least_blocks(SsdConfig config, std::uint64_t size, const Scaling& scaling) {
    auto& g = config.nand.geometry;
    const std::uint64_t plane_row = planes_of(g) * g.pages_per_block * g.page_bytes;
    std::uint64_t low = std::max<std::uint64_t>(1, size / plane_row);
    std::uint64_t high = low + low / 4 + 64;
    std::string why;
    const auto holds = [&](std::uint64_t blocks) {
        g.blocks_per_plane = static_cast<std::uint32_t>(blocks);
        const auto plan = scaling.plan(config);
        const bool too_large = !Geometry::make(g).has_value(); // follows from doubling: what was wrong before it is the reason
        if (!plan && (!too_large || why.empty())) why = plan.error();
        return plan && logical_bytes(*plan) >= size;
    };
    while (!holds(high)) {
        if (high >= std::uint64_t{1} << 31) return std::unexpected(why.empty() ? std::string{"no geometry of this preset holds it"} : why);
        low = high;
        high *= 2;
    }
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (holds(middle))
            high = middle;
        else
            low = middle + 1;
    }
    // Groups of pages and streams want spare blocks in proportion to themselves, not to the drive: a small one would come out many times larger than
    // it is to be.
    if (holds(high) && streams_of(config) > 1 && logical_bytes(*plan_of(config)) > size + size / 4)
        return std::unexpected(fmt::format("{}; the least that has them is {}", why.empty() ? "the drive is too small for its streams of data" : why,
                                           human_size(logical_bytes(*plan_of(config)))));
    return static_cast<std::uint32_t>(high);
}

/// A group is a die. While groups would be too small to collect well: halves the blocks as often as `scaling` lets it, since a drive with fewer dies
/// is slower; then gives up channels, then chips, then dies, but none that ftl.groups, nand.rain or the user asks for.
std::expected<void, std::string> fit_geometry(SsdConfig& config, std::uint64_t size, const std::vector<std::string>& asked, Scaling scaling) {
    auto& g = config.nand.geometry;
    const auto is_free = [&](std::string_view key) { return std::ranges::find(asked, key) == asked.end(); };
    const bool gives_up = is_free("nand.blocks_per_plane");
    const std::uint64_t before = dies_of(g);
    if (!gives_up || !is_free("nand.pages_per_block")) scaling.halvings = 0;
    while (true) {
        const auto blocks = least_blocks(config, size, scaling);
        const bool small = !blocks || std::uint64_t{*blocks} * g.planes_per_die < blocks_of_a_good_group;
        if (small && scaling.halvings != 0) {
            --scaling.halvings;
            g.pages_per_block /= 2;
            if (is_free("nand.block_erase_ns")) config.nand.timing.block_erase /= 2; // rates are not scaled
            continue;
        }
        std::uint32_t* give_up = !gives_up                                                      ? nullptr
                                 : g.channels > 1 && is_free("nand.channels")                   ? &g.channels
                                 : g.chips_per_channel > 1 && is_free("nand.chips_per_channel") ? &g.chips_per_channel
                                 : g.dies_per_chip > 1 && is_free("nand.dies_per_chip")         ? &g.dies_per_chip
                                                                                                : nullptr;
        if (config.nand.rain != 0) give_up = nullptr; // rows of the width that was asked for
        if (give_up != nullptr && config.ftl.groups > dies_of(g) / *give_up * (*give_up - 1)) give_up = nullptr;
        if (!small || give_up == nullptr) {
            const bool has_few = dies_of(g) != before && !blocks && blocks.error().contains("channel");
            if (has_few)
                return std::unexpected(fmt::format("{} (a drive of {} has {} of {} dies; --set nand.channels=N keeps more)", blocks.error(),
                                                   format_size(size), dies_of(g), before));
            if (!blocks) return std::unexpected(blocks.error());
            if (!gives_up && *blocks != g.blocks_per_plane)
                return std::unexpected(fmt::format(
                    "nand.blocks_per_plane = {} and a size of {}, which takes {} of them, contradict each other: leave one of the two out",
                    g.blocks_per_plane, format_size(size), *blocks));
            g.blocks_per_plane = *blocks;
            scaling.cache.apply(config);
            return {};
        }
        --*give_up;
    }
}

/// With as large a share for collections as `wanted` has, random writes cost as much. What is open or kept free takes as many blocks of a small drive
/// as of a large one. Where half of the flash would not do, the spare stays.
void keep_amplification(SsdConfig& config, std::uint64_t size, const FtlPlan& wanted, const Scaling& scaling) {
    constexpr std::uint32_t most = 500, step = 8;
    const SsdConfig before = config;
    std::uint32_t& permille = config.ftl.reserved_permille;
    std::uint32_t& blocks = config.nand.geometry.blocks_per_plane;
    const auto mapped = [&config](const FtlPlan& plan) { return static_cast<double>(logical_bytes(plan)) / bytes_of_block(config); };
    const double share = wanted.effective_spare_blocks / (static_cast<double>(logical_bytes(wanted)) / scaling.block_bytes); // blocks of its size
    const auto wanted_spare = [&](const FtlPlan& plan) { return share * mapped(plan) + plan.spare_blocks - plan.effective_spare_blocks; };
    auto plan = scaling.plan(config);
    // What is held hangs on what is spare: some passes without a search for the blocks that hold the size.
    for (std::uint32_t pass = 0; plan && pass < 4; ++pass) {
        const double spare = wanted_spare(*plan), kept = (1000.0 - permille) / static_cast<double>(logical_bytes(*plan));
        permille = static_cast<std::uint32_t>(1000 * spare / (spare + mapped(*plan)));
        blocks = static_cast<std::uint32_t>(std::ceil(blocks * kept * static_cast<double>(size) / (1000.0 - permille)));
        plan = scaling.plan(config);
    }
    for (; permille <= most; permille += plan && plan->is_paced >= wanted.is_paced ? 1 : step) {
        const auto found = least_blocks(config, size, scaling);
        if (!found) continue;
        blocks = *found;
        plan = scaling.plan(config);
        if (plan && plan->is_paced >= wanted.is_paced && plan->spare_blocks >= wanted_spare(*plan)) return;
    }
    config = before;
}

/// `usual`: what they cost the preset's own drive, where one of any size costs that; else 0.
void warn_of_small(FtlPlan& plan, double usual) {
    constexpr double worth_saying = 1.05;
    const bool is_as_good = plan.expected_waf != 0 && plan.expected_waf <= worth_saying * std::max(plan.closed_form_waf, usual);
    if (plan.closed_form_waf == 0 || is_as_good) return;
    const std::string writes = plan.expected_waf == 0 ? "very many flash writes" : fmt::format("about {:.1f} flash writes each", plan.expected_waf);
    const std::string groups = plan.groups > 1 ? fmt::format(" for {} independent dies", plan.groups) : "";
    plan.warnings.push_back(fmt::format("this drive is small{}: when full, random writes cost {} ({:.1f} each with {}a larger --size or more "
                                        "ftl.reserved_permille). Not an error",
                                        groups, writes, plan.closed_form_waf, plan.groups > 1 ? "fewer channels, " : ""));
}

/// "Space is scaled, rates are not" ends where the blocks cannot be smaller still.
void warn_of_few_dies(FtlPlan& plan, const SsdConfig& config, const SsdConfig& asked) {
    const std::uint64_t has = dies_of(config.nand.geometry), of = dies_of(asked.nand.geometry);
    if (has >= of) return;
    plan.warnings.push_back(
        fmt::format("so small a drive has {} of the {} dies of {}, and is slower by as much; a larger --size has all of them. Not "
                    "an error",
                    has, of, config.preset));
}

std::expected<void, std::string> measure_journal(DevicePlan& plan) {
    const auto parts = JournalSuperblock::lay_out(plan.logical_bytes,
                                                  static_cast<std::uint32_t>(std::max<std::uint64_t>(page_of_host, plan.ftl.logical_page_bytes)));
    if (!parts) return std::unexpected(parts.error());
    plan.mirror_bytes = (parts->home_blocks + parts->ring_blocks) * journal_block_bytes;
    return {};
}

/// No metadata on PRAM: it is the translation layer's alone. One that needs none leaves the smallest image, which nothing uses but to pair
/// the images.
std::expected<void, std::string> place_scheme_alone(DevicePlan& plan) {
    constexpr std::uint64_t smallest_pram = std::uint64_t{64} << 10;
    if (plan.config.in_journal())
        if (const auto fits = measure_journal(plan); !fits) return fits;
    auto& pram = plan.config.ssd.pram;
    auto& layout = plan.config.layout;
    layout = PramLayout{.ftl_at = 0, .ftl_bytes = round_up(plan.ftl.pram_bytes, page_of_host), .fs_at = 0, .fs_bytes = 0};
    layout.fs_at = layout.ftl_bytes;
    if (pram.bytes == 0) pram.bytes = std::max(smallest_pram, layout.ftl_bytes);
    if (pram.bytes < layout.ftl_bytes)
        return std::unexpected(fmt::format("pram.bytes = {} is too small: the {} scheme needs {} of it; leave pram.bytes out and mkfs chooses",
                                           format_size(pram.bytes), plan.config.ssd.ftl.scheme, human_size(layout.ftl_bytes)));
    return pram.validate();
}

std::expected<void, std::string> place_pram(DevicePlan& plan) {
    if (plan.config.in_journal() || plan.config.is_raw()) return place_scheme_alone(plan);
    auto& pram = plan.config.ssd.pram;
    auto& layout = plan.config.layout;
    layout.ftl_at = 0;
    layout.ftl_bytes = round_up(plan.ftl.pram_bytes, page_of_host);
    layout.fs_at = layout.ftl_bytes;
    if (pram.bytes == 0) {
        pram.bytes = round_up(layout.ftl_bytes + FileSystem::suggested_pram_bytes(plan.logical_bytes), page_of_host);
    } else if (pram.bytes < layout.ftl_bytes + (std::uint64_t{1} << 20)) {
        return std::unexpected(
            fmt::format("pram.bytes = {} is too small: the {} scheme needs {} of it and the file system at least 1 MiB more; leave pram.bytes out "
                        "and mkfs chooses",
                        format_size(pram.bytes), plan.config.ssd.ftl.scheme, human_size(layout.ftl_bytes)));
    }
    layout.fs_bytes = (pram.bytes - layout.fs_at) / page_of_host * page_of_host;
    return pram.validate();
}

/// What the host holds in place of the drive's DRAM, when that is full.
std::uint64_t dram_of_drive(const Scheme& scheme, const SsdConfig& config) {
    const std::uint64_t own = scheme.dram_bytes == nullptr ? 0 : scheme.dram_bytes(config);
    const std::uint64_t ahead = config.dram.read_ahead_bytes * ReadAhead::most_runs;
    return own + ahead + (config.dram.is_partitioned() ? config.dram.size_bytes : config.dram.write_buffer_bytes);
}

} // namespace

constexpr std::string_view no_buffer_to_destage =
    "dram.destage = ahead: only a write buffer of a size of its own, in DRAM, is destaged ahead, and only such a one throttles. Set "
    "dram.write_buffer_bytes (and dram.partition=none), or leave dram.destage and dram.throttle_ns out";

std::expected<void, std::string> check_dram(const SsdConfig& config) {
    const DramConfig& dram = config.dram;
    if (dram.pram_buffer_bytes != 0 && dram.write_buffer_bytes != 0)
        return std::unexpected(
            fmt::format("pram.write_buffer_bytes = {} and dram.write_buffer_bytes = {}: a drive has one write buffer; leave one at 0",
                        dram.pram_buffer_bytes, dram.write_buffer_bytes));
    if (dram.pram_buffer_bytes != 0 && dram.is_partitioned() && dram.size_bytes > dram.pram_buffer_bytes)
        return std::unexpected(
            fmt::format("dram.size = {} is more than pram.write_buffer_bytes = {}: the partition may give all of it to the buffer, "
                        "which lies in PRAM; lower dram.size",
                        dram.size_bytes, dram.pram_buffer_bytes));
    if (const std::uint32_t page = config.nand.geometry.page_bytes; dram.write_buffer_bytes != 0 && dram.write_buffer_bytes < page)
        return std::unexpected(
            fmt::format("dram.write_buffer_bytes = {} holds no page of the flash: give {} or more, or 0 for none", dram.write_buffer_bytes, page));
    if (dram.is_partitioned() && dram.write_buffer_bytes != 0)
        return std::unexpected(fmt::format("dram.write_buffer_bytes = {}: with dram.size, dram.partition = {} chooses the buffer's size. Leave it "
                                           "out, take a drive without a buffer "
                                           "(--preset {}), or add dram.partition=none",
                                           dram.write_buffer_bytes, dram.partition, common_preset_name));
    if (dram.destages_ahead() && dram.is_partitioned()) return std::unexpected(std::string{no_buffer_to_destage});
    return {};
}

std::expected<DevicePlan, std::string> plan_device(const DeviceConfig& config, std::optional<std::uint64_t> size,
                                                   const std::vector<std::string>& asked) {
    const auto scheme = find_scheme(config.ssd.ftl.scheme);
    if (!scheme) return std::unexpected(scheme.error());
    if (const auto timing = config.ssd.nand.timing.validate(); !timing) return std::unexpected(timing.error());
    if (const auto good = check_dram(config.ssd); !good) return std::unexpected(good.error());
    const auto is_asked = [&](std::string_view key) { return std::ranges::find(asked, key) != asked.end(); };
    const DramConfig& dram = config.ssd.dram;
    if (!dram.destages_ahead() &&
        ((dram.destage == "ahead" && is_asked("dram.destage")) || (dram.throttle != Duration{0} && is_asked("dram.throttle_ns"))))
        return std::unexpected(std::string{no_buffer_to_destage});
    DevicePlan plan;
    plan.config = config;
    if ((*scheme)->settle != nullptr)
        if (auto settled = (*scheme)->settle(plan.config.ssd, asked); !settled) return std::unexpected(settled.error());
    if (size && *size < smallest_device_bytes)
        return std::unexpected(
            fmt::format("a size of {}: the smallest is {}; for a smaller drive leave the size out and take a preset that has one of "
                        "its own (tiny)",
                        format_size(*size), format_size(smallest_device_bytes)));
    const auto preset = find_device_preset(config.ssd.preset);
    const bool is_scaled = preset && preset->is_scaled && !is_asked("nand.blocks_per_plane");
    const auto usual = is_scaled && !is_asked("ftl.reserved_permille") ? plan_of(preset->config) : FtlPlan{};
    if (size) {
        Scaling scaling;
        if (is_scaled && !is_asked(page_option::slc_blocks.key)) scaling.cache = CacheShare::of(preset->config);
        if (preset) {
            scaling.halvings = preset->block_halvings;
            scaling.block_bytes = bytes_of_block(preset->config);
        }
        if (auto fitted = fit_geometry(plan.config.ssd, *size, asked, scaling); !fitted) return std::unexpected(fitted.error());
        if (usual && usual->expected_waf != 0) keep_amplification(plan.config.ssd, *size, *usual, scaling);
    }
    auto ftl = plan_of(plan.config.ssd);
    if (!ftl) return std::unexpected(ftl.error());
    plan.ftl = std::move(*ftl);
    warn_of_small(plan.ftl, usual ? usual->expected_waf : 0);
    if (size && preset && preset->block_halvings != 0) warn_of_few_dies(plan.ftl, plan.config.ssd, config.ssd);
    plan.logical_bytes = logical_bytes(plan.ftl);
    if (auto placed = place_pram(plan); !placed) return std::unexpected(placed.error());
    const auto geometry = Geometry::make(plan.config.ssd.nand.geometry);
    constexpr std::uint64_t page_record_bytes = 32;
    constexpr std::uint64_t block_ram_bytes = 128;
    plan.nand_bytes =
        geometry->bytes() + std::uint64_t{geometry->pages()} * page_record_bytes + std::uint64_t{geometry->blocks()} * 16 + page_of_host;
    plan.pram_bytes = plan.config.ssd.pram.bytes;
    plan.ram_bytes = (std::uint64_t{80} << 20) + std::uint64_t{geometry->blocks()} * block_ram_bytes + geometry->pages() / 8 + plan.mirror_bytes +
                     dram_of_drive(**scheme, config.ssd);
    return plan;
}

} // namespace flashlab

#include "tools/drive/device_report.h"

#include <algorithm>
#include <cmath>

#include "ftl/make_ftl.h"
#include "tools/drive/config_field.h"
#include "tools/drive/fdp_pages.h"
#include "tools/drive/lifetime.h"
#include "tools/drive/waf_parts.h"
#include "tools/log/event_log_schema.h"

namespace flashlab {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0.0 : std::round(static_cast<double>(a) / static_cast<double>(b) * 1e4) / 1e4; }

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    std::uint64_t total = 0;
    for (const std::uint64_t n : by_cause) total += n;
    return total;
}

struct Wear {
    std::uint32_t min = 0, max = 0, blocks = 0;
    double mean = 0, stddev = 0;
};

Wear wear_of(const Device& device) {
    Wear wear;
    double sum_of = 0, squares = 0;
    const auto histogram = device.wear().blocks_by_erase_count;
    for (const auto& [erases, blocks] : histogram) {
        wear.blocks += blocks;
        sum_of += static_cast<double>(erases) * blocks;
        squares += static_cast<double>(erases) * erases * blocks;
    }
    if (wear.blocks == 0) return wear;
    wear.min = histogram.front().first;
    wear.max = histogram.back().first;
    wear.mean = sum_of / wear.blocks;
    wear.stddev = std::sqrt(std::max(0.0, squares / wear.blocks - wear.mean * wear.mean));
    return wear;
}

bool has_bit_errors(const Device& device) {
    const NandConfig& nand = device.config().ssd.nand;
    return nand.errors.are_on() || nand.rain != 0;
}

/// Members of the reports of drives that have a write buffer or level wear.
void add_background(Json& out, Device& device) {
    if (const BufferedFtl* buffer = device.ssd().buffer()) {
        const WriteBufferCounters& c = buffer->buffer_counters();
        out.add("write_buffer_pages", buffer->buffered_pages());
        out.add("write_buffer_read_hits", c.read_hits);
        out.add("write_buffer_read_misses", c.read_misses);
        out.add("write_buffer_write_hits", c.write_hits);
        out.add("write_buffer_write_misses", c.write_misses);
        out.add("write_buffer_evicted_pages", c.evicted_pages);
        out.add("write_buffer_flushed_pages", c.flushed_pages);
        out.add("write_buffer_dropped_pages", c.dropped_pages);
    }
    if (const ReadAheadCounters* ahead = device.ssd().read_ahead()) {
        out.add("read_ahead_pages", ahead->pages);
        out.add("read_ahead_hits", ahead->hits);
    }
    if (const DramPartition* dram = device.ssd().partition()) {
        const PartitionCounters& c = dram->counters();
        const PartitionEvent& last = dram->last_decision();
        out.add("dram_bytes", dram->size_bytes());
        out.add("dram_partition", dram->kind());
        out.add("dram_map_bytes", dram->map_bytes());
        out.add("dram_buffer_bytes", dram->buffer_bytes());
        out.add("dram_ghost_metadata_bytes", dram->ghost_metadata_bytes());
        out.add("dram_decisions", c.decisions);
        out.add("dram_decisions_to_map", c.to_map);
        out.add("dram_decisions_to_buffer", c.to_buffer);
        out.add("dram_buffer_benefit", last.buffer_benefit);
        out.add("dram_map_benefit", last.map_benefit);
    }
    if (const WearLeveler* wear = device.ssd().wear_leveler()) out.add("wear_relocated_blocks", wear->relocated_blocks());
    if (has_bit_errors(device)) out.add("bit_errors", BitErrorCounters::of(device).since({}));
}

std::uint64_t factory_bad_of(const Device& device) {
    std::uint64_t bad = 0;
    for (std::uint32_t b = 0; b < device.array().geometry().blocks(); ++b) bad += device.array().is_factory_bad(BlockId{b}) ? 1 : 0;
    return bad;
}

std::uint64_t grown_bad(Device& device) {
    const std::uint64_t all = device.ftl().space().bad_blocks, factory = factory_bad_of(device);
    return all > factory ? all - factory : 0;
}

double rounded(double value) { return std::round(value * 1e3) / 1e3; }

/// What is left of the drive's life, if the host goes on as it did.
void add_lifetime(Json& out, Device& device, const SampleEvent& totals, const Wear& wear, std::uint64_t grown) {
    const auto& config = device.config().ssd;
    const std::uint64_t bad = std::uint64_t{device.ftl().space().bad_blocks} * std::max(1u, config.nand.rain); // a bad block takes its row along
    const std::uint64_t block_bytes = std::uint64_t{config.nand.geometry.pages_per_block} * config.nand.geometry.page_bytes;
    const std::uint64_t device_bytes = device.ssd().identify().sectors * sector_bytes;
    const std::uint64_t blocks = device.array().chip_geometry().bytes() / block_bytes;
    const Lifetime life = Lifetime::of({.endurance_cycles = config.nand.endurance_cycles,
                                        .good_blocks = blocks - std::min(blocks, bad),
                                        .block_bytes = block_bytes,
                                        .device_bytes = device_bytes,
                                        .mean_erases = wear.mean,
                                        .erases_before = static_cast<double>(config.nand.errors.cycles_before),
                                        .worst_erases = static_cast<double>(wear.max),
                                        .host_bytes = totals.host_write_bytes,
                                        .nand_bytes = sum(totals.nand_programs) * config.nand.geometry.page_bytes,
                                        .erases = sum(totals.nand_erases)});
    const Json json = life.to_json();
    out.add("endurance_cycles", config.nand.endurance_cycles);
    out.add("endurance_estimate", static_cast<std::uint64_t>(life.nand_budget_bytes / 1e9));
    for (const char* key : {"wear_per_host_byte", "tbw_bytes", "drive_writes_per_day", "remaining_percent", "wear_evenness"}) out.add(key, json[key]);
    out.add("remaining_host_bytes", json["tbw_bytes"].is_number() ? Json{life.rated_bytes_written * life.remaining_share} : Json{});
    out.add("bad_user_nand_blocks_normalized",
            blocks == 0 ? 0 : static_cast<std::uint64_t>(100 - std::min<std::uint64_t>(100, 100 * grown / blocks)));
    out.add("namespace_utilization_units",
            (std::uint64_t{device.ftl().space().mapped_pages} * device.ssd().identify().atomic_unit_bytes + 511) / 512);
}

/// What blocks are in each mode that an erase can choose.
Json modes_of(const Media& media) {
    Json modes{Json::Array{}};
    for (std::size_t i = 0; i < cell_names.size(); ++i) {
        const auto mode = static_cast<CellType>(i);
        if (!media.has(mode)) continue;
        const Medium& m = media.of(mode);
        modes.push(Json::object({{"mode", cell_names[i]},
                                 {"pages_per_block", m.pages},
                                 {"page_read_ns", static_cast<std::uint64_t>(m.page_read.count())},
                                 {"page_program_ns", static_cast<std::uint64_t>(m.page_program.count())},
                                 {"block_erase_ns", static_cast<std::uint64_t>(m.block_erase.count())},
                                 {"endurance_cycles", m.endurance_cycles}}));
    }
    return modes;
}

/// A drive that was made used (nand.cycles_before) has that much less to live.
std::uint64_t percent_used(const Wear& wear, const NandConfig& nand) {
    const double cycles = wear.mean + nand.errors.cycles_before;
    return std::min<std::uint64_t>(255, static_cast<std::uint64_t>(100 * cycles / nand.endurance_cycles));
}

} // namespace

Json counters_as_json(const CounterValues& now, const CounterValues& before) {
    Json out;
    for (const auto& [counter, value] : now)
        if (!counter->has_own_place) out.add(std::string{counter->name}, value - before[counter->name]);
    return out;
}

Json info_report(Device& device) {
    const auto& config = device.config().ssd;
    const auto& g = config.nand.geometry;
    const auto identity = device.ssd().identify();
    const auto space = device.ftl().space();
    const auto usage = device.fs().usage();
    const auto plan = plan_ftl(config, device.array().chip_geometry());
    Json out = Json::object({{"preset", config.preset},
                             {"ftl", identity.ftl},
                             {"label", device.fs().label()},
                             {"channels", g.channels},
                             {"chips_per_channel", g.chips_per_channel},
                             {"dies_per_chip", g.dies_per_chip},
                             {"planes_per_die", g.planes_per_die},
                             {"blocks_per_plane", g.blocks_per_plane},
                             {"pages_per_block", g.pages_per_block},
                             {"page_bytes", g.page_bytes},
                             {"flash_bytes", device.array().chip_geometry().bytes()},
                             {"device_bytes", identity.sectors * sector_bytes},
                             {"atomic_unit_bytes", identity.atomic_unit_bytes},
                             {"free_blocks", space.free_blocks},
                             {"spare_blocks", space.spare_blocks},
                             {"nominal_spare_blocks", plan ? plan->spare_blocks : 0},
                             {"effective_spare_blocks",
                              plan ? plan->effective_spare_blocks - std::min<std::uint64_t>(plan->effective_spare_blocks, grown_bad(device)) : 0},
                             {"bad_blocks", space.bad_blocks},
                             {"read_only", space.is_read_only},
                             {"mapped_pages", space.mapped_pages},
                             {"data_bytes", usage.data_pages * usage.block_bytes},
                             {"data_free_bytes", usage.data_pages_free * usage.block_bytes},
                             {"inodes", usage.inodes},
                             {"inodes_free", usage.inodes_free},
                             {"metadata", device.config().metadata},
                             {"pram_bytes", device.config().needs_pram() ? config.pram.bytes : 0},
                             {"metadata_bytes", usage.metadata_bytes},
                             {"metadata_free_bytes", usage.metadata_bytes_free},
                             {"clean_at_open", device.recovery().was_clean}});
    if (config.dram.write_buffer_bytes != 0) out.add("write_buffer_bytes", config.dram.write_buffer_bytes);
    if (config.dram.pram_buffer_bytes != 0) out.add("pram_write_buffer_bytes", config.dram.pram_buffer_bytes);
    if (const Media& media = device.array().media(); !media.is_single()) out.add("modes", modes_of(media));
    add_background(out, device);
    return out;
}

Json smart_report(Device& device, const DeviceHistory& history) {
    const auto& config = device.config().ssd;
    const auto& t = history.totals;
    const auto space = device.ftl().space();
    const Wear wear = wear_of(device);
    const std::uint64_t page = config.nand.geometry.page_bytes;
    const std::uint64_t programmed = sum(t.nand_programs) * page;
    const auto units = [](std::uint64_t bytes) { return (bytes + 511'999) / 512'000; };
    const std::uint64_t factory_bad = factory_bad_of(device);
    const std::uint64_t grown = grown_bad(device);
    // What it needs to go on at all is not available: at 0 it is read-only.
    const std::uint64_t spare = space.is_read_only ? 0 : space.spare_blocks - std::min(space.spare_blocks, space.spare_at_end);
    const std::uint64_t avail_spare = spare + grown == 0 ? 0 : 100 * spare / (spare + grown);
    constexpr int spare_is_low = 1, data_are_lost = 4, is_read_only = 8; // bits of the NVMe SMART log
    const int warning = (avail_spare < 10 ? spare_is_low : 0) +
                        (history.uncorrectable_reads != 0 || device.array().has_lost_parity() ? data_are_lost : 0) +
                        (space.is_read_only ? is_read_only : 0);
    const WafParts waf = WafParts::of(t.nand_programs, page, t.host_write_bytes).rounded();
    Json out = Json::object({{"critical_warning", warning},
                             {"temperature", 300},
                             {"avail_spare", avail_spare},
                             {"spare_thresh", 10},
                             {"percent_used", percent_used(wear, config.nand)},
                             {"data_units_read", units(t.host_read_bytes)},
                             {"data_units_written", units(t.host_write_bytes)},
                             {"host_read_commands", t.host_reads},
                             {"host_write_commands", t.host_writes},
                             {"power_cycles", history.power_cycles},
                             {"power_on_hours", static_cast<std::uint64_t>(history.clock_ns) / 3'600'000'000'000u},
                             {"unsafe_shutdowns", history.unsafe_shutdowns},
                             {"media_errors", history.uncorrectable_reads},
                             {"num_err_log_entries", history.uncorrectable_reads},
                             {"warning_temp_time", 0},
                             {"critical_comp_time", 0},
                             {"physical_media_units_written_bytes", programmed},
                             {"physical_media_units_read_bytes", sum(t.nand_reads) * page},
                             {"bad_user_nand_blocks", space.bad_blocks},
                             {"bad_user_nand_blocks_factory", factory_bad},
                             {"bad_user_nand_blocks_grown", grown},
                             {"percent_free_blocks", ratio(100 * std::uint64_t{space.free_blocks}, device.array().geometry().blocks())},
                             {"min_user_data_erase_count", wear.min},
                             {"max_user_data_erase_count", wear.max},
                             {"wear_min", wear.min},
                             {"wear_mean", rounded(wear.mean)},
                             {"wear_max", wear.max},
                             {"wear_stddev", rounded(wear.stddev)},
                             {"nand_erase_blocks", sum(t.nand_erases)},
                             {"host_write_bytes", t.host_write_bytes},
                             {"waf", ratio(programmed, t.host_write_bytes)},
                             {"waf_user", waf.user},
                             {"waf_gc", waf.gc},
                             {"waf_merge", waf.merge},
                             {"waf_map", waf.map},
                             {"waf_parity", waf.parity},
                             {"unmapped_reads", history.unmapped_reads},
                             {"gc_jobs", history.gc_jobs},
                             {"gc_page_copies", history.gc_page_copies},
                             {"pram_words_written", t.pram_words_written},
                             {"spare_blocks", space.spare_blocks},
                             {"free_blocks", space.free_blocks}});
    add_lifetime(out, device, t, wear, grown);
    if (has_bit_errors(device)) out.add("bit_errors", history.bit_errors.is_null() ? BitErrorCounters{}.since({}) : history.bit_errors);
    if (Json placement = placement_report(device, sum(t.nand_erases)); !placement.is_null()) out.add("placement", std::move(placement));
    if (!history.own_counters.is_null()) out.add("counters", history.own_counters);
    return out;
}

BitErrorCounters BitErrorCounters::of(const Device& device) {
    const NandCounters& nand = device.array().counters();
    const Scrubber* scrubber = device.ssd().scrubber();
    return {nand.read_retries, nand.uncorrected_reads, scrubber == nullptr ? 0 : scrubber->scrubbed_blocks(), nand.rebuilt_pages};
}

Json BitErrorCounters::since(const BitErrorCounters& before) const {
    return Json::object({{"read_retries", read_retries - before.read_retries},
                         {"uncorrected_reads", uncorrected_reads - before.uncorrected_reads},
                         {"scrubbed_blocks", scrubbed_blocks - before.scrubbed_blocks},
                         {"rebuilt_pages", rebuilt_pages - before.rebuilt_pages}});
}

Json stats_report(Device& device, SimTime now, Duration since_start) {
    const SampleEvent sample = device.ssd().sample(now);
    const std::uint64_t page = device.config().ssd.nand.geometry.page_bytes;
    Json waf;
    for (std::uint8_t c = 0; c < cause_count; ++c)
        waf.add(std::string{name_of_cause(c)}, ratio(sample.nand_programs[c] * page, sample.host_write_bytes));
    const auto busy = device.sample_details(now).channel_busy_ns;
    Json utilisation;
    for (const std::uint64_t ns : busy) utilisation.push(ratio(ns, static_cast<std::uint64_t>(std::max<std::int64_t>(1, since_start.count()))));
    const auto busiest = std::ranges::max_element(busy);
    Json out = to_json(sample);
    out.add("clock_ns", static_cast<std::uint64_t>(ns_since_start(now)));
    out.add("waf", ratio(sum(sample.nand_programs) * page, sample.host_write_bytes));
    const WafParts parts = WafParts::of(sample.nand_programs, page, sample.host_write_bytes).rounded();
    out.add("waf_user", parts.user);
    out.add("waf_gc", parts.gc);
    out.add("waf_merge", parts.merge);
    out.add("waf_map", parts.map);
    out.add("waf_parity", parts.parity);
    out.add("waf_by_cause", std::move(waf));
    out.add("read_pages", device.ssd().counters().read_pages);
    out.add("unmapped_reads", device.ssd().counters().unmapped_reads);
    out.add("gc_jobs", device.ftl().counters().gc_jobs);
    out.add("gc_page_copies", device.ftl().counters().gc_page_copies);
    out.add("channel_utilisation", std::move(utilisation));
    Json busy_ns{Json::Array{}};
    for (const std::uint64_t ns : busy) busy_ns.push(ns);
    out.add("channel_busy_ns", std::move(busy_ns));
    out.add("page_bytes", page);
    const NandTiming& t = device.config().ssd.nand.timing;
    const auto cells = (sum(sample.nand_reads) - device.array().counters().reads_along) * static_cast<std::uint64_t>(t.page_read.count()) +
                       (sum(sample.nand_programs) - device.array().counters().programs_along) * static_cast<std::uint64_t>(t.page_program.count()) +
                       sum(sample.nand_erases) * static_cast<std::uint64_t>(t.block_erase.count());
    out.add("planes_busy_ns", cells / device.array().chip_geometry().planes());
    out.add("busiest_channel", busy.empty() ? Json{} : Json{static_cast<std::uint64_t>(busiest - busy.begin())});
    add_background(out, device);
    if (Json counters = counters_as_json(own_counters(device.ftl())); !counters.is_null()) out.add("counters", std::move(counters));
    return out;
}

} // namespace flashlab

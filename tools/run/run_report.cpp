#include "tools/run/run_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include <sys/resource.h>

#include <fmt/format.h>

#include "ftl/make_ftl.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_report.h"
#include "tools/drive/waf_parts.h"
#include "tools/log/run_cautions.h"

namespace flashlab {
namespace {

std::uint64_t difference(const std::uint64_t (&after)[cause_count], const std::uint64_t (&before)[cause_count]) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cause_count; ++i) sum += after[i] - before[i];
    return sum;
}

Json erase_counts(const Device& device) {
    double sum = 0, squares = 0, blocks_all = 0;
    const auto histogram = device.wear().blocks_by_erase_count;
    for (const auto& [erases, blocks] : histogram) {
        blocks_all += blocks;
        sum += static_cast<double>(erases) * blocks;
        squares += static_cast<double>(erases) * erases * blocks;
    }
    const double mean = blocks_all == 0 ? 0 : sum / blocks_all;
    const double variance = blocks_all == 0 ? 0 : std::max(0.0, squares / blocks_all - mean * mean);
    return Json::object({{"min", histogram.empty() ? 0u : histogram.front().first},
                         {"mean", mean},
                         {"max", histogram.empty() ? 0u : histogram.back().first},
                         {"stddev", std::sqrt(variance)}});
}

/// Null where the drive has no write buffer, no mapping cache, and reads nothing ahead.
Json cache_report(const RunSnapshot& after, const RunSnapshot& before, bool has_buffer) {
    Json cache;
    const auto add_buffer = [&](const char* key, std::uint64_t WriteBufferCounters::*m) { cache.add(key, after.buffer.*m - before.buffer.*m); };
    if (has_buffer) {
        add_buffer("read_hits", &WriteBufferCounters::read_hits);
        add_buffer("read_misses", &WriteBufferCounters::read_misses);
        add_buffer("write_hits", &WriteBufferCounters::write_hits);
        add_buffer("write_misses", &WriteBufferCounters::write_misses);
        add_buffer("write_back_pages", &WriteBufferCounters::evicted_pages);
        add_buffer("flushed_pages", &WriteBufferCounters::flushed_pages);
    }
    if (after.read_ahead) {
        cache.add("read_ahead_pages", after.read_ahead->pages - before.read_ahead->pages);
        cache.add("read_ahead_hits", after.read_ahead->hits - before.read_ahead->hits);
    }
    constexpr std::array of_map{"map_read_hits", "map_read_misses", "map_write_hits", "map_write_misses", "translation_reads", "translation_writes"};
    if (std::ranges::any_of(of_map | std::views::take(4), [&](const char* name) { return after.own[name] != 0; }))
        for (const char* name : of_map) cache.add(name, after.own[name] - before.own[name]);
    return cache;
}

/// Null if the DRAM is not partitioned. The mean is over the intervals between decisions. The mean of a static share is the share itself.
Json partition_report(const Device& device, const RunSnapshot& after, const RunSnapshot& before) {
    const DramPartition* dram = device.ssd().partition();
    if (dram == nullptr) return Json{};
    const std::uint64_t decisions = after.partition.decisions - before.partition.decisions;
    const double sum = after.partition.map_share_sum - before.partition.map_share_sum;
    return Json::object({{"adaptive", dram->is_adaptive()},
                         {"dram_bytes", dram->size_bytes()},
                         {"mean_map_share", decisions == 0 ? dram->map_share() : sum / static_cast<double>(decisions)},
                         {"map_share", dram->map_share()},
                         {"map_bytes", dram->map_bytes()},
                         {"buffer_bytes", dram->buffer_bytes()},
                         {"ghost_metadata_bytes", dram->ghost_metadata_bytes()},
                         {"decisions", decisions},
                         {"to_map", after.partition.to_map - before.partition.to_map},
                         {"to_buffer", after.partition.to_buffer - before.partition.to_buffer}});
}

Json queues_report(const RunTally& tally) {
    Json out{Json::Array{}};
    for (std::size_t q = 0; q < tally.queues.size(); ++q) {
        const QueueTally& of = tally.queues[q];
        const double seconds = static_cast<double>((of.end - tally.begin).count()) / 1e9; // until its own last answer
        Json queue = Json::object({{"queue", q}, {"priority", queue_priority_names[static_cast<std::size_t>(of.priority)]}});
        if (!of.rw.empty()) queue.add("rw", of.rw);
        queue.add("requests", of.requests);
        queue.add("iops", seconds > 0 ? static_cast<double>(of.requests) / seconds : 0.0);
        queue.add("waited_us", of.waited.to_json());
        queue.add("read_us", of.read.to_json());
        queue.add("write_us", of.write.to_json());
        out.push(std::move(queue));
    }
    return out;
}

} // namespace

RunSnapshot RunSnapshot::of(Device& device, SimTime now) {
    const BufferedFtl* buffer = device.ssd().buffer();
    const ReadAheadCounters* ahead = device.ssd().read_ahead();
    const DramPartition* dram = device.ssd().partition();
    return {device.ssd().sample(now),
            device.ssd().counters(),
            device.ftl().counters(),
            own_counters(device.ftl()),
            buffer ? buffer->buffer_counters() : WriteBufferCounters{},
            ahead ? std::optional{*ahead} : std::nullopt,
            dram ? dram->counters() : PartitionCounters{},
            device.sample_details(now).channel_busy_ns,
            BitErrorCounters::of(device)};
}

std::optional<std::string> warning_on_reads(Device& device, const RunSnapshot& before, const RunTally& tally) {
    const RunSnapshot after = RunSnapshot::of(device, tally.end);
    const std::uint64_t pages = after.ssd.read_pages - before.ssd.read_pages;
    const std::uint64_t unmapped = after.ssd.unmapped_reads - before.ssd.unmapped_reads;
    if (!reads_much_of_nothing(unmapped, pages)) return std::nullopt;
    return fmt::format("{} of the {} pages that were read hold nothing: they were never written, or trimmed. Such a read gives zeros and touches no "
                       "flash, so latencies look better than they are; --precondition fill:100 writes beforehand",
                       unmapped, pages);
}

std::optional<std::string> warning_on_work_before(Device& device, const RunSnapshot& before, const RunTally& tally) {
    const RunSnapshot after = RunSnapshot::of(device, tally.end);
    const std::uint64_t programs = difference(after.sample.nand_programs, before.sample.nand_programs);
    const std::uint64_t reads = difference(after.sample.nand_reads, before.sample.nand_reads);
    const auto of_buffer = [&](std::uint64_t WriteBufferCounters::*m) { return after.buffer.*m - before.buffer.*m; };
    const std::uint64_t came = of_buffer(&WriteBufferCounters::write_misses);
    const std::uint64_t left = of_buffer(&WriteBufferCounters::evicted_pages) + of_buffer(&WriteBufferCounters::flushed_pages);
    const std::uint64_t lay_there = left - std::min(left, came);
    const auto gc = static_cast<std::size_t>(Cause::gc);
    const std::uint64_t copies = after.sample.nand_programs[gc] - before.sample.nand_programs[gc];
    const std::string what =
        fmt::format("{}{}{}", lay_there == 0 ? "" : fmt::format("{} pages that lay in the write buffer", lay_there),
                    lay_there != 0 && copies != 0 ? " and " : "", copies == 0 ? "" : fmt::format("{} copies of collections", copies));
    constexpr const char* remedy = "--warm-up N leaves out the first N requests, with which that ends";
    if (tally.reads != 0 && tally.reads == tally.requests()) {
        if (programs * 100 <= programs + reads) return std::nullopt;
        return fmt::format("{} pages were programmed while the run only read: {}, left to do by the writes before it. They delay its reads; {}",
                           programs, what.empty() ? "work" : what, remedy);
    }
    if (const std::uint64_t stay = pages_still_buffered(came, left); stay != 0)
        return fmt::format("{} of the {} pages that the run wrote still lie in the write buffer: write amplification and life leave out what they "
                           "will cost. Make the run longer",
                           stay, came);
    const auto written = static_cast<double>(after.sample.host_write_bytes - before.sample.host_write_bytes);
    const bool is_short = wrote_little(written, static_cast<double>(device.ssd().identify().sectors * sector_bytes));
    if (!is_short || (lay_there + copies) * 2 <= programs) return std::nullopt;
    return fmt::format("the run wrote less than 2 % of the drive, and most of the {} pages that were programmed are {}: write amplification and life "
                       "depend on what the writes before it had left to do. Make it longer, or {}",
                       programs, what, remedy);
}

Json report_run(const RunIdentity& run, Device& device, const RunSnapshot& before, const RunTally& tally) {
    // Writes are answered by a buffer before the buses have worked for them: the time is the flash's, which may go on after the last answer.
    const SimTime at_rest = std::max(tally.end, device.ssd().last_reserved_end());
    const RunSnapshot after = RunSnapshot::of(device, at_rest);
    const std::uint64_t page = device.config().ssd.nand.geometry.page_bytes;
    const double seconds = static_cast<double>((tally.end - tally.begin).count()) / 1e9;
    const auto per_second = [&](double amount) { return seconds > 0 ? amount / seconds : 0.0; };
    const std::uint64_t read_bytes = after.sample.host_read_bytes - before.sample.host_read_bytes - tally.failed_read_bytes;
    const std::uint64_t write_bytes = after.sample.host_write_bytes - before.sample.host_write_bytes - tally.failed_write_bytes;
    const std::uint64_t programs = difference(after.sample.nand_programs, before.sample.nand_programs);
    std::uint64_t by_cause[cause_count];
    for (std::size_t c = 0; c < cause_count; ++c) by_cause[c] = after.sample.nand_programs[c] - before.sample.nand_programs[c];
    const WafParts waf = WafParts::of(by_cause, page, write_bytes);
    Json latency = tally.all.to_json();
    latency.add("read", tally.read.to_json());
    latency.add("write", tally.write.to_json());
    const double flash_ns = static_cast<double>((at_rest - tally.begin).count());
    Json utilisation{Json::Array{}};
    for (std::size_t c = 0; c < after.channel_busy_ns.size(); ++c)
        utilisation.push(flash_ns > 0 ? static_cast<double>(after.channel_busy_ns[c] - before.channel_busy_ns[c]) / flash_ns : 0.0);
    const auto merges = [&](const char* name) { return after.own[name] - before.own[name]; };
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    Json report = Json::object(
        {{"trace", run.trace},
         {"load", run.load},
         {"ftl", std::string{device.ftl().name()}},
         {"preset", device.config().ssd.preset},
         {"requests", tally.requests()},
         {"reads", tally.reads},
         {"writes", tally.writes},
         {"trims", tally.trims},
         {"flushes", tally.flushes},
         {"host_read_bytes", read_bytes},
         {"host_write_bytes", write_bytes},
         {"read_pages", after.ssd.read_pages - before.ssd.read_pages},
         {"unmapped_reads", after.ssd.unmapped_reads - before.ssd.unmapped_reads},
         {"nand_read_pages", difference(after.sample.nand_reads, before.sample.nand_reads)},
         {"nand_program_pages", programs},
         {"nand_erase_blocks", difference(after.sample.nand_erases, before.sample.nand_erases)},
         {"waf", write_bytes == 0 ? 0.0 : static_cast<double>(programs * page) / static_cast<double>(write_bytes)},
         {"waf_user", waf.user},
         {"waf_gc", waf.gc},
         {"waf_merge", waf.merge},
         {"waf_map", waf.map},
         {"waf_parity", waf.parity},
         {"gc_page_copies", after.ftl.gc_page_copies - before.ftl.gc_page_copies},
         {"merges", Json::object({{"switch", merges("switch_merges")}, {"partial", merges("partial_merges")}, {"full", merges("full_merges")}})},
         {"cache", cache_report(after, before, device.ssd().buffer() != nullptr)},
         {"partition", partition_report(device, after, before)},
         {"sim_seconds", seconds},
         {"wall_seconds", run.wall_seconds},
         {"requests_per_wall_second", run.wall_seconds > 0 ? static_cast<double>(tally.requests()) / run.wall_seconds : 0.0},
         {"peak_rss_bytes", static_cast<std::uint64_t>(used.ru_maxrss) * 1024},
         {"iops", per_second(static_cast<double>(tally.requests()))},
         {"read_mb_s", per_second(static_cast<double>(read_bytes) / 1e6)},
         {"write_mb_s", per_second(static_cast<double>(write_bytes) / 1e6)},
         {"latency_us", std::move(latency)},
         {"channel_utilisation", std::move(utilisation)},
         {"erase_count", erase_counts(device)},
         {"config_hash", config_hash(device.config())},
         {"seed", run.seed},
         {"version", FLASHLAB_VERSION}});
    if (const NandConfig& nand = device.config().ssd.nand; nand.errors.are_on() || nand.rain != 0)
        report.add("bit_errors", after.bit_errors.since(before.bit_errors));
    if (tally.failed != 0) report.add("failed", Json::object({{"requests", tally.failed}, {"first", tally.first_failure}}));
    if (!tally.queues.empty()) report.add("queues", queues_report(tally));
    if (Json counters = counters_as_json(after.own, before.own); !counters.is_null()) report.add("counters", std::move(counters));
    return report;
}

std::optional<std::string> failure_of(const Json& report) {
    const Json& failed = report["failed"];
    if (failed.is_null()) return std::nullopt;
    return fmt::format("{} of {} requests failed, and are in no rate and no latency; the first was {}", failed["requests"].dump(),
                       failed["requests"].number() + report["requests"].number(), failed["first"].text());
}

} // namespace flashlab

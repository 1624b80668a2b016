#include "tools/run_report.h"

#include <algorithm>
#include <cmath>

#include <sys/resource.h>

#include "tools/config_schema.h"

namespace flashlab {
namespace {

std::uint64_t difference(const std::uint64_t (&after)[cause_count], const std::uint64_t (&before)[cause_count]) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cause_count; ++i)
        sum += after[i] - before[i];
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

} // namespace

RunSnapshot RunSnapshot::of(Device& device, SimTime now) {
    return {device.ssd().sample(now), device.ftl().counters(), device.sample_details().channel_busy_ns};
}

Json report_run(const RunIdentity& run, Device& device, const RunSnapshot& before, const RunTally& tally) {
    const RunSnapshot after = RunSnapshot::of(device, tally.end);
    const std::uint64_t page = device.config().ssd.nand.geometry.page_bytes;
    const double seconds = static_cast<double>((tally.end - tally.begin).count()) / 1e9;
    const auto per_second = [&](double amount) { return seconds > 0 ? amount / seconds : 0.0; };
    const std::uint64_t read_bytes = after.sample.host_read_bytes - before.sample.host_read_bytes;
    const std::uint64_t write_bytes = after.sample.host_write_bytes - before.sample.host_write_bytes;
    const std::uint64_t programs = difference(after.sample.nand_programs, before.sample.nand_programs);
    Json latency = tally.all.to_json();
    latency.add("read", tally.read.to_json());
    latency.add("write", tally.write.to_json());
    Json utilisation{Json::Array{}};
    for (std::size_t c = 0; c < after.channel_busy_ns.size(); ++c)
        utilisation.push(per_second(static_cast<double>(after.channel_busy_ns[c] - before.channel_busy_ns[c]) / 1e9));
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return Json::object({{"trace", run.trace},
                         {"ftl", std::string{device.ftl().name()}},
                         {"preset", device.config().ssd.preset},
                         {"requests", tally.requests()},
                         {"reads", tally.reads},
                         {"writes", tally.writes},
                         {"trims", tally.trims},
                         {"flushes", tally.flushes},
                         {"host_read_bytes", read_bytes},
                         {"host_write_bytes", write_bytes},
                         {"nand_read_pages", difference(after.sample.nand_reads, before.sample.nand_reads)},
                         {"nand_program_pages", programs},
                         {"nand_erase_blocks", difference(after.sample.nand_erases, before.sample.nand_erases)},
                         {"waf", write_bytes == 0 ? 0.0 : static_cast<double>(programs * page) / static_cast<double>(write_bytes)},
                         {"gc_page_copies", after.ftl.gc_page_copies - before.ftl.gc_page_copies},
                         {"merges", Json::object({{"switch", after.ftl.switch_merges - before.ftl.switch_merges},
                                                  {"partial", after.ftl.partial_merges - before.ftl.partial_merges},
                                                  {"full", after.ftl.full_merges - before.ftl.full_merges}})},
                         {"cache", Json{}}, // null until a scheme has a DRAM cache or a partitioner
                         {"partition", Json{}},
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
}

} // namespace flashlab

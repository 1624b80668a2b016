#include "tools/live/mount_sample.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace flashlab {

namespace {

std::uint64_t grown(const Json& before, const Json& now) { return now.number() - std::min(now.number(), before.number()); }
double rounded(double value) { return std::round(value * 1e4) / 1e4; }
double per(double value, double by) { return by <= 0 ? 0 : rounded(value / by); }

std::uint64_t programs_of(const Json& nand) {
    std::uint64_t sum = 0;
    for (const auto& [cause, counts] : nand.members()) sum += counts["page_programs"].number();
    return sum;
}

Json latency_of(const Json& operations) {
    Json out = Json::object({});
    for (const Json& o : operations.items()) {
        const std::string op = o["op"].text();
        if (op == "read" || op == "write" || op == "fsync" || op == "create" || op == "lookup")
            out.add(op, Json::object({{"calls", o["calls"]}, {"p50", o["p50_us"]}, {"p99", o["p99_us"]}, {"max", o["max_us"]}}));
    }
    return out;
}

} // namespace

Json mount_sample(const Json& before, const Json& now, double seconds) {
    const double sim_ns = static_cast<double>(grown(before["clock_ns"], now["clock_ns"]));
    const auto rate = [&](const char* key) { return per(static_cast<double>(grown(before[key], now[key])), seconds); };
    const std::uint64_t written = grown(before["host_write_bytes"], now["host_write_bytes"]);
    const double programmed =
        static_cast<double>(programs_of(now["nand"]) - std::min(programs_of(now["nand"]), programs_of(before["nand"]))) * now["page_bytes"].real();
    Json out = Json::object({{"interval_seconds", rounded(seconds)},
                             {"interval_sim_seconds", sim_ns / 1e9},
                             {"sim_seconds", now["clock_ns"].real() / 1e9},
                             {"read_iops", rate("host_reads")},
                             {"write_iops", rate("host_writes")},
                             {"trim_iops", rate("host_trims")},
                             {"flush_iops", rate("host_flushes")},
                             {"read_mb_s", rounded(rate("host_read_bytes") / 1e6)},
                             {"write_mb_s", rounded(rate("host_write_bytes") / 1e6)},
                             {"nand_write_mb_s", per(programmed / 1e6, seconds)},
                             {"waf", written == 0 ? Json{} : Json{rounded(programmed / static_cast<double>(written))}},
                             {"waf_since_mount", now["waf"]},
                             {"queue", now["waiting_answers"]},
                             {"latency_us", latency_of(now["operations"])}});
    Json busy{Json::Array{}};
    const auto& channels = now["channel_busy_ns"].items();
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto& was = before["channel_busy_ns"].items();
        busy.push(sim_ns <= 0 ? 0.0 : std::min(1.0, per(static_cast<double>(grown(c < was.size() ? was[c] : Json{}, channels[c])), sim_ns)));
    }
    out.add("channel_busy", std::move(busy));
    out.add("planes_busy",
            sim_ns <= 0 ? 0.0 : std::min(1.0, per(static_cast<double>(grown(before["planes_busy_ns"], now["planes_busy_ns"])), sim_ns)));
    for (const char* key :
         {"waf_user", "waf_gc", "waf_merge", "waf_map", "waf_parity", "free_blocks", "gc_jobs", "gc_page_copies", "write_buffer_pages",
          "write_buffer_read_hits", "write_buffer_read_misses", "write_buffer_write_hits", "write_buffer_write_misses", "dram_bytes",
          "dram_partition", "dram_map_bytes", "dram_buffer_bytes", "dram_buffer_benefit", "dram_map_benefit"})
        if (!now[key].is_null()) out.add(key, now[key]);
    for (const char* key : {"read_ahead_pages", "read_ahead_hits"})
        if (!now[key].is_null()) out.add(key, now[key]);
    return out;
}

} // namespace flashlab

#include "tools/fit/identified.h"

#include <algorithm>

namespace flashlab {

namespace {

constexpr std::uint64_t small_block = 16384, large_block = 65536;

bool is_alone(const FitPoint& point) { return point.streams.size() == 1; }
bool is_pure(const FitStream& s, std::uint32_t read_percent) { return s.read_percent == read_percent && !s.is_planned(); }
bool is_fill(const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && s.fill.has_value(); }

double deepest(const FitStream& s) { return s.depth; }
double slowest_read(const FitStream& s) { return s.read.p50_us; }
/// Reads that meet writes on the chips.
bool is_beside_writes(const FitPoint& p, const FitStream& s) {
    return s.read_percent != 0 && std::ranges::any_of(p.streams, [](const FitStream& other) { return other.read_percent != 100; });
}

bool is_small_random(const FitPoint& p, const FitStream& s, std::uint32_t read_percent) {
    return is_alone(p) && is_pure(s, read_percent) && !s.in_order && s.block_bytes <= small_block;
}

constexpr std::array all_identified{
    Identified{"host_link.firmware_latency_ns", 500, 200'000, "random writes of up to 16 KiB, one at a time", false, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) { return is_small_random(p, s, 0) && s.depth == 1; }, deepest},
    Identified{"host_link.firmware_latency_ns", 500, 200'000, "random writes of up to 16 KiB, one at a time", false, FitMetric::first_speed,
               [](const FitPoint& p, const FitStream& s) { return is_fill(p, s) && s.depth == 1; }, deepest},
    Identified{"nand.page_read_ns", 2'000, 300'000, "random reads of up to 16 KiB, one at a time", true, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) { return is_small_random(p, s, 100) && s.depth == 1; }, deepest},
    Identified{"nand.bus_ps_per_byte", 100, 20'000, "random reads of 64 KiB or more, one at a time", true, FitMetric::p50, // in order: read-ahead
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 100) && !s.in_order && s.depth == 1 && s.block_bytes >= large_block;
               },
               deepest},
    Identified{"host_link.ps_per_byte", 20, 10'000, "reads of 64 KiB or more, in order, 8 or more at a time", true, FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 100) && s.in_order && s.depth >= 8 && s.block_bytes >= large_block;
               },
               deepest},
    Identified{"nand.chips_per_channel",
               1,
               8,
               "random reads, 8 or more at a time",
               true,
               FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) { return is_small_random(p, s, 100) && s.depth >= 8; },
               deepest,
               {1, 2, 4, 8}},
    Identified{"host_link.controller_request_ns", 50, 50'000, "random reads, 128 or more at a time", true, FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) { return is_small_random(p, s, 100) && s.depth >= 128; }, deepest},
    Identified{"nand.page_program_ns", 20'000, 20'000'000, "writes of 64 KiB or more, in order, or a fill's log", false, FitMetric::then_speed,
               is_fill, deepest},
    Identified{
        "nand.page_program_ns", 20'000, 20'000'000, "writes of 64 KiB or more, in order, or a fill's log", false, FitMetric::iops,
        [](const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && s.in_order && s.block_bytes >= large_block && !s.fill; },
        deepest},
    Identified{"nand.slc_page_program_ns", 10'000, 5'000'000, "log of a fill with a cliff (--fill-log)", false, FitMetric::first_speed, is_fill,
               deepest},
    Identified{"ftl.slc_dynamic_permille", 1, 1'000, "log of a fill with a cliff (--fill-log)", false, FitMetric::cache_share, is_fill, deepest},
    Identified{"ftl.reserved_permille", 60, 450, "random writes of a full drive, 32 or more at a time, with --waf", false, FitMetric::waf,
               [](const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && !s.in_order && s.depth >= 32 && s.waf > 0; },
               deepest},
    Identified{"nand.suspend_ns", 500, 300'000, "random reads and writes, mixed, 8 or more at a time; or reads beside writes", true, FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && s.read_percent % 100 != 0 && !s.in_order && !s.is_planned() && s.depth >= 8 && s.block_bytes <= small_block;
               },
               deepest},
    Identified{"nand.suspend_ns", 500, 300'000, "random reads and writes, mixed, 8 or more at a time; or reads beside writes", true, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) { return is_beside_writes(p, s); }, slowest_read},
};

} // namespace

std::span<const Identified> identified_parameters() { return all_identified; }

double value_of(const FitPoint& point, const FitTarget& target) {
    const FitStream& stream = point.streams[target.stream];
    const TimedDirection& of = target.is_read ? stream.read : stream.write;
    switch (target.metric) {
    case FitMetric::iops:
        return of.iops;
    case FitMetric::p50:
        return of.p50_us;
    case FitMetric::p99:
        return of.p99_us;
    case FitMetric::waf:
        return stream.waf;
    case FitMetric::cache_share:
        return stream.fill && stream.fill->then != 0 ? stream.fill->cache_share * 100 : 0;
    case FitMetric::first_speed:
        return stream.fill ? stream.fill->first / 1e6 : 0;
    case FitMetric::then_speed:
        return stream.fill ? stream.fill->then / 1e6 : 0;
    case FitMetric::mean_speed:
        return stream.fill ? stream.fill->mean / 1e6 : 0;
    }
    return 0;
}

std::vector<FitTarget> targets_of(const Identified& what, const std::vector<FitPoint>& points) {
    std::vector<FitTarget> all;
    for (std::size_t p = 0; p < points.size(); ++p)
        for (std::size_t s = 0; s < points[p].streams.size(); ++s)
            if (const FitTarget here{p, s, what.is_read, what.metric}; what.matches(points[p], points[p].streams[s]) && value_of(points[p], here) > 0)
                all.push_back(here);
    if (what.is_choice() || all.empty()) return all;
    const auto preference = [&](const FitTarget& t) { return what.preference(points[t.point].streams[t.stream]); };
    return {*std::ranges::max_element(all, {}, preference)};
}

std::vector<FitTarget> targets_of(const FitPoint& point, std::size_t number) {
    std::vector<FitTarget> out;
    for (std::size_t s = 0; s < point.streams.size(); ++s) {
        for (const bool is_read : {true, false})
            for (const FitMetric metric : {FitMetric::iops, FitMetric::p50, FitMetric::p99}) {
                const FitTarget target{number, s, is_read, metric};
                const bool is_given = metric == FitMetric::iops && point.streams[s].is_planned();
                if (value_of(point, target) > 0 && !is_given) out.push_back(target);
            }
        for (const FitMetric metric : {FitMetric::waf, FitMetric::cache_share, FitMetric::first_speed, FitMetric::then_speed, FitMetric::mean_speed})
            if (const FitTarget target{number, s, false, metric}; value_of(point, target) > 0) out.push_back(target);
    }
    return out;
}

std::string_view name_of(FitMetric metric) {
    constexpr std::array<std::string_view, 8> names{"requests a second",  "p50, us",        "p99, us",        "write amplification",
                                                    "% before the cliff", "MB/s before it", "MB/s behind it", "MB/s, mean of the fill"};
    return names[static_cast<std::size_t>(metric)];
}

} // namespace flashlab

/// What a run says of a drive's map, for the experiments on maps that lie on flash.
///
/// Idea       One run gives all numbers; each figure takes its own. A table of points keeps them by map, load and setting.
/// Cost       A few look-ups in a report.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tools/reproduce/trace_run.h"

namespace flashlab {

inline constexpr std::uint64_t map_page_bytes = 4096; ///< of the drives of these experiments

struct MapMeasured {
    double hits = 0;               ///< part of the look-ups for reads
    double all_hits = 0;           ///< part of the look-ups for reads and writes
    double double_reads = 0;       ///< translation pages that reads waited for, a page read
    double predicted = 0;          ///< part of the pages read
    double mispredicted = 0;       ///< part of the pages read: led to a wrong page
    double translation_reads = 0;  ///< a page written
    double translation_writes = 0; ///< a page written
    double waf = 0;
    double p50 = 0, p99 = 0, p999 = 0, mean = 0; ///< us
    double requests_per_second = 0;
    double dram_kib = 0;
    double table_kib = 0;
};

enum class LatencyOf : std::uint8_t { reads, all_requests };
[[nodiscard]] MapMeasured map_measured(const TraceOutcome& outcome, std::string_view map, LatencyOf latency);

/// TLC of today, 2 channels. The map's DRAM is a part of its table, about: the spare has no entries.
struct MapDrive {
    std::string_view scheme;
    std::uint32_t blocks; ///< a plane
    std::uint32_t spare_permille;
    std::uint32_t dram_permille;
};
[[nodiscard]] DeviceConfig config_of(const MapDrive& drive);
/// Requests of one page each, without end, popular ones anywhere. `pages` is a distribution as bench takes it.
[[nodiscard]] MakeRequests single_pages(std::string_view pages, std::function<TraceOp(Random&)> op);

/// `part` of nothing is nothing.
[[nodiscard]] inline double part_of(double part, double of) { return of > 0 ? part / of : 0; }
[[nodiscard]] double mean_of(const std::vector<double>& values);

/// A value of each load for one map over that for another one: "financial: 0.5 of 0.7; pc: ...", and what is judged.
struct ComparedLoads {
    Evidence evidence{};
    std::string words{};
    void add(std::string_view load, double over, double under);
    /// Where nothing is compared with.
    void add(std::string_view load, double value);
    [[nodiscard]] std::vector<double> ratios() const { return evidence.values(); }
};

struct MapSetting {
    std::string load;
    std::string_view map;
    double x = 0;           ///< what is varied
    std::size_t source = 0; ///< the load's number
};

/// All that was measured, by map, load and x.
class MapPoints {
public:
    using Value = double MapMeasured::*;
    using Filter = bool (*)(const MapSetting&);
    /// `x_name`: the parameter that x is.
    MapPoints(std::string_view x_name, std::vector<MapSetting> all, std::vector<MapMeasured> measured)
        : x_name_{x_name}, all_{std::move(all)}, measured_{std::move(measured)} {}
    [[nodiscard]] const MapMeasured* find(std::string_view map, std::string_view load, double x) const;
    /// `what` ends with the unit.
    void add(
        Reproduction& out, std::string_view what, Value value, Filter of = [](const MapSetting&) { return true; }) const;
    void add(Reproduction& out, std::string_view what, std::string_view map, std::string_view load, double x, double value) const;
    /// Of each load that both maps were measured on at these x and that fits, in the order of the points.
    [[nodiscard]] ComparedLoads over(
        Value value, std::pair<std::string_view, double> map, std::pair<std::string_view, double> under,
        Filter of = [](const MapSetting&) { return true; }) const;
    [[nodiscard]] ComparedLoads each(Value value, std::string_view map, double x) const;

private:
    std::string_view x_name_;
    std::vector<MapSetting> all_;
    std::vector<MapMeasured> measured_;
};

/// A load of tools/workloads whose working sets are divided so that they suit the drive of a full and of a quick run.
struct ScaledLoad {
    std::string_view name;
    std::uint32_t full_scale, quick_scale;
};
struct PlayedLoad {
    std::string name;
    Load load;
};
/// The generated ones, and those of the real traces that lie in --traces DIR.
[[nodiscard]] std::vector<PlayedLoad> played(const RunContext& context, std::span<const ScaledLoad> generated, std::span<const RealTrace> traces);
/// Their sources, for the report.
[[nodiscard]] std::expected<void, std::string> add_sources(Reproduction& out, std::span<const PlayedLoad> loads);

} // namespace flashlab

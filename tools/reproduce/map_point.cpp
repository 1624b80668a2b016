#include "tools/reproduce/map_point.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/demand_options.h"
#include "tools/drive/device_presets.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {

MapMeasured map_measured(const TraceOutcome& outcome, std::string_view map, LatencyOf of) {
    const Json& report = outcome.report;
    const Json& cache = report["cache"];
    const auto counter = [&](std::string_view name) { return report["counters"][name].real(); };
    const double read_hits = cache["map_read_hits"].real(), read_misses = cache["map_read_misses"].real();
    const double hits = read_hits + cache["map_write_hits"].real(), misses = read_misses + cache["map_write_misses"].real();
    const double read = report["read_pages"].real(), written = report["host_write_bytes"].real() / map_page_bytes;
    const Json& latency = of == LatencyOf::reads ? report["latency_us"]["read"] : report["latency_us"];
    MapMeasured m;
    m.hits = map == "page_map" ? 1 : part_of(read_hits, read_hits + read_misses);
    m.all_hits = map == "page_map" ? 1 : part_of(hits, hits + misses);
    m.double_reads = part_of(counter("double_reads"), read);
    m.predicted = part_of(counter("predicted_reads"), read);
    m.mispredicted = part_of(counter("mispredictions"), read);
    m.translation_reads = part_of(cache["translation_reads"].real(), written);
    m.translation_writes = part_of(cache["translation_writes"].real(), written);
    m.waf = report["waf"].real();
    m.p50 = latency["p50"].real();
    m.p99 = latency["p99"].real();
    m.p999 = latency["p999"].real();
    m.mean = latency["mean"].real();
    m.requests_per_second = outcome.requests_per_second();
    m.dram_kib = static_cast<double>(outcome.map_bytes) / 1024;
    m.table_kib = static_cast<double>(outcome.table_bytes) / 1024;
    return m;
}

DeviceConfig config_of(const MapDrive& drive) {
    const auto preset = find_device_preset("modern-tlc");
    ensure(preset.has_value(), "the preset of today exists");
    DeviceConfig config;
    config.ssd = preset->config;
    config.ssd.nand.geometry.channels = 2;
    config.ssd.nand.geometry.blocks_per_plane = drive.blocks;
    config.ssd.ftl.scheme = drive.scheme;
    config.ssd.ftl.reserved_permille = drive.spare_permille;
    const auto geometry = Geometry::make(config.ssd.nand.geometry);
    ensure(geometry.has_value(), "the geometry is valid");
    const std::uint64_t table = std::uint64_t{4} * geometry->pages() / 1000 * (1000 - drive.spare_permille);
    config.ssd.ftl.options.set(demand_option::mapping_cache_bytes, table * drive.dram_permille / 1000);
    return config;
}

MakeRequests single_pages(std::string_view pages, std::function<TraceOp(Random&)> op) {
    return [pages, op = std::move(op)](std::uint64_t bytes) -> std::expected<NextRequest, std::string> {
        const auto spec = parse_distribution(pages);
        if (!spec) return std::unexpected(spec.error());
        const std::uint64_t all = bytes / map_page_bytes;
        return
            [op, all, random = Random{7}, ranks = RandomDistribution{*spec, all}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
                const std::uint64_t page = ranks.rank(random) * 2'654'435'761 % all;
                request = {.offset = page * map_page_bytes, .bytes = map_page_bytes, .op = op(random)};
                return true;
            };
    };
}

double mean_of(const std::vector<double>& values) {
    return part_of(std::accumulate(values.begin(), values.end(), 0.0), static_cast<double>(values.size()));
}

void ComparedLoads::add(std::string_view load, double over, double under) {
    evidence.over.push_back(over);
    evidence.under.push_back(under);
    words += fmt::format("{}{}: {:.3g} of {:.3g}", words.empty() ? "" : "; ", load, over, under);
}

void ComparedLoads::add(std::string_view load, double value) {
    evidence.over.push_back(value);
    words += fmt::format("{}{}: {:.3g}", words.empty() ? "" : "; ", load, value);
}

const MapMeasured* MapPoints::find(std::string_view map, std::string_view load, double x) const {
    const auto at = std::ranges::find_if(all_, [&](const MapSetting& s) { return s.map == map && s.load == load && s.x == x; });
    return at == all_.end() ? nullptr : &measured_[static_cast<std::size_t>(at - all_.begin())];
}

void MapPoints::add(Reproduction& out, std::string_view what, std::string_view map, std::string_view load, double x, double value) const {
    out.points.push_back({fmt::format("{}: {}, {}", load, map, what), x, {{"workload", load}, {"ftl", map}, {std::string{x_name_}, x}}, value});
}

void MapPoints::add(Reproduction& out, std::string_view what, Value value, Filter of) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (of(all_[i])) add(out, what, all_[i].map, all_[i].load, all_[i].x, measured_[i].*value);
}

ComparedLoads MapPoints::over(Value value, std::pair<std::string_view, double> map, std::pair<std::string_view, double> under, Filter of) const {
    ComparedLoads all;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const MapSetting& s = all_[i];
        if (s.map != map.first || s.x != map.second || !of(s)) continue;
        if (const MapMeasured* other = find(under.first, s.load, under.second)) all.add(s.load, measured_[i].*value, other->*value);
    }
    return all;
}

ComparedLoads MapPoints::each(Value value, std::string_view map, double x) const {
    ComparedLoads all;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].map == map && all_[i].x == x) all.add(all_[i].load, measured_[i].*value);
    return all;
}

std::vector<PlayedLoad> played(const RunContext& context, std::span<const ScaledLoad> generated, std::span<const RealTrace> traces) {
    std::vector<PlayedLoad> all;
    for (const ScaledLoad& g : generated)
        all.push_back({std::string{g.name}, Load{context, std::string{g.name},
                                                 fmt::format("workload:{},scale={}", g.name, context.is_quick() ? g.quick_scale : g.full_scale)}});
    for (const RealTrace& trace : traces) {
        std::error_code ignored;
        const auto path = std::filesystem::path{context.trace_folder} / trace.file;
        if (!context.trace_folder.empty() && std::filesystem::is_regular_file(path, ignored))
            all.push_back({trace.name, Load{context, trace.name, path.string()}});
    }
    return all;
}

std::expected<void, std::string> add_sources(Reproduction& out, std::span<const PlayedLoad> loads) {
    for (const PlayedLoad& played : loads) {
        const auto source = played.load.source();
        if (!source) return std::unexpected(source.error());
        out.loads.push_back(*source);
    }
    return {};
}

} // namespace flashlab

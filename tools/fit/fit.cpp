#include "tools/fit/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"

namespace flashlab {

namespace {

constexpr std::uint64_t small_block = 16384, large_block = 65536;

/// A number of one stream of one point.
struct FitTarget {
    std::size_t point = 0, stream = 0;
    bool is_read = false;
    FitMetric metric = FitMetric::iops;
};

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

bool is_alone(const FitPoint& point) { return point.streams.size() == 1; }
bool is_pure(const FitStream& s, std::uint32_t read_percent) { return s.read_percent == read_percent && !s.is_planned(); }
bool is_fill(const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && s.fill.has_value(); }

/// What identifies a parameter: points that match, the best of them first.
struct Identified {
    std::string_view key;
    double low, high;
    std::string_view load; ///< in words
    bool is_read;
    FitMetric metric;
    bool (*matches)(const FitPoint& point, const FitStream& stream);
    /// Of several the one with the largest.
    double (*preference)(const FitStream& stream);
    std::array<double, 4> choices{}; ///< not zero: one of these
};

double deepest(const FitStream& s) { return s.depth; }
double slowest_read(const FitStream& s) { return s.read.p50_us; }

constexpr std::array identified{
    Identified{"host_link.firmware_latency_ns", 500, 200'000, "random writes of up to 16 KiB, one at a time", false, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 0) && !s.in_order && s.depth == 1 && s.block_bytes <= small_block;
               },
               deepest},
    Identified{"host_link.firmware_latency_ns", 500, 200'000, "random writes of up to 16 KiB, one at a time", false, FitMetric::first_speed,
               [](const FitPoint& p, const FitStream& s) { return is_fill(p, s) && s.depth == 1; }, deepest},
    Identified{"nand.page_read_ns", 2'000, 300'000, "random reads of up to 16 KiB, one at a time", true, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 100) && !s.in_order && s.depth == 1 && s.block_bytes <= small_block;
               },
               deepest},
    Identified{"nand.bus_ps_per_byte", 100, 20'000, "reads of 64 KiB or more, one at a time", true, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 100) && s.depth == 1 && s.block_bytes >= large_block; },
               deepest},
    Identified{"nand.chips_per_channel",
               1,
               8,
               "random reads, 64 or more at a time",
               true,
               FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 100) && !s.in_order && s.depth >= 64 && s.block_bytes <= small_block;
               },
               deepest,
               {1, 2, 4, 8}},
    Identified{"host_link.ps_per_byte", 20, 10'000, "reads of 64 KiB or more, in order, 8 or more at a time", true, FitMetric::iops,
               [](const FitPoint& p, const FitStream& s) {
                   return is_alone(p) && is_pure(s, 100) && s.in_order && s.depth >= 8 && s.block_bytes >= large_block;
               },
               deepest},
    Identified{"nand.page_program_ns", 20'000, 20'000'000, "writes of 64 KiB or more, in order, or a fill's log", false, FitMetric::then_speed,
               is_fill, deepest},
    Identified{
        "nand.page_program_ns", 20'000, 20'000'000, "writes of 64 KiB or more, in order, or a fill's log", false, FitMetric::iops,
        [](const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && s.in_order && s.block_bytes >= large_block && !s.fill; },
        deepest},
    Identified{"nand.slc_page_program_ns", 10'000, 5'000'000, "log of a fill with a cliff (--fill-log)", false, FitMetric::first_speed, is_fill,
               deepest},
    Identified{"ftl.slc_dynamic_permille", 1, 1'000, "log of a fill with a cliff (--fill-log)", false, FitMetric::cache_share, is_fill, deepest},
    Identified{"ftl.reserved_permille", 40, 450, "random writes of a full drive, 32 or more at a time, with --waf", false, FitMetric::waf,
               [](const FitPoint& p, const FitStream& s) { return is_alone(p) && is_pure(s, 0) && !s.in_order && s.depth >= 32 && s.waf > 0; },
               deepest},
    Identified{"nand.suspend_ns", 500, 300'000, "reads beside writes", true, FitMetric::p50,
               [](const FitPoint& p, const FitStream& s) {
                   return s.read_percent != 0 && s.read.p50_us > 0 &&
                          std::ranges::any_of(p.streams, [](const FitStream& other) { return other.read_percent != 100; });
               },
               slowest_read},
};

std::optional<FitTarget> target_of(const Identified& what, const std::vector<FitPoint>& points) {
    std::optional<FitTarget> best;
    for (std::size_t p = 0; p < points.size(); ++p)
        for (std::size_t s = 0; s < points[p].streams.size(); ++s) {
            const FitTarget here{p, s, what.is_read, what.metric};
            if (!what.matches(points[p], points[p].streams[s]) || value_of(points[p], here) <= 0) continue;
            if (!best || what.preference(points[p].streams[s]) > what.preference(points[best->point].streams[best->stream])) best = here;
        }
    return best;
}

class Fitter {
public:
    Fitter(const std::vector<FitPoint>& points, FitSettings drive, std::uint64_t seed) : points_{points}, drive_{std::move(drive)}, seed_{seed} {}

    /// The value between `low` and `high` at which the model comes nearest. One direction is taken to lead there. None: the parameter does not move
    /// this number.
    [[nodiscard]] std::expected<std::optional<double>, std::string> search(const Identified& what, const FitTarget& target, double low, double high) {
        if (what.choices[0] != 0) return choose(what, target);
        auto at_low = error(what.key, low, target), at_high = error(what.key, high, target);
        if (!at_low || !at_high) return std::unexpected(at_low ? at_high.error() : at_low.error());
        constexpr double felt = 0.03;
        if (std::abs(*at_low - *at_high) < felt) return std::nullopt;
        double best = std::abs(*at_low) <= std::abs(*at_high) ? low : high, least = std::min(std::abs(*at_low), std::abs(*at_high));
        if (*at_low * *at_high > 0) return best; // it lies outside: as near as the range goes
        for (int step = 0; step < 9 && high / low > 1.01; ++step) {
            const double middle = std::round(std::sqrt(low * high));
            const auto here = error(what.key, middle, target);
            if (!here) return std::unexpected(here.error());
            if (std::abs(*here) < least) best = middle;
            least = std::min(least, std::abs(*here));
            (*here * *at_low > 0 ? low : high) = middle;
            if (middle <= low && middle >= high) break;
        }
        return best;
    }
    void set(std::string_view key, double value) { drive_.keys[std::string{key}] = fmt::format("{:.0f}", value); }
    [[nodiscard]] const FitSettings& drive() const { return drive_; }

private:
    /// Of the model against the drive, as a logarithm.
    [[nodiscard]] std::expected<double, std::string> error(std::string_view key, double value, const FitTarget& target) {
        FitSettings tried = drive_;
        tried.keys[std::string{key}] = fmt::format("{:.0f}", value);
        const auto model = measure_point(tried, points_[target.point], seed_);
        if (!model) return std::unexpected(fmt::format("{} = {:.0f}: {}", key, value, model.error()));
        return std::log(std::max(value_of(*model, target), 1e-9) / value_of(points_[target.point], target));
    }
    [[nodiscard]] std::expected<std::optional<double>, std::string> choose(const Identified& what, const FitTarget& target) {
        double best = what.choices[0], least = 1e9;
        for (const double value : what.choices) {
            const auto here = error(what.key, value, target);
            if (!here) return std::unexpected(here.error());
            if (std::abs(*here) < least) best = value;
            least = std::min(least, std::abs(*here));
        }
        return best;
    }

    const std::vector<FitPoint>& points_;
    FitSettings drive_;
    std::uint64_t seed_;
};

/// Every number that the file has.
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

/// Why a key of the SLC cache cannot be fitted; empty: it can, or is none.
std::string lacks_cache(std::string_view key, const DeviceConfig& config) {
    if (!key.contains("slc_")) return "";
    const auto value = [&](std::string_view name) { return find_config_key(name)->get(config); };
    const bool has = value("nand.slc_page_program_ns") != "0" && value("ftl.slc_dynamic_permille") != "0";
    return has ? "" : "the base has no SLC cache that lends blocks; with one: --base samsung-980pro-1t";
}

bool is_same(const FitTarget& a, const FitTarget& b) {
    return a.point == b.point && a.stream == b.stream && a.is_read == b.is_read && a.metric == b.metric;
}

} // namespace

std::string_view name_of(FitMetric metric) {
    constexpr std::array<std::string_view, 8> names{"requests a second",  "p50, us",        "p99, us",        "write amplification",
                                                    "% before the cliff", "MB/s before it", "MB/s behind it", "MB/s, mean of the fill"};
    return names[static_cast<std::size_t>(metric)];
}

std::expected<DriveFit, std::string> fit_drive(const std::vector<FitPoint>& points, const FitSettings& base, std::uint64_t seed,
                                               const FitProgress& progress) {
    ConfigSources sources;
    sources.preset = base.preset;
    sources.settings = base.as_list();
    const auto config = gather_config(sources);
    if (!config) return std::unexpected(config.error());
    Fitter fitter{points, base, seed};
    std::vector<std::pair<const Identified*, FitTarget>> found;
    DriveFit out;
    for (const Identified& what : identified) {
        const double before = std::stod(find_config_key(what.key)->get(*config));
        if (out.keys.empty() || out.keys.back().key != what.key)
            out.keys.push_back({.key = std::string{what.key}, .base = before, .fitted = before});
        else if (!out.keys.back().by.empty())
            continue; // by a load that says more
        if (const std::string why = lacks_cache(what.key, *config); !why.empty())
            out.keys.back().unidentified_since = why;
        else if (const auto target = target_of(what, points)) {
            found.emplace_back(&what, *target);
            const FitStream& stream = points[target->point].streams[target->stream];
            out.keys.back().unidentified_since.clear();
            out.keys.back().by = fmt::format("{} of {} in {}", name_of(what.metric), stream.name, points[target->point].file);
        } else
            out.keys.back().unidentified_since = fmt::format("no {}", what.load);
    }
    if (found.empty()) return std::unexpected(std::string{"none of these jobs identifies a parameter of a drive: docs/fidelity.md says which do"});
    constexpr double second_range = 2;
    for (const bool again : {false, true})
        for (const auto& [what, target] : found) {
            if (again && what->choices[0] != 0) continue; // what came after it rests on it
            FittedKey& key = *std::ranges::find(out.keys, what->key, &FittedKey::key);
            if (progress) progress(fmt::format("{}{}", what->key, again ? ", again" : ""));
            const double low = again ? std::max(what->low, key.fitted / second_range) : what->low;
            const auto value = fitter.search(*what, target, low, again ? std::min(what->high, key.fitted * second_range) : what->high);
            if (!value) return std::unexpected(value.error());
            if (!*value) {
                if (!again) key.unidentified_since = fmt::format("it does not move {}", std::exchange(key.by, ""));
                continue;
            }
            key.fitted = **value;
            key.is_at_end = key.fitted <= what->low || key.fitted >= what->high;
            fitter.set(what->key, key.fitted);
        }
    out.drive = fitter.drive();
    for (std::size_t p = 0; p < points.size(); ++p) {
        if (progress) progress(points[p].file);
        const auto model = measure_point(out.drive, points[p], seed + 1);
        if (!model) return std::unexpected(fmt::format("{}: {}", points[p].file, model.error()));
        for (const FitTarget& target : targets_of(points[p], p)) {
            const auto by = std::ranges::find_if(found, [&](const auto& f) {
                return is_same(f.second, target) && !std::ranges::find(out.keys, f.first->key, &FittedKey::key)->by.empty();
            });
            out.rows.push_back({points[p].file, points[p].streams[target.stream].name, target.is_read, target.metric, value_of(points[p], target),
                                value_of(*model, target), by == found.end() ? "" : std::string{by->first->key}});
        }
    }
    return out;
}

std::string preset_toml(const DriveFit& fit) {
    std::string out = fmt::format("# Fitted by flashlab fit; what is not here is of the preset.\npreset = \"{}\"\n", fit.drive.preset);
    std::string section;
    for (const auto& [key, value] : fit.drive.keys) { // sorted, so that a section's keys stand together
        const std::string own = key.substr(0, key.find('.'));
        if (own != section) out += fmt::format("\n[{}]\n", own);
        section = own;
        const bool is_number = value.find_first_not_of("0123456789") == value.npos;
        out += fmt::format("{} = {}\n", key.substr(own.size() + 1), is_number ? value : "\"" + value + "\"");
    }
    return out;
}

} // namespace flashlab

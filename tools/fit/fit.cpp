#include "tools/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/run/workers.h"

namespace flashlab {

namespace {

/// A value, and which of those beyond it do as well, as something else bounds what was measured.
struct Found {
    double value;
    double wanted = 0; ///< the error there; not 0 at the edge of those that do as well
    std::string_view beyond{};
    bool is_at_end = false;
};

/// A parameter and the numbers that it is searched with: one, or of a choice all that feel it.
struct Sought {
    const Identified* what;
    std::vector<FitTarget> targets;
    std::optional<Found> before{}; ///< of the round before
};

class Fitter {
public:
    Fitter(const std::vector<FitPoint>& points, FitSettings drive, std::uint64_t seed, std::function<void()> ran)
        : points_{points}, drive_{std::move(drive)}, seed_{seed}, ran_{std::move(ran)} {}

    /// The value at which the model comes nearest. One direction is taken to lead there. None: from `start` on the parameter does not move this.
    [[nodiscard]] std::expected<std::optional<Found>, std::string> search(const Sought& sought, double start) {
        const Identified& what = *sought.what;
        if (what.is_choice()) return choose(sought, start);
        start = std::clamp(start, what.low, what.high);
        const auto here = errors_at(sought, {start});
        if (!here) return std::unexpected(here.error());
        if (sought.before && std::abs(here->front() - sought.before->wanted) < near) return sought.before;
        const auto ends = errors_at(sought, {what.low, what.high});
        if (!ends) return std::unexpected(ends.error());
        const double at_low = ends->front(), at_high = ends->back();
        const bool low_does = std::abs(at_low) < felt, high_does = std::abs(at_high) < felt;
        if (std::abs(at_low - at_high) < felt || (low_does && high_does)) return std::nullopt;
        const bool has_edge = low_does || high_does;
        if (!has_edge && at_low * at_high > 0)
            return std::abs(at_low) < std::abs(at_high) ? Found{what.low, at_low, "", true} : Found{what.high, at_high, "", true};
        const double flat = low_does ? at_low : at_high;
        if (has_edge && std::abs(here->front() - flat) < hardly) return sought.before;
        const double wanted = has_edge ? flat + std::copysign(hardly, low_does ? at_high : at_low) : 0;
        auto found = between(sought, {{what.low, at_low}, {what.high, at_high}}, {start, here->front()}, wanted);
        if (found) (*found)->beyond = low_does ? "or less" : high_does ? "or more" : "";
        return found;
    }
    void set(std::string_view key, double value) { drive_.keys[std::string{key}] = fmt::format("{:.0f}", value); }
    [[nodiscard]] const FitSettings& drive() const { return drive_; }
    /// All points as the drive has become.
    [[nodiscard]] std::expected<std::vector<FitPoint>, std::string> measure_all() {
        auto all = measure_points<FitPoint>(&workers_, points_.size(), [&](std::size_t i) { return measure_point(drive_, points_[i], seed_ + 1); });
        ran_();
        return all;
    }

private:
    static constexpr double felt = 0.03, hardly = 0.01, near = 0.003; ///< logarithms of a ratio
    struct Tried {
        double value, error;
    };

    /// Of the model against the drive, as a logarithm; of a choice the sum of sizes.
    [[nodiscard]] std::expected<std::vector<double>, std::string> errors_at(const Sought& sought, const std::vector<double>& values) {
        const std::size_t each = sought.targets.size();
        const auto all = measure_points<double>(&workers_, values.size() * each, [&](std::size_t i) -> std::expected<double, std::string> {
            const FitTarget& target = sought.targets[i % each];
            FitSettings tried = drive_;
            tried.keys[std::string{sought.what->key}] = fmt::format("{:.0f}", values[i / each]);
            const auto model = measure_point(tried, points_[target.point], seed_);
            if (!model) return std::unexpected(fmt::format("{} = {:.0f}: {}", sought.what->key, values[i / each], model.error()));
            const double error = std::log(std::max(value_of(*model, target), 1e-9) / value_of(points_[target.point], target));
            return sought.what->is_choice() ? std::abs(error) : error;
        });
        ran_();
        if (!all) return std::unexpected(all.error());
        std::vector<double> sums(values.size(), 0.0);
        for (std::size_t i = 0; i < all->size(); ++i) sums[i / each] += (*all)[i];
        return sums;
    }
    [[nodiscard]] std::expected<std::optional<Found>, std::string> choose(const Sought& sought, double start) {
        std::vector<double> choices{start};
        std::ranges::copy(sought.what->choices, std::back_inserter(choices));
        const auto errors = errors_at(sought, choices);
        if (!errors) return std::unexpected(errors.error());
        const auto [best, worst] = std::ranges::minmax_element(*errors);
        if (*worst - *best < felt) return std::nullopt;
        return Found{errors->front() < *best + hardly ? start : choices[static_cast<std::size_t>(best - errors->begin())]};
    }
    /// Where the error is `wanted`, on a scale of logarithms: by false position, or halfway where that left the same end twice.
    [[nodiscard]] std::expected<std::optional<Found>, std::string> between(const Sought& sought, std::pair<Tried, Tried> ends, Tried at,
                                                                           double wanted) {
        constexpr int most_steps = 20;
        auto& [low, high] = ends;
        const auto bounded = [&](double error) { return std::clamp(error - wanted, -0.3, 0.3); };
        double low_weight = bounded(low.error), high_weight = bounded(high.error);
        Tried best = at;
        std::optional<bool> was_low;
        for (int step = 0; std::abs(at.error - wanted) > near && step < most_steps && high.value > low.value * (1 + near) + 1; ++step) {
            const bool is_low = bounded(at.error) * low_weight > 0;
            (is_low ? low : high) = at;
            (is_low ? low_weight : high_weight) = bounded(at.error);
            const double share = was_low == is_low ? 0.5 : std::clamp(low_weight / (low_weight - high_weight), 0.02, 0.98);
            was_low = is_low;
            at.value = std::round(low.value * std::pow(high.value / low.value, share));
            const auto error = errors_at(sought, {at.value});
            if (!error) return std::unexpected(error.error());
            at.error = error->front();
            if (std::abs(at.error - wanted) < std::abs(best.error - wanted)) best = at;
        }
        return Found{best.value, wanted};
    }

    const std::vector<FitPoint>& points_;
    FitSettings drive_;
    std::uint64_t seed_;
    std::function<void()> ran_;
    Workers workers_{std::thread::hardware_concurrency()};
};

/// Why a key of the SLC cache cannot be fitted; empty: it can, or is none.
std::string lacks_cache(std::string_view key, const DeviceConfig& config) {
    if (!key.contains("slc_")) return "";
    const auto value = [&](std::string_view name) { return find_config_key(name)->get(config); };
    const bool has = value("nand.slc_page_program_ns") != "0" && value("ftl.slc_dynamic_permille") != "0";
    return has ? "" : "the base has no SLC cache that lends blocks; with one: --base samsung-980pro-1t";
}

/// Which points each parameter is searched with; what none identifies is named.
std::vector<Sought> sought_of(const std::vector<FitPoint>& points, const DeviceConfig& config, std::vector<FittedKey>& keys) {
    std::vector<Sought> all;
    for (const Identified& what : identified_parameters()) {
        const double before = std::stod(find_config_key(what.key)->get(config));
        if (keys.empty() || keys.back().key != what.key)
            keys.push_back({.key = std::string{what.key}, .base = before, .fitted = before});
        else if (!all.empty() && all.back().what->key == what.key)
            continue; // by a load that says more
        keys.back().unidentified_since = lacks_cache(what.key, config);
        if (!keys.back().unidentified_since.empty()) continue;
        if (auto targets = targets_of(what, points); !targets.empty())
            all.push_back({&what, std::move(targets)});
        else
            keys.back().unidentified_since = fmt::format("no {} (of: {})", name_of(what.metric), what.load);
    }
    return all;
}

/// One parameter, with the others as they are. Whether it moved.
std::expected<bool, std::string> fit_one(Fitter& fitter, Sought& sought, const std::vector<FitPoint>& points, FittedKey& key) {
    const auto found = fitter.search(sought, key.fitted);
    if (!found) return std::unexpected(found.error());
    const FitPoint& point = points[sought.targets[0].point];
    std::string by = fmt::format("{} of {} in {}", name_of(sought.what->metric), point.streams[sought.targets[0].stream].name, point.file);
    if (sought.targets.size() > 1) by += fmt::format(", and {} more", sought.targets.size() - 1);
    sought.before = *found;
    if (!*found) {
        key.by.clear();
        if (std::exchange(key.fitted, key.base) != key.base) fitter.set(key.key, key.base);
        key.unidentified_since = "it does not move " + by;
        return false;
    }
    constexpr double moves = 0.01;
    const bool moved = std::abs((*found)->value - key.fitted) > moves * key.fitted;
    key.unidentified_since.clear();
    key.by = std::move(by);
    key.fitted = (*found)->value;
    key.beyond = (*found)->beyond;
    key.is_at_end = (*found)->is_at_end;
    fitter.set(key.key, key.fitted);
    return moved;
}

} // namespace

std::expected<DriveFit, std::string> fit_drive(const std::vector<FitPoint>& points, const FitSettings& base, std::uint64_t seed,
                                               const FitProgress& progress) {
    ConfigSources sources;
    sources.preset = base.preset;
    sources.settings = base.as_list();
    const auto config = gather_config(sources);
    if (!config) return std::unexpected(config.error());
    DriveFit out;
    std::vector<Sought> sought = sought_of(points, *config, out.keys);
    if (sought.empty()) return std::unexpected(std::string{"none of these jobs identifies a parameter of a drive: docs/fidelity.md says which do"});
    constexpr std::uint64_t most_rounds = 3;
    std::uint64_t done = 0;
    Fitter fitter{points, base, seed, [&] {
                      if (progress) progress(done, most_rounds * sought.size() + 1);
                  }};
    const auto key_of = [&](const Sought& of) -> FittedKey& { return *std::ranges::find(out.keys, of.what->key, &FittedKey::key); };
    bool moved = true;
    for (std::uint64_t round = 0; moved && round < most_rounds; ++round) {
        moved = false;
        for (Sought& of : sought) {
            const auto here = fit_one(fitter, of, points, key_of(of));
            if (!here) return std::unexpected(here.error());
            moved = moved || *here;
            ++done;
        }
    }
    out.drive = fitter.drive();
    const auto model = fitter.measure_all();
    if (!model) return std::unexpected(model.error());
    for (std::size_t p = 0; p < points.size(); ++p)
        for (const FitTarget& target : targets_of(points[p], p)) {
            const auto by = std::ranges::find_if(
                sought, [&](const Sought& of) { return !key_of(of).by.empty() && std::ranges::find(of.targets, target) != of.targets.end(); });
            out.rows.push_back({points[p].file, points[p].streams[target.stream].name, target.is_read, target.metric, value_of(points[p], target),
                                value_of((*model)[p], target), by == sought.end() ? "" : std::string{by->what->key}});
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

std::vector<std::string> unmet_by(const DriveFit& fit) {
    constexpr double far_off = 1.25;
    std::vector<std::string> unmet;
    for (const FitRow& row : fit.rows)
        if (!row.fitted_key.empty() && (row.model > far_off * row.measured || row.model * far_off < row.measured))
            unmet.push_back(fmt::format("no {} gives {} of {}: {:.5g} was measured, {:.5g} is as near as the model comes", row.fitted_key,
                                        name_of(row.metric), row.job, row.measured, row.model));
    return unmet;
}

} // namespace flashlab

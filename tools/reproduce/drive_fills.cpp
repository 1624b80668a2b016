#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/reproduce/drive_of_today.h"
#include "tools/reproduce/experiments.h"

namespace flashlab {
namespace {

// One sequential fill of an erased drive, as reviews plot it. Theirs is of blocks of 1 MB from one thread, which their host may split; ours are
// requests of 128 KiB, one at a time. That the first phase of drives on links of 7 GB/s is 3.5 to 4.5 GB/s says that few are in flight.
constexpr std::uint32_t pages_of_fill = 32;
constexpr std::uint32_t steps_of_fill = 4000; ///< the clock is read at each

struct FillDrive {
    std::string_view id, preset;
    double gb;
};

/// When each step of the drive was written, in seconds.
struct Fill {
    double gb;
    std::vector<double> at;
    [[nodiscard]] std::size_t step_of(double written) const { return static_cast<std::size_t>(std::lround(written / gb * steps_of_fill)); }
    [[nodiscard]] double speed(std::size_t from, std::size_t to) const {
        return gb * static_cast<double>(to - from) / steps_of_fill / (at[to] - at[from]);
    }
    /// About `written` GB: over a fiftieth of the drive, less where it has just begun.
    [[nodiscard]] double speed_at(double written) const {
        const std::size_t middle = step_of(written), around = std::max<std::size_t>(1, std::min(middle / 2, std::size_t{steps_of_fill / 100}));
        return speed(middle - around, std::min<std::size_t>(middle + around, steps_of_fill));
    }
    /// Where the speed, over `around` GB before and behind, falls below the geometric mean of what it is at `fast` and at `slow`.
    [[nodiscard]] double falls_between(double fast, double slow, double around) const {
        const double middle = std::sqrt(speed_at(fast) * speed_at(slow));
        const std::size_t half = std::max<std::size_t>(1, step_of(around));
        std::size_t step = step_of(fast);
        while (step < step_of(slow) && speed(step - half, step + half) > middle) ++step;
        return gb * static_cast<double>(step) / steps_of_fill;
    }
};

std::expected<Fill, std::string> fill_in_order(const FillDrive& of, std::uint32_t scale) {
    auto drive = DriveOfToday::make(of.preset, scale);
    if (!drive) return std::unexpected(drive.error());
    const std::uint64_t requests = drive->pages() / pages_of_fill;
    Fill fill{of.gb, {0}};
    SimTime done = drive->now;
    const SimTime begin = done;
    for (std::uint64_t i = 0; i < requests; ++i) {
        const auto answered = drive->write(i * pages_of_fill, pages_of_fill, done);
        if (!answered) return std::unexpected(answered.error());
        done = *answered;
        while (fill.at.size() <= (i + 1) * steps_of_fill / requests) fill.at.push_back(static_cast<double>((done - begin).count()) / 1e9);
    }
    // The model is the drive made smaller: each second of it writes as much as one of the drive, so the drive takes so many times longer.
    const double times = of.gb * 1e9 / (static_cast<double>(drive->pages()) * 4096);
    for (double& at : fill.at) at *= times;
    return fill;
}

ReproducedPoint point_of(const FillDrive& of, std::string series, double gb, double y) {
    return {std::move(series), gb, {{"preset", of.preset}, {"gb_written", gb}}, y};
}

/// The results that the data file asks for: sizes, then speeds.
std::vector<ReproducedPoint> results_of(const FillDrive& of, const Fill& fill) {
    const auto phases = asked_of(of.id, "speed"); // a speed in each
    std::vector<ReproducedPoint> points{point_of(of, "SLC cache, GB", of.gb, fill.falls_between(phases[0], phases[1], phases[0] / 16))};
    if (phases.size() > 2) points.push_back(point_of(of, "before it folds, GB", of.gb, fill.falls_between(phases[1], phases[2], phases[0] / 16)));
    for (const double x : phases) points.push_back(point_of(of, "speed, GB/s", x, fill.speed_at(x)));
    points.push_back(point_of(of, "mean speed, GB/s", of.gb, fill.speed(0, steps_of_fill)));
    return points;
}

ExperimentRun::Result run_fill(const FillDrive& of, const RunContext& context) {
    const std::uint32_t scale = context.is_quick() ? 2 : 1;
    const auto fills = measure_points<Fill>(context.workers, 2, [&](std::size_t i) { return fill_in_order(of, scale << i); });
    if (!fills) return std::unexpected(fills.error());
    const Fill& fill = fills->front();
    Reproduction out;
    out.points = results_of(of, fill);
    Evidence both;
    for (const ReproducedPoint& p : results_of(of, fills->back())) both.over.push_back(p.ours);
    for (const ReproducedPoint& p : out.points) both.under.push_back(p.ours);
    const auto ratios = both.values();
    const auto [least, most] = std::ranges::minmax(ratios);
    out.claim(of.id, "half the space gives the same sizes and speeds", fmt::format("{:.3f} to {:.3f} of them", least, most), {both});
    constexpr std::size_t width = steps_of_fill / 40;
    for (std::size_t step = 0; step < steps_of_fill; step += width)
        out.points.push_back(point_of(of, "over what is written, GB/s", of.gb * (static_cast<double>(step) + width / 2.0) / steps_of_fill,
                                      fill.speed(step, step + width)));
    out.free_parameters = {{"preset of a fill", "flashlab presets NAME", "docs/fidelity.md", "the values marked as fitted"},
                           {"scale of a fill", fmt::format("blocks of 1 / {} of the preset's pages, and half of that", scale),
                            "GB are those of the drive: what the model wrote times how much smaller it is"},
                           {"load of a fill", "requests of 128 KiB, one at a time",
                            "the reviews: blocks of 1 MB, one thread; how their host splits them they do not say"}};
    return out;
}

} // namespace

ExperimentRun::Result run_dev_samsung_980pro(const RunContext& context) {
    return run_fill({"dev-samsung-980pro", "samsung-980pro-1t", 1000}, context);
}
ExperimentRun::Result run_dev_samsung_870qvo(const RunContext& context) {
    return run_fill({"dev-samsung-870qvo", "samsung-870qvo-4t", 4000}, context);
}
ExperimentRun::Result run_dev_adata_atom50(const RunContext& context) { return run_fill({"dev-adata-atom50", "adata-atom50-1t", 1000}, context); }
ExperimentRun::Result run_dev_lexar_nm800pro(const RunContext& context) {
    return run_fill({"dev-lexar-nm800pro", "lexar-nm800pro-2t", 2000}, context);
}

} // namespace flashlab

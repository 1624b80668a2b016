#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/random.h"
#include "ftl/memory_drive.h"
#include "tools/drive/device.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/experiments.h"
#include "tools/run/latency_recorder.h"

namespace flashlab {
namespace {

// How Haas et al. measured (PVLDB 18, 2025): the span written once in order, then at least four times over at random by requests of 4 KiB, 512 in
// flight; the last fifth counts. Latencies: the whole drive overwritten at random, then an open load of exponential gaps, 99 of 100 requests
// writes, beside one thread that waits for each of its requests, half of them reads.
constexpr std::uint32_t sectors_a_page = 8;
constexpr std::uint32_t pages_in_order = 128; ///< 512 KiB
constexpr std::uint32_t in_flight = 512;
constexpr std::uint32_t most_open = 448; ///< seven threads of 64: where the drive cannot keep up, the load waits
constexpr std::uint32_t overwrites = 4, overwrites_before_latencies = 3;

using Ends = std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>>;

/// A drive in memory, and the clock that lets it work between requests.
class DriveOfToday {
public:
    static std::expected<DriveOfToday, std::string> make(std::string_view preset_name, std::uint32_t scale) {
        const auto preset = find_device_preset(preset_name);
        ensure(preset.has_value(), "the drive has a preset of its name");
        SsdConfig config = preset->config;
        config.nand.geometry.pages_per_block /= scale; // as many blocks, each smaller
        config.nand.timing.block_erase /= scale;
        config.nand.factory_bad_per_million = 0;
        DriveOfToday made;
        auto drive = MemoryDrive::make(config, Payload::none, *made.nobody_);
        if (!drive) return std::unexpected(drive.error());
        made.drive_ = std::move(*drive);
        const auto recovered = made.ssd().recover(sim_start);
        if (!recovered) return std::unexpected(to_text(recovered.error()));
        made.wake_ = recovered->done;
        made.now = recovered->done;
        return made;
    }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] std::uint64_t pages() { return ssd().identify().sectors / sectors_a_page; }
    [[nodiscard]] std::uint64_t programmed_pages() const {
        std::uint64_t all = 0;
        for (const std::uint64_t n : drive_->array().counters().programs) all += n;
        return all;
    }
    /// When the request is answered. Requests are issued in the order of their times.
    std::expected<SimTime, std::string> write(std::uint64_t page, std::uint32_t pages, SimTime at) {
        pass(at);
        return told(ssd().write(Sector{page * sectors_a_page}, pages * sectors_a_page, {}, WriteDurability::volatile_ok, at));
    }
    std::expected<SimTime, std::string> read(std::uint64_t page, SimTime at) {
        pass(at);
        return told(ssd().read(Sector{page * sectors_a_page}, sectors_a_page, {}, at));
    }

    SimTime now; ///< the last request was issued then

private:
    std::expected<SimTime, std::string> told(const DeviceResult<SimTime>& done) {
        if (!done) return std::unexpected(to_text(done.error()));
        wake_ = std::min(wake_, *done); // what it left to do
        return *done;
    }
    void pass(SimTime to) {
        now = std::max(now, to);
        while (wake_ <= to) {
            const SimTime at = wake_;
            wake_ = std::max(ssd().tick(at), at + Duration{1});
        }
        ssd().settle(to);
    }

    std::unique_ptr<NullEventSink> nobody_ = std::make_unique<NullEventSink>();
    std::unique_ptr<MemoryDrive> drive_;
    SimTime wake_;
};

struct Throughput {
    double waf = 0;
    double writes_a_second = 0;
};

/// `next(i)`: the first page of request i of `requests`, each of so many pages; the requests from `from` on count.
template <class Next>
std::expected<Throughput, std::string> write_closed(DriveOfToday& drive, std::uint64_t requests, std::uint32_t pages, std::uint32_t depth,
                                                    std::uint64_t from, const Next& next) {
    Ends ends;
    std::uint64_t programmed = 0;
    SimTime begin = drive.now;
    for (std::uint64_t i = 0; i < requests; ++i) {
        SimTime at = drive.now;
        if (ends.size() == depth) {
            at = std::max(at, ends.top());
            ends.pop();
        }
        if (i == from) {
            programmed = drive.programmed_pages();
            begin = at;
        }
        const auto done = drive.write(next(i), pages, at);
        if (!done) return std::unexpected(done.error());
        ends.push(*done);
    }
    const double counted = static_cast<double>(requests - from);
    const double seconds = static_cast<double>((drive.now - begin).count()) / 1e9;
    return Throughput{static_cast<double>(drive.programmed_pages() - programmed) / (counted * pages), counted / seconds};
}

std::expected<Throughput, std::string> write_in_order(DriveOfToday& drive, std::uint64_t pages) {
    const std::uint64_t requests = pages / pages_in_order;
    return write_closed(drive, requests, pages_in_order, 32, requests / 5, [](std::uint64_t i) { return i * pages_in_order; });
}

std::expected<Throughput, std::string> write_at_random(DriveOfToday& drive, std::uint64_t span, std::uint32_t times, std::uint64_t seed) {
    Random random{seed};
    return write_closed(drive, times * span, 1, in_flight, times * span * 4 / 5, [&](std::uint64_t) { return random.below(span); });
}

struct Latencies {
    LatencyRecorder read, write;
    double read_sum_us = 0, write_sum_us = 0;
};

/// An open load of so many requests a second for `seconds`, and the thread that waits.
std::expected<Latencies, std::string> latencies_beside(DriveOfToday& drive, double rate, double seconds, std::uint64_t seed) {
    Random gaps{seed}, pages{seed + 1}, kinds{seed + 2};
    const std::uint64_t span = drive.pages();
    const auto gap = [&] { return Duration{static_cast<std::int64_t>(-std::log(1 - gaps.unit()) * 1e9 / rate)}; };
    const SimTime begin = drive.now + Duration{1'000'000}, stop = begin + Duration{static_cast<std::int64_t>(seconds * 1e9)};
    const SimTime counts_from = begin + (stop - begin) / 4;
    SimTime arrival = begin + gap(), waiting_thread = begin;
    Ends open;
    Latencies out;
    while (std::min(arrival, waiting_thread) < stop) {
        while (!open.empty() && open.top() <= std::min(arrival, waiting_thread)) open.pop();
        const SimTime next_open = open.size() < most_open ? arrival : std::max(arrival, open.top());
        const bool is_open = next_open <= waiting_thread;
        const SimTime at = std::max(drive.now, is_open ? next_open : waiting_thread);
        const bool reads = kinds.chance(is_open ? 1 : 50, 100);
        const auto done = reads ? drive.read(pages.below(span), at) : drive.write(pages.below(span), 1, at);
        if (!done) return std::unexpected(done.error());
        if (is_open) {
            if (open.size() == most_open) open.pop();
            open.push(*done);
            arrival += gap();
            continue;
        }
        if (at >= counts_from) {
            (reads ? out.read : out.write).add(*done - at);
            (reads ? out.read_sum_us : out.write_sum_us) += static_cast<double>((*done - at).count()) / 1e3;
        }
        waiting_thread = *done;
    }
    return out;
}

/// What the data file asks of a drive: the values of x of a series.
std::vector<double> asked_of(std::string_view id, std::string_view series) {
    std::set<double> xs;
    for (const QuotedValue& value : quoted_values())
        if (value.id == id && value.series.starts_with(series)) xs.insert(value.x);
    return {xs.begin(), xs.end()};
}

struct Job {
    enum class Kind : std::uint8_t { in_order, random, latencies } kind;
    double x;
};

std::expected<std::vector<ReproducedPoint>, std::string> measure_job(std::string_view preset, std::uint32_t scale, const Job& job, bool is_quick) {
    auto drive = DriveOfToday::make(preset, scale);
    if (!drive) return std::unexpected(drive.error());
    std::vector<ReproducedPoint> points;
    const auto add = [&](std::string series, double ours) { points.push_back({std::move(series), job.x, {}, ours}); };
    const auto percent_of = [&](double percent) { return static_cast<std::uint64_t>(static_cast<double>(drive->pages()) * percent / 100); };
    const auto filled = write_in_order(*drive, job.kind == Job::Kind::random ? percent_of(job.x) : drive->pages());
    if (!filled) return std::unexpected(filled.error());
    if (job.kind == Job::Kind::in_order) {
        const auto again = write_in_order(*drive, drive->pages());
        if (!again) return std::unexpected(again.error());
        add("writes in order, WAF", again->waf);
        add("writes in order, MB/s", again->writes_a_second * pages_in_order * 4096 / 1e6);
        return points;
    }
    if (job.kind == Job::Kind::random) {
        const auto random = write_at_random(*drive, percent_of(job.x), overwrites, 1);
        if (!random) return std::unexpected(random.error());
        add("random writes, WAF", random->waf);
        add("random writes, thousand a second", random->writes_a_second / 1e3);
        return points;
    }
    if (const auto random = write_at_random(*drive, drive->pages(), overwrites_before_latencies, 1); !random) return std::unexpected(random.error());
    const auto seen = latencies_beside(*drive, job.x * 1e3, is_quick ? 2 : 8, 7);
    if (!seen) return std::unexpected(seen.error());
    const auto add_all = [&](std::string_view op, const LatencyRecorder& of, double sum_us) {
        add(fmt::format("{}, mean, us", op), sum_us / static_cast<double>(of.count()));
        for (const auto& [name, permille] : {std::pair{"p50", 500u}, std::pair{"p99", 990u}, std::pair{"p99.9", 999u}})
            add(fmt::format("{}, {}, us", op, name), static_cast<double>(of.permille_ns(permille)) / 1e3);
    };
    add_all("read", seen->read, seen->read_sum_us);
    add_all("write", seen->write, seen->write_sum_us);
    return points;
}

ExperimentRun::Result run_drive(std::string_view id, std::string_view preset, const RunContext& context) {
    std::vector<Job> jobs;
    for (const double x : asked_of(id, "writes in order")) jobs.push_back({Job::Kind::in_order, x});
    for (const double x : asked_of(id, "random writes")) jobs.push_back({Job::Kind::random, x});
    for (const double x : asked_of(id, "read,")) jobs.push_back({Job::Kind::latencies, x});
    const std::uint32_t scale = context.is_quick() ? 2 : 1;
    const auto measured = measure_points<std::vector<ReproducedPoint>>(
        context.workers, jobs.size(), [&](std::size_t i) { return measure_job(preset, scale, jobs[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    Reproduction out;
    for (const auto& points : *measured) std::ranges::copy(points, std::back_inserter(out.points));
    std::ranges::stable_sort(out.points, {}, &ReproducedPoint::series);
    out.free_parameters = {
        {"preset", fmt::format("flashlab info --preset {}", preset), "a drive of today's kind: its chips by the data sheets' orders of magnitude",
         "the values marked as fitted"},
        {"scale", fmt::format("blocks of 1 / {} of the preset's pages", scale), "space is scaled, rates are not: all dies and blocks are there"},
        {"load", fmt::format("at most {} requests of the open load at once", most_open),
         "the source's threads have some bound, and do not say which"}};
    return out;
}

// One sequential fill of an erased drive, as reviews plot it: requests of 128 KiB, one at a time. That the first phase of drives on links of 7 GB/s
// is 3.5 to 4.5 GB/s says that few are in flight.
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

/// The results that the data file asks for: sizes, then speeds.
std::vector<ReproducedPoint> results_of(const FillDrive& of, const Fill& fill) {
    const auto phases = asked_of(of.id, "speed"); // a speed in each
    std::vector<ReproducedPoint> points{{"SLC cache, GB", of.gb, {}, fill.falls_between(phases[0], phases[1], phases[0] / 16)}};
    if (phases.size() > 2) points.push_back({"before it folds, GB", of.gb, {}, fill.falls_between(phases[1], phases[2], phases[0] / 16)});
    for (const double x : phases) points.push_back({"speed, GB/s", x, {}, fill.speed_at(x)});
    points.push_back({"mean speed, GB/s", of.gb, {}, fill.speed(0, steps_of_fill)});
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
        out.points.push_back(
            {"over what is written, GB/s", of.gb * (static_cast<double>(step) + width / 2.0) / steps_of_fill, {}, fill.speed(step, step + width)});
    out.free_parameters = {{"preset of a fill", "flashlab presets NAME", "docs/fidelity.md", "the values marked as fitted"},
                           {"scale of a fill", fmt::format("blocks of 1 / {} of the preset's pages, and half of that", scale),
                            "GB are those of the drive: what the model wrote times how much smaller it is"},
                           {"load of a fill", "requests of 128 KiB, one at a time", "the reviews do not say"}};
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
ExperimentRun::Result run_dev_micron_7450(const RunContext& context) { return run_drive("dev-micron-7450", "micron-7450-max", context); }
ExperimentRun::Result run_dev_solidigm_p5520(const RunContext& context) { return run_drive("dev-solidigm-p5520", "solidigm-p5520", context); }

} // namespace flashlab

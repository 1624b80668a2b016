#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/reproduce/drive_of_today.h"
#include "tools/reproduce/experiments.h"
#include "tools/run/latency_recorder.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {
namespace {

// How Haas et al. measured (PVLDB 18, 2025): the span written once in order, then at least four times over at random by requests of 4 KiB, 512 in
// flight; the last fifth counts. Skewed loads go to the whole drive. Latencies: the whole drive overwritten at random, then an open load of
// exponential gaps, 99 of 100 requests writes, beside one thread that waits for each of its requests, half of them reads.
constexpr std::uint32_t pages_in_order = 128; ///< 512 KiB
constexpr std::uint32_t in_flight = 512;
constexpr std::uint32_t most_open = 448; ///< seven threads of 64: where the drive cannot keep up, the load waits
constexpr std::uint32_t overwrites = 4, overwrites_before_latencies = 3;

using Ends = std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>>;

struct Throughput {
    double waf = 0;
    double a_second = 0;
};

/// `issue(i, at)` issues request i of `requests` and says when it is answered; the requests from `from` on count.
template <class Issue>
std::expected<Throughput, std::string> run_closed(DriveOfToday& drive, std::uint64_t requests, std::uint32_t pages, std::uint32_t depth,
                                                  std::uint64_t from, const Issue& issue) {
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
        const auto done = issue(i, at);
        if (!done) return std::unexpected(done.error());
        ends.push(*done);
    }
    const double counted = static_cast<double>(requests - from);
    const double seconds = static_cast<double>((drive.now - begin).count()) / 1e9;
    return Throughput{static_cast<double>(drive.programmed_pages() - programmed) / (counted * pages), counted / seconds};
}

/// `next(i)`: the first page of write i, each of so many pages.
template <class Next>
std::expected<Throughput, std::string> write_closed(DriveOfToday& drive, std::uint64_t requests, std::uint32_t pages, std::uint32_t depth,
                                                    std::uint64_t from, const Next& next) {
    return run_closed(drive, requests, pages, depth, from, [&](std::uint64_t i, SimTime at) { return drive.write(next(i), pages, at); });
}

std::expected<Throughput, std::string> read_at_random(DriveOfToday& drive, std::uint32_t depth, std::uint64_t seed) {
    Random random{seed};
    const std::uint64_t reads = drive.pages() / 4;
    return run_closed(drive, reads, 1, depth, reads / 5, [&](std::uint64_t, SimTime at) { return drive.read(random.below(drive.pages()), at); });
}

std::expected<Throughput, std::string> write_in_order(DriveOfToday& drive, std::uint64_t pages) {
    const std::uint64_t requests = pages / pages_in_order;
    return write_closed(drive, requests, pages_in_order, 32, requests / 5, [](std::uint64_t i) { return i * pages_in_order; });
}

std::expected<Throughput, std::string> write_at_random(DriveOfToday& drive, std::uint64_t span, std::uint32_t times, std::uint64_t seed) {
    Random random{seed};
    return write_closed(drive, times * span, 1, in_flight, times * span * 4 / 5, [&](std::uint64_t) { return random.below(span); });
}

/// Skewed: the popular pages are scattered over the drive.
std::expected<Throughput, std::string> write_skewed(DriveOfToday& drive, const DistributionSpec& spec, std::uint64_t seed) {
    Random random{seed};
    const std::uint64_t pages = drive.pages();
    RandomPlaces places{spec, pages};
    return write_closed(drive, overwrites * pages, 1, in_flight, overwrites * pages * 4 / 5, [&](std::uint64_t) { return places.draw(random); });
}

/// Some zones of 8 GiB of the drive's 745 are written in order beside each other; one that is full is done with, and another, drawn, is trimmed.
std::expected<Throughput, std::string> write_zones(DriveOfToday& drive, std::uint32_t at_once, std::uint64_t seed) {
    constexpr std::uint64_t drive_gib = 745, zone_gib = 8;
    Random random{seed};
    const std::uint64_t zone = drive.pages() * zone_gib / drive_gib / pages_in_order * pages_in_order, zones = drive.pages() / zone;
    std::set<std::uint64_t> open;
    struct Writer {
        std::uint64_t next = 0, end = 0;
    };
    std::vector<Writer> writers(at_once);
    const std::uint64_t requests = overwrites * drive.pages() / pages_in_order;
    std::string failed;
    const auto written = write_closed(drive, requests, pages_in_order, 32, requests * 4 / 5, [&](std::uint64_t) {
        Writer& writer = writers[random.below(at_once)];
        if (writer.next == writer.end) {
            if (writer.end != 0) open.erase((writer.end - 1) / zone);
            std::uint64_t fresh = random.below(zones);
            while (!open.insert(fresh).second) fresh = random.below(zones);
            if (const auto trimmed = drive.trim(fresh * zone, zone, drive.now); !trimmed) failed = trimmed.error();
            writer = {fresh * zone, (fresh + 1) * zone};
        }
        return std::exchange(writer.next, writer.next + pages_in_order);
    });
    return failed.empty() ? written : std::unexpected(failed);
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

struct Job {
    enum class Kind : std::uint8_t { in_order, random, zipf, hot, zones, reads, latencies } kind;
    double x;
};
struct JobSeries {
    std::string_view begins; ///< its series in the data file do so
    Job::Kind kind;
    const char* x; ///< what x is
};
constexpr std::array jobs_of_series{JobSeries{"writes in order", Job::Kind::in_order, "percent_used"},
                                    JobSeries{"random writes", Job::Kind::random, "percent_used"},
                                    JobSeries{"zipf", Job::Kind::zipf, "theta"},
                                    JobSeries{"hot", Job::Kind::hot, "percent_of_writes_to_the_hot"},
                                    JobSeries{"zones", Job::Kind::zones, "open_zones"},
                                    JobSeries{"random reads", Job::Kind::reads, "in_flight"},
                                    JobSeries{"read,", Job::Kind::latencies, "thousand_a_second"}};
constexpr std::string_view rate_series = "random writes, thousand a second", zipf_series = "zipf, times uniform's writes a second",
                           hot_series = "hot, times uniform's writes a second";

std::expected<std::vector<ReproducedPoint>, std::string> measure_job(std::string_view preset, std::uint32_t scale, const Job& job, bool is_quick) {
    auto drive = DriveOfToday::make(preset, scale);
    if (!drive) return std::unexpected(drive.error());
    std::vector<ReproducedPoint> points;
    const char* x = std::ranges::find(jobs_of_series, job.kind, &JobSeries::kind)->x;
    const auto add = [&](std::string series, double ours) { points.push_back({std::move(series), job.x, {{"preset", preset}, {x, job.x}}, ours}); };
    const auto percent_of = [&](double percent) { return static_cast<std::uint64_t>(static_cast<double>(drive->pages()) * percent / 100); };
    const auto filled = write_in_order(*drive, job.kind == Job::Kind::random ? percent_of(job.x) : drive->pages());
    if (!filled) return std::unexpected(filled.error());
    if (job.kind == Job::Kind::in_order) {
        const auto again = write_in_order(*drive, drive->pages());
        if (!again) return std::unexpected(again.error());
        add("writes in order, WAF", again->waf);
        add("writes in order, MB/s", again->a_second * pages_in_order * 4096 / 1e6);
        return points;
    }
    if (job.kind == Job::Kind::random) {
        const auto random = write_at_random(*drive, percent_of(job.x), overwrites, 1);
        if (!random) return std::unexpected(random.error());
        add("random writes, WAF", random->waf);
        add(std::string{rate_series}, random->a_second / 1e3);
        return points;
    }
    if (job.kind == Job::Kind::zipf || job.kind == Job::Kind::hot) { // the share x of the writes goes to the share 1 - x of the pages
        const bool is_zipf = job.kind == Job::Kind::zipf;
        const DistributionSpec spec{is_zipf ? DistributionKind::zipf : DistributionKind::hotspot, is_zipf ? job.x : 1 - job.x, is_zipf ? 0 : job.x};
        const auto skewed = write_skewed(*drive, spec, 1);
        if (!skewed) return std::unexpected(skewed.error());
        add(std::string{is_zipf ? zipf_series : hot_series}, skewed->a_second / 1e3);
        return points;
    }
    if (job.kind == Job::Kind::zones) {
        const auto zoned = write_zones(*drive, static_cast<std::uint32_t>(job.x), 1);
        if (!zoned) return std::unexpected(zoned.error());
        add("zones, WAF", zoned->waf);
        return points;
    }
    if (job.kind == Job::Kind::reads) {
        const auto reads = read_at_random(*drive, static_cast<std::uint32_t>(job.x), 1);
        if (!reads) return std::unexpected(reads.error());
        add("random reads, thousand a second", reads->a_second / 1e3);
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
    for (const JobSeries& of : jobs_of_series)
        for (const double x : asked_of(id, of.begins)) jobs.push_back({of.kind, x});
    const std::uint32_t scale = context.is_quick() ? 2 : 1;
    const auto measured = measure_points<std::vector<ReproducedPoint>>(
        context.workers, jobs.size(), [&](std::size_t i) { return measure_job(preset, scale, jobs[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    Reproduction out;
    for (const auto& points : *measured) std::ranges::copy(points, std::back_inserter(out.points));
    const auto uniform = std::ranges::find_if(out.points, [](const ReproducedPoint& p) { return p.series == rate_series && p.x == 100; });
    for (ReproducedPoint& p : out.points)
        if (p.series == zipf_series || p.series == hot_series) p.ours /= uniform->ours;
    std::ranges::stable_sort(out.points, {}, &ReproducedPoint::series);
    out.free_parameters = {
        {"preset", fmt::format("flashlab presets {}", preset), "a drive of today's kind: its chips by the data sheets' orders of magnitude",
         "the values marked as fitted"},
        {"scale", fmt::format("blocks of 1 / {} of the preset's pages", scale), "space is scaled, rates are not: all dies and blocks are there"},
        {"load", fmt::format("at most {} requests of the open load at once", most_open),
         "the source's threads have some bound, and do not say which"}};
    return out;
}

} // namespace

ExperimentRun::Result run_dev_micron_7450(const RunContext& context) { return run_drive("dev-micron-7450", "micron-7450-max", context); }
ExperimentRun::Result run_dev_solidigm_p5520(const RunContext& context) { return run_drive("dev-solidigm-p5520", "solidigm-p5520", context); }

} // namespace flashlab

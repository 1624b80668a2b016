#include "tools/grade/grade_figures.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <queue>

#include <fmt/format.h>
#include <malloc.h>

#include "base/log_linear_histogram.h"
#include "base/random.h"
#include "crash/crash_device.h"
#include "crash/seeded_outcomes.h"
#include "crash/tiny_devices.h"
#include "ftl/forwarding_ftl.h"
#include "tools/grade/stamped_pages.h"

namespace flashlab {

namespace {

constexpr std::uint32_t depth = 8; ///< requests in flight
constexpr std::uint32_t most_pages = StampedPages::most_pages;
constexpr std::uint32_t sectors_a_page = 4096 / sector_bytes;

std::uint64_t heap_in_use() {
    const struct mallinfo2 now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

/// Owns the scheme, and notes how much of the heap goes with it.
class Weighed final : public ForwardingFtl {
public:
    Weighed(std::unique_ptr<Ftl> real, std::uint64_t& bytes) : ForwardingFtl{*real}, real_{std::move(real)}, bytes_{bytes} {}
    ~Weighed() override {
        const std::uint64_t before = heap_in_use();
        real_.reset();
        const std::uint64_t after = heap_in_use();
        bytes_ = before > after ? before - after : 0;
    }

private:
    std::unique_ptr<Ftl> real_;
    std::uint64_t& bytes_;
};

/// 128 MiB of TLC on four channels, an eighth of it spare.
SsdConfig drive_of(const std::string& scheme, std::uint32_t channels, std::uint32_t blocks_per_plane) {
    SsdConfig c;
    c.nand.geometry = {.channels = channels,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 2,
                       .blocks_per_plane = blocks_per_plane,
                       .pages_per_block = 64,
                       .page_bytes = 4096,
                       .spare_bytes = 256,
                       .cell = CellType::tlc};
    c.nand.factory_bad_per_million = 0;
    c.ftl.reserved_permille = 125;
    c.ftl.scheme = scheme;
    return c;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

using After = StampedPages::After;

/// Every page of a drive.
std::expected<void, std::string> read_back(Ssd& ssd, StampedPages& stamped, std::uint32_t pages, SimTime now, After after) {
    const char* const when = after == After::loads ? "the loads" : "the power cuts";
    for (std::uint32_t page = 0; page < pages; ++page) {
        const auto done = ssd.read(Sector{std::uint64_t{page} * sectors_a_page}, sectors_a_page, stamped.to_read(1), now);
        if (!done) return std::unexpected(fmt::format("after {}, page {}: {}", when, page, describe(done.error())));
        now = *done;
        if (const std::string wrong = stamped.wrong(page, 1, after); !wrong.empty()) return std::unexpected(fmt::format("after {} {}", when, wrong));
    }
    return {};
}

/// A drive under loads.
class LoadedDrive {
public:
    LoadedDrive(Drive& drive, std::uint32_t pages, std::uint64_t seed) : drive_{drive}, pages_{pages}, random_{seed}, stamped_{pages} {}

    bool start() {
        const auto on = drive_.ssd().recover(sim_start);
        if (on) now_ = on->done;
        return on.has_value();
    }
    /// `next` says page, count and whether it is a read. The figures are of these requests alone.
    template <class Next>
    std::expected<LoadFigures, std::string> run(std::string name, std::uint64_t requests, Next next) {
        const std::uint64_t programs = programmed();
        const SimTime from = now_;
        const double cpu = cpu_seconds();
        std::uint64_t written = 0;
        LogLinearHistogram<5> latency;
        std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> in_flight;
        for (std::uint64_t i = 0; i < requests; ++i) {
            if (in_flight.size() == depth) {
                now_ = std::max(now_, in_flight.top());
                in_flight.pop();
            }
            if (now_ >= wake_) wake_ = drive_.ssd().tick(now_);
            const auto [page, count, reads] = next(random_);
            const Sector at{std::uint64_t{page} * sectors_a_page};
            const auto done = reads ? drive_.ssd().read(at, count * sectors_a_page, stamped_.to_read(count), now_)
                                    : drive_.ssd().write(at, count * sectors_a_page, stamped_.write(page, count), WriteDurability::volatile_ok, now_);
            if (!done) return std::unexpected(fmt::format("load {}, request {}: {}", name, i, describe(done.error())));
            if (const std::string wrong = reads ? stamped_.wrong(page, count, After::loads) : ""; !wrong.empty())
                return std::unexpected(fmt::format("load {}, request {}: {}", name, i, wrong));
            written += reads ? 0 : count;
            latency.add(static_cast<std::uint64_t>((*done - now_).count()));
            in_flight.push(*done);
            drive_.ssd().settle(now_);
        }
        for (; !in_flight.empty(); in_flight.pop()) now_ = std::max(now_, in_flight.top());
        const auto flushed = drive_.ssd().flush(now_); // what was answered before it was done is done now, and its time counts
        if (!flushed) return std::unexpected(fmt::format("load {}, its flush: {}", name, describe(flushed.error())));
        now_ = *flushed;
        stamped_.flushed();
        LoadFigures f{.name = std::move(name)};
        f.waf = written == 0 ? 0 : static_cast<double>(programmed() - programs) / static_cast<double>(written);
        f.iops = static_cast<double>(requests) / (static_cast<double>((now_ - from).count()) / 1e9);
        f.p99_us = static_cast<double>(latency.permille(990)) / 1e3;
        f.cpu_ns = (cpu_seconds() - cpu) * 1e9 / static_cast<double>(requests);
        return f;
    }
    /// An eighth is given back, in runs: a map of this size has to forget, too.
    std::expected<void, std::string> trim_some() {
        for (std::uint32_t left = pages_ / 8, count = 0; left > 0; left -= count) {
            const auto page = static_cast<std::uint32_t>(random_.below(pages_));
            count = static_cast<std::uint32_t>(1 + random_.below(std::min({most_pages, left, pages_ - page})));
            const auto done = drive_.ssd().trim(Sector{std::uint64_t{page} * sectors_a_page}, std::uint64_t{count} * sectors_a_page, now_);
            if (!done) return std::unexpected(fmt::format("after the loads, a trim of page {}: {}", page, describe(done.error())));
            now_ = *done;
            stamped_.trimmed(page, count);
            drive_.ssd().settle(now_);
        }
        if (const std::uint64_t said = drive_.ftl().space().mapped_pages, is = stamped_.mapped();
            said != is && drive_.ftl().logical_page_bytes() == StampedPages::page_bytes)
            return std::unexpected(fmt::format("after the loads and trims, space() has {} mapped pages; {} are mapped", said, is));
        return {};
    }
    std::expected<void, std::string> read_back() { return flashlab::read_back(drive_.ssd(), stamped_, pages_, now_, After::loads); }
    [[nodiscard]] std::uint32_t pages() const { return pages_; }

private:
    [[nodiscard]] std::uint64_t programmed() const {
        std::uint64_t all = 0;
        for (const std::uint64_t n : drive_.array().counters().programs) all += n;
        return all;
    }
    Drive& drive_;
    std::uint32_t pages_;
    Random random_;
    StampedPages stamped_;
    SimTime now_ = sim_start, wake_ = sim_start;
};

struct Request {
    std::uint32_t page, count;
    bool reads;
};

std::expected<std::vector<LoadFigures>, std::string> run_loads(LoadedDrive& drive) {
    const std::uint32_t pages = drive.pages();
    const auto uniform = [&](Random& r) { return Request{static_cast<std::uint32_t>(r.below(pages)), 1, false}; };
    const auto skewed = [&](Random& r) { // nine of ten writes go to a tenth
        const std::uint32_t hot = std::max(1u, pages / 10);
        return Request{static_cast<std::uint32_t>(r.chance(9, 10) ? r.below(hot) : hot + r.below(pages - hot)), 1, false};
    };
    const auto mixed = [&](Random& r) { return Request{static_cast<std::uint32_t>(r.below(pages)), 1, r.chance(7, 10)}; };
    std::uint32_t at = 0;
    const auto in_order = [&](Random&) {
        if (at >= pages) at = 0;
        const std::uint32_t count = std::min(most_pages, pages - at);
        at += count;
        return Request{at - count, count, false};
    };
    const std::uint64_t a_fill = (pages + most_pages - 1) / most_pages;
    std::vector<LoadFigures> all;
    // Each load runs once without being counted, so that what it finds is its own doing.
    const auto add = [&](const char* name, std::uint64_t before, std::uint64_t requests, auto next) -> std::expected<void, std::string> {
        if (auto warm = drive.run(name, before, next); !warm) return std::unexpected(warm.error());
        auto counted = drive.run(name, requests, next);
        if (!counted) return std::unexpected(counted.error());
        all.push_back(std::move(*counted));
        return {};
    };
    if (auto done = add("sequential", a_fill, a_fill, in_order); !done) return std::unexpected(done.error());
    if (auto done = add("random", pages, pages, uniform); !done) return std::unexpected(done.error());
    if (auto done = add("skewed", pages, pages, skewed); !done) return std::unexpected(done.error());
    if (auto done = add("mixed", pages / 4, pages, mixed); !done) return std::unexpected(done.error());
    return all;
}

std::expected<void, std::string> measure_loads(const std::string& scheme, std::uint64_t seed, GradeFigures& f) {
    const auto config = with_enough_blocks(drive_of(scheme, 4, 64));
    if (!config) return std::unexpected("refuses the drive of the loads: " + config.error());
    const Geometry geometry = *Geometry::make(config->nand.geometry);
    const FtlPlan plan = *plan_ftl(*config, geometry);
    f.logical_pages = std::uint64_t{plan.logical_pages} * plan.logical_page_bytes / 4096;
    f.pram_bytes = plan.pram_bytes;
    f.spare_blocks = plan.spare_blocks;
    SsdConfig own = *config;
    own.pram.bytes = pram_bytes_of(plan);
    MemoryPageStore pages{geometry, Payload::keep}; // without, schemes keep in RAM what they have on flash, and would weigh more
    std::optional<MemoryPramStore> cells;
    if (plan.pram_bytes != 0) cells.emplace(own.pram.bytes);
    NullEventSink nobody;
    std::uint64_t weight = 0;
    DriveBase base{.pages = pages, .cells = cells ? &*cells : nullptr, .events = nobody};
    base.around_ftl = [&](std::unique_ptr<Ftl> real) { return std::make_unique<Weighed>(std::move(real), weight); };
    auto drive = Drive::assemble(own, base);
    if (!drive) return std::unexpected(drive.error().why);
    LoadedDrive loaded{**drive, static_cast<std::uint32_t>(f.logical_pages), seed};
    if (!loaded.start()) return std::unexpected("the recovery of a new drive fails");
    auto loads = run_loads(loaded);
    if (!loads) return std::unexpected(loads.error());
    f.loads = std::move(*loads);
    if (auto done = loaded.trim_some(); !done) return std::unexpected(done.error());
    if (auto right = loaded.read_back(); !right) return std::unexpected(right.error());
    drive->reset();
    f.ram_bytes = weight;
    return {};
}

std::expected<void, std::string> measure_recovery(const std::string& scheme, std::uint64_t seed, GradeFigures& f) {
    constexpr std::uint32_t cuts = 12, unflushed = 16;
    auto config = with_enough_blocks(drive_of(scheme, 1, 32));
    if (!config) return std::unexpected("refuses the drive of the recoveries: " + config.error());
    auto made = CrashDevice::make(*config, Payload::keep, UndoPolicy::keep);
    if (!made) return std::unexpected(made.error());
    CrashDevice& device = **made;
    Random random{seed};
    SimTime now = sim_start;
    auto on = device.power_on(now);
    if (!on) return std::unexpected(on.error());
    now = on->done;
    const auto pages = static_cast<std::uint32_t>(device.ssd().identify().sectors / sectors_a_page);
    StampedPages stamped{pages};
    const auto write = [&](std::uint32_t page) {
        const Sector at{std::uint64_t{page} * sectors_a_page};
        const auto done = device.ssd().write(at, sectors_a_page, stamped.write(page, 1), WriteDurability::volatile_ok, now);
        if (done) now = *done;
        device.ssd().settle(now);
        return done.has_value();
    };
    const auto flush = [&] {
        const auto done = device.ssd().flush(now);
        if (!done) return false;
        now = *done;
        stamped.flushed();
        return true;
    };
    for (std::uint32_t page = 0; page < pages; ++page)
        if (!write(page)) return std::unexpected("a write of the fill before the recoveries fails");
    if (!flush()) return std::unexpected("the flush of the fill before the recoveries fails");
    double sum = 0;
    for (std::uint32_t cut = 0; cut < cuts; ++cut) {
        for (std::uint32_t i = 0; i < pages / 8; ++i) { // the last few are not flushed
            if (!write(static_cast<std::uint32_t>(random.below(pages)))) return std::unexpected("a write before a power cut fails");
            if (i + 1 + unflushed == pages / 8 && !flush()) return std::unexpected("a flush before a power cut fails");
        }
        SeededCutOutcomes nand{random.next(), false};
        SeededPramCutOutcomes pram{random.next()};
        if (auto done = device.cut(now, nand, pram); !done) return std::unexpected(done.error());
        stamped.cut();
        now += Duration{1'000'000};
        on = device.power_on(now);
        if (!on) return std::unexpected("after a power cut: " + on.error());
        const double took = static_cast<double>((on->done - now).count()) / 1e3;
        sum += took;
        f.recovery_us_max = std::max(f.recovery_us_max, took);
        f.pages_scanned_max = std::max(f.pages_scanned_max, on->pages_scanned);
        now = on->done;
    }
    f.recovery_us_mean = sum / cuts;
    const auto down = device.ssd().shut_down(now);
    if (!down) return std::unexpected("a shutdown fails");
    device.power_off();
    now = *down + Duration{1'000'000};
    on = device.power_on(now);
    if (!on) return std::unexpected("after a shutdown: " + on.error());
    f.clean_start_us = static_cast<double>((on->done - now).count()) / 1e3;
    return read_back(device.ssd(), stamped, pages, on->done, After::power_cuts);
}

double mean_of(const std::vector<LoadFigures>& loads, double LoadFigures::*figure, bool with_sequential) {
    double logs = 0;
    int counted = 0;
    for (const LoadFigures& f : loads) {
        if (!with_sequential && f.name == "sequential") continue;
        logs += std::log(std::max(f.*figure, 1e-9));
        ++counted;
    }
    return counted == 0 ? 0 : std::exp(logs / counted);
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

} // namespace

double GradeFigures::waf() const { return mean_of(loads, &LoadFigures::waf, false); }
double GradeFigures::iops() const { return mean_of(loads, &LoadFigures::iops, true); }
double GradeFigures::ram_a_page() const {
    return logical_pages == 0 ? 0 : static_cast<double>(ram_bytes + pram_bytes) / static_cast<double>(logical_pages);
}

Json GradeFigures::to_json() const {
    Json each;
    for (const LoadFigures& f : loads)
        each.push(Json::object({{"load", f.name},
                                {"waf", rounded(f.waf)},
                                {"iops", rounded(f.iops)},
                                {"latency_us_p99", rounded(f.p99_us)},
                                {"cpu_ns_per_request", rounded(f.cpu_ns)}}));
    return Json::object({{"loads", each},
                         {"logical_pages", logical_pages},
                         {"ram_bytes", ram_bytes},
                         {"pram_bytes", pram_bytes},
                         {"spare_blocks", spare_blocks},
                         {"recovery_us_mean", rounded(recovery_us_mean)},
                         {"recovery_us_max", rounded(recovery_us_max)},
                         {"clean_start_us", rounded(clean_start_us)},
                         {"recovery_pages_scanned_max", pages_scanned_max}});
}

GradeFigures GradeFigures::of_json(const Json& json) {
    GradeFigures f;
    for (const Json& load : json["loads"].items())
        f.loads.push_back({.name = load["load"].text(),
                           .waf = load["waf"].real(),
                           .iops = load["iops"].real(),
                           .p99_us = load["latency_us_p99"].real(),
                           .cpu_ns = load["cpu_ns_per_request"].real()});
    f.logical_pages = json["logical_pages"].number();
    f.ram_bytes = json["ram_bytes"].number();
    f.pram_bytes = json["pram_bytes"].number();
    f.spare_blocks = json["spare_blocks"].number();
    f.recovery_us_mean = json["recovery_us_mean"].real();
    f.recovery_us_max = json["recovery_us_max"].real();
    f.clean_start_us = json["clean_start_us"].real();
    f.pages_scanned_max = json["recovery_pages_scanned_max"].number();
    return f;
}

std::expected<GradeFigures, std::string> measure_scheme(const std::string& scheme, std::uint64_t seed) {
    GradeFigures figures;
    if (auto done = measure_loads(scheme, seed, figures); !done) return std::unexpected(done.error());
    if (auto done = measure_recovery(scheme, seed, figures); !done) return std::unexpected(done.error());
    return figures;
}

} // namespace flashlab

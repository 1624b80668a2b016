#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "ftl/blocks/separation_policies.h"
#include "ftl/memory_drive.h"
#include "ftl/named.h"
#include "ftl/schemes/page_plan.h"
#include "tools/reproduce/experiments.h"

namespace flashlab {
namespace {

// A drive of one plane: its blocks are the units that a drive with placement handles erases as a whole. Only pages are counted, no time. 16 GiB of a
// drive of 2 TB are one of 128 units.
constexpr std::uint32_t all_units = 128, spare_permille = 125, handles = 4;
constexpr std::array<std::uint32_t, 4> other_units{32, 64, 256, 512};
constexpr std::uint32_t quick_unit_pages = 128, full_unit_pages = 1024;
constexpr std::uint32_t warm_fills = 4, measured_fills = 3;
constexpr std::uint64_t handles_seed = 6;

struct Isolation {
    const char* name;
    const char* separation;
    bool copies_apart;
};
constexpr std::array isolations{Isolation{"no handles", "none", true}, Isolation{"initially isolated", "host", false},
                                Isolation{"persistently isolated", "host", true}};

/// What dies together: objects of so many pages in areas of their own, one area a handle.
struct Tenant {
    double area;            ///< of what is used
    double writes;          ///< of the bytes written
    std::uint32_t quarters; ///< of a unit an object has; 0: a page
    bool is_ring;           ///< written in order, again and again
};
struct HandleLoad {
    std::string name;
    double used; ///< of the logical pages
    std::vector<Tenant> tenants;
    std::uint32_t units = all_units;
};

/// CacheLib: small objects in 4 % of the space at random, large ones in a log that goes round; half of the bytes each, which its paper does not say.
HandleLoad cache(double used) { return {fmt::format("cache, {:.0f} % used", used * 100), used, {{0.96, 0.5, 0, true}, {0.04, 0.5, 0, false}}}; }
/// Chunks that are replaced at random, in four areas that are written more and more seldom.
HandleLoad chunks(std::uint32_t quarters) {
    HandleLoad load{"chunks", 0.89, {}};
    for (const double rate : {8.0, 4.0, 2.0, 1.0}) load.tenants.push_back({0.25, rate / 15, quarters, false});
    return load;
}
constexpr std::array<std::uint32_t, 6> chunk_quarters{0, 1, 2, 4, 8, 16};
/// The cache's two, with more or less of the space written at random.
HandleLoad log_and_random(double random, std::uint32_t units) { return {"log", 0.89, {{1 - random, 0.5, 0, true}, {random, 0.5, 0, false}}, units}; }
constexpr std::array random_shares{0.04, 0.08, 0.16, 0.24, 0.32, 0.48, 0.64};
constexpr double share_over_units = 0.24;

class HandleRun {
public:
    static std::expected<double, std::string> waf(const HandleLoad& load, const Isolation& isolation, std::uint32_t unit_pages) {
        SsdConfig config;
        config.nand.geometry = {.channels = 1,
                                .chips_per_channel = 1,
                                .dies_per_chip = 1,
                                .planes_per_die = 1,
                                .blocks_per_plane = load.units,
                                .pages_per_block = unit_pages,
                                .page_bytes = 4096,
                                .spare_bytes = 64,
                                .cell = CellType::slc};
        config.nand.factory_bad_per_million = 0;
        config.ftl.scheme = "page_map";
        config.ftl.reserved_permille = spare_permille;
        config.ftl.separation = isolation.separation;
        for (const Option* option : find_named(separation_policies(), "host")->options) {
            if (option->key == "ftl.host_streams") config.ftl.options.put(*option, handles);
            if (option->key == "ftl.host_isolation") config.ftl.options.put(*option, isolation.copies_apart ? 1 : 0);
        }
        config.ftl.options.set(page_option::checkpoint_blocks, 1u << 30);
        NullEventSink nobody;
        auto drive = MemoryDrive::make(config, Payload::none, nobody);
        if (!drive) return std::unexpected(drive.error());
        return HandleRun{**drive, load, unit_pages}.measure();
    }

private:
    HandleRun(MemoryDrive& drive, const HandleLoad& load, std::uint32_t unit_pages) : drive_{drive}, load_{load} {
        const auto used = static_cast<std::uint32_t>(drive.ftl().logical_pages() * load.used);
        std::uint32_t first = 0;
        for (std::size_t i = 0; i < load.tenants.size(); ++i) {
            const Tenant& tenant = load.tenants[i];
            const std::uint32_t object = std::max(1u, tenant.quarters * unit_pages / 4);
            const std::uint32_t objects = std::max(1u, static_cast<std::uint32_t>(used * tenant.area) / object);
            areas_.push_back({first, objects, object, 0, StreamId{static_cast<std::uint16_t>(i)}, tenant.writes / object});
            weights_ += areas_.back().weight;
            first += objects * object;
        }
    }
    struct Area {
        std::uint32_t first, objects, object_pages, next;
        StreamId handle;
        double weight; ///< how often an object of it is written
    };

    std::expected<double, std::string> measure() {
        const auto recovered = drive_.ftl().recover(sim_start);
        if (!recovered) return std::unexpected(std::string{"the new drive does not start"});
        now_ = recovered->done;
        for (const Area& area : areas_)
            for (std::uint32_t i = 0; i < area.objects; ++i)
                if (auto written = write(area, i); !written) return std::unexpected(written.error());
        const std::uint64_t fill = pages_;
        if (auto warm = run(fill * warm_fills); !warm) return std::unexpected(warm.error());
        const std::uint64_t programs = programmed(), pages = pages_;
        if (auto done = run(fill * measured_fills); !done) return std::unexpected(done.error());
        return static_cast<double>(programmed() - programs) / static_cast<double>(pages_ - pages);
    }
    std::expected<void, std::string> run(std::uint64_t pages) {
        for (const std::uint64_t until = pages_ + pages; pages_ < until;) {
            // Drawn so that bytes, not objects, come in the shares of the load.
            std::size_t chosen = 0;
            double draw = static_cast<double>(random_.below(1u << 20)) / (1u << 20) * weights_;
            for (; chosen + 1 < areas_.size() && draw >= areas_[chosen].weight; ++chosen) draw -= areas_[chosen].weight;
            Area& area = areas_[chosen];
            const auto object = load_.tenants[chosen].is_ring ? area.next++ % area.objects : static_cast<std::uint32_t>(random_.below(area.objects));
            if (auto written = write(area, object); !written) return written;
        }
        return {};
    }
    std::expected<void, std::string> write(const Area& area, std::uint32_t object) {
        constexpr std::uint32_t at_once = 64;
        const std::uint32_t from = area.first + object * area.object_pages, end = from + area.object_pages;
        for (std::uint32_t lpn = from; lpn < end; lpn += at_once) {
            const auto done = drive_.ftl().write(Lpn{lpn}, std::min(at_once, end - lpn), {}, {now_, {Cause::user, no_event, area.handle}});
            if (!done) return std::unexpected(std::string{"a write failed"});
            now_ = std::max(now_, *done);
            drive_.ssd().settle(now_);
        }
        pages_ += area.object_pages;
        return {};
    }
    [[nodiscard]] std::uint64_t programmed() const {
        const auto& programs = drive_.array().counters().programs;
        return programs[static_cast<std::size_t>(Cause::user)] + programs[static_cast<std::size_t>(Cause::gc)];
    }

    MemoryDrive& drive_;
    const HandleLoad& load_;
    std::vector<Area> areas_;
    double weights_ = 0; ///< of all areas
    Random random_{handles_seed};
    SimTime now_ = sim_start;
    std::uint64_t pages_ = 0; ///< that the host has written
};

/// The write amplification of each load under each isolation, and what the figure says of it.
class Handles {
public:
    std::expected<Reproduction, std::string> run(const RunContext& context);

private:
    [[nodiscard]] double waf(std::size_t load, std::size_t isolation) const { return measured_.at(load * isolations.size() + isolation); }
    /// True: both figures of the PM9D3a within 15 %.
    [[nodiscard]] bool is_that_drive(std::size_t load) const {
        return std::abs(waf(load, 0) / 2.600 - 1) <= 0.15 && std::abs(waf(load, 1) / 1.425 - 1) <= 0.15;
    }
    [[nodiscard]] std::string all_of(std::size_t load) const {
        return fmt::format("{:.2f}, {:.2f}, {:.2f}", waf(load, 0), waf(load, 1), waf(load, 2));
    }
    void claim(std::string name, std::string ours, Evidence evidence) {
        out_.claim("beyond-handles", std::move(name), std::move(ours), {std::move(evidence)});
    }
    /// One curve an isolation, over `count` loads from `first` on. `point(i)`: x and the parameters.
    template <class Point>
    void add_curves(const char* name, std::size_t first, std::size_t count, const Point& point) {
        for (std::size_t n = 0; n < isolations.size(); ++n)
            for (std::size_t i = 0; i < count; ++i) {
                auto [x, params] = point(i);
                out_.points.push_back({fmt::format("{}: {}, WAF", name, isolations[n].name), x, std::move(params), waf(first + i, n)});
            }
    }
    void add_points();
    void judge_cache();
    void judge_chunks();
    void judge_shares();

    static constexpr std::size_t of_chunks = 2, of_shares = of_chunks + chunk_quarters.size(), of_units = of_shares + random_shares.size();
    std::vector<HandleLoad> loads_;
    std::vector<double> measured_;
    Reproduction out_;
};

void Handles::add_points() {
    using Point = std::pair<double, Json::Object>;
    add_curves("cache", 0, of_chunks, [&](std::size_t i) { return Point{loads_[i].used * 100, {{"used", loads_[i].used}}}; });
    add_curves("chunks", of_chunks, chunk_quarters.size(), [](std::size_t i) {
        return Point{chunk_quarters[i] / 4.0, {{"chunk_units", chunk_quarters[i] / 4.0}, {"used", 0.89}}};
    });
    add_curves("percent written at random", of_shares, random_shares.size(), [](std::size_t i) {
        return Point{random_shares[i] * 100, {{"random_share", random_shares[i]}, {"units", all_units}}};
    });
    add_curves("units of the drive", of_units, other_units.size(), [](std::size_t i) {
        return Point{static_cast<double>(other_units[i]), {{"random_share", share_over_units}, {"units", other_units[i]}}};
    });
}

void Handles::judge_cache() {
    for (std::size_t l = 0; l < of_chunks; ++l) {
        const std::string seen = fmt::format("{:.2f} without, {:.2f} initially and {:.2f} persistently isolated", waf(l, 0), waf(l, 1), waf(l, 2));
        claim(loads_[l].name + ": with handles", seen, {{waf(l, 1), waf(l, 2)}});
        claim(loads_[l].name + ": without", seen, {{waf(l, 0)}});
    }
}

void Handles::judge_chunks() {
    Evidence whole, small, mixing;
    double both = 0;
    std::string seen;
    for (std::size_t i = 0; i < chunk_quarters.size(); ++i) {
        const std::size_t l = of_chunks + i;
        if (chunk_quarters[i] >= 4) whole.over.push_back(waf(l, 2));
        if (chunk_quarters[i] == 0) small.over.push_back(waf(l, 2));
        mixing.over.push_back(waf(l, 1));
        mixing.under.push_back(waf(l, 2));
        both += is_that_drive(l) ? 1 : 0;
        seen += fmt::format("{}{} with {} units", i == 0 ? "" : "; ", all_of(l), chunk_quarters[i] / 4.0);
    }
    claim("chunks of a unit and more, persistently isolated", seen, whole);
    claim("chunks of a page: isolation does not help beyond what rates differ", seen, small);
    claim("copies that mix the handles cost more, at every size of chunk", seen, mixing);
    claim("some size of chunk gives a PM9D3a's 2.600 without and 1.425 initially isolated", seen, {{both}});
}

void Handles::judge_shares() {
    double both = 0;
    std::string seen;
    for (std::size_t i = 0; i < random_shares.size(); ++i) {
        both += is_that_drive(of_shares + i) ? 1 : 0;
        seen += fmt::format("{}{} at {:.0f} %", i == 0 ? "" : "; ", all_of(of_shares + i), random_shares[i] * 100);
    }
    claim("some share of what is written at random gives a PM9D3a's 2.600 without and 1.425 initially isolated", seen, {{both}});
}

std::expected<Reproduction, std::string> Handles::run(const RunContext& context) {
    const std::uint32_t unit_pages = context.is_quick() ? quick_unit_pages : full_unit_pages;
    loads_ = {cache(0.5), cache(1)};
    for (const std::uint32_t quarters : chunk_quarters) loads_.push_back(chunks(quarters));
    for (const double share : random_shares) loads_.push_back(log_and_random(share, all_units));
    for (const std::uint32_t units : other_units) loads_.push_back(log_and_random(share_over_units, units));
    auto measured = measure_points<double>(context.workers, loads_.size() * isolations.size(), [&](std::size_t i) {
        const HandleLoad& load = loads_[i / isolations.size()];
        return HandleRun::waf(load, isolations[i % isolations.size()], unit_pages * all_units / load.units);
    });
    if (!measured) return std::unexpected(measured.error());
    measured_ = std::move(*measured);
    add_points();
    judge_cache();
    judge_chunks();
    judge_shares();
    out_.free_parameters = {
        {"unit", "one of 128", "16 GiB of a drive of about 2 TB"},
        {"spare", "12.5 %", "drives that sell 1.88 TB of 2.2"},
        {"cache: bytes of small objects", "half", "the measurement does not say it"},
        {"chunks", "four areas, written as 8, 4, 2 and 1; 89 % used", "the measurement says how full the drive was, not what died together"},
        {"a log beside what is written at random",
         "4 to 64 % of the space at random, half of the bytes",
         "as above",
         {},
         "chunks alone gave no drive with both figures: handles cannot part what dies at random"}};
    return std::move(out_);
}

} // namespace

std::expected<Reproduction, std::string> run_beyond_handles(const RunContext& context) { return Handles{}.run(context); }

} // namespace flashlab

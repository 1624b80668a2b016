#include "tools/reproduce/hybrid_files.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/hftl_layout.h"
#include "tools/reproduce/hybrid_churn.h"

namespace flashlab {
namespace {

// Device: preset k9g8g08u0m with the FAT-like file system, as in figure 12. Load: hybrid_churn.h, around three quarters of the drive. A quick run
// takes a 16th of the drive and of the bytes.
constexpr std::uint64_t seed = 13;
constexpr std::uint64_t block_bytes = 128u * 2048u;
constexpr std::uint64_t cache_bytes = 1u << 20;
constexpr std::uint32_t scaling = 16;
constexpr HybridScheme full_hybrid = hybrid_schemes[3];

struct Scale {
    explicit Scale(RunLength length) : divisor{length == RunLength::quick ? scaling : 1} {}
    std::uint32_t divisor;
    [[nodiscard]] std::uint32_t blocks() const { return 4096 / divisor; }
    [[nodiscard]] std::uint64_t bytes(std::uint64_t full) const { return full / divisor; }
};

FatOptions options_of(bool deletes_pages) { return {.cached_sectors = 16, .data_cache_bytes = cache_bytes, .deletes_pages = deletes_pages}; }

std::uint64_t erases_of(HybridVolume& board) {
    const SampleEvent sample = board.device().device().ssd().sample(board.now());
    return std::accumulate(std::begin(sample.nand_erases), std::end(sample.nand_erases), std::uint64_t{0});
}

} // namespace

/// Figure 13: all four systems run the same calls on a drive that was in use before; LBFTL cannot be told of deleted pages.
std::expected<Reproduction, std::string> run_hy_fig13(RunLength length) {
    const Scale scale{length};
    Reproduction out;
    std::array<double, hybrid_schemes.size()> erases{};
    const std::uint64_t bytes = scale.bytes(std::uint64_t{2} << 30); // section 5.3: "about 2GB write operations"
    for (std::size_t s = 0; s < hybrid_schemes.size(); ++s) {
        const HybridScheme& scheme = hybrid_schemes[s];
        auto board = HybridVolume::make(scheme, {.blocks = scale.blocks()}, options_of(scheme.ftl == "hftl"));
        if (!board) return std::unexpected(board.error());
        FileChurn churn{*board, scale.blocks() * block_bytes * 3 / 4, seed};
        if (auto filled = churn.fill(); !filled) return std::unexpected(filled.error());
        // Until every block of the drive has been written once.
        if (auto aged = churn.run(scale.blocks() * block_bytes / 2); !aged) return std::unexpected(aged.error());
        const std::uint64_t before = erases_of(*board);
        if (auto done = churn.run(bytes); !done) return std::unexpected(done.error());
        erases[s] = static_cast<double>(erases_of(*board) - before);
        out.points.push_back({fmt::format("{}, erases", scheme.name),
                              static_cast<double>(bytes),
                              {{"ftl", scheme.ftl}, {"fsms", scheme.has_fsms}, {"bytes_written", bytes}},
                              erases[s]});
    }
    for (std::size_t s = 1; s < hybrid_schemes.size(); ++s)
        out.points.push_back({fmt::format("{} over log_block, times", hybrid_schemes[s].name),
                              1,
                              {{"ftl", hybrid_schemes[s].ftl}, {"fsms", hybrid_schemes[s].has_fsms}, {"bytes_written", bytes}},
                              erases[s] / erases[0]});
    out.claims.push_back({"hftl-FSMS erases at least 40 % less than log_block",
                          fmt::format("{:+.0f} %: {:.0f} of {:.0f} blocks", 100 * (erases[3] / erases[0] - 1), erases[3], erases[0]),
                          erases[3] <= 0.6 * erases[0]});
    out.claims.push_back({"FSMS and hftl each lower the erase count",
                          fmt::format("FSMS {:+.0f} %, hftl {:+.0f} %", 100 * (erases[1] / erases[0] - 1), 100 * (erases[2] / erases[0] - 1)),
                          erases[1] < erases[0] && erases[2] < erases[0]});
    return out;
}

/// Figure 3: how many words of 256 a metadata write changes, counted by the PRAM filter under the same load. Less than a second, so never scaled: on
/// a smaller drive the upper words of all cluster numbers would be zero, and a short run would see the deletes of the fill's files alone.
std::expected<Reproduction, std::string> run_hy_fig3(RunLength) {
    auto board = HybridVolume::make(full_hybrid, {}, options_of(true));
    if (!board) return std::unexpected(board.error());
    FileChurn churn{*board, board->volume().bytes_free() * 3 / 4, seed};
    if (auto filled = churn.fill(); !filled) return std::unexpected(filled.error());
    board->filter()->forget_changed_words();
    if (auto done = churn.run(std::uint64_t{1} << 30); !done) return std::unexpected(done.error());
    const auto& writes = board->filter()->changed_words();
    const auto total = static_cast<double>(std::accumulate(writes.begin(), writes.end(), std::uint64_t{0}));
    Reproduction out;
    const auto below = [&](std::size_t words) {
        return static_cast<double>(std::accumulate(writes.begin(), writes.begin() + static_cast<std::ptrdiff_t>(words), std::uint64_t{0})) / total;
    };
    for (const std::size_t words : {2u, 5u, 10u, 25u, 50u, 100u, 150u, 200u, 257u})
        out.points.push_back({"share of writes that change fewer words", static_cast<double>(words), {{"sector_words", 256}}, below(words)});
    double mean = 0;
    for (std::size_t words = 0; words < writes.size(); ++words) mean += static_cast<double>(writes[words] * words) / total;
    out.points.push_back({"mean share of a sector that is changed", 256, {{"sector_words", 256}}, mean / 256});
    out.claims.push_back({"70 to 90 % of metadata writes change fewer than 25 of 256 words", fmt::format("{:.0f} %", 100 * below(25)),
                          below(25) >= 0.7 && below(25) <= 0.9});
    out.claims.push_back({"on average 10 to 22 % of a metadata sector are changed", fmt::format("{:.0f} %", 100 * mean / 256),
                          mean / 256 >= 0.10 && mean / 256 <= 0.22});
    return out;
}

/// Figure 9: nearly full, hFTL alone; what reserved blocks and logical-page-delete do to the speed of writes.
std::expected<Reproduction, std::string> run_hy_fig9(RunLength length) {
    const Scale scale{length};
    Reproduction out;
    constexpr std::uint64_t level_percent = 85; // free: the paper says "almost close to 100%"
    constexpr std::array<std::uint32_t, 5> reserves{0, 25, 50, 75, 100};
    std::array<std::array<double, reserves.size()>, 2> speeds{};
    for (const bool deletes : {false, true})
        for (std::size_t r = 0; r < reserves.size(); ++r) {
            auto board = HybridVolume::make(hybrid_schemes[2], {.blocks = scale.blocks(), .reserved_permille = reserves[r]}, options_of(deletes));
            if (!board) return std::unexpected(board.error());
            FileChurn churn{*board, board->volume().bytes_free() / 100 * level_percent, seed};
            if (auto filled = churn.fill(); !filled) return std::unexpected(filled.error());
            if (auto aged = churn.run(scale.bytes(std::uint64_t{1} << 30)); !aged) return std::unexpected(aged.error());
            const SimTime begin = board->now();
            const std::uint64_t before = churn.written();
            if (auto done = churn.run(scale.bytes(std::uint64_t{512} << 20)); !done) return std::unexpected(done.error());
            const double speed = static_cast<double>(churn.written() - before) * 1e3 / static_cast<double>((board->now() - begin).count());
            speeds[deletes ? 1 : 0][r] = speed;
            out.points.push_back({fmt::format("{} logical-page-delete, MB/s", deletes ? "with" : "without"),
                                  0.1 * reserves[r],
                                  {{"reserved_share", 0.001 * reserves[r]}, {"deletes_pages", deletes}},
                                  speed});
        }
    const auto& [without, with] = speeds;
    const double gain = with.back() / with.front();
    out.points.push_back({"with logical-page-delete, 10 % over 0 % reserved, times", 10, {{"reserved_share", 0.1}, {"deletes_pages", true}}, gain});
    bool helps = true;
    for (std::size_t r = 0; r < reserves.size(); ++r) helps = helps && with[r] > without[r];
    out.claims.push_back({"logical-page-delete helps at every reserve",
                          fmt::format("x{:.2f} at 0 %, x{:.2f} at 10 %", with.front() / without.front(), with.back() / without.back()), helps});
    out.claims.push_back(
        {"with it, 10 % reserved is 13 to 31 % faster than 0 %", fmt::format("{:+.0f} %", 100 * (gain - 1)), gain >= 1.13 && gain <= 1.31});
    const double kept = with[2] / with.back();
    out.claims.push_back({"with it, 5 % reserved is enough (within 10 % of 10 % reserved)", fmt::format("{:+.0f} %", 100 * (kept - 1)), kept >= 0.9});
    return out;
}

/// Figure 14: bytes of PRAM in use on 1 GB. Logs apart, as the paper does not count them.
std::expected<Reproduction, std::string> run_hy_fig14(RunLength) {
    Reproduction out;
    constexpr double mebi = 1 << 20;
    const auto plan = HybridDevice::plan({});
    if (!plan) return std::unexpected(plan.error());
    const auto layout = hybrid_layout(plan->logical_bytes);
    if (!layout) return std::unexpected(layout.error());
    const auto add = [&](std::string series, std::string_view what, double bytes) {
        out.points.push_back({std::move(series), 1, {{"what", what}}, bytes / mebi});
        return bytes / mebi;
    };
    std::array<double, 3> tables{};
    const auto geometry = Geometry::make(plan->config.ssd.nand.geometry);
    ensure(geometry.has_value(), "a plan's geometry is valid");
    std::uint64_t log_bytes = 0;
    for (const std::uint32_t unit : {1u, 2u, 4u}) {
        const auto with_unit = HybridDevice::plan({.mapping_unit_pages = unit});
        if (!with_unit) return std::unexpected(with_unit.error());
        const HftlLayout hftl = HftlLayout::make(0, with_unit->ftl.logical_pages, UnitGeometry{*geometry, unit});
        const auto bytes = static_cast<double>(hftl.bytes - hftl.ring.bytes);
        log_bytes = hftl.ring.bytes;
        tables[unit / 2] = add(unit == 1 ? "hftl, MiB" : fmt::format("hftl with mapping units of {} pages, MiB", unit), "tables", bytes);
    }
    const double fsms = add("log_block-FSMS, MiB", "file system metadata", static_cast<double>(layout->metadata_bytes()));
    add("hftl-FSMS, MiB", "tables and file system metadata", (tables[0] + fsms) * mebi);
    add("hftl's redo log, MiB", "log", static_cast<double>(log_bytes));
    out.claims.push_back({"hftl takes 1.84 to 2.50 MB", fmt::format("{:.2f} MiB", tables[0]), tables[0] >= 1.84 && tables[0] <= 2.50});
    out.claims.push_back({"FSMS takes 4.65 to 6.29 MB", fmt::format("{:.2f} MiB", fsms), fsms >= 4.65 && fsms <= 6.29});
    out.claims.push_back({"larger mapping units halve and quarter the map",
                          fmt::format("{:.2f}, {:.2f}, {:.2f} MiB", tables[0], tables[1], tables[2]),
                          tables[1] < 0.6 * tables[0] && tables[2] < 0.4 * tables[0]});
    return out;
}

} // namespace flashlab

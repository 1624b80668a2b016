#include "tools/reproduce/hybrid_files.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/hftl_layout.h"
#include "tools/reproduce/hybrid_churn.h"
#include "tools/reproduce/hybrid_parameters.h"

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
    out.claim("hy-fig13", "FSMS and hftl each lower the erase count",
              fmt::format("FSMS {:+.0f} %, hftl {:+.0f} %, both {:+.0f} %: {:.0f} of {:.0f} blocks", 100 * (erases[1] / erases[0] - 1),
                          100 * (erases[2] / erases[0] - 1), 100 * (erases[3] / erases[0] - 1), erases[3], erases[0]),
              {{{erases[1], erases[2]}, {erases[0], erases[0]}}});
    out.free_parameters = hybrid_churn_parameters();
    out.free_parameters.push_back({"level", "three quarters of the drive, after half a drive of the same load", "not given"});
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
        out.points.push_back(
            {"share of writes that change fewer words", static_cast<double>(words), {{"words", words}, {"sector_words", 256}}, below(words)});
    double mean = 0;
    for (std::size_t words = 0; words < writes.size(); ++words) mean += static_cast<double>(writes[words] * words) / total;
    out.points.push_back({"mean share of a sector that is changed", 256, {{"words", 256}, {"sector_words", 256}}, mean / 256});
    out.free_parameters = hybrid_churn_parameters();
    return out;
}

namespace {

/// MB/s of file data written, on a drive that was in use at this level before.
std::expected<double, std::string> write_speed(const Scale& scale, std::uint32_t reserved_permille, bool deletes, std::uint64_t level_percent) {
    auto board = HybridVolume::make(hybrid_schemes[2], {.blocks = scale.blocks(), .reserved_permille = reserved_permille}, options_of(deletes));
    if (!board) return std::unexpected(board.error());
    FileChurn churn{*board, board->volume().bytes_free() / 100 * level_percent, seed};
    if (auto filled = churn.fill(); !filled) return std::unexpected(filled.error());
    if (auto aged = churn.run(scale.bytes(std::uint64_t{1} << 30)); !aged) return std::unexpected(aged.error());
    const SimTime begin = board->now();
    const std::uint64_t before = churn.written();
    if (auto done = churn.run(scale.bytes(std::uint64_t{512} << 20)); !done) return std::unexpected(done.error());
    return static_cast<double>(churn.written() - before) * 1e3 / static_cast<double>((board->now() - begin).count());
}

const char* name_of(bool deletes) { return deletes ? "with" : "without"; }

/// What the level does, which the paper calls "almost close to 100%".
std::expected<void, std::string> over_fill_level(const Scale& scale, Reproduction& out) {
    for (const bool deletes : {false, true})
        for (const std::uint32_t reserve : {0u, 50u, 100u})
            for (const std::uint64_t level : {70u, 80u, 90u, 95u}) {
                const auto speed = write_speed(scale, reserve, deletes, level);
                if (!speed) return std::unexpected(speed.error());
                out.points.push_back(
                    {fmt::format("{} logical-page-delete, {} % reserved, MB/s over the fill level", name_of(deletes), reserve / 10),
                     static_cast<double>(level),
                     {{"reserved_share", 0.001 * reserve}, {"deletes_pages", deletes}, {"fill_share", 0.01 * static_cast<double>(level)}},
                     *speed});
            }
    return {};
}

} // namespace

/// Figure 9: nearly full, hFTL alone; what reserved blocks and logical-page-delete do to the speed of writes.
std::expected<Reproduction, std::string> run_hy_fig9(RunLength length) {
    const Scale scale{length};
    Reproduction out;
    constexpr std::uint64_t level_percent = 85;
    constexpr std::array<std::uint32_t, 5> reserves{0, 25, 50, 75, 100};
    std::array<std::array<double, reserves.size()>, 2> speeds{};
    for (const bool deletes : {false, true})
        for (std::size_t r = 0; r < reserves.size(); ++r) {
            const auto speed = write_speed(scale, reserves[r], deletes, level_percent);
            if (!speed) return std::unexpected(speed.error());
            speeds[deletes ? 1 : 0][r] = *speed;
            out.points.push_back({fmt::format("{} logical-page-delete, MB/s", name_of(deletes)),
                                  0.1 * reserves[r],
                                  {{"reserved_share", 0.001 * reserves[r]}, {"deletes_pages", deletes}},
                                  *speed});
        }
    if (auto levels = over_fill_level(scale, out); !levels) return std::unexpected(levels.error());
    const auto& [without, with] = speeds;
    const double gain = with.back() / with.front();
    out.points.push_back({"with logical-page-delete, 10 % over 0 % reserved, times", 10, {{"reserved_share", 0.1}, {"deletes_pages", true}}, gain});
    out.claim("hy-fig9", "logical-page-delete helps at every reserve",
              fmt::format("x{:.2f} at 0 %, x{:.2f} at 10 %", with.front() / without.front(), with.back() / without.back()),
              {{{with.begin(), with.end()}, {without.begin(), without.end()}}});
    for (const auto& [name, y] : {std::pair{"with it", &with}, std::pair{"without it", &without}})
        out.claim("hy-fig9", fmt::format("{}, 5 % reserved is enough", name), fmt::format("{:+.0f} %", 100 * (y->at(2) / y->back() - 1)),
                  {{{y->at(2)}, {y->back()}}});
    out.free_parameters = hybrid_churn_parameters();
    out.free_parameters.push_back({"fill level", fmt::format("{} % of the drive", level_percent),
                                   "the paper says \"almost close to 100%\"; the fuller, the more a reserve gains", "10 % reserved is 22 % faster"});
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
    out.claim("hy-fig14", "larger mapping units halve and quarter the map",
              fmt::format("{:.2f}, {:.2f}, {:.2f} MiB", tables[0], tables[1], tables[2]), {{{tables[1], tables[2]}, {tables[0] / 2, tables[0] / 4}}});
    out.free_parameters = {
        {"block info", "16 bytes a block", "ours, as large as what it holds; the paper's table is some 28 bytes a block"},
        {"room for directories", "an entry of 32 bytes for each 24 KiB", "not given; the FATs follow from clusters of 2 KB", "5.47 MB of FSMS"},
        {"logs", "apart", "the paper does not count them"}};
    return out;
}

} // namespace flashlab

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tools/reproduce/experiments.h"
#include "tools/reproduce/hybrid_churn.h"
#include "tools/reproduce/hybrid_parameters.h"
#include "tools/run/workers.h"

namespace flashlab {
namespace {

// Device and file system: those of hy-fig9, 5 % reserved. A quick run takes a 16th of the drive and of the bytes. No policy has more than two
// streams, so there is no figure of four buffer blocks.
constexpr std::uint64_t frontiers_seed = 4;
constexpr std::uint32_t quick_divisor = 16;
constexpr std::uint32_t drive_blocks = 4096;
constexpr std::uint64_t data_cache_bytes = 1u << 20;
constexpr std::uint32_t skewed_bytes = 8192; ///< of a request
constexpr std::uint64_t aging_bytes = std::uint64_t{1} << 30, measured_bytes = std::uint64_t{512} << 20;
constexpr std::array levels{70u, 80u, 85u, 90u};

enum class Kind : std::uint8_t { files, files_beside_pram, skewed };
struct Traffic {
    Kind kind;
    const char* name;
};
constexpr std::array traffic{Traffic{Kind::files, "files"}, Traffic{Kind::files_beside_pram, "files, metadata in PRAM"},
                             Traffic{Kind::skewed, "a fifth takes four fifths"}};

struct Blocks {
    const char* separation; ///< ftl.separation
    const char* name;
};
constexpr std::array buffer_blocks{Blocks{"none", "one buffer block"}, Blocks{"frequency", "two, by update frequency"},
                                   Blocks{"cause", "two, host and collections"}};

constexpr std::array victims{"greedy", "cost-benefit"}; ///< ftl.victim; hot and cold are collected by the second where nobody names one

/// Plain data of one run.
struct Outcome {
    double mb_s = 0;
    double copies = 0; ///< pages moved by collections, a page that the host wrote
};

struct Setting {
    Traffic load;
    Blocks blocks;
    const char* victim;
    std::uint32_t level; ///< percent of the drive
};

/// What a span of time and its copies were.
class Span {
public:
    explicit Span(HybridDevice& device) : device_{device}, begin_{device.now()}, before_{device.device().ftl().counters()} {}
    [[nodiscard]] Outcome of(std::uint64_t bytes) const {
        const FtlCounters after = device_.device().ftl().counters();
        return {static_cast<double>(bytes) * 1e3 / static_cast<double>((device_.now() - begin_).count()),
                static_cast<double>(after.gc_page_copies - before_.gc_page_copies) /
                    static_cast<double>(after.host_pages_written - before_.host_pages_written)};
    }

private:
    HybridDevice& device_;
    SimTime begin_;
    FtlCounters before_;
};

std::expected<Outcome, std::string> measure_files(const Setting& s, std::uint32_t divisor) {
    auto board = HybridVolume::make(hybrid_schemes[s.load.kind == Kind::files ? 2 : 3],
                                    {.blocks = drive_blocks / divisor, .separation = s.blocks.separation, .victim = s.victim},
                                    {.cached_sectors = 16, .data_cache_bytes = data_cache_bytes, .deletes_pages = true});
    if (!board) return std::unexpected(board.error());
    FileChurn churn{*board, board->volume().bytes_free() / 100 * s.level, frontiers_seed};
    if (auto filled = churn.fill(); !filled) return std::unexpected(filled.error());
    if (auto aged = churn.run(aging_bytes / divisor); !aged) return std::unexpected(aged.error());
    (void)board->now(); // the device's clock follows the file system's
    const Span span{board->device()};
    const std::uint64_t before = churn.written();
    if (auto done = churn.run(measured_bytes / divisor); !done) return std::unexpected(done.error());
    (void)board->now();
    return span.of(churn.written() - before);
}

std::expected<Outcome, std::string> measure_skewed(const Setting& s, std::uint32_t divisor) {
    auto device = HybridDevice::make({.blocks = drive_blocks / divisor, .separation = s.blocks.separation, .victim = s.victim});
    if (!device) return std::unexpected(device.error());
    const std::uint64_t records = device->bytes() / 100 * s.level / skewed_bytes;
    if (auto filled = device->fill(records * skewed_bytes); !filled) return std::unexpected(filled.error());
    Random random{frontiers_seed};
    const auto write = [&](std::uint64_t bytes) -> std::expected<void, std::string> {
        for (std::uint64_t written = 0; written < bytes; written += skewed_bytes) {
            const std::uint64_t hot = records / 5;
            const std::uint64_t record = random.chance(4, 5) ? random.below(hot) : hot + random.below(records - hot);
            if (auto done = device->write(record * skewed_bytes, skewed_bytes); !done) return done;
        }
        return {};
    };
    if (auto aged = write(aging_bytes / divisor); !aged) return std::unexpected(aged.error());
    const Span span{*device};
    if (auto done = write(measured_bytes / divisor); !done) return std::unexpected(done.error());
    return span.of(measured_bytes / divisor);
}

} // namespace

std::expected<Reproduction, std::string> run_beyond_frontiers(const RunContext& context) {
    const std::uint32_t divisor = context.is_quick() ? quick_divisor : 1;
    std::vector<Setting> settings;
    for (const Traffic& load : traffic)
        for (const Blocks& blocks : buffer_blocks)
            for (const char* victim : victims)
                for (const std::uint32_t level : levels) settings.push_back({load, blocks, victim, level});
    const auto measured = measure_points<Outcome>(context.workers, settings.size(), [&](std::size_t i) {
        return settings[i].load.kind == Kind::skewed ? measure_skewed(settings[i], divisor) : measure_files(settings[i], divisor);
    });
    if (!measured) return std::unexpected(measured.error());
    Reproduction out;
    for (const auto& [unit, y] : {std::pair{"MB/s", &Outcome::mb_s}, std::pair{"pages copied a page written", &Outcome::copies}})
        for (std::size_t i = 0; i < settings.size(); ++i)
            out.points.push_back({fmt::format("{}: {}, {}, {}", settings[i].load.name, settings[i].blocks.name, settings[i].victim, unit),
                                  static_cast<double>(settings[i].level),
                                  {{"load", settings[i].load.name},
                                   {"separation", settings[i].blocks.separation},
                                   {"victim", settings[i].victim},
                                   {"fill_share", 0.01 * settings[i].level}},
                                  measured->at(i).*y});
    // Of one load: what runs with that number of buffer blocks, policy and level.
    constexpr std::size_t a_policy = levels.size(), a_separation = victims.size() * a_policy, a_load = buffer_blocks.size() * a_separation;
    const auto mb_s = [&](std::size_t l, std::size_t b, std::size_t v, std::size_t i) {
        return measured->at(l * a_load + b * a_separation + v * a_policy + i).mb_s;
    };
    for (std::size_t l = 0; l < traffic.size(); ++l)
        for (std::size_t b = 1; b < buffer_blocks.size(); ++b)
            for (std::size_t v = 0; v < victims.size(); ++v) {
                Evidence faster;
                std::string seen;
                for (std::size_t i = 0; i < levels.size(); ++i) {
                    faster.over.push_back(mb_s(l, b, v, i));
                    faster.under.push_back(std::max(mb_s(l, 0, 0, i), mb_s(l, 0, 1, i))); // who has one collects it as suits it
                    seen += fmt::format("{}x{:.2f} at {} %", i == 0 ? "" : ", ", faster.over.back() / faster.under.back(), levels[i]);
                }
                out.claim("beyond-frontiers",
                          fmt::format("{}: {}, {}, is faster than one buffer block at every fill level", traffic[l].name, buffer_blocks[b].name,
                                      victims[v]),
                          std::move(seen), {faster});
            }
    out.free_parameters = hybrid_churn_parameters();
    out.free_parameters.push_back({"fill level", "70 to 90 % of the drive", "the paper does not measure several buffer blocks"});
    out.free_parameters.push_back(
        {"skewed load", "8 KB at random, four of five in a fifth of the records", "ours: files alone say little of separation"});
    return out;
}

} // namespace flashlab

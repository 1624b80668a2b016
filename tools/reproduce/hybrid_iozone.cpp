#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/hybrid_parameters.h"
#include "tools/reproduce/hybrid_volume.h"

namespace flashlab {
namespace {

// Device: preset k9g8g08u0m, an empty FAT-like file system on it. Load: IOZone on one file, pattern after pattern, in records of one size. Each
// pattern begins with a new mount (iozone -U), so that nothing is cached, and its time includes the sync at its end (iozone -e). Random patterns
// touch each record once.
constexpr std::array<std::uint32_t, 9> record_sizes{8u << 10,   16u << 10,  32u << 10, 64u << 10, 128u << 10,
                                                    256u << 10, 512u << 10, 1u << 20,  2u << 20};
constexpr std::array<std::uint32_t, 4> quick_sizes{8u << 10, 64u << 10, 256u << 10, 2u << 20};
constexpr std::uint32_t small = record_sizes.front();
/// Free: the paper names none of these three. How the ratios depend on the first two is part of the figure.
constexpr std::uint32_t file_bytes = 2u << 20;
constexpr std::uint64_t cache_bytes = 1u << 20;
constexpr std::uint32_t cached_sectors = 16;
constexpr std::array<std::uint32_t, 8> file_sizes{256u << 10, 512u << 10, 1u << 20, 2u << 20, 4u << 20, 8u << 20, 16u << 20, 32u << 20};
constexpr std::array<std::uint32_t, 4> quick_file_sizes{512u << 10, 1u << 20, 2u << 20, 8u << 20};
constexpr std::uint64_t seed = 12;

enum class Pattern : std::uint8_t { write, rewrite, read, random_read, random_write };
constexpr std::array patterns{Pattern::write, Pattern::rewrite, Pattern::read, Pattern::random_read, Pattern::random_write};
constexpr std::string_view name_of(Pattern pattern) {
    constexpr std::array<std::string_view, 5> names{"sequential write", "sequential rewrite", "sequential read", "random read", "random write"};
    return names[static_cast<std::size_t>(pattern)];
}
constexpr bool is_read(Pattern pattern) { return pattern == Pattern::read || pattern == Pattern::random_read; }
constexpr bool is_random(Pattern pattern) { return pattern == Pattern::random_read || pattern == Pattern::random_write; }

using Speeds = std::array<double, patterns.size()>;

/// The records of a pattern in its order.
std::vector<std::uint32_t> order_of(Pattern pattern, std::uint32_t records) {
    std::vector<std::uint32_t> order(records);
    for (std::uint32_t r = 0; r < records; ++r) order[r] = r;
    Random random{seed};
    for (std::uint32_t left = records; is_random(pattern) && left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

std::expected<double, std::string> run_pattern(HybridVolume& board, Pattern pattern, std::uint32_t file_size, std::uint32_t record) {
    if (auto mounted = board.remount(); !mounted) return std::unexpected(mounted.error());
    FatVolume& volume = board.volume();
    auto file = pattern == Pattern::write ? volume.create(board.call(), {}, "iozone.tmp") : volume.lookup(board.call(), {}, "iozone.tmp");
    if (!file) return std::unexpected(to_text(file.error()));
    const SimTime begin = board.now();
    for (const std::uint32_t r : order_of(pattern, file_size / record)) {
        if (is_read(pattern)) {
            if (auto read = volume.read(board.call(), *file, r * record, record, {}); !read) return std::unexpected(to_text(read.error()));
        } else if (auto written = volume.write(board.call(), *file, r * record, record, {}); !written) {
            return std::unexpected(to_text(written.error()));
        }
    }
    if (auto synced = volume.sync(board.call()); !synced) return std::unexpected(to_text(synced.error()));
    return static_cast<double>(file_size / record * record) * 1e3 / static_cast<double>((board.now() - begin).count());
}

struct Setup {
    std::uint32_t blocks = 4096;
    std::uint32_t file_size = file_bytes;
    std::uint32_t record = small;
    std::uint64_t cache = cache_bytes;
};

std::expected<Speeds, std::string> run_iozone(const HybridScheme& scheme, const Setup& setup) {
    auto board = HybridVolume::make(scheme, {.blocks = setup.blocks}, {.cached_sectors = cached_sectors, .data_cache_bytes = setup.cache});
    if (!board) return std::unexpected(board.error());
    Speeds speeds{};
    for (const Pattern pattern : patterns) {
        const auto speed = run_pattern(*board, pattern, setup.file_size, setup.record);
        if (!speed) return std::unexpected(speed.error());
        speeds[static_cast<std::size_t>(pattern)] = *speed;
    }
    return speeds;
}

class Figure {
public:
    explicit Figure(RunLength length) : is_quick_{length == RunLength::quick} {}
    std::expected<Reproduction, std::string> run();

private:
    template <class Array, class Quick>
    std::span<const std::uint32_t> sizes(const Array& all, const Quick& quick) const {
        return is_quick_ ? std::span<const std::uint32_t>{quick} : std::span<const std::uint32_t>{all};
    }
    [[nodiscard]] std::span<const std::uint32_t> records() const { return sizes(record_sizes, quick_sizes); }
    [[nodiscard]] std::uint32_t blocks() const { return is_quick_ ? 512 : 4096; }
    [[nodiscard]] double at(std::size_t scheme, Pattern pattern, std::uint32_t record) const {
        return speeds_.at({scheme, record})[static_cast<std::size_t>(pattern)];
    }
    /// How many times as fast the one is; the most over the record sizes is what the paper calls "up to".
    [[nodiscard]] double gain(std::size_t of, std::size_t over, Pattern pattern, std::uint32_t record) const {
        return at(of, pattern, record) / at(over, pattern, record);
    }
    std::expected<void, std::string> measure_records();
    std::expected<void, std::string> measure_file_sizes(std::uint64_t cache);
    void add_gains();
    void judge_writes();
    void judge_random_writes();
    void judge_reads();
    void claim(std::string name, std::string ours, Evidence evidence) {
        out_.claim("hy-fig12", std::move(name), std::move(ours), {std::move(evidence)});
    }
    void add_free_parameters();

    bool is_quick_;
    std::map<std::pair<std::size_t, std::uint32_t>, Speeds> speeds_; ///< by scheme and record size
    Reproduction out_;
};

constexpr std::size_t logs = 0, logs_fsms = 1, hftl = 2, hftl_fsms = 3; ///< of hybrid_schemes

std::expected<void, std::string> Figure::measure_records() {
    for (std::size_t s = 0; s < hybrid_schemes.size(); ++s)
        for (const std::uint32_t record : records()) {
            const auto speeds = run_iozone(hybrid_schemes[s], {.blocks = blocks(), .record = record});
            if (!speeds) return std::unexpected(speeds.error());
            speeds_[{s, record}] = *speeds;
        }
    for (const Pattern pattern : patterns)
        for (std::size_t s = 0; s < hybrid_schemes.size(); ++s)
            for (const std::uint32_t record : records())
                out_.points.push_back({fmt::format("{} {}, MB/s", hybrid_schemes[s].name, name_of(pattern)),
                                       static_cast<double>(record),
                                       {{"ftl", hybrid_schemes[s].ftl},
                                        {"pattern", name_of(pattern)},
                                        {"fsms", hybrid_schemes[s].has_fsms},
                                        {"request_bytes", record},
                                        {"file_bytes", file_bytes},
                                        {"cache_bytes", cache_bytes}},
                                       at(s, pattern, record)});
    return {};
}

void Figure::add_gains() {
    const auto add = [&](std::size_t of, std::size_t over, Pattern pattern) {
        out_.points.push_back({fmt::format("{}, {} over {}, times", name_of(pattern), hybrid_schemes[of].name, hybrid_schemes[over].name),
                               static_cast<double>(small),
                               {{"request_bytes", small}, {"file_bytes", file_bytes}, {"cache_bytes", cache_bytes}},
                               gain(of, over, pattern, small)});
    };
    add(hftl_fsms, logs, Pattern::random_write);
    add(hftl, logs_fsms, Pattern::random_write);
    add(logs_fsms, logs, Pattern::write);
    add(hftl_fsms, hftl, Pattern::write);
}

/// Records of 8 KB, over the file size: what the free parameters do to the ratios.
std::expected<void, std::string> Figure::measure_file_sizes(std::uint64_t cache) {
    for (const std::uint32_t file_size : sizes(file_sizes, quick_file_sizes)) {
        std::array<Speeds, hybrid_schemes.size()> speeds{};
        for (std::size_t s = 0; s < hybrid_schemes.size(); ++s) {
            const auto measured = run_iozone(hybrid_schemes[s], {.blocks = blocks(), .file_size = file_size, .cache = cache});
            if (!measured) return std::unexpected(measured.error());
            speeds[s] = *measured;
        }
        const auto add = [&](std::size_t of, std::size_t over, Pattern pattern) {
            out_.points.push_back({fmt::format("cache {} KiB: {}, {} over {}, times by file size", cache >> 10, name_of(pattern),
                                               hybrid_schemes[of].name, hybrid_schemes[over].name),
                                   static_cast<double>(file_size),
                                   {{"request_bytes", small}, {"file_bytes", file_size}, {"cache_bytes", cache}},
                                   speeds[of][static_cast<std::size_t>(pattern)] / speeds[over][static_cast<std::size_t>(pattern)]});
        };
        add(hftl_fsms, logs, Pattern::random_write);
        add(hftl, logs_fsms, Pattern::random_write);
        add(hftl_fsms, hftl, Pattern::write);
    }
    return {};
}

void Figure::judge_writes() {
    Evidence same;
    double widest = 0;
    for (const std::uint32_t record : records()) {
        same.over.push_back(gain(hftl, logs, Pattern::write, record));
        widest = std::max(widest, std::abs(same.over.back() - 1));
    }
    claim("sequential write: log_block and hftl are almost the same", fmt::format("at most {:.0f} % apart", 100 * widest), same);
}

void Figure::judge_random_writes() {
    Evidence fastest, gains;
    for (const std::uint32_t record : records()) {
        for (const std::size_t other : {logs, logs_fsms, hftl}) {
            fastest.over.push_back(at(hftl_fsms, Pattern::random_write, record));
            fastest.under.push_back(at(other, Pattern::random_write, record));
        }
        gains.over.push_back(gain(hftl_fsms, logs, Pattern::random_write, record));
    }
    std::ranges::reverse(gains.over);
    claim("random write: hftl-FSMS is the fastest at every request size",
          fmt::format("{:.2f} MB/s at 8 KB", at(hftl_fsms, Pattern::random_write, small)), fastest);
    claim("random write: the gain becomes smaller as the request becomes larger",
          fmt::format("x{:.2f} at 8 KB, x{:.2f} at 2 MB", gains.over.back(), gains.over.front()), gains);
}

void Figure::judge_reads() {
    const Evidence random{{gain(logs_fsms, logs, Pattern::random_read, small), gain(hftl_fsms, hftl, Pattern::random_read, small)}};
    claim("random read: FSMS is slightly faster on both translation layers",
          fmt::format("{:+.1f} % and {:+.1f} % at 8 KB", 100 * (random.over[0] - 1), 100 * (random.over[1] - 1)), random);
    const Evidence sequential{{gain(hftl, logs, Pattern::read, small), gain(hftl_fsms, logs_fsms, Pattern::read, small)}};
    claim("sequential read: hftl is slightly faster than log_block",
          fmt::format("{:+.2f} % and with FSMS {:+.2f} % at 8 KB", 100 * (sequential.over[0] - 1), 100 * (sequential.over[1] - 1)), sequential);
}

void Figure::add_free_parameters() {
    const std::string ratios = "the four ratios that the text quotes, together with the two others of these three";
    out_.free_parameters = hybrid_board_parameters();
    out_.free_parameters.push_back(
        {"file", fmt::format("{} MB", file_bytes >> 20), "not given; the ratios over the file size are in the figure", ratios});
    out_.free_parameters.push_back({"dirty data in the host", fmt::format("{} MB, flushed whole in the order of addresses", cache_bytes >> 20),
                                    "not given; without any the ratios are in the figure, too", ratios});
    out_.free_parameters.push_back({"metadata sectors in the host", fmt::format("{}", cached_sectors), "not given", ratios});
    out_.free_parameters.push_back({"where files begin", "at an erase block", "as formatters for flash place them"});
    out_.free_parameters.push_back({"calls", "a mount before each pattern, a sync at its end", "iozone -U -e; not given"});
}

std::expected<Reproduction, std::string> Figure::run() {
    if (auto measured = measure_records(); !measured) return std::unexpected(measured.error());
    add_gains();
    for (const std::uint64_t cache : {cache_bytes, std::uint64_t{0}})
        if (auto measured = measure_file_sizes(cache); !measured) return std::unexpected(measured.error());
    judge_writes();
    judge_random_writes();
    judge_reads();
    add_free_parameters();
    return std::move(out_);
}

} // namespace

std::expected<Reproduction, std::string> run_hy_fig12(RunLength length) { return Figure{length}.run(); }

} // namespace flashlab

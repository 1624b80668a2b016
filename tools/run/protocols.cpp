#include "tools/run/protocols.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/host/interruption.h"
#include "tools/run/replay.h"
#include "tools/run/steady_state.h"

namespace flashlab {

namespace {

constexpr std::array<std::string_view, 4> names{"snia-pts-iops", "snia-pts-latency", "snia-pts-wsat", "ssdiq"};
constexpr std::uint32_t most_rounds = 25, most_saturating_rounds = 40; ///< the latter, of a quarter of the drive each, are ten fills
constexpr std::uint64_t kib = 1024;

/// One load of a round.
struct Cell {
    TimedStream load;
    bool is_tracked = false;
    std::uint64_t least_written = 0; ///< it takes its time at least, and until so many bytes are written
};

/// What a cell is judged by, and shown with.
using CellValues = std::vector<std::pair<std::string, double>>;

class Protocol {
public:
    Protocol(const RunSpace& space, Duration cell, std::uint64_t seed, const ProtocolProgress& progress)
        : space_{space}, cell_{cell}, seed_{seed}, progress_{progress}, begin_{space.begin}, now_{space.begin} {}

    /// In order, so many times the drive.
    [[nodiscard]] std::expected<void, std::string> fill(std::uint64_t block_bytes, std::uint32_t times) {
        const std::uint64_t slots = space_.bytes() / block_bytes;
        AddressFit fit{FitPolicy::as_is, space_.bytes()};
        const NextRequest next = [=, n = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
            request.op = TraceOp::write;
            request.offset = n % slots * block_bytes;
            request.bytes = block_bytes;
            return n++ < slots * times;
        };
        const auto tally = replay(space_, next, fit, {.depth = 32}, now_);
        if (!tally) return std::unexpected(tally.error());
        begin_ = now_ = tally->end;
        return {};
    }
    [[nodiscard]] std::expected<TimedMeasured, std::string> run(const std::vector<TimedStream>& streams, Duration warm, Duration counted,
                                                                std::uint64_t least_written = 0) {
        auto measured = run_for(space_, streams, warm, counted, now_, seed_++, least_written);
        if (Interruption::came()) return std::unexpected(std::string{"interrupted: the drive was not judged"});
        if (!measured) return measured;
        now_ = measured->tally.end;
        written_ += measured->written_bytes;
        return measured;
    }

    [[nodiscard]] std::uint64_t drive_bytes() const { return space_.bytes(); }
    /// How many times the drive has been written since it was filled.
    [[nodiscard]] double overwritten() const { return static_cast<double>(written_) / static_cast<double>(space_.bytes()); }

    /// Rounds of cells until the first value of the tracked one is steady and the drive has been written `least` times at random and has settled.
    /// The object of run_protocol(), without its name.
    template <class Values>
    [[nodiscard]] std::expected<Json, std::string> rounds(const std::vector<Cell>& cells, const std::string& tracked, const Values& values,
                                                          double least = 0) {
        std::vector<double> followed;
        std::vector<std::vector<CellValues>> last; ///< of the rounds that the steady state looks at
        std::vector<RoundBegin> begins;            ///< of the same rounds
        Json by_round{Json::Array{}};
        SteadyState::Spread spread;
        std::string why_not{"no round has ended"};
        while (!why_not.empty() && followed.size() < (least == 0 ? most_rounds : most_saturating_rounds)) {
            std::vector<CellValues> round;
            begins.push_back({LiveData::of(*space_.device), written_});
            for (const Cell& cell : cells) {
                const auto measured = run({cell.load}, Duration{0}, cell_, cell.least_written);
                if (!measured) return std::unexpected(measured.error());
                round.push_back(values(*measured));
                if (cell.is_tracked) followed.push_back(round.back().front().second);
            }
            by_round.push(of_round(round));
            last.push_back(std::move(round));
            if (last.size() > SteadyState::windows_compared) {
                last.erase(last.begin());
                begins.erase(begins.begin());
            }
            if (progress_) progress_(followed.size());
            spread = SteadyState::spread_of(std::span{followed}.last(last.size()));
            why_not = last.size() < SteadyState::windows_compared
                          ? fmt::format("{} of {} rounds were measured", last.size(), SteadyState::windows_compared)
                          : why_not_steady(tracked, spread, settling_since(begins.front(), least));
        }
        Json shown{Json::Array{}};
        for (std::size_t i = 0; i < cells.size(); ++i) shown.push(mean_of(cells[i].load, last, i));
        Json of_tracked{Json::Array{}};
        for (const double value : followed) of_tracked.push(value);
        return Json::object({{"cell_seconds", static_cast<double>(cell_.count()) / 1e9},
                             {"cell_bytes", cells.front().least_written},
                             {"rounds", static_cast<std::uint64_t>(followed.size())},
                             {"steady", Json::object({{"reached", why_not.empty()},
                                                      {"why_not", why_not.empty() ? Json{} : Json{why_not}},
                                                      {"first_round", static_cast<std::uint64_t>(followed.size() - last.size() + 1)},
                                                      {"last_round", static_cast<std::uint64_t>(followed.size())},
                                                      {"tracked", tracked},
                                                      {"mean", spread.mean},
                                                      {"excursion", spread.excursion},
                                                      {"excursion_at_most", SteadyState::excursion_at_most},
                                                      {"slope", spread.slope},
                                                      {"slope_at_most", SteadyState::slope_at_most},
                                                      {"overwritten", overwritten()},
                                                      {"overwritten_at_least", least}})},
                             {"tracked", std::move(of_tracked)},
                             {"cells", std::move(shown)},
                             {"by_round", std::move(by_round)}});
    }

private:
    struct RoundBegin {
        LiveData live;
        std::uint64_t written;
    };
    [[nodiscard]] Settling settling_since(const RoundBegin& begin, double least) const {
        return {overwritten(), Settling::shrinks_between(begin.live, LiveData::of(*space_.device), written_ - begin.written), least};
    }
    static std::string why_not_steady(std::string_view tracked, const SteadyState::Spread& spread, const Settling& settling) {
        std::vector why{spread.why_not(tracked), settling.why_not()};
        std::erase(why, "");
        return fmt::format("{}", fmt::join(why, "; "));
    }
    /// All cells of a round that has just ended.
    [[nodiscard]] Json of_round(const std::vector<CellValues>& round) const {
        Json out = Json::object({{"seconds", static_cast<double>((now_ - begin_).count()) / 1e9}, {"drive_fills", overwritten()}});
        for (std::size_t v = 0; v < round.front().size(); ++v) {
            Json values{Json::Array{}};
            for (const CellValues& cell : round) values.push(cell[v].second);
            out.add(round.front()[v].first, std::move(values));
        }
        return out;
    }
    static Json mean_of(const TimedStream& load, const std::vector<std::vector<CellValues>>& rounds, std::size_t cell) {
        Json out = Json::object(
            {{"read_percent", std::uint64_t{load.read_percent}}, {"block_bytes", load.block_bytes}, {"depth", std::uint64_t{load.depth}}});
        for (std::size_t v = 0; !rounds.empty() && v < rounds.front()[cell].size(); ++v) {
            double sum = 0, largest = 0;
            for (const auto& round : rounds) {
                sum += round[cell][v].second;
                largest = std::max(largest, round[cell][v].second);
            }
            const std::string& name = rounds.front()[cell][v].first;
            out.add(name, name.starts_with("max") ? largest : sum / static_cast<double>(rounds.size()));
        }
        return out;
    }

    const RunSpace& space_;
    Duration cell_;
    std::uint64_t seed_;
    const ProtocolProgress& progress_;
    SimTime begin_, now_;       ///< begin_: when fill() was done
    std::uint64_t written_ = 0; ///< bytes, but those of fill()
};

std::vector<Cell> cells_of(std::initializer_list<std::uint32_t> reads, std::initializer_list<std::uint64_t> blocks, std::uint32_t depth) {
    std::vector<Cell> cells;
    for (const std::uint32_t percent : reads)
        for (const std::uint64_t bytes : blocks)
            cells.push_back({{.block_bytes = bytes, .depth = depth, .read_percent = percent}, percent == 0 && bytes == 4 * kib});
    return cells;
}

std::expected<Json, std::string> pts_iops(Protocol& on) {
    if (const auto filled = on.fill(128 * kib, 2); !filled) return std::unexpected(filled.error());
    const auto cells = cells_of({100, 95, 65, 50, 35, 5, 0}, {1024 * kib, 128 * kib, 64 * kib, 32 * kib, 16 * kib, 8 * kib, 4 * kib, kib / 2}, 128);
    return on.rounds(cells, "4 KiB random writes a second", [](const TimedMeasured& m) { return CellValues{{"iops", m.iops()}}; });
}

std::expected<Json, std::string> pts_latency(Protocol& on) {
    if (const auto filled = on.fill(128 * kib, 2); !filled) return std::unexpected(filled.error());
    return on.rounds(cells_of({100, 65, 0}, {8 * kib, 4 * kib, kib / 2}, 1), "mean of 4 KiB random writes, us", [](const TimedMeasured& m) {
        return CellValues{{"mean_us", m.tally.all.mean_ns() / 1e3},
                          {"five_nines_us", static_cast<double>(m.tally.all.five_nines_ns()) / 1e3},
                          {"max_us", static_cast<double>(m.tally.all.max_ns()) / 1e3},
                          {"requests", static_cast<double>(m.tally.requests())}};
    });
}

CellValues rate_and_waf(const TimedMeasured& m) { return {{"iops", m.iops()}, {"waf", m.waf}, {"mean_us", m.tally.all.mean_ns() / 1e3}}; }

/// One load: random writes of a quarter of the drive. In time, a round of a drive that has become slow would write next to nothing, and five of them
/// would always look steady.
std::vector<Cell> saturating(std::uint32_t depth, std::uint64_t drive_bytes) {
    auto cells = cells_of({0}, {4 * kib}, depth);
    cells.front().least_written = drive_bytes / 4;
    return cells;
}

/// From an empty drive on.
std::expected<Json, std::string> pts_wsat(Protocol& on) {
    return on.rounds(saturating(128, on.drive_bytes()), "4 KiB random writes a second", rate_and_waf, Settling::overwritten_at_least);
}

/// Written once in order, then overwritten at random until steady; then what a thread that waits sees beside shares of that rate.
std::expected<Json, std::string> ssdiq(Protocol& on, Duration cell) {
    if (const auto filled = on.fill(512 * kib, 1); !filled) return std::unexpected(filled.error());
    auto out = on.rounds(saturating(512, on.drive_bytes()), "4 KiB random writes a second", rate_and_waf, Settling::overwritten_at_least);
    if (!out) return out;
    const double rate = (*out)["cells"].items().front()["iops"].real();
    Json beside{Json::Array{}};
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
        const double planned = rate * share;
        const auto measured =
            on.run({{.depth = 448, .planned_iops = {planned / 100, planned * 99 / 100}, .is_poisson = true}, {.depth = 1, .read_percent = 50}}, cell,
                   4 * cell);
        if (!measured) return std::unexpected(measured.error());
        const auto& thread = measured->streams[1];
        beside.push(Json::object({{"requests_a_second", planned},
                                  {"read_p50_us", thread[0].p50_us},
                                  {"read_p99_us", thread[0].p99_us},
                                  {"write_p50_us", thread[1].p50_us},
                                  {"write_p99_us", thread[1].p99_us}}));
    }
    out->add("beside", std::move(beside));
    return out;
}

} // namespace

std::span<const std::string_view> protocol_names() { return names; }

std::expected<Json, std::string> run_protocol(std::string_view name, const RunSpace& space, Duration cell, std::uint64_t seed,
                                              const ProtocolProgress& progress) {
    if (space.bytes() < 1024 * kib) return std::unexpected(std::string{"the drive is smaller than a request of 1 MiB"});
    Protocol on{space, cell, seed, progress};
    auto made = name == names[0]   ? pts_iops(on)
                : name == names[1] ? pts_latency(on)
                : name == names[2] ? pts_wsat(on)
                : name == names[3] ? ssdiq(on, cell)
                                   : std::unexpected(fmt::format("no protocol is called '{}'; there are: {}", name, fmt::join(names, ", ")));
    if (!made) return made;
    Json out = Json::object({{"protocol", std::string{name}}});
    for (const auto& [key, value] : made->members()) out.add(key, value);
    return out;
}

} // namespace flashlab

#include "tools/report/log_passes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace flashlab {

namespace {

bool is_plausible(std::int64_t ns) { return ns >= 0 && ns <= longest_plausible_ns; }

std::expected<void, std::string> all_plausible(std::uint64_t implausible, const char* table) {
    if (implausible == 0) return {};
    return std::unexpected(fmt::format("{} rows of {} have times or places that no drive has, such as a duration of more than {} years: the log was "
                                       "damaged or changed; see them with: flashlab query LOG \"SELECT * FROM {} ORDER BY dur_ns DESC LIMIT 10\"",
                                       implausible, table, longest_plausible_ns / (std::int64_t{86400} * 365 * 1'000'000'000), table));
}

} // namespace

Json heat_json(const std::string& what, const std::vector<std::vector<double>>& busy_ns, std::int64_t width_ns) {
    Json rows{Json::Array{}};
    for (const auto& of : busy_ns) {
        Json shares{Json::Array{}}; // in thousandths
        for (const double ns : of) shares.push(std::int64_t{std::lround(std::min(1.0, ns / static_cast<double>(width_ns)) * 1000)});
        rows.push(std::move(shares));
    }
    return Json::object({{"what", what}, {"bin_s", static_cast<double>(width_ns) / 1e9}, {"permille", std::move(rows)}});
}

RequestPass::RequestPass(std::int64_t begin_ns, std::int64_t end_ns)
    : requests_{begin_ns, end_ns, bins}, read_bytes_{begin_ns, end_ns, bins}, write_bytes_{begin_ns, end_ns, bins},
      written_{begin_ns, end_ns, coarse_bins}, longest_us_(bins), begin_{begin_ns} {}

std::expected<void, std::string> RequestPass::read(LogRowsReader& log, const LogRunRange& run, const ReadProgress& progress) {
    auto done = log.read(
        "SELECT ts_ns, dur_ns, op, sectors, piece, failed, waited_ns FROM host_request WHERE " + run.ids() + " ORDER BY id",
        [&](const LogRow& row) { take(row); }, progress);
    finish();
    for (LatencyCurve& curve : curves_) curve.sort();
    return done ? all_plausible(implausible_, "host_request") : done;
}

void RequestPass::take(const LogRow& row) {
    const std::int64_t ts = row.number(0), dur = row.number(1), piece = row.number(4), waited = row.number(6);
    if (!is_plausible(ts) || !is_plausible(dur) || !is_plausible(waited)) {
        ++implausible_;
        return;
    }
    const std::int64_t ns = dur + waited;
    answered_ = std::max(answered_, ts + dur);
    const auto op = std::min<std::size_t>(static_cast<std::size_t>(row.number(2)), curves_.size() - 1);
    ++rows_[op];
    if (piece <= 1 || !under_way_.is_there) {
        finish();
        under_way_ = {op, ts, ns, true};
    }
    under_way_.ns = std::max(under_way_.ns, ns);
    if (row.number(5) != 0) {
        under_way_.has_failed = true;
        failed_bytes_[op] += row.number(3) * 512;
        return;
    }
    const auto bytes = static_cast<double>(row.number(3)) * 512;
    if (op == static_cast<std::size_t>(HostOp::read)) read_bytes_.add_at(ts, bytes);
    if (op == static_cast<std::size_t>(HostOp::write)) {
        write_bytes_.add_at(ts, bytes);
        written_.add_at(ts + dur, bytes);
    }
    const auto bin = std::clamp<std::int64_t>((ts - begin_) / requests_.width_ns(), 0, bins - 1);
    auto& longest = longest_us_[static_cast<std::size_t>(bin)];
    longest = std::max(longest, static_cast<double>(ns) / 1e3);
}

/// One that failed is in no latency and no rate.
void RequestPass::finish() {
    if (!under_way_.is_there) return;
    under_way_.is_there = false;
    if (under_way_.has_failed) {
        ++failed_;
        return;
    }
    curves_[under_way_.op].add(under_way_.ns);
    requests_.add_at(under_way_.ts, 1);
}

Json RequestPass::latency() const {
    Json percentiles{Json::Array{}}, series{Json::Object{}};
    for (const double p : LatencyCurve::percentiles) percentiles.push(p);
    for (std::size_t op = 0; op < curves_.size(); ++op)
        if (curves_[op].count() != 0)
            series.add(std::string{host_op_names[op]}, Json::object({{"requests", curves_[op].count()},
                                                                     {"mean_us", curves_[op].mean_us()},
                                                                     {"max_us", curves_[op].max_us()},
                                                                     {"us", curves_[op].to_json()}}));
    return Json::object({{"percentiles", std::move(percentiles)}, {"series", std::move(series)}});
}

/// So many bins side by side make one, that a rate is one of a few dozen requests and not of the gap between two.
std::size_t RequestPass::bins_together() const {
    constexpr double fewest = 30;
    const double requests = std::accumulate(requests_.values().begin(), requests_.values().end(), 0.0);
    std::size_t together = 1;
    while (together < bins && (bins % together != 0 || requests * static_cast<double>(together) < fewest * bins)) ++together;
    return together;
}

Json RequestPass::throughput() const {
    Json t{Json::Array{}}, iops{Json::Array{}}, reads{Json::Array{}}, writes{Json::Array{}}, longest{Json::Array{}};
    const std::size_t together = bins_together();
    const double width_s = static_cast<double>(requests_.width_ns()) * static_cast<double>(together) / 1e9;
    const auto shown = [](double value) { return Json{std::stod(fmt::format("{:.5g}", value))}; };
    for (std::size_t b = 0; b < bins; b += together) {
        const auto rate = [&](const TimeBins& of) { return std::reduce(&of.values()[b], &of.values()[b] + together, 0.0) / width_s; };
        t.push(shown((static_cast<double>(b / together) + 0.5) * width_s));
        iops.push(shown(rate(requests_)));
        reads.push(shown(rate(read_bytes_) / 1e6));
        writes.push(shown(rate(write_bytes_) / 1e6));
        longest.push(rate(requests_) == 0 ? Json{} : shown(*std::max_element(&longest_us_[b], &longest_us_[b] + together)));
    }
    return Json::object({{"t_s", std::move(t)},
                         {"bin_s", width_s},
                         {"iops", std::move(iops)},
                         {"read_mb_s", std::move(reads)},
                         {"write_mb_s", std::move(writes)},
                         {"longest_us", std::move(longest)}});
}

void RequestPass::add_to_overview(Json& overview) const {
    if (failed_ != 0) overview.add("failed_requests", failed_);
    for (const HostOp op : {HostOp::read, HostOp::write, HostOp::flush}) {
        const LatencyCurve& curve = curves_[static_cast<std::size_t>(op)];
        if (curve.count() == 0) continue;
        const std::string key = fmt::format("latency_us.{}.", host_op_names[static_cast<std::size_t>(op)]);
        overview.add(key + "mean", std::stod(fmt::format("{:.6g}", curve.mean_us())));
        for (const auto& [name, percent] : {std::pair{"p50", 50.0}, std::pair{"p99", 99.0}, std::pair{"p999", 99.9}, std::pair{"p9999", 99.99}})
            if (percent == 50 || curve.has(percent)) overview.add(key + name, curve.percentile_us(percent));
        overview.add(key + "max", curve.max_us());
    }
}

std::expected<void, std::string> OperationPass::read(LogRowsReader& log, const LogRunRange& run, const ReadProgress& progress) {
    const auto done = log.read(
        "SELECT ts_ns, dur_ns, channel, plane, pages, bus_in_at_ns, bus_in_ns, cells_at_ns, cells_ns, bus_out_at_ns, bus_out_ns, op, cause FROM "
        "nand_op "
        "WHERE " +
            run.rows("nand_op"),
        [&](const LogRow& row) { take(row); }, progress);
    return done ? all_plausible(implausible_, "nand_op") : done;
}

void OperationPass::take(const LogRow& row) {
    constexpr std::int64_t most_pages = 1 << 20, most_places = 1 << 16; // far beyond any geometry
    const std::int64_t ts = row.number(0), dur = row.number(1), pages = row.number(4);
    bool plausible = is_plausible(ts) && is_plausible(dur) && pages >= 0 && pages <= most_pages;
    for (const int place : {2, 3}) plausible = plausible && row.number(place) >= 0 && row.number(place) < most_places;
    for (int phase = 5; phase <= 10; ++phase) plausible = plausible && is_plausible(row.number(phase));
    if (!plausible) {
        ++implausible_;
        return;
    }
    pages_ += pages;
    if (row.number(11) == static_cast<std::int64_t>(NandOp::program))
        programs_[static_cast<std::size_t>(row.number(12)) % cause_count].add_at(ts, static_cast<double>(pages));
    TimeBins& bus = at(buses_, row.number(2));
    TimeBins& plane = at(planes_, row.number(3));
    if (pages > 1) { // the phases of a run are those of its first page
        const std::int64_t on_bus = std::min(dur / pages, row.number(6) + row.number(10));
        for (std::int64_t page = 0; page < pages; ++page) bus.add_stretch(ts + dur / pages * page, ts + dur / pages * page + on_bus);
        plane.add_stretch(ts, ts + dur);
        return;
    }
    for (const int phase : {5, 9}) bus.add_stretch(ts + row.number(phase), ts + row.number(phase) + row.number(phase + 1));
    plane.add_stretch(ts + row.number(7), ts + row.number(7) + row.number(8));
}

Json OperationPass::amplification(const std::vector<double>& written, std::int64_t page_bytes) const {
    const auto of = [&](std::span<const Cause> causes) {
        std::vector<double> pages(coarse_bins);
        double waiting = 0; // programmed while nothing was answered: for what is answered next, at the end for what was answered last
        std::size_t last = 0;
        for (std::size_t bin = 0; bin < coarse_bins; ++bin) {
            for (const Cause cause : causes) waiting += programs_[static_cast<std::size_t>(cause)].values()[bin];
            if (written[bin] == 0) continue;
            pages[bin] = std::exchange(waiting, 0);
            last = bin;
        }
        pages[last] += waiting;
        Json out{Json::Array{}};
        for (std::size_t bin = 0; bin < coarse_bins; ++bin)
            out.push(written[bin] == 0 ? Json{}
                                       : Json{std::stod(fmt::format("{:.5g}", pages[bin] * static_cast<double>(page_bytes) / written[bin]))});
        return out;
    };
    std::array<Cause, cause_count> all{};
    for (std::size_t cause = 0; cause < cause_count; ++cause) all[cause] = static_cast<Cause>(cause);
    Json t{Json::Array{}};
    for (std::size_t bin = 0; bin < coarse_bins; ++bin)
        t.push(std::stod(fmt::format("{:.5g}", (static_cast<double>(bin) + 0.5) * static_cast<double>(programs_.front().width_ns()) / 1e9)));
    return Json::object({{"t_s", std::move(t)},
                         {"waf", of(all)},
                         {"user", of(std::array{Cause::user})},
                         {"gc", of(causes_of_gc)},
                         {"merge", of(std::array{Cause::merge})},
                         {"map", of(std::array{Cause::map})},
                         {"other", of(causes_of_others)}});
}

TimeBins& OperationPass::at(std::vector<TimeBins>& all, std::int64_t index) const {
    while (all.size() <= static_cast<std::size_t>(index)) all.emplace_back(begin_, end_, heat_bins);
    return all[static_cast<std::size_t>(index)];
}

Json OperationPass::to_json(const std::string& what, const std::vector<TimeBins>& rows) {
    constexpr std::size_t most_rows = 64;
    if (rows.empty()) return {};
    const std::size_t together = (rows.size() + most_rows - 1) / most_rows;
    std::vector<std::vector<double>> busy;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row % together == 0) busy.emplace_back(heat_bins);
        const auto of = static_cast<double>(std::min(together, rows.size() - row / together * together));
        for (std::size_t bin = 0; bin < heat_bins; ++bin) busy.back()[bin] += rows[row].values()[bin] / of;
    }
    Json out = heat_json(what, busy, rows.front().width_ns());
    out.add("rows_together", std::uint64_t{together});
    return out;
}

} // namespace flashlab

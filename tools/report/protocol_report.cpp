#include "tools/report/protocol_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tools/report/page_parts.h"
#include "tools/report/svg_plot.h"
#include "tools/text/markup.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

constexpr std::uint64_t judged_bytes = 4096; ///< of the random writes that all of these protocols follow

/// The first is the head.
using TableRows = std::vector<std::vector<std::string>>;

using KeyAndText = std::pair<std::string_view, std::string_view>;
/// What the JSON calls a value, for who has not read its keys.
constexpr auto heads_of_keys = std::to_array<KeyAndText>({{"bytes", "bytes of a request"},
                                                          {"read_percent", "reads, %"},
                                                          {"block_bytes", "bytes of a request"},
                                                          {"depth", "in flight"},
                                                          {"iops", "requests a second"},
                                                          {"waf", "write amplification"},
                                                          {"mean_us", "mean, us"},
                                                          {"five_nines_us", "99.999 %, us"},
                                                          {"max_us", "max, us"},
                                                          {"requests_a_second", "open load, requests a second"},
                                                          {"read_p50_us", "reads, median, us"},
                                                          {"read_p99_us", "reads, 99 %, us"},
                                                          {"write_p50_us", "writes, median, us"},
                                                          {"write_p99_us", "writes, 99 %, us"},
                                                          {"seconds", "seconds of the drive"},
                                                          {"drive_fills", "drive fills written"}});

std::string head_of(std::string_view key) {
    const auto at = std::ranges::find(heads_of_keys, key, &KeyAndText::first);
    return std::string{at == heads_of_keys.end() ? key : at->second};
}

/// Whole from a thousand on; all digits are in the JSON.
std::string digits_of(double value) { return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string mix_of(const Json& cell) { return fmt::format("{}/{}", cell["read_percent"].number(), 100 - cell["read_percent"].number()); }
std::string size_text(const Json& cell) { return human_size(cell["block_bytes"].number()); }

bool is_latency(const Json& result) { return result["protocol"].text() == "snia-pts-latency"; }
bool is_mixed(const Json& result) { return result["cells"].items().size() > 1; }

/// A row a block size, a column a mix of reads and writes.
TableRows iops_rows(const Json& result) {
    TableRows out{{"bytes"}};
    std::map<std::uint64_t, std::vector<std::string>, std::greater<>> rows;
    for (const Json& cell : result["cells"].items()) {
        if (std::ranges::find(out.front(), mix_of(cell)) == out.front().end()) out.front().push_back(mix_of(cell));
        rows[cell["block_bytes"].number()].push_back(fmt::format("{:.0f}", cell["iops"].real()));
    }
    for (auto& [bytes, cells] : rows) {
        cells.insert(cells.begin(), human_size(bytes));
        out.push_back(std::move(cells));
    }
    return out;
}

/// A row an object, a column a key.
TableRows object_rows(const Json& objects) {
    TableRows out{{}};
    for (const auto& [key, value] : objects.items().front().members()) out.front().push_back(key);
    for (const Json& object : objects.items()) {
        out.emplace_back();
        for (const auto& [key, value] : object.members()) out.back().push_back(digits_of(value.real()));
    }
    return out;
}

TableRows cell_rows(const Json& result) { return result["protocol"].text() == "snia-pts-iops" ? iops_rows(result) : object_rows(result["cells"]); }

TableRows round_rows(const Json& result) {
    TableRows out{{"round", "seconds", "drive_fills", result["steady"]["tracked"].text()}};
    const auto& rounds = result["by_round"].items();
    for (std::size_t i = 0; i < rounds.size(); ++i)
        out.push_back({std::to_string(i + 1), digits_of(rounds[i]["seconds"].real()), digits_of(rounds[i]["drive_fills"].real()),
                       digits_of(result["tracked"].items()[i].real())});
    return out;
}

std::string rows_text(const TableRows& rows) {
    Table table{rows.front()};
    for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
    return table.to_text();
}

std::string verdict_of(const Json& result) {
    const Json& steady = result["steady"];
    return fmt::format("{} after {} rounds{}", steady["reached"].truth() ? "steady" : "NOT steady", result["rounds"].number(),
                       steady["why_not"].is_null() ? "" : ": " + steady["why_not"].text());
}

/// What a cell takes: time or bytes.
std::string cell_text(const Json& result) {
    if (result["cell_bytes"].number() == 0) return fmt::format("takes {} s of the drive", digits_of(result["cell_seconds"].real()));
    return fmt::format("writes {}, and takes {} s of the drive at least", human_size(result["cell_bytes"].number()),
                       digits_of(result["cell_seconds"].real()));
}

std::string window_of(const Json& steady) { return fmt::format("{} to {}", steady["first_round"].number(), steady["last_round"].number()); }

// The page: what it draws.

/// The values of a cell, over the rounds.
std::vector<PlotPoint> cell_by_round(const Json& result, std::string_view key, std::size_t cell, std::string_view x_key = {}) {
    std::vector<PlotPoint> points;
    for (const Json& round : result["by_round"].items())
        points.push_back({x_key.empty() ? static_cast<double>(points.size() + 1) : round[x_key].real(), round[key].items()[cell].real()});
    return points;
}

/// All loads without reads; the rule looks at one of them.
Plot convergence_of(const Json& result) {
    Plot plot{"Steady state convergence", "round", is_latency(result) ? "mean of random writes, us" : "random writes a second", {}};
    const auto& cells = result["cells"].items();
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i]["read_percent"].number() == 0)
            plot.series.push_back({size_text(cells[i]) + (cells[i]["block_bytes"].number() == judged_bytes ? ", judged" : ""),
                                   cell_by_round(result, is_latency(result) ? "mean_us" : "iops", i),
                                   {}});
    plot.is_time = true;
    return plot;
}

/// The rounds that the verdict is about, and the lines that it is judged by.
Plot window_plot(const Json& result) {
    const Json& steady = result["steady"];
    const double mean = steady["mean"].real(), half = steady["excursion_at_most"].real() / 2;
    std::vector<PlotPoint> points;
    for (std::uint64_t round = steady["first_round"].number(); round <= steady["last_round"].number(); ++round)
        points.push_back({static_cast<double>(round), result["tracked"].items()[round - 1].real()});
    const double first = points.front().x, last = points.back().x, middle = (first + last) / 2;
    double products = 0, squares = 0;
    for (const PlotPoint& p : points) {
        products += (p.x - middle) * (p.y - mean);
        squares += (p.x - middle) * (p.x - middle);
    }
    const double rise = squares > 0 ? products / squares * (last - first) : 0;
    const auto line = [&](std::string name, double from, double to) { return PlotSeries{std::move(name), {{first, from}, {last, to}}, {}, true}; };
    return {.title = fmt::format("Steady state measurement window: rounds {}", window_of(steady)),
            .x_label = "round",
            .y_label = steady["tracked"].text(),
            .series = {{"measured", points, {}},
                       line("mean", mean, mean),
                       line(fmt::format("mean + {:g} %", half * 100), mean * (1 + half), mean * (1 + half)),
                       line(fmt::format("mean - {:g} %", half * 100), mean * (1 - half), mean * (1 - half)),
                       line("least squares", mean - rise / 2, mean + rise / 2)},
            .is_time = true,
            .height = PlotHeight::near};
}

/// A line a mix of reads and writes, over the bytes of a request.
Plot by_size(const Json& result, std::string_view key, std::string title, std::string y_label) {
    Plot plot{std::move(title), "bytes of a request", std::move(y_label), {}};
    for (const Json& cell : result["cells"].items()) {
        auto series = std::ranges::find(plot.series, mix_of(cell), &PlotSeries::name);
        if (series == plot.series.end()) series = plot.series.insert(series, {mix_of(cell), {}, {}});
        series->points.push_back({cell["block_bytes"].real(), cell[key].real()});
    }
    for (PlotSeries& series : plot.series) std::ranges::sort(series.points, {}, &PlotPoint::x);
    plot.height = PlotHeight::logarithmic;
    return plot;
}

/// Of a protocol of one load: what it did while the drive was filled, again and again.
Plot over(const Json& result, std::string_view x_key, std::string_view key, std::string title) {
    Plot plot{std::move(title), head_of(x_key), head_of(key), {{"4 KiB", cell_by_round(result, key, 0, x_key), {}}}};
    plot.is_time = true;
    return plot;
}

/// A line a percentile, over the open load.
Plot beside_plot(const Json& result) {
    Plot plot{"A thread that waits, beside an open load", head_of("requests_a_second"), "latency, us", {}};
    for (const std::string_view key : {"read_p50_us", "read_p99_us", "write_p50_us", "write_p99_us"}) {
        plot.series.push_back({head_of(key), {}, {}});
        for (const Json& row : result["beside"].items())
            if (row[key].real() > 0) plot.series.back().points.push_back({row["requests_a_second"].real(), row[key].real()}); // 0: none came
    }
    plot.is_time = true; // five shares of a rate, evenly spaced
    plot.height = PlotHeight::logarithmic;
    return plot;
}

// The page: its text.

/// What SVG needs on top of that: room of its own on a small screen, where a whole plot could not be read.
constexpr std::string_view protocol_style =
    "figure{overflow-x:auto}.yes{color:var(--good)}.no{color:var(--bad)}@media screen and (max-width:48rem){figure svg{max-width:none;width:44rem}}";

std::string drawn(const Plot& plot, std::string_view caption) {
    return fmt::format("<figure>\n{}<figcaption>{}</figcaption></figure>\n", to_svg(plot), markup_escaped(caption));
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", markup_escaped(text)); }

std::string html_table(const TableRows& rows) {
    std::string out = "<div class='scroll'><table>";
    for (const auto& row : rows) {
        const bool is_head = &row == &rows.front();
        out += "<tr>";
        for (const std::string& cell : row)
            out += fmt::format("<{0}>{1}</{0}>", is_head ? "th" : "td", markup_escaped(is_head ? head_of(cell) : cell));
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

/// What one load without reads has to say of the drive, in the mean of the rounds that count.
std::string figures_of(const Json& result) {
    const auto& cells = result["cells"].items();
    const auto tracked =
        std::ranges::find_if(cells, [](const Json& c) { return c["read_percent"].number() == 0 && c["block_bytes"].number() == judged_bytes; });
    if (tracked == cells.end()) return {};
    if (is_latency(result))
        return fmt::format("A random 4 KiB write takes {} us in the mean{}, the longest {} us.", digits_of((*tracked)["mean_us"].real()),
                           (*tracked)["requests"].real() < 100'000
                               ? "" // then it is the longest of a round
                               : fmt::format(", 99.999 % take {} us at most", digits_of((*tracked)["five_nines_us"].real())),
                           digits_of((*tracked)["max_us"].real()));
    const double waf = (*tracked)["waf"].real();
    return fmt::format("{} random writes of 4 KiB a second{}.", digits_of((*tracked)["iops"].real()),
                       waf > 0 ? fmt::format(", at a write amplification of {}", digits_of(waf)) : "");
}

std::string conclusion_of(const Json& result) {
    const Json& steady = result["steady"];
    std::string verdict = verdict_of(result);
    verdict.front() = static_cast<char>(verdict.front() & ~0x20); // at the beginning of a sentence
    const bool is_steady = steady["reached"].truth();
    std::string out = fmt::format("<p><b class='{}'>{}.</b> <b>{}</b></p>\n", is_steady ? "yes" : "no", markup_escaped(verdict),
                                  markup_escaped(figures_of(result)));
    out += paragraph(
        fmt::format("Rounds {}, {}: mean {}; excursion (largest less smallest) {:.1f} % of the mean, where {:g} % are allowed; slope (ends of "
                    "the least-squares line) {:.1f} %, where {:g} % are allowed. The results below are the means of these rounds, "
                    "of maxima the largest.{}",
                    window_of(steady), steady["tracked"].text(), digits_of(steady["mean"].real()), steady["excursion"].real() * 100,
                    steady["excursion_at_most"].real() * 100, steady["slope"].real() * 100, steady["slope_at_most"].real() * 100,
                    is_steady ? "" : " As the drive was not steady, they are no result of this test, but the last that was seen."));
    return out;
}

std::string_view procedure_of(std::string_view protocol) {
    constexpr std::array texts{
        KeyAndText{"snia-pts-iops",
                   "SNIA PTS-E, IOPS: an empty drive is written twice in order by 128 KiB. Each round then has 56 loads of random requests, "
                   "128 in flight: seven mixes of reads and writes in eight sizes."},
        KeyAndText{"snia-pts-latency",
                   "SNIA PTS-E, latency: an empty drive is written twice in order by 128 KiB. Each round then has nine loads of random "
                   "requests, one in flight: three mixes of reads and writes in three sizes."},
        KeyAndText{"snia-pts-wsat",
                   "SNIA PTS-E, write saturation: an empty drive is written at random by 4 KiB, 128 in flight. A round writes a quarter of "
                   "the drive or more; the drive is written twice at least, and until random writes no longer fill it up."},
        KeyAndText{"ssdiq",
                   "SSD-iq (Haas, Lee, Bonnet, Leis, PVLDB 18, 2025): an empty drive is written once in order, then overwritten at random by "
                   "4 KiB, 512 in flight; a round writes a quarter of the drive or more. The cell of the table is this load. Then a thread that "
                   "sends a request when the last is answered, half of them reads, runs beside an open load of 99 % writes, "
                   "which comes at 10, 30, 50, 70 and 90 % of the rate that was measured, whatever the drive does."}};
    const auto at = std::ranges::find(texts, protocol, &KeyAndText::first);
    return at == texts.end() ? std::string_view{} : at->second;
}

std::string subject_of_page(const Json& result) {
    return fmt::format("Drive: {}, {}, {} (configuration {}). Seed {}. Each load of a round {}; its time is simulated. FlashLab {}.",
                       result["preset"].text(), human_size(result["device_bytes"].number()), result["ftl"].text(), result["config_hash"].text(),
                       result["seed"].number(), cell_text(result), result["version"].text());
}

/// The plots of what was measured, by protocol.
std::string results_html(const Json& result) {
    const std::string protocol = result["protocol"].text();
    if (protocol == "snia-pts-iops")
        return drawn(
            by_size(result, "iops", "Requests a second by size", "requests a second"),
            "Random requests a second by bytes of a request, both axes logarithmic; a line a mix, percent of reads/writes. Means of the window.");
    if (is_latency(result))
        return drawn(by_size(result, "mean_us", "Mean latency by size", "mean, us"), "Mean of the window; a line a mix, percent of reads/writes.") +
               drawn(by_size(result, "five_nines_us", "Five nines by size", "99.999 %, us"),
                     "What one request in a hundred thousand exceeds, mean of the window's rounds. A round of fewer requests has its maximum here.") +
               drawn(by_size(result, "max_us", "Maximum by size", "max, us"), "The longest of all requests of the window.");
    std::string out =
        drawn(over(result, "drive_fills", "iops", "Random writes over what was written"),
              "Random writes a second, a point a round, over how many times the drive had been written at random by the round's end.") +
        drawn(over(result, "seconds", "iops", "Random writes over time"), "The same over the time of the drive.") +
        drawn(over(result, "drive_fills", "waf", "Write amplification over what was written"),
              "Bytes programmed into flash for each byte that the host wrote in the round.") +
        drawn(over(result, "drive_fills", "mean_us", "Mean latency over what was written"), "Mean of the writes of each round, with all in flight.");
    if (!result["beside"].items().empty())
        out += drawn(beside_plot(result), "Latencies of the thread that waits, by the rate of the load beside it: median and 99 % of reads and of "
                                          "writes. Where none came in its time there is no point.");
    return out;
}

} // namespace

std::string protocol_text(const Json& result) {
    const Json& steady = result["steady"];
    std::string out =
        fmt::format("{} on {}, {}: {}.\n", result["protocol"].text(), result["ftl"].text(), result["preset"].text(), verdict_of(result));
    out += fmt::format("Rounds {}: {}, mean {}, excursion {:.1f} %, slope {:.1f} % ({:g} and {:g} % are allowed). A cell {}.\n\n", window_of(steady),
                       steady["tracked"].text(), digits_of(steady["mean"].real()), steady["excursion"].real() * 100, steady["slope"].real() * 100,
                       steady["excursion_at_most"].real() * 100, steady["slope_at_most"].real() * 100, cell_text(result));
    if (result["protocol"].text() == "snia-pts-iops") out += "Requests a second, by bytes of a request and percent of reads/writes:\n";
    out += rows_text(cell_rows(result)) + "\n";
    if (!result["beside"].items().empty())
        out += fmt::format("A thread that waits, beside an open load of 99 % writes:\n{}\n", rows_text(object_rows(result["beside"])));
    return out + rows_text(round_rows(result)) + "\nAll figures: --json.\n";
}

std::string protocol_page(const Json& result) {
    const std::string title = markup_escaped(fmt::format("{}: {} on {}", result["protocol"].text(), result["ftl"].text(), result["preset"].text()));
    std::string out =
        fmt::format("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>\n"
                    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
                    "<link rel='icon' href='data:,'><title>{0}</title><style>{1}{2}{3}</style></head><body>\n<h1>{0}</h1>\n",
                    title, page_parts::page_style(), svg_style, protocol_style);
    out += conclusion_of(result) + paragraph(subject_of_page(result)) + paragraph(procedure_of(result["protocol"].text()));
    out += "<h2>Steady state</h2>\n";
    if (is_mixed(result))
        out += drawn(convergence_of(result),
                     "All loads without reads, by round. The rule asks whether those of 4 KiB still changed in the last rounds.");
    out +=
        drawn(window_plot(result), "The rounds that were judged. All points must lie within a band as high as the two outer lines are apart, and the "
                                   "least-squares line may not move by more than half of that.");
    out += "<h2>Results</h2>\n" + results_html(result) + html_table(cell_rows(result));
    if (!result["beside"].items().empty())
        out += paragraph("The thread that waits, beside the open load:") + html_table(object_rows(result["beside"]));
    return out + "<h2>Rounds</h2>\n" + html_table(round_rows(result)) + "</body></html>\n";
}

} // namespace flashlab

/// flashlab export: a log for other programs.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/log_target.h"
#include "tools/cli/progress.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/report/csv_export.h"
#include "tools/report/timeline.h"
#include "tools/report/timeline_tracks.h"

namespace flashlab {
namespace {

struct ExportOptions {
    std::string target, output;
    std::string perfetto; ///< a file
    std::string csv;      ///< a table or view
    std::string parquet;
    std::string from = "0s", to;
    std::optional<std::int64_t> run;
};

/// 1.5s, 200ms, 30us, 10ns; a number alone is seconds.
std::optional<std::int64_t> parse_time(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& [name, ns] : std::array<std::pair<std::string_view, double>, 5>{{{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}})
        if (unit == name && value * ns < 9e18) return std::llround(value * ns);
    return std::nullopt;
}

int export_timeline(const ExportOptions& o, const std::string& log) {
    const auto from = parse_time(o.from);
    const auto to = o.to.empty() ? std::optional<std::int64_t>{} : parse_time(o.to);
    if (!from) return complain(fmt::format("export: --from {} is not a time: write it like 1.5s, 200ms or 30us", o.from), exit_usage);
    if (!o.to.empty() && !to) return complain(fmt::format("export: --to {} is not a time: write it like 1.5s, 200ms or 30us", o.to), exit_usage);
    if (to && *to <= *from) return complain(fmt::format("export: --to {1} is not after --from {0}", o.from, o.to), exit_usage);
    auto file = AsideFile::make(o.perfetto, AsideFile::Existing::replaced, {log});
    if (!file) return complain("export: " + file.error());
    Progress progress{"rows read"};
    const auto count = write_timeline(log, {.from_ns = *from, .to_ns = to, .run = o.run}, *file, [&](std::uint64_t rows) { progress.at(rows); });
    if (!count) return complain("export: " + count.error());
    if (count->slices == 0)
        return complain(
            "export: the log has no request and no operation in that window; they are recorded with --log all (requests: without the chips)");
    if (auto done = file->commit(); !done) return complain("export: " + done.error());
    fmt::print("{}: {} slices, {} arrows, {} counter values; open it at ui.perfetto.dev, or in any viewer of trace events\n", o.perfetto,
               count->slices, count->arrows, count->counters);
    if (count->left_out > 0)
        complain(fmt::format("export: {} slices are left out: they overlap {} others; a window (--from, --to) of a quieter time has them all",
                             count->left_out, TimelineTracks::most));
    return exit_done;
}

int export_csv(const ExportOptions& o, const std::string& log) {
    std::optional<AsideFile> file;
    if (!o.output.empty()) {
        auto made = AsideFile::make(o.output, AsideFile::Existing::replaced, {log});
        if (!made) return complain("export: " + made.error());
        file.emplace(std::move(*made));
    }
    const auto take = [&](std::string_view text) -> std::expected<void, std::string> {
        if (file) return file->write(text);
        (void)!std::fwrite(text.data(), 1, text.size(), stdout); // standard output is checked when the command ends
        return {};
    };
    Progress progress{"rows read"};
    const auto rows = write_csv(log, o.csv, take, [&](std::uint64_t read) { progress.at(read); });
    if (!rows) return complain("export: " + rows.error());
    if (!file) return exit_done;
    if (auto done = file->commit(); !done) return complain("export: " + done.error());
    fmt::print("{}: {} rows\n", o.output, *rows);
    return exit_done;
}

int run_export(const ExportOptions& o) {
    if (!o.parquet.empty())
        return complain("export: --parquet: Debian 12 has no library that writes it; --csv VIEW -o FILE, or in DuckDB: ATTACH 'events.db' AS log "
                        "(TYPE sqlite); COPY "
                        "(FROM log.host_request) TO 'requests.parquet'",
                        exit_usage);
    const Interruption interruption;
    const auto log = find_log("export", o.target);
    if (!log) return complain(log.error());
    return o.perfetto.empty() ? export_csv(o, *log) : export_timeline(o, *log);
}

} // namespace

void add_export(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_export, "export", "A log for other programs: a timeline, or a table or view as CSV",
                              "flashlab export /tmp/disk --perfetto timeline.json --from 2s --to 2.1s");
    c.add_option("DIR", o.target, "Device directory, mount point, or event log file")->required();
    auto* what = c.add_option_group("what");
    auto* perfetto = what->add_option("--perfetto", o.perfetto, "A timeline of a run into this file, for the Perfetto UI (trace events, JSON)");
    what->add_option("--csv", o.csv, "This table or view (flashlab query --views)");
    what->add_option("--parquet", o.parquet, "Not built in; says which tool makes Parquet of a log");
    what->require_option(1);
    c.add_option("-o,--output", o.output, "of --csv: the file; otherwise standard output")->excludes(perfetto);
    c.add_option("--from", o.from, "of --perfetto: from here, after the run's beginning: 1.5s, 200ms, 30us")->capture_default_str()->needs(perfetto);
    c.add_option("--to", o.to, "of --perfetto: up to here; otherwise its end")->needs(perfetto);
    c.add_option("--run", o.run, "of --perfetto: of a log of several runs, this one; else the last one with a load")->needs(perfetto);
}

} // namespace flashlab

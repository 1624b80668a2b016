/// flashlab fit: a preset from what fio measured on a drive.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/progress.h"
#include "tools/fit/fit.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"

namespace flashlab {
namespace {

struct FitOptions {
    std::vector<std::string> files, wafs, fill_logs, settings;
    std::string output, base = "micron-7450-max";
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

/// --waf JOB=VALUE.
std::expected<void, std::string> take_wafs(const std::vector<std::string>& wafs, std::vector<FitPoint>& points) {
    for (const std::string& text : wafs) {
        const auto equals = text.rfind('=');
        char* end = nullptr;
        const double value = equals == text.npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
        if (equals == text.npos || *end != 0 || !(value >= 1) || value > 1000)
            return std::unexpected(fmt::format("--waf {}: JOB=VALUE is wanted, bytes on flash for each byte of the host: 1 or more", text));
        bool is_there = false;
        for (FitPoint& point : points)
            for (FitStream& stream : point.streams)
                if (stream.name == text.substr(0, equals)) {
                    stream.waf = value;
                    is_there = true;
                }
        if (!is_there) return std::unexpected(fmt::format("--waf {}: no job has this name", text));
    }
    return {};
}

/// --fill-log JOB=FILE; a job of several processes has several.
std::expected<void, std::string> take_fill_logs(const std::vector<std::string>& logs, std::vector<FitPoint>& points) {
    std::map<std::string, std::vector<std::string>> files;
    for (const std::string& text : logs) {
        const auto equals = text.find('=');
        if (equals == text.npos || equals == 0 || equals + 1 == text.size())
            return std::unexpected(fmt::format("--fill-log {}: JOB=FILE is wanted, the log that fio's write_bw_log wrote", text));
        files[text.substr(0, equals)].push_back(text.substr(equals + 1));
    }
    for (const auto& [job, of_job] : files) {
        FitStream* stream = nullptr;
        for (FitPoint& point : points)
            if (point.streams.size() == 1 && point.streams[0].name == job) stream = &point.streams[0];
        if (stream == nullptr) return std::unexpected(fmt::format("--fill-log {}: no job that runs alone has this name", job));
        if (!stream->in_order || stream->read_percent != 0)
            return std::unexpected(fmt::format("--fill-log {}: a fill is written in order (rw=write, size=100%)", job));
        const auto steps = read_bandwidth_logs(of_job);
        if (!steps) return std::unexpected(steps.error());
        stream->fill = phases_of(*steps);
    }
    return {};
}

Json as_json(const DriveFit& fit) {
    Json unmet{Json::Array{}};
    for (const std::string& sentence : unmet_by(fit)) unmet.push(sentence);
    Json keys{Json::Array{}}, rows{Json::Array{}};
    for (const FittedKey& key : fit.keys)
        keys.push(Json::object({{"key", key.key},
                                {"base", key.base},
                                {"value", key.fitted},
                                {"at_end_of_range", key.is_at_end},
                                {"or_beyond", key.beyond.empty() ? Json{} : Json{key.beyond}},
                                {"fitted_to", key.by.empty() ? Json{} : Json{key.by}},
                                {"not_identified", key.unidentified_since.empty() ? Json{} : Json{key.unidentified_since}}}));
    for (const FitRow& row : fit.rows)
        rows.push(Json::object({{"file", row.file},
                                {"job", row.job},
                                {"direction", row.is_read ? "read" : "write"},
                                {"metric", std::string{name_of(row.metric)}},
                                {"measured", row.measured},
                                {"model", row.model},
                                {"ratio", row.model / row.measured},
                                {"fitted_key", row.fitted_key.empty() ? Json{} : Json{row.fitted_key}}}));
    return Json::object({{"preset", fit.drive.preset}, {"keys", std::move(keys)}, {"points", std::move(rows)}, {"unmet", std::move(unmet)}});
}

void print_fit(const DriveFit& fit) {
    Table keys{{"parameter", "base", "fitted", "by"}};
    for (const FittedKey& key : fit.keys)
        keys.add({key.key, fmt::format("{:.0f}", key.base), key.by.empty() ? "" : fmt::format("{:.0f} {}", key.fitted, key.beyond),
                  key.by.empty() ? "not identified: " + key.unidentified_since : key.by + (key.is_at_end ? " (the end of its range)" : "")});
    Table fitted{{"job", "", "measure", "drive", "model", "model/drive"}}, predicted = fitted;
    double worst = 0, sum = 0, count = 0;
    for (const FitRow& row : fit.rows) {
        (row.fitted_key.empty() ? predicted : fitted)
            .add({row.job, row.is_read ? "read" : "write", std::string{name_of(row.metric)}, fmt::format("{:.5g}", row.measured),
                  fmt::format("{:.5g}", row.model), fmt::format("{:.2f}", row.model / row.measured)});
        if (!row.fitted_key.empty() || row.model <= 0) continue;
        const double off = std::abs(std::log(row.model / row.measured));
        worst = std::max(worst, off);
        sum += off;
        ++count;
    }
    fmt::print("{}\nFitted:\n{}\n", keys.to_text(), fitted.to_text());
    if (count == 0) return fmt::print("Nothing is left to predict: give jobs beside those that fit.\n");
    fmt::print("Predicted:\n{}\nPredicted within a factor of {:.2f} on average, {:.2f} at worst, over {:.0f} numbers.\n", predicted.to_text(),
               std::exp(sum / count), std::exp(worst), count);
}

int run_fit(const FitOptions& o) {
    std::vector<FitPoint> points;
    for (const std::string& file : o.files) {
        auto of_file = read_fio_results(file);
        if (!of_file) return complain("fit: " + of_file.error(), exit_usage);
        points.insert(points.end(), std::make_move_iterator(of_file->begin()), std::make_move_iterator(of_file->end()));
    }
    if (const auto taken = take_wafs(o.wafs, points); !taken) return complain("fit: " + taken.error(), exit_usage);
    if (const auto taken = take_fill_logs(o.fill_logs, points); !taken) return complain("fit: " + taken.error(), exit_usage);
    FitSettings base{o.base, {}};
    for (const std::string& setting : o.settings) {
        const auto equals = setting.find('=');
        if (equals == setting.npos) return complain(fmt::format("fit: --set {}: KEY=VALUE is wanted", setting), exit_usage);
        base.keys[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
    std::optional<AsideFile> file;
    if (!o.output.empty()) {
        auto made = AsideFile::make(o.output, AsideFile::Existing::refused);
        if (!made) return complain("fit: " + made.error());
        file.emplace(std::move(*made));
    }
    std::optional<Progress> running;
    const auto fit = fit_drive(points, base, o.seed, [&](std::uint64_t done, std::uint64_t total) {
        if (!running) running.emplace("steps", total);
        running->at(done);
    });
    running.reset();
    if (!fit) return complain("fit: " + fit.error());
    if (file) {
        if (const auto written = file->write(preset_toml(*fit)); !written) return complain("fit: " + written.error());
        if (const auto whole = file->commit(); !whole) return complain("fit: " + whole.error());
    }
    for (const std::string& sentence : unmet_by(*fit))
        complain(fmt::format(
            "fit: warning: {}. The base differs in something that is not fitted: try another --base, or --set its dies, planes, link", sentence));
    if (o.format == OutputFormat::table) {
        print_fit(*fit);
        if (file) fmt::print("The drive: {}, for --config of mkfs, bench and replay.\n", o.output);
    } else
        fmt::print("{}", shown(o.format, as_json(*fit)));
    return exit_done;
}

} // namespace

void add_fit(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_fit, "fit",
                              "Make a preset like a drive that you have, from what fio measured on it, and say how well it predicts the rest",
                              "fio --output-format=json job.fio > drive.json && flashlab fit drive.json --waf overwrite=2.1 -o mine.toml");
    c.add_option("FILE", o.files, "Results of fio --output-format=json; jobs of a file run beside each other unless they say stonewall")->required();
    c.add_option("--waf", o.wafs, "JOB=VALUE: bytes written on flash for each byte of the host during that job, from the drive's own counters")
        ->allow_extra_args(false);
    c.add_option("--fill-log", o.fill_logs,
                 "JOB=FILE: fio's write_bw_log of a job that writes the whole, erased drive once, in order: size of the SLC cache")
        ->allow_extra_args(false);
    c.add_option("-o,--output", o.output, "The preset, a file for --config; it may not exist")->type_name("FILE");
    c.add_option("--base", o.base, "Preset that gives what these jobs cannot say")->capture_default_str();
    c.add_option("--set", o.settings, "KEY=VALUE of the base")->allow_extra_args(false);
    c.add_option("--seed", o.seed, "Seed of the model's addresses")->capture_default_str();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

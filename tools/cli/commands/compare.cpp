/// flashlab compare: reports beside each other.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/percentile.h"
#include "tools/cli/command_options.h"
#include "tools/host/complaint.h"
#include "tools/host/regular_file.h"
#include "tools/host/standard_streams.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

constexpr std::size_t largest_report = std::size_t{64} << 20;

std::expected<Json, std::string> read_report(const std::string& path) {
    constexpr const char* remedy = "one is made by: flashlab replay TRACE --json > FILE";
    const auto text = read_regular_file(path, largest_report);
    if (!text) return std::unexpected(fmt::format("{}: {}: no report of a run; {}", path, text.error(), remedy));
    auto json = Json::parse(*text);
    if (!json) return std::unexpected(fmt::format("{}: {}; a report is made by: flashlab replay TRACE --json > FILE", path, json.error()));
    if (!json->is_object() || (*json)["requests"].is_null()) return std::unexpected(fmt::format("{}: no report of a run; {}", path, remedy));
    return json;
}

constexpr std::size_t longest_text = 30; ///< of a value in the table: the end of a path tells more than its beginning

std::string shown(const Json& value) {
    if (value.is_null()) return "-";
    const std::string text = value.is_number() ? fmt::format("{:.6g}", value.real()) : value.text(value.dump());
    return text.size() <= longest_text ? text : "..." + text.substr(text.size() - longest_text);
}

/// Nothing where there is none: the first is zero, or one of the two is no number.
Json ratio_of(const Json& first, const Json& other) {
    return first.is_number() && other.is_number() && first.real() != 0 ? Json{other.real() / first.real()} : Json{};
}

/// The keys of all, in the order of their first appearance.
std::vector<std::string> keys_of(const std::vector<Json>& values) {
    std::vector<std::string> keys;
    for (const Json& value : values)
        for (const auto& [key, member] : value.members())
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    return keys;
}

struct Row {
    std::string key;
    std::vector<Json> values; ///< null where a report does not have it
};

/// Members of members as key.member, items of lists as key.number.
void add_rows(const std::vector<Json>& values, const std::string& key, std::vector<Row>& rows) {
    const std::string prefix = key.empty() ? "" : key + ".";
    const auto each = [&](const auto& part) {
        std::vector<Json> parts;
        std::ranges::transform(values, std::back_inserter(parts), part);
        return parts;
    };
    const auto keys = keys_of(values);
    for (const std::string& member : keys) add_rows(each([&](const Json& value) { return value[member]; }), prefix + member, rows);
    std::size_t items = 0;
    for (const Json& value : values) items = std::max(items, value.items().size());
    for (std::size_t i = 0; i < items; ++i)
        add_rows(each([&](const Json& value) { return i < value.items().size() ? value.items()[i] : Json{}; }), fmt::format("{}{}", prefix, i), rows);
    if (keys.empty() && items == 0) rows.push_back({key, values});
}

Json to_json(const std::vector<Row>& rows) {
    Json out{Json::Array{}};
    for (const Row& row : rows) {
        Json values{Json::Array{}}, ratios{Json::Array{}};
        for (const Json& value : row.values) {
            values.push(value);
            ratios.push(ratio_of(row.values.front(), value));
        }
        Json object = Json::object({{"key", row.key}, {"values", std::move(values)}, {"ratios", std::move(ratios)}});
        if (row.values.size() == 2) {
            object.add("a", row.values[0]);
            object.add("b", row.values[1]);
            if (Json ratio = ratio_of(row.values[0], row.values[1]); !ratio.is_null()) object.add("ratio", std::move(ratio));
        }
        out.push(std::move(object));
    }
    return out;
}

/// A, B, ... Z, then by number.
std::string name_of(std::size_t report) { return report < 26 ? std::string(1, static_cast<char>('A' + report)) : fmt::format("#{}", report + 1); }

Table to_table(const std::vector<Row>& rows, std::size_t reports, OutputFormat format) {
    const bool is_csv = format == OutputFormat::csv;
    std::vector<std::string> header{is_csv ? "key" : ""};
    for (std::size_t i = 0; i < reports; ++i) header.push_back(name_of(i));
    for (std::size_t i = 1; i < reports; ++i) header.push_back(name_of(i) + (is_csv ? "/A" : " / A"));
    Table table{std::move(header)};
    for (const Row& row : rows) {
        std::vector<std::string> cells{row.key};
        for (const Json& value : row.values)
            cells.push_back(!is_csv ? shown(value) : value.is_null() ? "" : value.text(value.is_number() ? value.dump() : ""));
        for (std::size_t i = 1; i < reports; ++i) {
            const Json ratio = ratio_of(row.values.front(), row.values[i]);
            cells.push_back(ratio.is_null() ? "" : is_csv ? ratio.dump() : fmt::format("{:.3f}", ratio.real()));
        }
        table.add(std::move(cells));
    }
    return table;
}

/// What the figures come to: the cost of a page, the slow requests, the speed, each beside the first report's.
std::string conclusion(const std::vector<Json>& reports, std::size_t of) {
    std::string text;
    const auto add = [&](const char* what, const Json& first, const Json& own, const std::string& shown_own) {
        const Json ratio = ratio_of(first, own);
        if (ratio.is_null()) return;
        if (const double r = ratio.real(); r > 0.9995 && r < 1.0005)
            text += fmt::format("{}{} {}, as {}'s", text.empty() ? "" : "; ", what, shown_own, name_of(0));
        else
            text += fmt::format("{}{} {}, {} times {}'s", text.empty() ? "" : "; ", what, shown_own,
                                r < 100 ? fmt::format("{:.3g}", r) : fmt::format("{:.0f}", r), name_of(0));
    };
    const Json &a = reports.front(), &b = reports[of];
    add("write amplification is", a["waf"], b["waf"], fmt::format("{:.2f}", b["waf"].real()));
    const std::uint64_t fewest = std::min(a["requests"].number(), b["requests"].number());
    for (const auto& [key, words, percent] : {std::tuple{"p99", "p99 is", 99.0}, {"p999", "p99.9 is", 99.9}})
        if (tells_percentile(fewest, percent)) add(words, a["latency_us"][key], b["latency_us"][key], human_micros(b["latency_us"][key].real()));
    add("it serves", a["iops"], b["iops"], fmt::format("{:.0f} requests a second", b["iops"].real()));
    return text.empty() ? "" : fmt::format("{}: {}.\n", name_of(of), text);
}

struct CompareOptions {
    std::vector<std::string> reports;
    OutputFormat format = OutputFormat::table;
};

int run_compare(const CompareOptions& o) {
    std::vector<Json> reports;
    for (const std::string& path : o.reports) {
        auto report = read_report(path);
        if (!report) return complain("compare: " + report.error());
        reports.push_back(std::move(*report));
    }
    for (const char* key : {"trace", "load", "seed", "requests"})
        if (std::ranges::any_of(reports, [&](const Json& report) { return report[key].dump() != reports.front()[key].dump(); }))
            tell(fmt::format("note: {} differs: these are not runs of the same load\n", key));
    std::vector<Row> rows;
    add_rows(reports, "", rows);
    if (o.format == OutputFormat::table) {
        for (std::size_t i = 0; i < o.reports.size(); ++i) fmt::print("{}  {}\n", name_of(i), o.reports[i]);
        for (std::size_t i = 1; i < o.reports.size(); ++i) fmt::print("{}{}", i == 1 ? "\n" : "", conclusion(reports, i));
        fmt::print("\n");
    }
    fmt::print("{}", shown(o.format, to_json(rows), to_table(rows, o.reports.size(), o.format)));
    return exit_done;
}

} // namespace

void add_compare(CLI::App& app, Action& action) {
    auto [c, o] =
        add_command(app, action, run_compare, "compare", "Reports of replay or bench side by side, with the ratio of each figure to the first one's",
                    "flashlab compare hftl.json fast.json dftl.json");
    c.add_option("REPORTS", o.reports, "Two files or more of replay --json or bench --json; the ratios are to the first")
        ->required()
        ->expected(2, 1000);
    add_format(c, o.format, "An array of objects: key, values, ratios; of two reports also a, b, ratio",
               "A line a key: its values, then their ratios to the first");
}

} // namespace flashlab

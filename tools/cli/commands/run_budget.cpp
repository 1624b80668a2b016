#include "tools/cli/commands/run_budget.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "tools/text/markup.h"
#include "tools/text/printable.h"
#include "tools/text/sizes.h"

namespace flashlab {

namespace {

std::string told_figure(const Json& limit, const char* key) {
    return limit["limit"].text() == "syncs" ? fmt::format("{} syncs", limit[key].number()) : human_size(limit[key].number());
}

std::string sentence_of(const Json& limit) {
    const std::string of = limit["limit"].text();
    return fmt::format("{} {}, and {} allows {}",
                       of == "syncs"  ? "the program asked for"
                       : of == "host" ? "the drive was sent"
                                      : "on flash were programmed",
                       told_figure(limit, "came_to"), limit["option"].text(), told_figure(limit, "allowed"));
}

/// "wal 12 MiB, db 8 MiB": those with most first, none of nothing.
std::string greatest_of(const Json& rows, const char* key, std::size_t most) {
    std::vector<const Json*> order;
    for (const Json& row : rows.items())
        if (row[key].number() != 0) order.push_back(&row);
    std::ranges::stable_sort(order, [&](const Json* a, const Json* b) { return (*a)[key].number() > (*b)[key].number(); });
    std::string text;
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
        const Json& row = *order[i];
        const bool is_calls = std::string_view{key} == "calls";
        text += fmt::format("    {:>10}  {}{}\n", is_calls ? row[key].dump() : human_size(row[key].number()), printable_line(row["path"].text()),
                            is_calls ? fmt::format(" (by {})", printable_line(row["process"].text())) : "");
    }
    if (order.size() > most) text += fmt::format("    and {} more (--json has all)\n", order.size() - most);
    return text;
}

/// The rows that say where this figure comes from.
std::string rows_behind(const Json& limit, const Json& report, std::size_t rows) {
    const std::string of = limit["limit"].text();
    if (of == "syncs") return greatest_of(report["syncs_by_caller"], "calls", rows);
    return greatest_of(report["files"], of == "flash" ? "nand_write_bytes" : "host_write_bytes", rows);
}

} // namespace

void add_budget_options(CLI::App& c, WriteBudget& budget, bool has_junit) {
    add_size(c, "--max-host-bytes", budget.host_bytes,
             "The drive may be sent so much, metadata of the file system included; else run ends with 3, torture with 1");
    add_size(c, "--max-flash-bytes", budget.flash_bytes, "So much may be programmed on flash, copies of the drive included");
    c.add_option("--max-syncs", budget.syncs, "So many fsync, fdatasync and synced writes");
    if (has_junit)
        c.add_option("--junit", budget.junit, "Write these limits, and a program that fails, as test cases to this file")->type_name("FILE");
}

std::string why_no_budget(const WriteBudget& budget) {
    if (budget.junit.empty()) return {};
    if (!budget.has_limits()) return "--junit: there is nothing to test without --max-host-bytes, --max-flash-bytes or --max-syncs";
    std::error_code error;
    const auto folder = std::filesystem::absolute(budget.junit, error).parent_path();
    return ::access(folder.c_str(), W_OK | X_OK) == 0 ? std::string{} : fmt::format("--junit {}: {}", budget.junit, std::strerror(errno));
}

Json judged(const WriteBudget& budget, const Json& report) {
    Json limits{Json::Array{}};
    const auto judge = [&](const char* limit, const char* option, const std::optional<std::uint64_t>& allowed, const char* key) {
        if (!allowed) return;
        const std::uint64_t came_to = report[key].number();
        limits.push(Json::object({{"limit", limit}, {"option", option}, {"allowed", *allowed}, {"came_to", came_to}, {"held", came_to <= *allowed}}));
    };
    judge("host", "--max-host-bytes", budget.host_bytes, "host_write_bytes");
    judge("flash", "--max-flash-bytes", budget.flash_bytes, "nand_write_bytes");
    judge("syncs", "--max-syncs", budget.syncs, "syncs");
    return limits;
}

std::string told_limit(const Json& limit, const Json& report, std::size_t rows) {
    return fmt::format("{}:\n{}", sentence_of(limit), rows_behind(limit, report, rows));
}

std::string over_budget(const Json& report, std::size_t rows) {
    std::string text;
    for (const Json& limit : report["budget"].items())
        if (!limit["held"].truth()) text += told_limit(limit, report, rows);
    return text;
}

std::expected<void, std::string> write_junit(const std::string& file, const Json& reports) {
    std::string cases;
    std::size_t tests = 0, failures = 0, errors = 0;
    for (const Json& report : reports.items()) {
        for (const auto& [what, key] : {std::pair{"the program", "exit_code"}, std::pair{"the check", "check_exit_code"}}) {
            if (report[key].is_null() || report[key].number() == 0) continue;
            ++tests;
            ++errors;
            cases += fmt::format("  <testcase classname=\"{0} on {1}\" name=\"{2}\">\n    <error message=\"{2} ended with {3}\"/>\n  </testcase>\n",
                                 markup_escaped(report["command"].text()), markup_escaped(report["label"].text()), what, report[key].number());
        }
        for (const Json& limit : report["budget"].items()) {
            ++tests;
            cases += fmt::format("  <testcase classname=\"{} on {}\" name=\"{}\"", markup_escaped(report["command"].text()),
                                 markup_escaped(report["label"].text()), limit["option"].text());
            if (limit["held"].truth()) {
                cases += "/>\n";
                continue;
            }
            ++failures;
            cases += fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n", markup_escaped(sentence_of(limit)),
                                 markup_escaped(rows_behind(limit, report, 20)));
        }
    }
    std::ofstream out{file, std::ios::trunc};
    out << fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"flashlab run\" tests=\"{}\" failures=\"{}\" "
                       "errors=\"{}\">\n{}</testsuite>\n",
                       tests, failures, errors, cases);
    out.close();
    if (!out) return std::unexpected(fmt::format("--junit {}: {}", file, std::strerror(errno)));
    return {};
}

} // namespace flashlab

#include "tools/cli/commands/run_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/percentile.h"
#include "tools/run/run_words.h"
#include "tools/text/printable.h"
#include "tools/text/sizes.h"

namespace flashlab {

namespace {

std::string size_of(const Json& bytes) { return human_size(bytes.number()); }
std::string ratio_of(const Json& ratio) { return ratio.is_number() ? fmt::format("{:.2f}", ratio.real()) : "-"; }
std::string micros_of(const Json& us) { return fmt::format("{:.0f}", us.real()); }

/// "of collections 1.2 MiB, of the map 0.3 MiB"; only causes that wrote.
std::string causes_of(const Json& by_cause) {
    std::string text;
    for (const auto& [cause, bytes] : by_cause.members())
        if (bytes.number() != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause, size_of(bytes));
    return text.empty() ? "nothing" : text;
}

std::string way_of_bytes(const Json& r) {
    return fmt::format("application  {:>10}   {} calls, {} syncs, {} failed\n"
                       "host         {:>10}   {} for each byte of the application, {} of it metadata of the file system\n"
                       "flash        {:>10}   write amplification {}: {}\n"
                       "             {:>10}   blocks erased, {} pages read, {} PRAM words written\n",
                       size_of(r["application_write_bytes"]), r["calls"].dump(), r["syncs"].dump(), r["failed_calls"].dump(),
                       size_of(r["host_write_bytes"]), ratio_of(r["host_per_application_byte"]), size_of(r["metadata_write_bytes"]),
                       size_of(r["nand_write_bytes"]), r["host_write_bytes"].number() == 0 ? "-" : ratio_of(r["waf"]),
                       causes_of(r["nand_write_bytes_by_cause"]), r["nand_block_erases"].dump(), r["nand_page_reads"].dump(),
                       r["pram_words_written"].dump());
}

std::string users_of(const Json& rows, const char* name, std::size_t most) {
    Table table{{name, "written", "host", "flash", "copies", "syncs"}};
    for (std::size_t i = 0; i < std::min(most, rows.items().size()); ++i) {
        const Json& row = rows.items()[i];
        if (row[name].text() == start_of_program) continue;
        const Json& cause = row["nand_write_bytes_by_cause"];
        table.add({printable_line(row[name].text()), size_of(row["write_bytes"]), size_of(row["host_write_bytes"]), size_of(row["nand_write_bytes"]),
                   human_size(row["nand_write_bytes"].number() - cause["user"].number()), row["syncs"].dump()});
    }
    std::string text = table.to_text();
    if (rows.items().size() > most) text += fmt::format("and {} more (--json has all)\n", rows.items().size() - most);
    return text;
}

std::string syncs_of(const Json& rows, std::size_t most) {
    if (rows.items().empty()) return "nobody called fsync\n";
    Table table{{"process", "path", "calls", "mean_us", "max_us"}};
    for (std::size_t i = 0; i < std::min(most, rows.items().size()); ++i) {
        const Json& row = rows.items()[i];
        table.add({printable_line(row["process"].text()), printable_line(row["path"].text()), row["calls"].dump(), micros_of(row["mean_us"]),
                   micros_of(row["max_us"])});
    }
    return table.to_text();
}

std::string latency_of(const Json& operations) {
    Table table{{"call", "calls", "p50_us", "p99_us", "max_us"}};
    for (const Json& o : operations.items())
        if (const std::string op = o["op"].text();
            op == "read" || op == "write" || op == "fsync" || op == "create" || op == "unlink" || op == "rename")
            table.add({op, o["calls"].dump(), micros_of(o["p50_us"]), micros_of(o["p99_us"]), micros_of(o["max_us"])});
    return table.to_text();
}

/// What the slowest requests waited for, and whose they were.
std::string blame_of(const Json& slow, std::size_t most) {
    if (!slow.is_object()) return "the log holds no request to the drive (--log all records them)\n";
    Table waits{{"waited_for", "share_percent", "meaning"}};
    for (const Json& wait : slow["waits"].items())
        waits.add({wait["what"].text(), fmt::format("{:.1f}", 100 * wait["share"].real()), wait["meaning"].text()});
    Table users{{"process", "path", "request", "requests", "mean_us", "max_us", "mostly"}};
    const auto& rows = slow["by_user"].items();
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i)
        users.add({printable_line(rows[i]["process"].text()), printable_line(rows[i]["path"].text()), rows[i]["op"].text(),
                   rows[i]["requests"].dump(), micros_of(rows[i]["mean_us"]), micros_of(rows[i]["max_us"]),
                   fmt::format("{} {:.0f} %", rows[i]["mostly"].text(), 100 * rows[i]["mostly_share"].real())});
    return fmt::format("the slowest {} of {} requests to the drive took {} us and more. What they waited for{}:\n{}\n{}", slow["slowest"].dump(),
                       slow["requests"].dump(), micros_of(slow["least_us"]),
                       slow["level"].text() == "all" ? "" : " (the flash's part needs --log all)", waits.to_text(), users.to_text());
}

std::string years_of(const Json& years) {
    if (!years.is_number()) return "no end in sight: the flash was not written";
    if (const double days = years.real() * 365.25; days < 30)
        return days < 1 ? fmt::format("{:.3g} hours", days * 24) : fmt::format("{:.3g} days", days);
    return years.real() > 1000 ? std::string{"more than 1000 years"} : fmt::format("{:.3g} years", years.real());
}

std::string lifetime_of(const Json& life) {
    const bool has_pace = life["runs_per_day"].is_number();
    std::string text = fmt::format("lifetime: {}", has_pace ? years_of(life["years"]) : "years need a pace: --runs-per-day N, or --latency real");
    if (life["tbw_bytes"].is_number())
        text += fmt::format("; TBW {}, {:.3g} drive writes a day for 5 years", human_size(static_cast<std::uint64_t>(life["tbw_bytes"].real())),
                            life["drive_writes_per_day"].real());
    text += "\n";
    for (const Json& sentence : life["assumptions"].items()) text += fmt::format("  - {}\n", sentence.text());
    return text;
}

/// What the rest comes to, a line each: how it ended, what its bytes cost, what it waited for, how long the flash lasts.
std::string run_conclusions(const Json& r) {
    const auto ended = [](const Json& code) {
        return code.number() == 0 ? std::string{"without an error"} : fmt::format("with exit code {}", code.dump());
    };
    std::string text = fmt::format("It ended {} after {:.2f} s, on {} of {}, latency {}.\n", ended(r["exit_code"]), r["wall_seconds"].real(),
                                   r["ftl"].text(), r["preset"].text(), r["latency"].text());
    if (const Json& check = r["check_exit_code"]; !check.is_null())
        text += check.number() == 0 ? "The check of what it left held.\n"
                                    : fmt::format("The check of what it left FAILED: exit code {}.\n", check.dump());
    if (const std::string waf = amplification_in_words(r); !waf.empty()) text += fmt::format("Flash: {}.\n", waf);
    if (const Json& all = r["nand_per_application_byte"]; all.is_number())
        text += fmt::format("Each byte that it wrote became {:.2f} on the flash, the file system's part included.\n", all.real());
    for (const Json& o : r["latency_us"].items())
        if (o["op"].text() == "fsync")
            text += fmt::format("Half of its fsyncs ({}) took {} of the drive at most, 99 % {}.\n", o["calls"].dump(),
                                human_micros(o["p50_us"].real()), human_micros(o["p99_us"].real()));
    if (const Json& slow = r["slow_requests"]; !slow["waits"].items().empty())
        text += fmt::format("{} took {} or more. Where {:.0f} % of that went: {}.\n",
                            tells_percentile(slow["requests"].number(), 99.9)
                                ? std::string{"One of a thousand requests to the drive"}
                                : fmt::format("The slowest of {} requests to the drive", slow["requests"].dump()),
                            human_micros(slow["least_us"].real()), 100 * slow["waits"].items().front()["share"].real(),
                            slow["waits"].items().front()["meaning"].text());
    if (r["lifetime"]["years"].is_number()) text += fmt::format("At its pace the flash lasts {}.\n", years_of(r["lifetime"]["years"]));
    return text;
}

std::string told(const Json& r, std::size_t rows) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\nsimulated latency:\n{}\n{}\n{}", r["command"].text(), run_conclusions(r), way_of_bytes(r),
                       users_of(r["processes"], "process", rows), users_of(r["files"], "path", rows), syncs_of(r["syncs_by_caller"], rows),
                       latency_of(r["latency_us"]), blame_of(r["slow_requests"], rows), lifetime_of(r["lifetime"]));
}

const Json& of_call(const Json& operations, std::string_view op, std::string_view key) {
    static const Json none;
    for (const Json& o : operations.items())
        if (o["op"].text() == op) return o[key];
    return none;
}

Table side_by_side(const Json& reports) {
    std::vector<std::string> header{"what"};
    for (const Json& r : reports.items()) header.push_back(r["label"].text());
    Table table{header};
    const auto row = [&](const char* what, const auto& value) {
        std::vector<std::string> cells{what};
        for (const Json& r : reports.items()) cells.push_back(value(r));
        table.add(std::move(cells));
    };
    row("exit code", [](const Json& r) { return r["exit_code"].dump(); });
    if (!reports.items().front()["check_exit_code"].is_null())
        row("exit code of the check", [](const Json& r) { return r["check_exit_code"].dump(); });
    row("wall seconds", [](const Json& r) { return fmt::format("{:.2f}", r["wall_seconds"].real()); });
    row("application", [](const Json& r) { return size_of(r["application_write_bytes"]); });
    row("host", [](const Json& r) { return size_of(r["host_write_bytes"]); });
    row("flash", [](const Json& r) { return size_of(r["nand_write_bytes"]); });
    row("waf", [](const Json& r) { return ratio_of(r["waf"]); });
    row("waf of copies", [](const Json& r) { return fmt::format("{:.2f}", r["waf_gc"].real() + r["waf_merge"].real()); });
    row("waf of the map", [](const Json& r) { return fmt::format("{:.2f}", r["waf_map"].real() - r["waf_parity"].real()); });
    const auto has_parity = [](const Json& r) { return r["waf_parity"].real() > 0; };
    if (std::ranges::any_of(reports.items(), has_parity)) row("waf of parity", [](const Json& r) { return ratio_of(r["waf_parity"]); });
    row("blocks erased", [](const Json& r) { return r["nand_block_erases"].dump(); });
    for (const char* op : {"read", "write", "fsync"})
        for (const char* key : {"p50_us", "p99_us", "max_us"}) {
            const std::string what = fmt::format("{} {}", op, key);
            row(what.c_str(), [&](const Json& r) {
                const Json& value = of_call(r["latency_us"], op, key);
                return value.is_null() ? std::string{"-"} : micros_of(value);
            });
        }
    row("slowest 0.1 %, us", [](const Json& r) { return r["slow_requests"].is_object() ? micros_of(r["slow_requests"]["least_us"]) : "-"; });
    row("waited for", [](const Json& r) {
        const auto& waits = r["slow_requests"]["waits"].items();
        return waits.empty() ? "-" : fmt::format("{} {:.0f} %", waits.front()["what"].text(), 100 * waits.front()["share"].real());
    });
    row("TBW", [](const Json& r) {
        const Json& tbw = r["lifetime"]["tbw_bytes"];
        return tbw.is_number() ? human_size(static_cast<std::uint64_t>(tbw.real())) : "-";
    });
    row("years", [](const Json& r) { return r["lifetime"]["years"].is_number() ? fmt::format("{:.3g}", r["lifetime"]["years"].real()) : "-"; });
    return table;
}

} // namespace

std::string shown_use(const Json& use) {
    constexpr std::size_t rows = 20;
    return fmt::format("{}\n{}\n{}", users_of(use["processes"], "process", rows), users_of(use["files"], "path", rows),
                       syncs_of(use["syncs_by_caller"], rows));
}

std::string shown_runs(OutputFormat format, const Json& reports, std::size_t rows) {
    const bool is_one = reports.items().size() == 1;
    if (format == OutputFormat::json) return (is_one ? reports.items()[0] : Json::object({{"runs", reports}})).dump() + "\n";
    if (is_one) return format == OutputFormat::csv ? shown(format, reports.items()[0]) : told(reports.items()[0], rows);
    const Table table = side_by_side(reports);
    return format == OutputFormat::csv ? table.to_csv() : table.to_text();
}

} // namespace flashlab

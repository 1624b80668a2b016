#include "tools/run/run_words.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/percentile.h"
#include "tools/run/run_report.h"
#include "tools/text/sizes.h"

namespace flashlab {

namespace {

using Rows = std::initializer_list<std::pair<const char*, const char*>>; ///< key, label; of a label with '?' no zero is told

std::string with_unit(std::string_view key, const Json& value) {
    if (!value.is_number()) return value.text(value.dump());
    if (key.ends_with("_bytes")) return human_size(value.number());
    return key.ends_with("_share") ? fmt::format("{:.1f} %", 100 * value.real()) : fmt::format("{:.6g} {}", value.real(), unit_of_key(key));
}

void add_group(std::string& text, const char* title, const Json& of, Rows rows) {
    Table table{{"", ""}};
    bool is_empty = true;
    for (const auto& [key, label] : rows) {
        const std::string_view name{label};
        const Json& value = of[key];
        if (value.is_null() || (name.ends_with('?') && value.real() == 0)) continue;
        table.add({fmt::format("  {}", name.substr(0, name.find('?'))), with_unit(key, value)});
        is_empty = false;
    }
    if (!is_empty) text += fmt::format("\n{}\n{}", title, table.to_text());
}

/// An object whose keys are told as they are.
void add_members(std::string& text, const char* title, const Json& of) {
    Table table{{"", ""}};
    for (const auto& [key, value] : of.members()) {
        if (value.is_object() || value.is_null()) continue; // for programs
        std::string label = "  " + key;
        std::ranges::replace(label, '_', ' ');
        table.add({std::move(label), with_unit(key, value)});
    }
    if (!of.members().empty()) text += fmt::format("\n{}\n{}", title, table.to_text());
}

std::string latencies(const Json& us) {
    Table table{{"  latency", "mean", "p50", "p95", "p99", "p99.9", "max"}};
    const auto add = [&](const char* name, const Json& of) {
        if (of["p50"].is_null()) return;
        std::vector<std::string> row{fmt::format("  {}", name)};
        for (const char* key : {"mean", "p50", "p95", "p99", "p999", "max"}) row.push_back(human_micros(of[key].real()));
        table.add(std::move(row));
    };
    add("all requests", us);
    add("reads", us["read"]);
    add("writes", us["write"]);
    return us["p50"].is_null() ? "" : "\n" + table.to_text();
}

std::string queues(const Json& of) {
    if (of.items().empty()) return "";
    Table table{{"  queue", "priority", "load", "requests", "a second", "waits p50", "p99", "reads p50", "p99", "writes p50", "p99"}};
    for (const Json& q : of.items()) {
        std::vector<std::string> row{"  " + q["queue"].dump(), q["priority"].text(), q["rw"].is_null() ? "-" : q["rw"].text(), q["requests"].dump(),
                                     fmt::format("{:.0f}", q["iops"].real())};
        for (const char* key : {"waited_us", "read_us", "write_us"})
            for (const char* at : {"p50", "p99"}) row.push_back(q[key][at].is_null() ? "-" : human_micros(q[key][at].real()));
        table.add(std::move(row));
    }
    return "\nqueues of the host; latencies count from the submission\n" + table.to_text();
}

/// Of a run that was to be steady: from where on it was, and which figures are of that.
std::string steady_words(const Json& steady) {
    if (steady["ends_run"].truth())
        return fmt::format(
            "Steady from request {} on: write amplification {:.3f}, {:.4g} MB/s written. These two are of the last five windows of {}; "
            "all other figures are of the whole run, its way to there included.\n",
            steady["at_request"].dump(), steady["waf"]["mean"].real(), steady["write_mb_s"]["mean"].real(),
            human_size(steady["window_bytes"].number()));
    return "";
}

std::string conclusions(const Json& r) {
    std::string text = fmt::format("{} on {} answered {} requests in {:.4g} s of simulated time, {:.0f} a second.\n", r["ftl"].text(),
                                   r["preset"].text(), r["requests"].dump(), r["sim_seconds"].real(), r["iops"].real());
    if (const auto failure = failure_of(r)) text += *failure + ".\n";
    if (!r["partial"].is_null()) text = "Partial: the run was ended early, and what follows is of its part.\n" + text;
    if (const std::string waf = amplification_in_words(r); !waf.empty()) text += "Flash: " + waf + ".\n";
    text += steady_words(r["steady_state"]);
    const Json& us = r["latency_us"];
    if (us["p50"].is_null()) return text;
    const std::uint64_t requests = r["requests"].number();
    text += fmt::format("Half of the requests took {} at most", human_micros(us["p50"].real()));
    for (const auto& [key, percent] : {std::pair{"p99", 99.0}, {"p999", 99.9}})
        if (tells_percentile(requests, percent)) text += fmt::format(", {} % {}", percent, human_micros(us[key].real()));
    text += fmt::format("; the slowest {}.\n", human_micros(us["max"].real()));
    if (tells_percentile(requests, 99.9) && us["p999"].real() > 20 * us["p50"].real() && us["p50"].real() > 0)
        text += fmt::format("One of a thousand takes {:.0f} times the median. Why: --log all --events FILE, then flashlab report FILE, says it.\n",
                            us["p999"].real() / us["p50"].real());
    return text;
}

} // namespace

std::string amplification_in_words(const Json& r) {
    if (r["host_write_bytes"].number() == 0 || !r["waf"].is_number()) return "";
    std::string parts;
    const auto add = [&parts](double part, std::string_view of) {
        if (part >= 0.005) parts += fmt::format("{} {:.2f} for {}", parts.empty() ? ":" : ",", part, of);
    };
    for (const auto& [key, of] : Rows{{"waf_user", "itself"}, {"waf_gc", "copies of collections"}, {"waf_merge", "merges"}}) add(r[key].real(), of);
    add(r["waf_map"].real() - r["waf_parity"].real(), "the map");
    add(r["waf_parity"].real(), "parity over dies");
    const bool is_absorbed = r["waf"].real() < 0.995;
    return fmt::format("{:.2f} pages programmed for each page that the host wrote{}{}", r["waf"].real(), parts,
                       is_absorbed ? "; the rest was overwritten in the drive's write buffer, or is still there" : "");
}

std::string shown_run(OutputFormat format, const Json& r) {
    if (format != OutputFormat::table) return shown(format, r);
    std::string text = conclusions(r);
    add_group(text, "load", r,
              {{"trace", "what"},
               {"requests", "requests"},
               {"reads", "reads"},
               {"writes", "writes"},
               {"trims", "trims?"},
               {"flushes", "flushes?"},
               {"host_read_bytes", "read"},
               {"host_write_bytes", "written"},
               {"unmapped_reads", "read where nothing is written?"}});
    add_group(text, "speed", r, {{"sim_seconds", "simulated time"}, {"iops", "requests"}, {"read_mb_s", "read?"}, {"write_mb_s", "written?"}});
    text += latencies(r["latency_us"]) + queues(r["queues"]);
    add_group(text, "flash", r,
              {{"nand_read_pages", "read"},
               {"nand_program_pages", "programmed"},
               {"nand_erase_blocks", "erased"},
               {"waf", "write amplification"},
               {"waf_user", "  of the host's pages?"},
               {"waf_gc", "  of collections?"},
               {"waf_merge", "  of merges?"},
               {"waf_map", "  of the map?"},
               {"waf_parity", "    of it parity over dies?"},
               {"gc_page_copies", "copied by collections?"}});
    add_group(text, "merges", r["merges"], {{"switch", "switch, which copy nothing?"}, {"partial", "partial?"}, {"full", "full?"}});
    add_members(text, "caches in the drive's DRAM", r["cache"]);
    add_members(text, "the DRAM, divided", r["partition"]);
    add_group(text, "bit errors", r["bit_errors"],
              {{"read_retries", "pages sensed again"},
               {"uncorrected_reads", "reads that no retry corrected, those of pages that parity rebuilt among them"},
               {"scrubbed_blocks", "blocks written anew"},
               {"rebuilt_pages", "pages rebuilt by parity"}});
    add_members(text, "blocks by erases", r["erase_count"]);
    if (const auto& busy = r["channel_utilisation"].items(); !busy.empty()) {
        const auto [least, most] = std::ranges::minmax(busy, {}, [](const Json& share) { return share.real(); });
        text +=
            fmt::format("\nbuses of the {} channels\n  busy {:.1f} to {:.1f} % of the time\n", busy.size(), 100 * least.real(), 100 * most.real());
    }
    add_members(text, "trace as read", r["trace_read"]);
    if (!r["steady_state"].is_null()) add_members(text, "steady state", r["steady_state"]);
    add_group(text, "this run", r,
              {{"sectors_verified", "sectors verified"},
               {"wall_seconds", "host's time"},
               {"peak_rss_bytes", "host's memory"},
               {"seed", "seed"},
               {"config_hash", "configuration"},
               {"version", "version"}});
    return text + "\nAll figures: --json.\n";
}

} // namespace flashlab

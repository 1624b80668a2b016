#include "tools/cli/commands/ctl_powercut.h"

#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "tools/drive/config_file.h"
#include "tools/host/complaint.h"
#include "tools/live/cut_report.h"
#include "tools/live/live_mount.h"
#include "tools/live/recovery_cut.h"
#include "tools/text/shell_word.h"

namespace flashlab {

namespace {

void wait_until_released(const std::string& directory) {
    for (int i = 0; i < 5000 && is_in_use(directory); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

void print_cut(const Json& cut, bool is_raw) {
    const std::string when = fmt::format("Power cut at {:.6g} s, during {}", cut["at_ns"].real() / 1e9, cut["struck"].text());
    const char* safe = is_raw ? "flushed" : "fsynced";
    if (cut["protected"].truth())
        fmt::print(
            "{}. The drive has capacitors (dram.protected): what was in flight is complete, its write buffer is saved, so nothing is torn. What "
            "had been {} is safe.{} To see torn flash: --set dram.protected=0 at the mount.\n",
            when, safe, is_raw ? "" : " Writes still in the file system's cache are lost.");
    else
        fmt::print("{}: {} flash operations were in flight, {} left damaged pages or blocks; {} had not begun. What had been {} is safe.\n", when,
                   cut["operations_interrupted"].dump(), cut["operations_torn"].dump(), cut["operations_undone"].dump(), safe);
    const Json& persistence = cut["persistence"];
    if (persistence.members().empty()) return;
    fmt::print("{}: of {} changes that were not synced {} are lost\n", persistence["model"].text(), persistence["changes_unsynced"].dump(),
               persistence["changes_lost"].dump());
    for (const Json& line : persistence["lost"].items()) fmt::print("  {}\n", line.text());
}

/// Why something else was struck than --at asked for.
std::string why_instead(const std::string& asked, const std::string& struck) {
    if (asked == struck || (asked == "recovery" && struck == "work")) return "";
    if (struck == "idle")
        return fmt::format("the drive was idle, so there was no {} to cut and nothing is damaged: cut again while a load runs", asked);
    const std::string what = asked == "gc"      ? "no collection or merge came within 5 s"
                             : asked == "erase" ? "no erase came within 5 s"
                             : asked == "flush" ? "no sync came within 2 s"
                                                : fmt::format("no {} came", asked);
    return fmt::format("{}, so the power failed during {}: a load that overwrites a full drive brings collections and erases", what, struck);
}

} // namespace

int finish_cut(const CutAsked& o, const std::string& directory, Json cut) {
    wait_until_released(directory);
    if (const std::string why = why_instead(o.at, cut["struck"].text()); !why.empty())
        complain(fmt::format("warning: ctl powercut --at {}: {}", o.at, why));
    std::optional<Json> second;
    if (o.at == "recovery") {
        const auto again = cut_recovery(directory, o.seed, EventLevel::summary);
        if (!again) return complain(fmt::format("ctl powercut: the power failed, but the recovery could not be cut: {}", again.error()));
        second = to_json(*again);
        if (!again->struck || *again->struck == CutAt::idle)
            complain("warning: ctl powercut --at recovery: the recovery wrote nothing, so its cut damaged nothing: cut while a load runs");
    }
    if (o.format != OutputFormat::table) {
        if (second) cut.add("recovery", *second);
        fmt::print("{}", shown(o.format, cut));
        return exit_done;
    }
    const auto device = read_device_toml(directory);
    const bool is_raw = device && device->is_raw();
    print_cut(cut, is_raw);
    if (second) print_cut(*second, is_raw);
    fmt::print("To recover: flashlab mount {}{} MNT{}\n", is_raw ? "--as-file " : "", shell_word(directory), is_raw ? ", or flashlab serve" : "");
    return exit_done;
}

} // namespace flashlab

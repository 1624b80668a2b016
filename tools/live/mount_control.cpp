#include "tools/live/mount_control.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/drive/block_report.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_report.h"
#include "tools/drive/fdp_pages.h"
#include "tools/live/cut_report.h"
#include "tools/log/event_level.h"
#include "tools/log/event_log_schema.h"
#include "tools/text/span_of_time.h"

namespace flashlab {
namespace {

/// The part of `ctl stats` that the mount knows: its operations and how long their answers took.
///
/// Cost       Constant.
Json to_json(const MountStats& stats) {
    Json operations{Json::Array{}};
    for (const auto& o : stats.operations)
        if (o.count != 0)
            operations.push(Json::object({{"op", name_of_fs_op(static_cast<std::uint8_t>(o.op))},
                                          {"calls", o.count},
                                          {"errors", o.errors},
                                          {"p50_us", static_cast<double>(o.p50_ns) / 1e3},
                                          {"p99_us", static_cast<double>(o.p99_ns) / 1e3},
                                          {"max_us", static_cast<double>(o.max_ns) / 1e3}}));
    return Json::object({{"latency", stats.latency.off           ? std::string{"off"}
                                     : stats.latency.rate == 1.0 ? std::string{"real"}
                                                                 : fmt::format("{}x", stats.latency.rate)},
                         {"late_answers", stats.late_answers},
                         {"waiting_answers", stats.waiting_answers},
                         {"operations", std::move(operations)}});
}

Json failure(std::string text) { return Json::object({{"error", std::move(text)}}); }
Json good() { return Json::object({{"ok", true}}); }

} // namespace

std::optional<LatencyMode> parse_latency(const std::string& text) {
    if (text == "off") return LatencyMode{};
    if (text == "real") return LatencyMode{false, 1.0};
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error != std::errc{} || std::string_view{end, static_cast<std::size_t>(text.data() + text.size() - end)} != "x" ||
        !(rate >= 0.001 && rate <= 1e6))
        return std::nullopt;
    return LatencyMode{false, rate};
}

std::string MountControl::answer(std::string_view request) {
    const auto json = Json::parse(request);
    return (json ? dispatch(*json) : failure("the request is not valid JSON")).dump();
}

Json MountControl::dispatch(const Json& request) {
    const std::string command = request["cmd"].text();
    if (command == "stats") return stats();
    if (command == "unsynced") return unsynced();
    if (command == "use") return use(request["drive"].truth());
    if (command == "blocks") {
        Json blocks;
        mount_.with_monitor([&](SimTime) { blocks = block_report(opened_.device(), request["cells"].number(64)); });
        return blocks;
    }
    if (command == "set") return set(request);
    if (command == "idle") return run_idle();
    if (command == "age") return grow_older(request);
    if (command == "stream") return change_streams(request);
    if (command == "fault") return faults_.answer(request);
    if (command == "flush" || command == "remounted") {
        const auto done = command == "flush" ? mount_.sync_all() : mount_.follow_remount();
        return done ? good() : failure(std::strerror(done.error().error_number));
    }
    if (command == "flush_log") {
        sample_();
        bool read_only = false;
        mount_.with_monitor([&](SimTime) {
            if (opened_.device().was_cut()) return;
            opened_.note_wear();
            read_only = opened_.device().ftl().space().is_read_only;
        });
        opened_.log().flush();
        return Json::object(
            {{"ok", true}, {"unsynced_bytes", unsynced_bytes()}, {"level", name_of(opened_.log().level())}, {"read_only", read_only}});
    }
    if (command == "config") return Json::object({{"toml", to_toml(opened_.device().config())}, {"config", to_json(opened_.device().config())}});
    if (command == "powercut") return power_cut(request);
    Json report;
    if (command == "info") {
        mount_.with_monitor([&](SimTime) { report = info_report(opened_.device()); });
        add_failure_log(report, directory_);
        return report;
    }
    if (command != "smart") return failure(fmt::format("unknown request '{}'", command));
    mount_.with_monitor([&](SimTime now) {
        DeviceHistory history = opened_.history_now();
        history.clock_ns = ns_since_start(now);
        report = smart_report(opened_.device(), history);
    });
    report.add("unsynced_bytes", unsynced_bytes());
    return report;
}

Json MountControl::stats() {
    const Json operations = to_json(mount_.stats());
    Json report;
    mount_.with_monitor([&](SimTime now) { report = stats_report(opened_.device(), now, now - started_); });
    for (const auto& [key, value] : operations.members()) report.add(key, value);
    report.add("transport", mount_.uses_io_uring() ? "io_uring" : "dev_fuse");
    report.add("log_failure", opened_.log().failure());
    add_failure_log(report, directory_);
    return report;
}

Json MountControl::use(bool with_drive) {
    constexpr std::size_t most = 1000;
    Json report;
    mount_.with_monitor([&](SimTime now) {
        report = opened_.use() == nullptr ? failure("use is not counted; mount with -o use") : opened_.use()->report(most);
        if (with_drive) report.add("drive", stats_report(opened_.device(), now, now - started_));
    });
    return report;
}

std::uint64_t MountControl::unsynced_bytes() {
    std::uint64_t bytes = 0;
    mount_.with_monitor([&](SimTime) {
        if (opened_.device().was_cut()) return;
        for (const auto& range : opened_.device().fs().unsynced()) bytes += range.bytes;
    });
    return bytes;
}

Json MountControl::power_cut(const Json& request) {
    const auto at = parse_cut_at(request["at"].text("work"));
    if (!at) return failure(fmt::format("at {}: allowed: {}", request["at"].text(), fmt::join(cut_at_names, ", ")));
    if (persistence_) mount_.with_monitor([&](SimTime) { persistence_->begin_cut(); });
    const std::uint64_t seed = request["seed"].number(1);
    const CutSummary cut = mount_.power_cut(seed, *at);
    Json report = to_json(cut);
    report.add("asked", cut_at_names[std::to_underlying(*at)]);
    const DramConfig& dram = opened_.device().config().ssd.dram;
    report.add("protected", dram.is_protected && dram.write_buffer_bytes != 0);
    if (persistence_ && !persistence_->has_chosen())
        mount_.with_monitor([&](SimTime) { report.add("persistence", persistence_->choose(cut.at, seed)); });
    return report;
}

/// By file and range, in order. Names where a model keeps account of them.
Json MountControl::unsynced() {
    Json report;
    mount_.with_monitor([&](SimTime now) {
        if (persistence_) {
            report = persistence_->unsynced(now);
            return;
        }
        std::map<Ino, Json> ranges;
        for (const auto& range : opened_.device().fs().unsynced())
            ranges.try_emplace(range.ino, Json::Array{}).first->second.push(Json::object({{"offset", range.offset}, {"bytes", range.bytes}}));
        Json files{Json::Array{}};
        for (auto& [ino, of_file] : ranges)
            files.push(Json::object(
                {{"ino", ino.value()}, {"path", ""}, {"ranges", std::move(of_file)}, {"changes", Json{Json::Array{}}}, {"call", "fdatasync"}}));
        report = Json::object({{"persistence", "strict"}, {"files", std::move(files)}, {"names", Json{Json::Array{}}}});
    });
    report.add("metadata", opened_.device().config().in_journal() ? "journal" : "pram");
    return report;
}

Json MountControl::set(const Json& request) {
    std::optional<LatencyMode> latency;
    std::optional<EventLevel> level;
    if (request["rw"].truth() && opened_.access() == DeviceAccess::look)
        return failure("rw: was mounted read-only, so the drive is open for reading alone; unmount it, and mount it again without ro");
    if (const std::string text = request["latency"].text(); !text.empty()) {
        latency = parse_latency(text);
        if (!latency) return failure(fmt::format("latency={}: allowed: off, real, or a factor such as 10x", text));
        if (!latency->off && mount_.uses_io_uring())
            return failure(
                fmt::format("latency={}: this mount has -o io_uring=on, where libfuse lets no answer wait: unmount, and mount without it", text));
    }
    if (const std::string text = request["log"].text(); !text.empty()) {
        level = parse_event_level(text);
        if (!level) return failure(fmt::format("log={}: allowed: none, summary, requests, all", text));
    }
    if (level && !opened_.log().failure().empty()) // otherwise events until the log runs again would be lost without being counted
        mount_.with_monitor([&](SimTime) { opened_.log().pause(); });
    if (level && *level != EventLevel::none)
        if (const auto ready = opened_.log().make_ready(); !ready) return failure(ready.error());
    if (level) mount_.with_monitor([&](SimTime now) { opened_.log().change_level(*level, now); });
    if (level == EventLevel::none) opened_.log().flush();
    if (latency) mount_.set_latency(*latency);
    return good();
}

/// What is in the caches has not lain anywhere: it is written first, so that all that was answered is as old.
Json MountControl::grow_older(const Json& request) {
    const auto span = parse_span_of_time(request["span"].text());
    if (!span) return failure(fmt::format("age {}: write a number of minutes, hours, days or years, as 30d", request["span"].text()));
    if (opened_.access() == DeviceAccess::look)
        return failure("age: the mount is read-only, so nothing on the drive may change; unmount it, and mount it again without ro");
    if (!opened_.device().config().ssd.nand.errors.are_on())
        return failure("age: the cells have no bit errors, so age changes nothing; mount with --set nand.cell_errors=tlc-72");
    if (const auto synced = mount_.sync_all(); !synced) return failure(std::strerror(synced.error().error_number));
    Json report = good();
    mount_.with_monitor([&](SimTime) {
        Device& device = opened_.device();
        if (device.was_cut()) {
            report = failure("age: the power has failed");
        } else if (const auto older = device.ssd().grow_older(*span); !older) {
            report = failure(fmt::format("age: {}", to_text(older.error())));
        }
    });
    return report;
}

/// All rules are sound, or none is taken.
Json MountControl::change_streams(const Json& request) {
    const std::uint64_t handles = placement_handles_of(opened_.device().config().ssd);
    std::vector<StreamRule> rules;
    for (const Json& text : request["rules"].items()) {
        const auto rule = StreamRule::parse(text.text());
        if (!rule) return failure(rule.error());
        if (rule->stream != no_stream && rule->stream.value() >= handles)
            return failure(handles == 0 ? fmt::format("stream {}: {}", rule->text(), no_placement_handles)
                                        : fmt::format("stream {}: the drive has the streams 0 to {}", rule->text(), handles - 1));
        rules.push_back(*rule);
    }
    std::string error;
    Json::Array all;
    mount_.with_monitor([&](SimTime) {
        for (const StreamRule& rule : rules)
            if (error.empty()) error = streams_.refusal(rule);
        if (!error.empty()) return;
        if (request["do"].text() == "clear") streams_.clear();
        for (const StreamRule& rule : rules)
            if (const auto set = streams_.set(rule); !set && error.empty()) error = set.error();
        for (const StreamRule& rule : streams_.all()) all.push_back(rule.text());
    });
    return error.empty() ? Json::object({{"streams", std::move(all)}}) : failure(error);
}

/// Does background work, one wake-up after the other, until nothing is due within a second.
Json MountControl::run_idle() {
    if (const auto synced = mount_.sync_all(); !synced) return failure(std::strerror(synced.error().error_number));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (std::chrono::steady_clock::now() < give_up) {
        const auto rest = mount_.run_background();
        if (!rest) return failure(std::strerror(rest.error().error_number));
        if (*rest > std::chrono::seconds{1}) return good();
        std::this_thread::sleep_for(std::min<Duration>(*rest, std::chrono::milliseconds{2}));
    }
    return failure("background work is still going on after 30 s");
}

} // namespace flashlab

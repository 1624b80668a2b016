/// flashlab ctl: asks a live mount, or changes it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/ctl_powercut.h"
#include "tools/cli/commands/mount_words.h"
#include "tools/cli/commands/run_text.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/prometheus_text.h"
#include "tools/faults/fault_rule.h"
#include "tools/host/complaint.h"
#include "tools/live/cut_report.h"
#include "tools/live/live_mount.h"
#include "tools/live/mount_session.h"
#include "tools/log/event_level.h"
#include "tools/text/json.h"
#include "tools/text/printable.h"
#include "tools/text/span_of_time.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

namespace fs = std::filesystem;

/// Paths of inodes, relative to the mount, found by walking it from outside: the file system keeps no way back from an inode to its names.
std::map<std::uint64_t, std::string> paths_of(const std::string& mount_point, std::map<std::uint64_t, std::string> wanted) {
    std::size_t missing = wanted.size();
    std::error_code error;
    fs::recursive_directory_iterator walk{mount_point, fs::directory_options::skip_permission_denied, error};
    for (; missing != 0 && !error && walk != fs::recursive_directory_iterator{}; walk.increment(error)) {
        struct stat status {};
        if (::lstat(walk->path().c_str(), &status) != 0) continue;
        const auto found = wanted.find(status.st_ino);
        if (found == wanted.end() || !found->second.empty()) continue;
        found->second = walk->path().lexically_relative(mount_point).string();
        --missing;
    }
    return wanted;
}

bool has_path(const Json& file) { return !file["path"].text().empty() && !file["path"].text().starts_with("(inode"); }

/// The answer with paths and calls; of each range a line for programs that want a list.
Json completed(const Json& answer, const std::string& mount_point) {
    std::map<std::uint64_t, std::string> wanted;
    for (const Json& file : answer["files"].items())
        if (!has_path(file)) wanted[file["ino"].number()];
    const auto paths = paths_of(mount_point, wanted);
    Json files{Json::Array{}}, flat{Json::Array{}};
    for (const Json& file : answer["files"].items()) {
        std::string path = has_path(file) ? file["path"].text() : paths.at(file["ino"].number());
        if (path.empty()) continue; // unlinked: nobody can lose it
        for (const Json& range : file["ranges"].items())
            flat.push(Json::object({{"path", path}, {"ino", file["ino"]}, {"offset", range["offset"]}, {"bytes", range["bytes"]}}));
        files.push(Json::object({{"path", path},
                                 {"ino", file["ino"]},
                                 {"ranges", file["ranges"]},
                                 {"changes", file["changes"]},
                                 {"calls", Json{Json::Array{fmt::format("{}({})", file["call"].text(), path)}}}}));
    }
    return Json::object({{"persistence", answer["persistence"]},
                         {"metadata", answer["metadata"]},
                         {"unsynced", std::move(flat)},
                         {"files", std::move(files)},
                         {"names", answer["names"]}});
}

std::string calls_of(const Json& item) {
    std::string calls;
    for (const Json& call : item["calls"].items()) calls += (calls.empty() ? "" : ", ") + call.text();
    return calls;
}

/// A directory a line, what is in it below, and beside it the call.
void print_tree(const Json& report) {
    struct Line {
        std::string text, call;
    };
    std::map<std::string, std::vector<Line>> directories;
    for (const Json& name : report["names"].items()) {
        const std::string call = name["calls"].items().front().text();
        directories[call.substr(6, call.size() - 7)].push_back({"  " + name["change"].text(), calls_of(name)});
    }
    for (const Json& file : report["files"].items()) {
        const std::string path = file["path"].text();
        const auto slash = path.rfind('/');
        auto& lines = directories[slash == std::string::npos ? "." : path.substr(0, slash)];
        lines.push_back({"  " + path.substr(slash == std::string::npos ? 0 : slash + 1), calls_of(file)});
        for (const Json& range : file["ranges"].items())
            lines.push_back({fmt::format("    {}+{}", range["offset"].dump(), range["bytes"].dump()), ""});
        for (const Json& change : file["changes"].items()) lines.push_back({"    " + change.text(), ""});
    }
    std::size_t width = 0;
    for (const auto& [directory, lines] : directories)
        for (const Line& line : lines) width = std::max(width, line.text.size());
    for (const auto& [directory, lines] : directories) {
        fmt::print("{}/\n", printable_line(directory));
        for (const Line& line : lines)
            fmt::print("{:<{}}{}{}\n", printable_line(line.text), line.call.empty() ? 0 : width, line.call.empty() ? "" : "  ", line.call);
    }
    if (directories.empty()) fmt::print("nothing: all that was answered is durable\n");
    if (report["persistence"].text() == "strict" && report["metadata"].text() == "journal")
        fmt::print("changes of names and attributes may wait for the journal, 5 s at most: any fsync makes them durable\n");
}

/// `flashlab ctl MNT unsynced`: what was answered and is not durable, as a tree, with the calls that would make it durable.
///
/// Cost       A walk over the mount where the daemon knows an inode without its name.
void print_unsynced(const Json& answer, const std::string& mount_point, OutputFormat format) {
    const Json report = completed(answer, mount_point);
    if (format == OutputFormat::table) return print_tree(report);
    Table table{{"path", "ino", "offset", "bytes"}};
    for (const Json& range : report["unsynced"].items())
        table.add({range["path"].text(), range["ino"].dump(), range["offset"].dump(), range["bytes"].dump()});
    fmt::print("{}", shown(format, report, table));
}

constexpr const char* usage =
    "fault: write add RULE, plan FILE, list, or clear [NUMBER|all]; a rule is such as: eio op=fsync path='*.db' nth=2 (docs/faults.md)";

Json words_json(const FaultRule& rule) {
    Json words{Json::Array{}};
    for (const std::string& word : fault_words(rule.text())) words.push(word);
    return words;
}

std::expected<Json, std::string> rules_of(const std::string& what, std::span<const std::string> rest) {
    Json rules{Json::Array{}};
    if (what == "plan") {
        if (rest.size() != 1) return std::unexpected(std::string{"fault plan: name one file"});
        const auto plan = read_fault_plan(rest.front());
        if (!plan) return std::unexpected(fmt::format("fault plan {}", plan.error()));
        for (const FaultRule& rule : *plan) rules.push(words_json(rule));
        return rules;
    }
    std::vector<std::string> words(rest.begin(), rest.end());
    if (words.size() == 1) words = fault_words(words.front()); // one word in the form of -o fault=
    const auto rule = FaultRule::parse(words);
    if (!rule) return std::unexpected(fmt::format("fault add: {}", rule.error()));
    rules.push(words_json(*rule));
    return rules;
}

/// `flashlab ctl MNT fault`: add, plan, list, clear. The words become one question to the mount; the error says what is wrong with them.
std::expected<Json, std::string> fault_request(const std::vector<std::string>& arguments) {
    const std::string what = arguments.empty() ? "list" : arguments.front();
    const auto rest = std::span{arguments}.subspan(arguments.empty() ? 0 : 1);
    if (what == "list" && rest.empty()) return Json::object({{"cmd", "fault"}, {"do", "list"}});
    if (what == "clear" && rest.size() <= 1) {
        Json request = Json::object({{"cmd", "fault"}, {"do", "clear"}});
        if (rest.empty() || rest.front() == "all") return request;
        std::uint64_t number = 0;
        const std::string& text = rest.front();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size())
            return std::unexpected(fmt::format("fault clear {}: a number as 'fault list' shows it, or all", text));
        request.add("number", number);
        return request;
    }
    if (what != "add" && what != "plan") return std::unexpected(std::string{usage});
    auto rules = rules_of(what, rest);
    if (!rules) return std::unexpected(rules.error());
    return Json::object({{"cmd", "fault"}, {"do", "add"}, {"rules", std::move(*rules)}});
}

void print_faults(const Json& answer, OutputFormat format) {
    const bool is_cleared = !answer["cleared"].is_null();
    const auto& faults = answer[is_cleared ? "cleared" : "faults"].items();
    Table table{{"number", "rule", "seen", "struck"}};
    for (const Json& fault : faults) table.add({fault["number"].dump(), fault["rule"].text(), fault["seen"].dump(), fault["struck"].dump()});
    if (format == OutputFormat::table && faults.empty()) {
        fmt::print("{}\n", is_cleared ? "no fault was in force" : "no fault is in force");
        return;
    }
    if (format == OutputFormat::table && is_cleared) fmt::print("no longer in force:\n");
    fmt::print("{}", shown(format, answer, table));
}

struct CtlOptions {
    std::string target, action;
    std::vector<std::string> arguments; ///< for `set`: key=value
    std::uint64_t seed = 1;
    bool prometheus = false;
    std::string at = "work"; ///< for powercut: what it strikes
    OutputFormat format = OutputFormat::table;
};

const std::vector<std::string> actions{"stats", "flush", "idle", "unsynced", "use", "set", "age", "stream", "powercut", "fault"};

void print_stats(const Json& stats) {
    Json flat{Json::Object{}};
    for (const auto& [key, value] : stats.members())
        if (key != "operations" && key != "nand") flat.add(key, value);
    fmt::print("{}\n", to_key_value_text(flat));
    Table nand{{"cause", "page_reads", "page_programs", "block_erases"}};
    for (const auto& [cause, counts] : stats["nand"].members())
        nand.add({cause, counts["page_reads"].dump(), counts["page_programs"].dump(), counts["block_erases"].dump()});
    fmt::print("{}\n", nand.to_text());
    Table operations{{"op", "calls", "errors", "p50_us", "p99_us", "max_us"}};
    for (const auto& o : stats["operations"].items())
        operations.add({o["op"].text(), o["calls"].dump(), o["errors"].dump(), o["p50_us"].dump(), o["p99_us"].dump(), o["max_us"].dump()});
    fmt::print("{}", operations.to_text());
}

std::string unknown_action(const std::string& action) {
    const std::string near = nearest_name(action, actions);
    return fmt::format("ctl: no action is called '{}'; {}there are: {}", action, near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                       fmt::join(actions, ", "));
}

std::expected<Json, std::string> stream_request(const std::vector<std::string>& arguments) {
    Json request = Json::object({{"cmd", "stream"}});
    if (arguments == std::vector<std::string>{"clear"}) {
        request.add("do", "clear");
        return request;
    }
    Json rules{Json::Array{}};
    for (const std::string& argument : arguments) {
        if (const auto rule = StreamRule::parse(argument); !rule) return std::unexpected(rule.error());
        rules.push(argument);
    }
    request.add("rules", std::move(rules));
    return request;
}

void print_streams(const Json& answer) {
    const auto& rules = answer["streams"].items();
    if (rules.empty()) fmt::print("no user and no process has a stream of its own\n");
    for (const Json& rule : rules) fmt::print("{}\n", rule.text());
}

std::expected<Json, std::string> request_of(const CtlOptions& o) {
    if (o.action == "fault") return fault_request(o.arguments);
    Json request = Json::object({{"cmd", o.action}});
    if (o.action == "powercut") {
        if (!parse_cut_at(o.at)) return std::unexpected(fmt::format("powercut --at {}: allowed: {}", o.at, fmt::join(cut_at_names, ", ")));
        request.add("seed", o.seed);
        request.add("at", o.at);
    }
    if (o.action == "age") {
        if (o.arguments.size() != 1 || !parse_span_of_time(o.arguments.front()))
            return std::unexpected(
                std::string{"age: say for how long the data shall have lain: a number of minutes, hours, days or years, as age 30d"});
        request.add("span", o.arguments.front());
        return request;
    }
    if (o.action == "stream") return stream_request(o.arguments);
    if (o.action != "set") {
        if (!o.arguments.empty()) return std::unexpected(fmt::format("{} takes no argument '{}'", o.action, o.arguments.front()));
        return request;
    }
    if (o.arguments.empty())
        return std::unexpected(std::string{"set: write latency=off|real|Nx, log=none|summary|requests|all, or both with a comma"});
    for (const auto& argument : o.arguments) {
        const auto equals = argument.find('=');
        const std::string key = argument.substr(0, equals);
        if ((key != "latency" && key != "log") || equals == std::string::npos || equals + 1 == argument.size())
            return std::unexpected(fmt::format("set {}: what can be set is latency=... and log=...", argument));
        const std::string value = argument.substr(equals + 1);
        if (key == "latency" ? !parse_latency(value) : !parse_event_level(value))
            return std::unexpected(
                fmt::format("set {}: allowed: latency=off, real or a factor such as 10x; log=none, summary, requests, all", argument));
        request.add(key, value);
    }
    return request;
}

int run_ctl(const CtlOptions& o) {
    if (std::ranges::find(actions, o.action) == actions.end()) return complain(unknown_action(o.action), exit_usage);
    const auto request = request_of(o);
    if (!request) return complain(fmt::format("ctl: {}", request.error()), exit_usage);
    if (o.prometheus && o.action != "stats") return complain("ctl: --prometheus goes with stats", exit_usage);
    const auto mounted = find_mount(o.target);
    if (!mounted)
        return complain(fmt::format("ctl: {}: no FlashLab device is mounted here; mount one with: flashlab mount DIR {}", o.target, o.target));
    const auto answer = ask_mount(*mounted, *request);
    if (!answer) return complain(fmt::format("ctl {}: {}", o.action, answer.error()));
    if (o.action == "powercut") return finish_cut({o.at, o.seed, o.format}, mounted->source, *answer);
    if (o.action == "fault") {
        print_faults(*answer, o.format);
        return exit_done;
    }
    if (o.prometheus) {
        const auto smart = ask_mount(*mounted, Json::object({{"cmd", "smart"}}));
        if (!smart) return complain(fmt::format("ctl {}: {}", o.action, smart.error()));
        fmt::print("{}", prometheus_text(*answer, *smart, mounted->source));
        return exit_done;
    }
    if (o.action == "unsynced") {
        print_unsynced(*answer, mounted->mount_point, o.format);
        return exit_done;
    }
    if (o.format != OutputFormat::table)
        fmt::print("{}", shown(o.format, *answer));
    else if (o.action == "use")
        fmt::print("{}", shown_use(*answer));
    else if (o.action == "stream")
        print_streams(*answer);
    else if (o.action == "stats")
        print_stats(*answer);
    return exit_done;
}

} // namespace

void add_ctl(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_ctl, "ctl", "Ask a live mount, change it, cut its power, inject faults",
                              "flashlab ctl /mnt set latency=10x,log=requests");
    c.add_option("MNT", o.target, "Mount point or device directory")->required();
    c.add_option("ACTION", o.action,
                 "stats: counters; flush: write all to flash; idle: let the drive do its own work; unsynced: what a power cut would lose; use: who "
                 "wrote what (mount -o use); set: latency, log; age: time passes; stream: placement; powercut; fault: inject errors")
        ->required();
    c.add_option("ARGUMENTS", o.arguments,
                 "of set: latency=off|real|Nx, log=none|summary|requests|all; of age: 30d; of stream: uid:N=STREAM, pid:N=STREAM, clear; of fault: "
                 "add RULE, plan FILE, list, clear [NUMBER|all]")
        ->delimiter(',');
    c.add_flag("--prometheus", o.prometheus, "of stats: with the health, as Prometheus reads it");
    c.add_option("--seed", o.seed, "of powercut: when and what is torn")->capture_default_str();
    c.add_option("--at", o.at, "of powercut, what it strikes: work (device work in flight), idle, flush, gc, erase, recovery")->capture_default_str();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

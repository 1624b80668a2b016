#include "tools/sweep/sweep_load.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "tools/sweep/sweep_run.h"
#include "tools/workloads/workload_source.h"

namespace flashlab {
namespace {

/// They write files, choose the device, or belong to the sweep itself.
constexpr std::array<std::string_view, 11> not_in_a_load{"events", "log", "device", "json", "csv", "seed", "set", "preset", "config", "ftl", "trace"};
constexpr std::array<std::string_view, 4> commands{"bench", "replay", "reproduce", "crash"};

std::string option_name(std::string_view key) {
    std::string name{key};
    std::ranges::replace(name, '_', '-');
    return name;
}

/// Options of a table as words; true is a flag, false is none.
std::expected<void, std::string> add_options(SweepLoad& load, const Json& table) {
    for (const auto& [key, value] : table.members()) {
        const std::string name = option_name(key);
        if (std::ranges::find(not_in_a_load, name) != not_in_a_load.end())
            return std::unexpected(fmt::format("'{}' is none of a load: devices are chosen in [grid], seeds in [sweep]", key));
        const auto word = word_of(value);
        if (!word) return std::unexpected(fmt::format("'{}': {}", key, word.error()));
        if (name == "size") load.size = *word;
        if (*word == "false" && !value.is_number() && value.text() != "false") continue;
        const bool is_flag = *word == "true" && value.text() != "true";
        load.words.push_back("--" + name);
        if (!is_flag) load.words.push_back(*word);
    }
    return {};
}

std::expected<void, std::string> read_command(SweepLoad& load, const Json& words) {
    for (const Json& word : words.items()) load.words.push_back(word.text());
    const auto is_one = [&](std::string_view name) { return !load.words.empty() && load.words.front() == name; };
    if (std::ranges::none_of(commands, is_one) || (is_one("crash") && (load.words.size() < 2 || load.words[1] != "explore")))
        return std::unexpected(std::string{"command: a list of words is wanted that begins with bench, replay, reproduce or crash explore"});
    for (const std::string& word : load.words)
        if (word == "--json" || word == "--csv" || word.starts_with("--events") || word.starts_with("--device") || word.starts_with("--html"))
            return std::unexpected(fmt::format("command: '{}' is the sweep's business: a run writes no file of its own", word));
    load.takes_grid = false;
    load.reports_config = false;
    load.takes_seed = std::ranges::any_of(load.words, [](const std::string& word) { return word.find("{seed}") != std::string::npos; });
    load.name = load.words[0] + (load.words.size() > 1 ? " " + load.words[1] : "");
    return {};
}

std::expected<void, std::string> read_trace(SweepLoad& load, const std::string& name, const std::string& folder) {
    load.name = name;
    load.trace = name;
    if (is_workload_name(name)) {
        if (const auto known = make_workload_source(name); !known) return std::unexpected("trace: " + known.error());
        load.words = {"replay", name};
        return {};
    }
    if (name == "-") return std::unexpected(std::string{"trace: standard input cannot be read again: name a file"});
    if (!name.starts_with('/') && !folder.empty()) load.trace = folder + "/" + name;
    auto hash = hash_file(load.trace);
    if (!hash) return std::unexpected("trace: " + hash.error());
    load.trace_hash = *hash;
    load.words = {"replay", load.trace};
    return {};
}

} // namespace

std::expected<std::string, std::string> word_of(const Json& value) {
    if (value.is_object() || !value.items().empty() || value.is_null()) return std::unexpected(std::string{"one value is wanted here"});
    const std::string text = value.text();
    return text.empty() ? value.dump() : text;
}

std::expected<SweepLoad, std::string> read_sweep_load(const Json& table, std::size_t number, const std::string& folder) {
    SweepLoad load;
    const auto wrong = [&](const std::string& why) { return std::unexpected(fmt::format("[[load]] {}: {}", number, why)); };
    const bool is_bench = table["bench"].is_object(), is_trace = !table["trace"].text().empty(), is_command = !table["command"].items().empty();
    if (is_bench + is_trace + is_command != 1) return wrong("one of bench = { … }, trace = \"FILE\" and command = [ … ] is wanted");
    std::expected<void, std::string> done;
    Json options{Json::Object{}};
    if (is_trace) {
        done = read_trace(load, table["trace"].text(), folder);
        for (const auto& [key, value] : table.members())
            if (key != "trace" && key != "name") options.add(key, value);
        if (done) done = add_options(load, options);
    } else {
        if (is_bench) {
            load.words = {"bench"};
            load.is_bench = true;
            load.reports_config = table["bench"]["level"].text() != "ftl"; // there link and write buffer are left out
            done = add_options(load, table["bench"]);
            load.name = fmt::format("bench {}", table["bench"]["rw"].text("randwrite"));
        } else {
            done = read_command(load, table["command"]);
        }
    }
    if (!done) return wrong(done.error());
    if (const Json& name = table["name"]; !name.is_null()) {
        load.name = name.text();
        if (load.name.empty()) return wrong("name: a word is wanted, in quotes");
    }
    return load;
}

} // namespace flashlab

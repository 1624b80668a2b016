#include "tools/sweep/sweep_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/drive/config_schema.h"
#include "tools/drive/toml_json.h"
#include "tools/host/regular_file.h"
#include "tools/run/virtual_device.h"
#include "tools/sweep/sweep_load.h"
#include "tools/text/json.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

using Keys = std::vector<std::string>;

class SweepKeys {
public:
    explicit SweepKeys(std::string_view text) : text_{text} {}

    /// Says what is wrong with the first key of `table` that is none of `known`. `path` leads to the table.
    [[nodiscard]] std::string unknown_of(const Json& table, const Keys& known, const std::string& title, const Keys& path) const {
        for (const auto& [key, value] : table.members()) {
            if (std::ranges::find(known, key) != known.end()) continue;
            const std::string near = nearest_name(key, known);
            return fmt::format("{}: {}unknown key '{}'; {}", place(path, {key}), title, key,
                               !near.empty()       ? "did you mean '" + near + "'?"
                               : known.size() == 1 ? "there is " + known.front()
                                                   : fmt::format("there are {}", fmt::join(known, ", ")));
        }
        return {};
    }

    /// The same of a table of configuration keys, written as "nand.channels" in quotes or as nand.channels, which TOML takes for a table.
    [[nodiscard]] std::string unknown_setting_of(const Json& table, const Keys& further, const std::string& title, const Keys& path) const {
        for (const auto& [key, value] : table.members()) {
            if (std::ranges::find(further, key) != further.end()) continue;
            if (!value.is_object()) {
                if (find_config_key(key) == nullptr) return fmt::format("{}: {}{}", place(path, {key}), title, unknown_key_text(key));
                continue;
            }
            for (const auto& [inner, any] : value.members())
                if (const std::string full = key + "." + inner; find_config_key(full) == nullptr)
                    return fmt::format("{}: {}{}", place(path, {key, inner}), title, unknown_key_text(full));
        }
        return {};
    }

private:
    [[nodiscard]] std::string place(Keys path, const Keys& rest) const {
        path.insert(path.end(), rest.begin(), rest.end());
        return place_in_toml(text_, path);
    }
    std::string_view text_;
};

/// The keys that a sweep's file may have.
///
/// Idea       All of them are looked at before anything is read, so that each unknown one is named with the nearest known one and with its place.
/// Invariant  A file without an unknown key has none that the readers do not know.
/// Cost       Reads the text once more for a key that is unknown.
///
/// "LINE:COLUMN: what is wrong" of the first unknown key; empty: there is none. `sweep`: the same text as JSON.
std::string unknown_sweep_key(const Json& sweep, std::string_view text) {
    const SweepKeys keys{text};
    std::string wrong = keys.unknown_of(sweep, {"sweep", "grid", "load", "exclude"}, "", {});
    if (wrong.empty()) wrong = keys.unknown_of(sweep["sweep"], {"seeds"}, "[sweep] ", {"sweep"});
    if (wrong.empty()) wrong = keys.unknown_setting_of(sweep["grid"], {"preset", "size", "config"}, "[grid] ", {"grid"});
    const auto& loads = sweep["load"].items();
    for (std::size_t i = 0; i < loads.size() && wrong.empty(); ++i)
        if (loads[i]["trace"].is_null()) // the other keys of a trace are options of replay
            wrong =
                keys.unknown_of(loads[i], {"name", "bench", "trace", "command"}, fmt::format("[[load]] {}: ", i + 1), {"load", std::to_string(i)});
    const auto& exclusions = sweep["exclude"].items();
    for (std::size_t i = 0; i < exclusions.size() && wrong.empty(); ++i)
        wrong = keys.unknown_setting_of(exclusions[i], {"preset", "size", "config", "load", "seed"}, "[[exclude]] ", {"exclude", std::to_string(i)});
    return wrong;
}

constexpr std::size_t largest_sweep = std::size_t{1} << 20, largest_plan = std::size_t{1} << 31;
constexpr double most_runs = 1e6; ///< a plan holds each of them in memory, about a kilobyte

using Point = std::vector<std::pair<std::string, std::string>>; ///< a key of the grid and its value, each

struct Axis {
    std::string key;
    std::vector<std::string> values;
};
struct Exclusion {
    std::vector<Axis> axes;
    bool has_matched = false;
};
struct Sweep {
    std::string folder;
    std::vector<std::uint64_t> seeds;
    std::vector<Axis> grid;
    std::vector<SweepLoad> loads;
    std::vector<Exclusion> exclusions;
};

/// A list, or one value as a list of one.
std::expected<Axis, std::string> read_axis(const std::string& key, const Json& value) {
    Axis axis{key, {}};
    const Json::Array alone{value};
    const bool is_list = value.text().empty() && !value.is_number() && !value.is_object() && value.dump().starts_with('[');
    for (const Json& item : is_list ? value.items() : alone) {
        const auto word = word_of(item);
        if (!word) return std::unexpected(fmt::format("{}: {}", key, word.error()));
        axis.values.push_back(*word);
    }
    if (axis.values.empty()) return std::unexpected(fmt::format("{}: the list is empty: there would be no run", key));
    return axis;
}

/// [grid] may write a key as "nand.channels" in quotes, or as nand.channels, which TOML takes for a table.
std::expected<void, std::string> read_grid(std::vector<Axis>& grid, const Json& table, const std::string& prefix) {
    for (const auto& [key, value] : table.members()) {
        const std::string full = prefix + key;
        if (value.is_object() && prefix.empty()) {
            if (auto done = read_grid(grid, value, full + "."); !done) return done;
            continue;
        }
        auto axis = read_axis(full, value);
        if (!axis) return std::unexpected("[grid] " + axis.error());
        grid.push_back(std::move(*axis));
    }
    return {};
}

std::expected<void, std::string> read_exclusions(Sweep& sweep, const Json& list) {
    for (const Json& table : list.items()) {
        Exclusion exclusion;
        std::vector<Axis> flat;
        Json keys{Json::Object{}};
        for (const auto& [key, value] : table.members()) {
            if (key != "load" && key != "seed") {
                keys.add(key, value);
                continue;
            }
            auto axis = read_axis(key, value);
            if (!axis) return std::unexpected("[[exclude]] " + axis.error());
            exclusion.axes.push_back(std::move(*axis));
        }
        if (auto done = read_grid(flat, keys, ""); !done) return std::unexpected("[[exclude]]: " + done.error());
        for (Axis& axis : flat) {
            if (std::ranges::find(sweep.grid, axis.key, &Axis::key) == sweep.grid.end())
                return std::unexpected(fmt::format("[[exclude]] {}: the grid does not vary it", axis.key));
            exclusion.axes.push_back(std::move(axis));
        }
        if (exclusion.axes.empty()) return std::unexpected(std::string{"[[exclude]] without a key would leave no run"});
        sweep.exclusions.push_back(std::move(exclusion));
    }
    return {};
}

std::expected<void, std::string> read_seeds(Sweep& sweep, const Json& table) {
    for (const auto& [key, value] : table.members()) {
        const auto axis = read_axis(key, value);
        if (!axis) return std::unexpected("[sweep] " + axis.error());
        for (const std::string& word : axis->values) {
            if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos || word.size() > 19)
                return std::unexpected(fmt::format("[sweep] seeds: '{}' is no whole number from 0 on", word));
            sweep.seeds.push_back(std::stoull(word));
        }
    }
    if (sweep.seeds.empty()) sweep.seeds.push_back(1);
    return {};
}

std::expected<Sweep, std::string> read_sweep(const std::string& file) {
    const auto text = read_regular_file(file, largest_sweep);
    if (!text) return std::unexpected(fmt::format("{}: {}", file, text.error()));
    const auto json = toml_as_json(*text, file);
    if (!json) return std::unexpected(json.error());
    Sweep sweep;
    sweep.folder = std::filesystem::path{file}.parent_path().string();
    if (const std::string wrong = unknown_sweep_key(*json, *text); !wrong.empty()) return std::unexpected(fmt::format("{}:{}", file, wrong));
    auto done = read_seeds(sweep, (*json)["sweep"]);
    if (done) done = read_grid(sweep.grid, (*json)["grid"], "");
    std::size_t number = 0;
    for (const Json& table : (*json)["load"].items()) {
        if (!done) break;
        auto load = read_sweep_load(table, ++number, sweep.folder);
        if (load && std::ranges::find(sweep.loads, load->name, &SweepLoad::name) != sweep.loads.end())
            done = std::unexpected(fmt::format("[[load]] {}: a load before it is called '{}', too, and no table could tell their runs apart: give it "
                                               "a name = \"…\" of its own",
                                               number, load->name));
        else if (load)
            sweep.loads.push_back(std::move(*load));
        else
            done = std::unexpected(load.error());
    }
    if (done && sweep.loads.empty()) done = std::unexpected(std::string{"there is no [[load]]: nothing would run"});
    if (done) done = read_exclusions(sweep, (*json)["exclude"]);
    if (!done) return std::unexpected(fmt::format("{}: {}", file, done.error()));
    return sweep;
}

/// Every combination, the last key changing fastest. A grid without keys has one point.
std::vector<Point> points_of(const std::vector<Axis>& grid) {
    std::size_t count = 1;
    for (const Axis& axis : grid) count *= axis.values.size();
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t rest = i;
        for (std::size_t a = grid.size(); a-- > 0; rest /= grid[a].values.size())
            points[i].insert(points[i].begin(), {grid[a].key, grid[a].values[rest % grid[a].values.size()]});
    }
    return points;
}

/// Counted before the first of them is made.
std::expected<void, std::string> check_count(const Sweep& sweep) {
    double points = 1, runs = 0;
    for (const Axis& axis : sweep.grid) points *= static_cast<double>(axis.values.size());
    for (const SweepLoad& load : sweep.loads)
        runs += (load.takes_grid ? points : 1) * (load.takes_seed ? static_cast<double>(sweep.seeds.size()) : 1);
    if (runs <= most_runs) return {};
    return std::unexpected(fmt::format("[grid], seeds and loads make {:.0f} combinations, before [[exclude]]; a sweep has {:.0f} at most: give fewer "
                                       "values, or write several sweeps",
                                       runs, most_runs));
}

bool is_excluded(Exclusion& exclusion, const SweepRun& run, const Point& point) {
    for (const Axis& axis : exclusion.axes) {
        std::string value = axis.key == "load" ? run.load : fmt::format("{}", run.seed);
        for (const auto& [key, given] : point)
            if (key == axis.key) value = given;
        if (std::ranges::find(axis.values, value) == axis.values.end()) return false;
    }
    exclusion.has_matched = true;
    return true;
}

class Expansion {
public:
    Expansion(Sweep& sweep, const SweepPlanner& planner) : sweep_{sweep}, planner_{planner} {}
    std::expected<std::vector<SweepRun>, std::string> all() {
        if (auto few = check_count(sweep_); !few) return std::unexpected(few.error());
        const std::vector<Point> points = points_of(sweep_.grid);
        for (const SweepLoad& load : sweep_.loads) {
            const std::vector<Point> alone{{}};
            const Point& any = load.takes_grid ? points.front() : alone.front();
            if (const std::string wrong = planner_.wrong_usage(words(load, any, 1)); !wrong.empty())
                return std::unexpected(fmt::format("load {}: {}", load.name, wrong));
            for (const Point& point : load.takes_grid ? points : alone)
                for (const std::uint64_t seed : load.takes_seed ? sweep_.seeds : std::vector<std::uint64_t>{0})
                    if (auto done = add(load, point, seed); !done) return std::unexpected(done.error());
        }
        for (std::size_t i = 0; i < sweep_.exclusions.size(); ++i)
            if (!sweep_.exclusions[i].has_matched)
                return std::unexpected(fmt::format("[[exclude]] {} matches no run: is a value or a name mistyped?", i + 1));
        if (runs_.empty()) return std::unexpected(std::string{"[[exclude]] leaves no run"});
        return std::move(runs_);
    }

private:
    std::expected<void, std::string> add(const SweepLoad& load, const Point& point, std::uint64_t seed) {
        SweepRun run;
        run.load = load.name;
        run.trace = load.trace;
        run.trace_hash = load.trace_hash;
        run.seed = seed;
        run.version = FLASHLAB_VERSION;
        for (const auto& [key, value] : point) run.parameters.add(key, value);
        for (Exclusion& exclusion : sweep_.exclusions)
            if (is_excluded(exclusion, run, point)) return {};
        run.command = words(load, point, seed);
        if (load.takes_grid) {
            auto hash = config_hash_of(load, point);
            if (!hash) return std::unexpected(fmt::format("{}; a combination that cannot be is left out with [[exclude]]", hash.error()));
            run.config_hash = *hash;
        }
        run.id = run.made_id();
        if (!ids_.insert(run.id).second)
            return std::unexpected(fmt::format("two runs are the same: load {}, {}", run.load, fmt::join(run.command, " ")));
        if (load.takes_grid) {
            const std::string what = fmt::format("{}|{}|{}|{}", fmt::join(load.words, " "), run.trace_hash, run.seed, run.config_hash);
            if (const auto same = made_.emplace(what, run.command); !same.second)
                return std::unexpected(fmt::format("two runs are the same, written differently: load {}, {} and {}", run.load,
                                                   fmt::join(same.first->second, " "), fmt::join(run.command, " ")));
        }
        runs_.push_back(std::move(run));
        return {};
    }
    /// Named in the sweep's file, beside which it lies.
    [[nodiscard]] std::string file_beside(const std::string& name) const {
        return name.starts_with('/') || sweep_.folder.empty() ? name : sweep_.folder + "/" + name;
    }
    [[nodiscard]] std::vector<std::string> words(const SweepLoad& load, const Point& point, std::uint64_t seed) const {
        std::vector<std::string> words = load.words;
        for (std::string& word : words)
            if (const auto at = word.find("{seed}"); !load.takes_grid && at != std::string::npos) word.replace(at, 6, fmt::format("{}", seed));
        for (const auto& [key, value] : point) {
            const bool is_option = key == "preset" || key == "size" || key == "config";
            words.push_back(is_option ? "--" + key : "--set");
            words.push_back(key == "config" ? file_beside(value) : is_option ? value : key + "=" + value);
        }
        if (load.takes_grid) words.insert(words.end(), {"--seed", fmt::format("{}", seed)});
        words.emplace_back("--json");
        return words;
    }
    /// The effective configuration, as bench and replay come to it. The same device is planned once.
    std::expected<std::string, std::string> config_hash_of(const SweepLoad& load, const Point& point) {
        DeviceChoice choice;
        std::optional<std::string> size = load.size;
        for (const auto& [key, value] : point) {
            if (key == "size" && size) return std::unexpected(fmt::format("load {}: size is given in [grid], too", load.name));
            if (key == "size") size = value;
            if (key == "preset") choice.preset = value;
            if (key == "config") choice.config_file = file_beside(value);
            if (find_config_key(key) != nullptr && key != "preset") choice.settings.push_back(key + "=" + value);
        }
        const std::string device = fmt::format("{}|{}|{}", load.is_bench, size.value_or(""), fmt::join(point, "|"));
        if (const auto known = hashes_.find(device); known != hashes_.end()) return known->second;
        if (size) {
            const auto bytes = parse_size(*size);
            if (!bytes) return std::unexpected(fmt::format("size: {}", bytes.error()));
            choice.size_bytes = *bytes;
        }
        const auto plan = plan_device_of(choice, load.is_bench ? planner_.default_bench_bytes : default_device_bytes);
        if (!plan) return std::unexpected(plan.error());
        return hashes_[device] = config_hash(plan->config);
    }

    Sweep& sweep_;
    const SweepPlanner& planner_;
    std::vector<SweepRun> runs_;
    std::set<std::string> ids_;
    std::map<std::string, std::vector<std::string>> made_; ///< commands by load, seed and what the device comes to
    std::map<std::string, std::string> hashes_;
};

} // namespace

std::expected<std::vector<SweepRun>, std::string> plan_sweep(const std::string& file, const SweepPlanner& planner) {
    auto sweep = read_sweep(file);
    if (!sweep) return std::unexpected(sweep.error());
    auto runs = Expansion{*sweep, planner}.all();
    if (!runs) return std::unexpected(fmt::format("{}: {}", file, runs.error()));
    return runs;
}

std::expected<std::vector<SweepRun>, std::string> read_sweep_plan(const std::string& path) {
    const auto text = read_regular_file(path, largest_plan);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    std::vector<SweepRun> runs;
    std::set<std::string> ids;
    for (std::size_t at = 0, line = 1; at < text->size(); ++line) {
        const std::size_t end = std::min(text->find('\n', at), text->size());
        const auto json = Json::parse(std::string_view{*text}.substr(at, end - at));
        auto run = json ? SweepRun::from_json(*json)
                        : std::unexpected(std::string{"this is no line of a plan; make one: flashlab sweep plan SWEEP.toml -o PLAN"});
        if (!run) return std::unexpected(fmt::format("{}:{}: {}", path, line, run.error()));
        if (!ids.insert(run->id).second)
            return std::unexpected(fmt::format("{}:{}: the run {} is in the plan twice: plan the sweep anew instead", path, line, run->id));
        runs.push_back(std::move(*run));
        at = end + 1;
    }
    if (runs.empty()) return std::unexpected(fmt::format("{}: the plan has no run: make it with flashlab sweep plan", path));
    return runs;
}

std::vector<SweepRun> shard_of(const std::vector<SweepRun>& plan, std::uint64_t k, std::uint64_t n) {
    std::vector<SweepRun> part;
    for (std::size_t i = k - 1; i < plan.size(); i += n) part.push_back(plan[i]);
    return part;
}

} // namespace flashlab

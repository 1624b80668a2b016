#include "tools/sweep/sweep_keys.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/drive/config_schema.h"
#include "tools/drive/toml_json.h"

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

} // namespace

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

} // namespace flashlab

/// What a configuration of another tool comes to here: keys of device.toml, loads, and what became of each of its settings.
///
/// Idea       A function for each tool fills one of these (mqsim.cpp, fio.cpp, femu.cpp). Nothing is dropped in silence: a setting is taken, taken
///            nearly, or has no counterpart, and each of these is a note with its line.
/// Invariant  The keys pass the checks of the configuration, or the function that took them is wrong: the command tries them before it writes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab {

struct ImportNote {
    enum class Kind : std::uint8_t { taken, nearly, left_out };
    Kind kind = Kind::taken;
    std::string setting, value;
    std::string what; ///< the key that it became; what differs; why it has none
};

struct ImportedLoad {
    std::string title;
    std::vector<std::string> command; ///< words, after `flashlab`
};

struct Imported {
    std::vector<std::pair<std::string, std::string>> keys; ///< of device.toml, with their values; empty: the load alone
    std::vector<ImportedLoad> loads;
    std::vector<ImportNote> notes;

    void take(std::string setting, std::string value, std::string key, std::string of_key) {
        notes.push_back({ImportNote::Kind::taken, std::move(setting), std::move(value), key + " = " + of_key});
        keys.emplace_back(std::move(key), std::move(of_key));
    }
    void note(ImportNote::Kind kind, std::string setting, std::string value, std::string what) {
        notes.push_back({kind, std::move(setting), std::move(value), std::move(what)});
    }
};

/// MQSim's ssdconfig.xml and workload.xml (Tavakkol et al., FAST 2018). `workload` empty: the drive alone. Errors of these three name file, line and
/// column. What differs: docs/importing.md.
[[nodiscard]] std::expected<Imported, std::string> import_mqsim(const std::string& ssdconfig, const std::string& workload);
/// fio's job file. Jobs between two `stonewall` run beside each other, as queues.
[[nodiscard]] std::expected<Imported, std::string> import_fio(const std::string& path);
/// FEMU: a script, or a line, with `-device femu,KEY=VALUE,...`.
[[nodiscard]] std::expected<Imported, std::string> import_femu(const std::string& path);

/// What stands between the blanks and line ends around it: a part of `text`.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
/// The text of a regular file, up to 1 MiB; the error names it.
[[nodiscard]] std::expected<std::string, std::string> text_to_import(const std::string& path);

/// Of each key its last value, by section, as --config reads it.
[[nodiscard]] std::string device_toml(const Imported& imported, const std::string& origin);
/// A shell script of the loads. `config`: of --config; empty: the default drive.
[[nodiscard]] std::string load_script(const Imported& imported, const std::string& origin, const std::string& config);

} // namespace flashlab

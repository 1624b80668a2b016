#include "tools/drive/config_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "ftl/blocks/separation_policies.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_presets.h"
#include "tools/drive/scheme_keys.h"
#include "tools/drive/toml_json.h"
#include "tools/drive/toml_library.h"
#include "tools/host/regular_file.h"

namespace flashlab {
namespace {

constexpr std::size_t largest_text = 1u << 20;

std::expected<std::string, std::string> read_text(const std::string& path) {
    auto text = read_regular_file(path, largest_text);
    if (!text) return std::unexpected(fmt::format("{}: no configuration can be read: {}", path, text.error()));
    return text;
}

std::string place(const std::string& name, const toml::source_region& at) { return fmt::format("{}:{}:{}", name, at.begin.line, at.begin.column); }

std::expected<std::string, std::string> scalar_text(const toml::node& node, ConfigType type) {
    if (const auto* text = node.as_string()) return text->get();
    if (type == ConfigType::text) return std::unexpected(std::string{"a text in quotes is wanted here"});
    if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
    return std::unexpected(std::string{type == ConfigType::size ? "a whole number of bytes, or a size in quotes such as \"64M\", is wanted here"
                                                                : "a whole number is wanted here"});
}

std::expected<void, std::string> apply_table(DeviceConfig& config, const toml::table& table, const std::string& prefix, const std::string& name) {
    for (const auto& [key, node] : table) {
        const std::string full = prefix + std::string{key.str()};
        const ConfigKey* known = find_config_key(full);
        if (const auto* inner = node.as_table(); inner != nullptr && known == nullptr && prefix.empty()) {
            if (auto done = apply_table(config, *inner, full + ".", name); !done) return done;
            continue;
        }
        if (known == nullptr) return std::unexpected(fmt::format("{}: {}", place(name, key.source()), unknown_key_text(full)));
        const auto value = scalar_text(node, known->type);
        if (!value) return std::unexpected(fmt::format("{}: {}: {}", place(name, node.source()), full, value.error()));
        if (auto done = set_key(config, full, *value); !done) return std::unexpected(fmt::format("{}: {}", place(name, node.source()), done.error()));
    }
    return {};
}

std::expected<toml::table, std::string> parse(std::string_view text, const std::string& name) {
    auto parsed = toml::parse(text, name);
    if (!parsed) return std::unexpected(fmt::format("{}: {}", place(name, parsed.error().source()), parsed.error().description()));
    return std::move(parsed).table();
}

std::string newer_format_text(const std::string& at, std::uint64_t format) {
    return fmt::format("{}: format {} is newer than this flashlab ({}) knows: {}; use the version that made it", at, format, FLASHLAB_VERSION,
                       device_format);
}

/// A device.toml may describe another device like it: mkfs plans the layout anew. A [layout] that somebody wrote by hand would be lost without a
/// word.
std::expected<void, std::string> forget_what_mkfs_writes(DeviceConfig& config, const std::string& text, const std::string& name) {
    const auto table = parse(text, name);
    if (!table) return std::unexpected(table.error());
    if (config.format > device_format) return std::unexpected(newer_format_text(place(name, table->get("format")->source()), config.format));
    if (const toml::node* layout = table->get("layout"); layout != nullptr && config.checksum.empty())
        return std::unexpected(fmt::format("{}: mkfs plans the layout itself; leave [layout] out", place(name, layout->source())));
    config.layout = PramLayout{};
    config.checksum.clear();
    return {};
}

std::string variable_of(std::string_view key) {
    std::string out = "FLASHLAB_";
    for (const char c : key) out += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

/// FLASHLAB_DRAM_ and whatever other section the schema has: a new one needs no second list. Keys without a section (format, preset) have no
/// variable.
bool is_ours(const std::string& variable) {
    return std::ranges::any_of(config_keys(), [&](const ConfigKey& key) {
        const auto dot = key.name.find('.');
        return dot != std::string_view::npos && variable.starts_with(variable_of(key.name.substr(0, dot + 1)));
    });
}

std::string unknown_variable_text(const std::string& variable) {
    std::vector<std::string> names;
    for (const auto& key : config_keys()) names.push_back(variable_of(key.name));
    const std::string near = nearest_name(variable, names);
    return near.empty() ? fmt::format("environment: {} sets no known key", variable)
                        : fmt::format("environment: {} sets no known key; did you mean {}?", variable, near);
}

/// Written by hand, not by mkfs: then each key that is in it was asked for.
bool is_by_hand(const toml::table& table) { return !table.at_path("layout.checksum").is_value(); }

/// That each key which somebody asked for does something with the scheme that the sources come to.
std::expected<void, std::string> check_scheme(const DeviceConfig& config, const ConfigSources& sources, std::string_view text) {
    if (sources.file) {
        const auto table = parse(text, *sources.file);
        if (!table) return std::unexpected(table.error());
        for (const auto& key : config_keys())
            if (const auto value = table->at_path(key.name); is_by_hand(*table) && value.is_value())
                if (auto done = check_key_of_scheme(key.name, config.ssd); !done)
                    return std::unexpected(fmt::format("{}: {}", place(*sources.file, value.node()->source()), done.error()));
    }
    return check_settings_of_scheme(sources.settings, config.ssd);
}

/// Whoever names a translation layer compares it with others: on the drive that all of them can use.
std::string_view unasked_preset(const ConfigSources& sources) {
    const auto asked = asked_keys(sources);
    return std::ranges::find(asked, "ftl.scheme") != asked.end() ? common_preset_name : default_preset_name;
}

/// Where no source names the victim policy, it is the one that suits the separation. A device.toml names all keys.
void suit_victim(DeviceConfig& config, const ConfigSources& sources, std::string_view text) {
    const auto asked = asked_keys(sources);
    const auto file = parse(text, "");
    if (std::ranges::find(asked, "ftl.victim") != asked.end() || (file && file->at_path("ftl.victim").is_value())) return;
    const SeparationPolicyEntry* separation = find_named(separation_policies(), config.ssd.ftl.separation);
    if (separation != nullptr && !separation->victim.empty()) config.ssd.ftl.victim = separation->victim;
}

} // namespace

std::expected<void, std::string> apply_toml(DeviceConfig& config, std::string_view text, const std::string& name) {
    const auto table = parse(text, name);
    if (!table) return std::unexpected(table.error());
    DeviceConfig next = config;
    if (auto done = apply_table(next, *table, "", name); !done) return done;
    config = next;
    return {};
}

std::expected<void, std::string> apply_environment(DeviceConfig& config, const std::vector<std::pair<std::string, std::string>>& environment,
                                                   bool mounting) {
    DeviceConfig next = config;
    for (const auto& [variable, value] : environment) {
        if (!is_ours(variable)) continue;
        const auto key = std::ranges::find_if(config_keys(), [&](const ConfigKey& k) { return variable_of(k.name) == variable; });
        if (key == config_keys().end()) return std::unexpected(unknown_variable_text(variable));
        if (key->phase == ConfigPhase::written_by_mkfs)
            return std::unexpected(fmt::format("environment: {}: mkfs writes {} itself; it cannot be set", variable, key->name));
        if (mounting && key->phase == ConfigPhase::mkfs) // what was exported for mkfs must not keep the device from being mounted
            continue;
        if (auto done = set_key(next, key->name, value); !done) return std::unexpected(fmt::format("environment: {}: {}", variable, done.error()));
    }
    config = next;
    return {};
}

std::expected<void, std::string> apply_settings(DeviceConfig& config, const std::vector<std::string>& settings, bool mounting) {
    DeviceConfig next = config;
    for (const auto& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            return std::unexpected(fmt::format("--set {}: write KEY=VALUE, for example --set nand.page_read_ns=50000", setting));
        const std::string name = setting.substr(0, equals);
        const ConfigKey* key = find_config_key(name);
        if (key != nullptr && (key->phase == ConfigPhase::written_by_mkfs || (mounting && key->phase == ConfigPhase::mkfs)))
            return std::unexpected(
                fmt::format("--set {}: the images are made for one value; make another device with flashlab mkfs to change it", name));
        if (name == "preset") return std::unexpected(std::string{"--set preset: use --preset"});
        if (auto done = set_key(next, name, setting.substr(equals + 1)); !done) return std::unexpected(fmt::format("--set: {}", done.error()));
    }
    config = next;
    return {};
}

std::expected<DeviceConfig, std::string> gather_config(const ConfigSources& sources) {
    std::string text;
    std::string preset_name = sources.preset.value_or("");
    if (sources.file) {
        auto read = read_text(*sources.file);
        if (!read) return std::unexpected(read.error());
        text = std::move(*read);
        const auto table = parse(text, *sources.file);
        if (!table) return std::unexpected(table.error());
        if (preset_name.empty()) preset_name = table->get("preset") != nullptr ? table->get("preset")->value_or(std::string{}) : std::string{};
    }
    if (preset_name.empty()) preset_name = unasked_preset(sources);
    const auto preset = find_device_preset(preset_name);
    if (!preset) {
        const std::string place = sources.preset || !sources.file ? "" : place_in_toml(text, std::array{std::string{"preset"}});
        return std::unexpected(place.empty() ? preset.error() : fmt::format("{}:{}: {}", *sources.file, place, preset.error()));
    }
    DeviceConfig config;
    config.ssd = preset->config;
    if (sources.file) {
        if (auto done = apply_toml(config, text, *sources.file); !done) return std::unexpected(done.error());
        config.ssd.preset = preset->config.preset;
        if (auto done = forget_what_mkfs_writes(config, text, *sources.file); !done) return std::unexpected(done.error());
    }
    if (auto done = apply_environment(config, sources.environment, false); !done) return std::unexpected(done.error());
    if (auto done = apply_settings(config, sources.settings, false); !done) return std::unexpected(done.error());
    if (auto done = check_scheme(config, sources, text); !done) return std::unexpected(done.error());
    suit_victim(config, sources, text);
    return config;
}

std::vector<std::string> asked_keys(const ConfigSources& sources) {
    std::vector<std::string> asked;
    const auto text = sources.file ? read_text(*sources.file) : std::unexpected(std::string{});
    const auto table = text ? parse(*text, *sources.file) : std::unexpected(text.error());
    const bool names_what_is_asked = table && is_by_hand(*table);
    for (const auto& key : config_keys())
        if ((names_what_is_asked && table->at_path(key.name).is_value()) ||
            std::ranges::any_of(sources.environment, [&](const auto& entry) { return entry.first == variable_of(key.name); }))
            asked.emplace_back(key.name);
    for (const auto& setting : sources.settings)
        if (const ConfigKey* key = find_config_key(setting.substr(0, setting.find('=')))) asked.emplace_back(key->name);
    return asked;
}

std::expected<void, std::string> add_option_setting(ConfigSources& sources, std::string_view option, std::string_view key, std::string_view value) {
    for (const auto& setting : sources.settings) {
        const std::size_t equals = std::min(setting.find('='), setting.size());
        if (setting.substr(0, equals) == key && setting.substr(std::min(equals + 1, setting.size())) != value)
            return std::unexpected(fmt::format("{} {} beside --set {}: say one of them", option, value, setting));
    }
    sources.settings.push_back(fmt::format("{}={}", key, value));
    return {};
}

std::expected<DeviceConfig, std::string> read_device_toml(const std::string& directory) {
    const std::string path = directory + "/device.toml";
    if (::access(path.c_str(), F_OK) != 0) {
        const int why = errno;
        if (why == ENOENT && ::access((directory + "/nand.img").c_str(), F_OK) == 0)
            return std::unexpected(fmt::format(
                "{0}: no FlashLab device is here (no device.toml), though nand.img is: its data are not lost. Put back a copy of device.toml, or "
                "that of a drive which was made with the same options; flashlab mkfs --force would destroy them",
                directory));
        if (why == EACCES) return std::unexpected(fmt::format("{}: {}: the drive is another user's", directory, std::strerror(why)));
        return std::unexpected(fmt::format("{}: {}; make a device with: flashlab mkfs {}", directory,
                                           why == ENOENT || why == ENOTDIR ? "no FlashLab device is here (no device.toml)" : std::strerror(why),
                                           directory));
    }
    const auto text = read_text(path);
    if (!text) return std::unexpected(text.error());
    const auto table = parse(*text, path);
    if (!table) return std::unexpected(table.error());
    const toml::node* format = table->get("format");
    if (format == nullptr || !format->is_integer())
        return std::unexpected(fmt::format("{}: no 'format' with a number: this is not a device.toml of flashlab mkfs; restore it from a copy",
                                           format == nullptr ? path : place(path, format->source())));
    if (format->value_or(std::int64_t{0}) > static_cast<std::int64_t>(device_format))
        return std::unexpected(newer_format_text(place(path, format->source()), format->value_or(std::uint64_t{0})));
    DeviceConfig config;
    if (auto done = apply_table(config, *table, "", path); !done) return std::unexpected(done.error());
    if (config.checksum.empty())
        return std::unexpected(fmt::format("{}: layout.checksum, its last key, is missing: the file was cut short; restore it from a copy", path));
    return config;
}

std::expected<void, std::string> verify_images_keys(const DeviceConfig& config, const std::string& directory) {
    const std::string path = directory + "/device.toml";
    const auto text = read_text(path);
    const auto table = text ? parse(*text, path) : std::unexpected(text.error());
    if (!table) return std::unexpected(table.error());
    const std::string checksum = checksum_of_images_keys(config, [&](std::string_view key) { return table->at_path(key).is_value(); });
    if (checksum == config.checksum) return {};
    std::vector<std::string_view> names;
    for (const auto& key : config_keys())
        if (key.phase != ConfigPhase::mount) names.push_back(key.name);
    return std::unexpected(fmt::format(
        "{}: {}: not what mkfs wrote: one of the keys that describe the images was changed or removed; put it back, or restore the file from a "
        "copy, or make another device with flashlab mkfs. They are: {}",
        place(path, table->at_path("layout.checksum").node()->source()), "layout.checksum", fmt::join(names, ", ")));
}

std::string with_origin(const std::string& error, const ConfigSources& sources) {
    const auto text = sources.file ? read_text(*sources.file) : std::unexpected(std::string{});
    const auto table = text ? parse(*text, *sources.file) : std::unexpected(text.error());
    if (!table) return error;
    for (const bool whole : {true, false}) // dram.size first: "bytes", the own name of pram.bytes, stands in many an error
        for (const auto& key : config_keys()) {
            const auto value = table->at_path(key.name);
            if (value.is_value() && error.find(whole ? key.name : key.name.substr(key.name.find('.') + 1)) != std::string::npos)
                return fmt::format("{}: {}", place(*sources.file, value.node()->source()), error);
        }
    return error;
}

std::vector<std::pair<std::string, std::string>> flashlab_environment() {
    std::vector<std::pair<std::string, std::string>> out;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const auto equals = text.find('=');
        if (text.starts_with("FLASHLAB_") && equals != std::string_view::npos) out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return out;
}

} // namespace flashlab

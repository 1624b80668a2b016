/// flashlab presets: the known devices.
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_presets.h"
#include "tools/drive/preset_sources.h"
#include "tools/host/complaint.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

Json summary(const DevicePreset& preset) {
    DeviceConfig config;
    config.ssd = preset.config;
    Json sources;
    for (const ConfigKey& key : config_keys())
        if (const auto source = source_of(preset.name, key.name); !source.empty()) sources.add(std::string{key.name}, source);
    return Json::object(
        {{"name", preset.name}, {"title", preset.title}, {"source", preset.source}, {"config", to_json(config)}, {"sources", std::move(sources)}});
}

/// Each key with its value, and where that comes from.
Table table_of_numbers(const DevicePreset& preset) {
    DeviceConfig config;
    config.ssd = preset.config;
    Table table{{"key", "value", "source"}};
    for (const ConfigKey& key : config_keys())
        if (key.phase != ConfigPhase::written_by_mkfs && key.name != "preset")
            table.add({std::string{key.name}, key.get(config), std::string{source_of(preset.name, key.name)}});
    return table;
}

/// Lines of at most 120 characters, set in.
std::string indented(std::string_view text) {
    constexpr std::size_t margin = 12, width = 120 - margin;
    std::string out;
    while (!text.empty()) {
        const std::size_t space = text.size() <= width ? text.size() : text.rfind(' ', width);
        const std::size_t length = space == std::string_view::npos ? text.find(' ') : space;
        out += std::string(margin, ' ') + std::string{text.substr(0, length)} + "\n";
        text = length >= text.size() ? std::string_view{} : text.substr(length + 1);
    }
    return out;
}

struct PresetsOptions {
    std::string preset; ///< empty: all of them
    OutputFormat format = OutputFormat::table;
};

int run_presets(const PresetsOptions& o) {
    if (!o.preset.empty()) {
        const auto preset = find_device_preset(o.preset);
        if (!preset) return complain(preset.error(), exit_usage);
        DeviceConfig config;
        config.ssd = preset->config;
        if (o.format != OutputFormat::table)
            fmt::print("{}", shown(o.format, summary(*preset), table_of_numbers(*preset)));
        else
            fmt::print("{}\n{}\n{}\n\n{}", preset->name, preset->title, preset->source, table_of_numbers(*preset).to_text());
        return exit_done;
    }
    Json all{Json::Array{}};
    std::string text;
    Table table{{"name", "title", "source"}};
    for (const auto& preset : device_presets()) {
        all.push(summary(preset));
        table.add({preset.name, preset.title, preset.source});
        text += fmt::format("{:<10}  {}\n{}", preset.name, preset.title, indented(preset.source));
    }
    if (o.format != OutputFormat::table)
        fmt::print("{}", shown(o.format, Json::object({{"presets", std::move(all)}}), table));
    else
        fmt::print("{}\nEach number of one, with its source: flashlab presets NAME\n", text);
    return exit_done;
}

} // namespace

void add_presets(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_presets, "presets", "Ready-made drives, and the data sheet or paper behind each number",
                              "flashlab presets k9g8g08u0m");
    c.add_option("PRESET", o.preset, "Show this one in full");
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

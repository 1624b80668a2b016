#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/config_schema.h"
#include "tools/device_presets.h"
#include "tools/preset_sources.h"
#include "tools/table.h"

namespace flashlab {
namespace {

Json summary(const DevicePreset& preset) {
    DeviceConfig config;
    config.ssd = preset.config;
    Json sources;
    for (const ConfigKey& key : config_keys())
        if (const auto source = source_of(preset.name, key.name); !source.empty())
            sources.add(std::string{key.name}, source);
    return Json::object({{"name", preset.name}, {"title", preset.title}, {"source", preset.source}, {"config", to_json(config)}, {"sources", std::move(sources)}});
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

} // namespace

int run_presets(const std::string& name, bool json) {
    if (!name.empty()) {
        const auto preset = find_device_preset(name);
        if (!preset)
            return complain(preset.error(), exit_usage);
        DeviceConfig config;
        config.ssd = preset->config;
        if (json)
            fmt::print("{}\n", summary(*preset).dump());
        else
            fmt::print("{}\n{}\n{}\n\n{}", preset->name, preset->title, preset->source, table_of_numbers(*preset).to_text());
        return exit_done;
    }
    Json all{Json::Array{}};
    Table table{{"name", "device", "source"}};
    for (const auto& preset : device_presets()) {
        all.push(summary(preset));
        table.add({preset.name, preset.title, preset.source});
    }
    if (json)
        fmt::print("{}\n", Json::object({{"presets", std::move(all)}}).dump());
    else
        fmt::print("{}", table.to_text());
    return exit_done;
}

} // namespace flashlab

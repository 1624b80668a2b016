#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/config_schema.h"
#include "tools/device_presets.h"
#include "tools/table.h"

namespace flashlab {
namespace {

Json summary(const DevicePreset& preset) {
    DeviceConfig config;
    config.ssd = preset.config;
    return Json::object({{"name", preset.name}, {"title", preset.title}, {"source", preset.source}, {"config", to_json(config)}});
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
            fmt::print("{}\n{}\n{}\n\n{}", preset->name, preset->title, preset->source, to_toml(config));
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

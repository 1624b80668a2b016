/// flashlab cells: how many pages and blocks a known device has. The worked example of docs/adding-a-scheme.md; only tests have it.
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/drive/device_presets.h"
#include "tools/host/complaint.h"

namespace flashlab {
namespace {

struct CellsOptions {
    std::string preset;
    OutputFormat format = OutputFormat::table;
};

int run_cells(const CellsOptions& o) {
    const auto preset = find_device_preset(o.preset);
    if (!preset) return complain(preset.error(), exit_usage);
    const auto geometry = Geometry::make(preset->config.nand.geometry);
    if (!geometry) return complain(geometry.error(), exit_failed);
    const Json report = Json::object({{"preset", preset->name}, {"blocks", geometry->blocks()}, {"pages", geometry->pages()}});
    fmt::print("{}", shown(o.format, report));
    return exit_done;
}

} // namespace

void add_cells(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_cells, "cells", "Blocks and pages of a known device", "flashlab cells modern-tlc --json");
    c.add_option("PRESET", o.preset, "A known device (flashlab presets)")->required();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

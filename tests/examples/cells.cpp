#include "tests/examples/cells.h"

#include <fmt/format.h>

#include "tools/drive/device_presets.h"
#include "tools/host/complaint.h"

namespace flashlab {

int run_cells(const CellsOptions& options) {
    const auto preset = find_device_preset(options.preset);
    if (!preset) return complain(preset.error(), exit_usage);
    const auto geometry = Geometry::make(preset->config.nand.geometry);
    if (!geometry) return complain(geometry.error(), exit_failed);
    const Json report = Json::object({{"preset", preset->name}, {"blocks", geometry->blocks()}, {"pages", geometry->pages()}});
    fmt::print("{}", shown(options.format, report));
    return exit_done;
}

} // namespace flashlab

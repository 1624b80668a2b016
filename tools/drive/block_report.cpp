#include "tools/drive/block_report.h"

#include <algorithm>
#include <cmath>

namespace flashlab {

namespace {

double tenth(double value) { return std::round(value * 10) / 10; }

} // namespace

Json block_report(Device& device, std::size_t cells) {
    const Geometry& geometry = device.array().geometry();
    const std::uint32_t blocks = geometry.blocks();
    const std::uint32_t in_a_cell = static_cast<std::uint32_t>((blocks + std::max<std::size_t>(1, cells) - 1) / std::max<std::size_t>(1, cells));
    Json map{Json::Array{}}, wear{Json::Array{}};
    for (std::uint32_t first = 0; first < blocks; first += in_a_cell) {
        const std::uint32_t last = std::min(blocks, first + in_a_cell);
        double valid = 0, free = 0, erases = 0;
        for (std::uint32_t b = first; b < last; ++b) {
            const BlockStatus status = device.ftl().status_of(BlockId{b});
            valid += status.valid_pages;
            free += status.use == BlockUse::free ? 1 : 0;
            erases += device.array().erase_count(BlockId{b});
        }
        const double n = last - first;
        map.push(Json::object({{"free_percent", tenth(100 * free / n)},
                               {"valid_percent", tenth(100 * valid / (n * device.array().geometry().pages_per_block()))},
                               {"erases_mean", tenth(erases / n)}}));
    }
    for (const auto& [erases, of] : device.wear().blocks_by_erase_count) wear.push(Json::object({{"erases", erases}, {"blocks", of}}));
    return Json::object({{"blocks", blocks}, {"cells", std::move(map)}, {"wear", std::move(wear)}});
}

} // namespace flashlab

#include "ftl/blocks/allocation.h"

#include <fmt/format.h>

#include <algorithm>

namespace flashlab {

namespace {

std::uint32_t units_of(char letter, const GeometryConfig& g) {
    switch (letter) {
    case 'C':
        return g.channels;
    case 'W':
        return g.chips_per_channel;
    case 'D':
        return g.dies_per_chip;
    default:
        return g.planes_per_die;
    }
}

} // namespace

std::expected<Allocation, std::string> Allocation::parse(std::string_view order) {
    constexpr std::string_view letters = "CWDP";
    if (!std::ranges::is_permutation(order, letters))
        return std::unexpected(fmt::format("ftl.allocation is '{}': give the letters C (channel), W (way), D (die) and P (plane), each once, "
                                           "those that change fastest first; CWDP is the default",
                                           order));
    Allocation made;
    std::ranges::copy(order, made.order_.begin());
    return made;
}

std::vector<PlaneId> Allocation::planes(const Geometry& geometry, std::uint32_t dies) const {
    const GeometryConfig& g = geometry.config();
    std::vector<PlaneId> out;
    out.reserve(geometry.planes());
    for (std::uint32_t turn = 0; turn < geometry.planes(); ++turn) {
        std::uint32_t left = turn, channel = 0, way = 0, die = 0, plane = 0;
        for (const char letter : order_) {
            const std::uint32_t units = units_of(letter, g);
            (letter == 'C' ? channel : letter == 'W' ? way : letter == 'D' ? die : plane) = left % units;
            left /= units;
        }
        const DieId of{(channel * g.chips_per_channel + way) * g.dies_per_chip + die};
        if (of.value() < dies) out.push_back(geometry.plane_at(of, plane));
    }
    return out;
}

std::vector<DieId> Allocation::turns(const Geometry& geometry, std::uint32_t dies, bool whole_rows) const {
    std::vector<DieId> out;
    std::vector<bool> there(geometry.dies(), false);
    for (const PlaneId plane : planes(geometry, dies)) {
        const DieId die = geometry.die_of(plane);
        if ((whole_rows || order_[3] == 'P') && there[die.value()]) continue;
        there[die.value()] = true;
        out.push_back(die);
    }
    return out;
}

std::uint32_t Allocation::dies_before_planes(const Geometry& geometry, std::uint32_t dies) const {
    std::uint32_t before = 1;
    for (const char letter : order_) {
        if (letter == 'P') break;
        before *= units_of(letter, geometry.config());
    }
    return std::min(before, dies);
}

} // namespace flashlab

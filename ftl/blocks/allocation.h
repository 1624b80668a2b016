/// In which order neighbouring pages take the device's parallel units: ftl.allocation.
///
/// Idea       Four letters, the fastest first: C channel, W way (a chip of the channel), D die, P plane. CWDP gives the next page to the next
///            channel, and goes on to the next chip only when every channel has one.
/// Invariant  Each plane of the groups comes once. A pure function of order and geometry.
/// Cost       Once a device: 4 bytes a plane.
/// Power cut  RAM only: nothing on flash depends on it.
/// Source     The plane allocation schemes of Hu et al., ICS 2011, and of Tavakkol et al. (MQSim), FAST 2018.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "nand/geometry.h"

namespace flashlab {

class Allocation {
public:
    Allocation() = default; ///< CWDP
    /// A permutation of CWDP in capitals; the error names the order and what is allowed.
    [[nodiscard]] static std::expected<Allocation, std::string> parse(std::string_view order);

    /// The planes of the first `dies` dies, in this order.
    [[nodiscard]] std::vector<PlaneId> planes(const Geometry& geometry, std::uint32_t dies) const;
    /// Their dies, a die as often as neighbours meet it: once where P comes last or `whole_rows` fill all planes of a die together.
    [[nodiscard]] std::vector<DieId> turns(const Geometry& geometry, std::uint32_t dies, bool whole_rows) const;
    /// Dies that have a page before any die has two.
    [[nodiscard]] std::uint32_t dies_before_planes(const Geometry& geometry, std::uint32_t dies) const;

private:
    std::array<char, 4> order_{'C', 'W', 'D', 'P'};
};

} // namespace flashlab

#include "ftl/maps/hftl_layout.h"

#include <algorithm>

namespace flashlab {

namespace {

constexpr std::uint64_t align = 4096;
constexpr std::uint64_t round_up(std::uint64_t bytes) { return (bytes + align - 1) / align * align; }

} // namespace

HftlLayout HftlLayout::make(std::uint64_t at, std::uint32_t logical_pages, const UnitGeometry& units, std::uint32_t streams) {
    HftlLayout l;
    l.logical_pages = logical_pages;
    l.row_bytes = units.words_per_row() * 8;
    l.slot_bytes = slot_head_bytes + l.row_bytes;
    l.slots_a_plane = 2 * streams;
    l.slot_count = units.geometry().planes() * l.slots_a_plane;
    const std::uint64_t slots_bytes = std::uint64_t{l.slot_bytes} * l.slot_count;
    // One trim's record may name every word of every slot (each log word carries an address): the ring holds four of them.
    const std::uint64_t ring_bytes = std::clamp<std::uint64_t>(round_up(slots_bytes * 16), 64u << 10, 16u << 20);
    std::uint64_t next = at;
    const auto take = [&next](std::uint64_t bytes) {
        const PramAddress here{next};
        next += round_up(bytes);
        return here;
    };
    l.ring = PramRange{take(ring_bytes), ring_bytes};
    l.header = take(HftlHeader::encoded_size);
    l.map = take(std::uint64_t{logical_pages} * 4);
    l.bitmap = take(std::uint64_t{l.row_bytes} * units.geometry().blocks());
    l.blocks = take(std::uint64_t{block_bytes} * units.geometry().blocks());
    l.slots = take(slots_bytes);
    l.bytes = next - at;
    return l;
}

} // namespace flashlab

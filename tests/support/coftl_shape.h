/// Small COFTL devices for tests: sets of several channels, caches and page tables too small for their load.
#pragma once

#include <vector>

#include "ftl/schemes/coftl.h"
#include "tests/support/cut_rig.h"

namespace flashlab::test {

struct Shape {
    std::uint32_t channels = 1;
    std::uint32_t width = 1;
    std::uint32_t slots = 0;
    std::uint32_t tables = 2;
};

inline SsdConfig coftl_config(const Shape& shape) {
    SsdConfig c = tiny_config();
    c.ftl.scheme = "coftl";
    c.nand.geometry.channels = shape.channels;
    c.nand.geometry.blocks_per_plane = 14;
    c.ftl.striping = shape.width;
    c.ftl.options.set(coftl_option::cache_bytes, std::uint64_t{shape.slots} * shape.width * c.nand.geometry.page_bytes);
    c.ftl.options.set(coftl_option::cached_tables, shape.tables);
    return c;
}

/// One to four channels, sets of one to four blocks, with and without a cache.
inline std::vector<Shape> shapes() { return {{1, 1, 0, 1}, {1, 1, 3, 2}, {2, 2, 0, 2}, {2, 2, 4, 1}, {4, 2, 5, 3}, {4, 4, 2, 2}, {4, 1, 6, 64}}; }

/// Two channels, sets of two blocks of 8 pages: 6 virtual pages a virtual block; no cache, so that every write is a page set.
inline Shape two_wide(std::uint32_t slots = 0, std::uint32_t tables = 64) { return {2, 2, slots, tables}; }

/// 20 cuts of one drive after up to 60 steps each, half of them with a second cut in the recovery.
inline void cut_often(const SsdConfig& config, std::uint64_t seed) {
    CutRig rig{config};
    Random random{seed};
    for (int c = 0; c < 20; ++c) {
        CAPTURE(seed, c);
        const SimTime from = rig.now;
        rig.settle();
        for (std::uint64_t k = 1 + random.below(60); k > 0; --k) rig.step(random);
        rig.cut_once_or_twice(rig.random_moment(random, from), random);
    }
    rig.check_all();
}

inline const CoftlCounters& own(CutRig& rig) { return dynamic_cast<const Coftl&>(rig.ssd().ftl()).coftl_counters(); }

} // namespace flashlab::test

/// One body of tests for every translation layer that ftl/schemes.def lists: a new scheme is tested by being listed.
///
/// Idea       A test names a shape of device and a body; each scheme gets its own section, so that `ftl_tests -c page_map` runs one scheme's.
/// Invariant  A scheme that refuses a shape is skipped with a warning that says why; too few blocks are no reason: blocks are added.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ftl/blocks/separation_policies.h"
#include "ftl/make_ftl.h"
#include "tests/support/cut_rig.h"

namespace flashlab::test {

/// `shape` for `scheme`, with as many blocks as the scheme needs at least; the reason when it refuses for another cause.
inline std::expected<SsdConfig, std::string> shape_for(const std::string& scheme, SsdConfig shape) {
    shape.ftl.scheme = scheme;
    const std::uint32_t blocks = shape.nand.geometry.blocks_per_plane;
    std::string reason;
    for (std::uint32_t times = 2; times <= 8; ++times) {
        const auto plan = plan_ftl(shape, *Geometry::make(shape.nand.geometry));
        if (plan) return shape;
        if (reason.empty()) reason = plan.error();
        shape.nand.geometry.blocks_per_plane = blocks * times / 2;
    }
    return std::unexpected(reason);
}

/// Every scheme, and every scheme that separates streams of data with each policy that does.
struct SchemeVariant {
    std::string scheme;
    std::string separation;
    [[nodiscard]] std::string name() const { return separation == "none" ? scheme : scheme + " separated by " + separation; }
};
inline std::vector<SchemeVariant> scheme_variants() {
    std::vector<SchemeVariant> all;
    for (const Scheme* scheme : schemes())
        for (const SeparationPolicyEntry& policy : separation_policies())
            if (policy.streams == 1 || scheme->separates) all.push_back({std::string{scheme->name}, std::string{policy.name}});
    return all;
}

/// The body on the variant's device; a shape that the scheme refuses is passed over, with a warning that says why.
template <class Body>
void on_variant(const SchemeVariant& variant, SsdConfig shape, Body&& body) {
    shape.ftl.separation = variant.separation;
    const auto config = shape_for(variant.scheme, shape);
    if (config)
        body(*config);
    else
        WARN(variant.name() << " skipped: " << config.error());
}

template <class Body>
void on_every_scheme(const SsdConfig& shape, Body&& body) {
    const SchemeVariant variant = GENERATE(from_range(scheme_variants()));
    DYNAMIC_SECTION(variant.name()) { on_variant(variant, shape, body); }
}

inline std::string name_of(CellType cell) {
    constexpr const char* names[] = {"slc", "mlc", "tlc", "qlc"};
    return names[std::to_underlying(cell)];
}

/// One chip; several dies and planes; cells of several bits; large pages; blocks bad from the factory.
inline std::vector<std::pair<std::string, SsdConfig>> tiny_shapes() {
    std::vector<std::pair<std::string, SsdConfig>> shapes;
    for (const CellType cell : {CellType::slc, CellType::mlc, CellType::tlc}) {
        SsdConfig c = tiny_config();
        c.nand.geometry.cell = cell;
        c.nand.options.paired_pages = true;
        c.nand.geometry.pages_per_block = cell == CellType::tlc ? 12 : 8;
        shapes.emplace_back("one chip of two planes, " + name_of(cell), c);
    }
    SsdConfig plain = tiny_config();
    plain.nand.geometry.planes_per_die = 1;
    plain.nand.geometry.blocks_per_plane = 20;
    shapes.emplace_back("one plane", plain);
    SsdConfig wide = tiny_config();
    wide.nand.geometry.channels = 2;
    wide.nand.geometry.dies_per_chip = 2;
    wide.nand.geometry.cell = CellType::mlc;
    wide.nand.options.paired_pages = true;
    shapes.emplace_back("two channels of two dies of two planes, mlc", wide);
    SsdConfig uneven = tiny_config();
    uneven.nand.geometry.blocks_per_plane = 14;
    uneven.nand.geometry.page_bytes = 1024;
    uneven.nand.factory_bad_per_million = 120'000;
    shapes.emplace_back("bad blocks from the factory, pages of two sectors", uneven);
    return shapes;
}

/// The scheme is the outer section, so that -c NAME runs one scheme on every shape.
template <class Body>
void on_every_scheme_and_shape(Body&& body) {
    const SchemeVariant variant = GENERATE(from_range(scheme_variants()));
    DYNAMIC_SECTION(variant.name()) {
        const auto shapes = tiny_shapes();
        const auto index = GENERATE_COPY(range(std::size_t{0}, shapes.size()));
        DYNAMIC_SECTION(shapes[index].first) { on_variant(variant, shapes[index].second, body); }
    }
}

} // namespace flashlab::test

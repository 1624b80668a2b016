#include "crash/tiny_devices.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "ftl/schemes/coftl.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/merge_plan.h"
#include "ftl/schemes/page_plan.h"

namespace flashlab {

namespace {

/// Shapes that only some schemes have: those that read this key.
constexpr std::pair<std::string_view, std::string_view> special[] = {{"pairs", "nand.two_plane"},
                                                                     {"mirror", "coftl.mirrored_log"},
                                                                     {"turns", "ftl.interleaving"},
                                                                     {"lines", "nand.one_shot"},
                                                                     {"cached", "ftl.slc_blocks"},
                                                                     {"dynamic", "ftl.slc_dynamic_permille"},
                                                                     {"sub", "nand.subpages"},
                                                                     {"sublines", "nand.subpages"},
                                                                     {"near", "leaftl.gamma"},
                                                                     {"trained", "learnedftl.train_pages"},
                                                                     {"along", "nand.one_shot"},
                                                                     {"grouped", "learnedftl.groups"},
                                                                     {"rain", "nand.rain"},
                                                                     {"rainlines", "nand.rain"},
                                                                     {"whole", "sftl.buffer_permille"}};

constexpr std::pair<const char*, CellType> cells[] = {{"slc", CellType::slc}, {"mlc", CellType::mlc}, {"tlc", CellType::tlc}};

std::expected<SsdConfig, std::string> shaped(const std::string& shape) {
    SsdConfig c;
    GeometryConfig& g = c.nand.geometry;
    g = {.channels = 1,
         .chips_per_channel = 1,
         .dies_per_chip = 1,
         .planes_per_die = 2,
         .blocks_per_plane = 5,
         .pages_per_block = 4,
         .page_bytes = 512,
         .spare_bytes = 32,
         .cell = CellType::slc};
    c.nand.factory_bad_per_million = 0;
    if (shape == "chip") return c;
    if (shape == "plane") {
        g.planes_per_die = 1;
        g.blocks_per_plane = 10;
        g.pages_per_block = 8;
        return c;
    }
    if (shape == "wide") {
        g.channels = 2;
        g.dies_per_chip = 2;
        g.blocks_per_plane = 6;
        return c;
    }
    if (shape == "uneven") {
        g.blocks_per_plane = 14;
        g.page_bytes = 1024;
        c.nand.factory_bad_per_million = 120'000;
        return c;
    }
    if (shape == "level") {
        c.ftl.wear_threshold = 1;
        c.ftl.moving_ring = true;
        return c;
    }
    if (shape == "tired") { // data grow a month older with each power-on
        c.nand.errors = {.cells = CellErrors::tlc_72, .cycles_before = 1000};
        c.ftl.scrub_days = 20;
        return c;
    }
    if (shape == "unit2" || shape == "unit4") {
        c.ftl.mapping_unit_pages = shape == "unit2" ? 2 : 4;
        g.pages_per_block = 8;
        return c;
    }
    if (shape == "hot" || shape == "cause") {
        c.ftl.separation = shape == "hot" ? "frequency" : "cause";
        return c;
    }
    if (shape == "buffer") {
        c.dram.write_buffer_bytes = 3 * g.page_bytes;
        return c;
    }
    if (shape == "ahead") {
        c.dram.write_buffer_bytes = 4 * g.page_bytes;
        c.dram.destage = "ahead";
        c.dram.destage_lines = 2;
        return c;
    }
    if (shape == "kept") {
        c.dram.pram_buffer_bytes = 3 * g.page_bytes;
        return c;
    }
    if (shape == "pairs") {
        c.nand.options.two_plane = true;
        c.ftl.striping = 2;
        return c;
    }
    if (shape == "lines") {
        c.nand.options.one_shot = true;
        return c;
    }
    if (shape == "along") { // so much spare that collections keep pace, and their last copies share a line with the host's pages
        g.blocks_per_plane = 14;
        g.pages_per_block = 6;
        c.nand.options.one_shot = true;
        c.ftl.reserved_permille = 650;
        return c;
    }
    if (shape == "sub" || shape == "sublines") {
        g.pages_per_block = 12;
        c.nand.options.subpages = 2;
        c.nand.options.one_shot = shape == "sublines";
        if (shape == "sub") c.dram.write_buffer_bytes = 3 * g.page_bytes;
        return c;
    }
    if (shape == "cached") {
        g.blocks_per_plane = 8;
        g.pages_per_block = 6;
        c.nand.modes[std::to_underlying(CellType::slc)].page_program = Duration{100'000};
        c.ftl.options.set(page_option::slc_blocks, 4);
        c.ftl.options.set(page_option::fold_after_us, 0);
        c.ftl.options.set(page_option::records_in_slc, true);
        return c;
    }
    if (shape == "dynamic") {
        g.blocks_per_plane = 10;
        g.pages_per_block = 6;
        c.nand.modes[std::to_underlying(CellType::slc)].page_program = Duration{100'000};
        c.ftl.options.set(page_option::slc_dynamic_permille, 600);
        c.ftl.options.set(page_option::fold_after_us, 0);
        return c;
    }
    if (shape == "near") { // segments are approximate, and their pages learned from together
        g.pages_per_block = 8;
        g.spare_bytes = 40; // two neighbours on both sides are named
        c.ftl.options.set(leaftl_option::gamma, 2);
        c.ftl.options.set(leaftl_option::batch_pages, 8);
        c.ftl.options.set(demand_option::mapping_cache_bytes, 256);
        return c;
    }
    if (shape == "trained") { // two pages behind each other are learned, on two dies
        g.channels = 2;
        g.pages_per_block = 8;
        c.ftl.options.set(learnedftl_option::train_pages, 2);
        c.ftl.options.set(demand_option::mapping_cache_bytes, 224);
        return c;
    }
    if (shape == "whole") { // two translation pages and more, of which one or two fit
        g.channels = 2;
        g.blocks_per_plane = 14;
        g.pages_per_block = 8;
        c.ftl.options.set(demand_option::mapping_cache_bytes, 640);
        return c;
    }
    if (shape == "grouped") { // two groups on two dies, so much spare that they are put in order
        g.channels = 2;
        g.blocks_per_plane = 20;
        c.ftl.reserved_permille = 550;
        c.ftl.options.set(learnedftl_option::groups, 2);
        c.ftl.options.set(learnedftl_option::train_pages, 4);
        c.ftl.options.set(demand_option::mapping_cache_bytes, 512);
        return c;
    }
    if (shape == "rain" || shape == "rainlines") { // rows over three dies, or two
        g.channels = shape == "rain" ? 3 : 2;
        g.chips_per_channel = shape == "rain" ? 1 : 2;
        g.pages_per_block = 6;
        c.nand.rain = g.channels;
        c.nand.options.one_shot = shape == "rainlines";
        return c;
    }
    if (shape == "mirror") {
        c.ftl.options.set(coftl_option::mirrored_log, true);
        return c;
    }
    if (shape == "turns") {
        g.channels = 2;
        g.planes_per_die = 1;
        c.ftl.options.set(merge_option::interleaving, 2);
        return c;
    }
    return std::unexpected(fmt::format("there is no tiny device of shape '{}'; there are: {}", shape, fmt::join(tiny_shapes(), ", ")));
}

} // namespace

std::vector<std::string> tiny_shapes() {
    return {"chip",  "plane",   "wide",   "uneven", "unit2",   "unit4",  "buffer",    "kept",     "level", "hot",
            "cause", "pairs",   "mirror", "turns",  "lines",   "cached", "sub",       "sublines", "ahead", "dynamic",
            "near",  "trained", "tired",  "along",  "grouped", "rain",   "rainlines", "whole"};
}

std::vector<std::string> tiny_devices() {
    std::vector<std::string> names;
    for (const std::string& shape : tiny_shapes()) {
        for (const auto& [name, cell] : cells) names.push_back(shape + "-" + name);
    }
    return names;
}

std::expected<CellType, std::string> cell_of(std::string_view name) {
    const auto known = std::ranges::find(cells, name, [](const auto& c) { return std::string_view{c.first}; });
    if (known == std::end(cells)) return std::unexpected(fmt::format("'{}' is no cell type; there are: slc, mlc, tlc", name));
    return known->second;
}

std::expected<SsdConfig, std::string> tiny_device(const std::string& name, const std::string& scheme) {
    const std::size_t dash = std::min(name.find('-'), name.size());
    const std::string shape = name.substr(0, dash);
    auto config = shaped(shape);
    if (!config) return config;
    if (const auto only = std::ranges::find(special, shape, &std::pair<std::string_view, std::string_view>::first); only != std::end(special)) {
        const auto known = find_scheme(scheme);
        if (!known) return std::unexpected(known.error());
        if (!(*known)->has_key(only->second))
            return std::unexpected(fmt::format("tiny devices of shape '{}' set {}, which {} does not read", shape, only->second, scheme));
    }
    const std::string cell = dash == name.size() ? "" : name.substr(dash + 1);
    const auto known = cell_of(cell);
    if (!known) return std::unexpected(fmt::format("tiny device '{}' has no cell type; it ends in -slc, -mlc or -tlc", name));
    config->nand.geometry.cell = *known;
    config->nand.options.paired_pages = *known != CellType::slc && config->dram.pram_buffer_bytes == 0 && !config->nand.options.one_shot &&
                                        config->nand.rain == 0 && config->nand.options.subpages == 1 && Media{config->nand}.is_single();
    if (*known == CellType::slc) { // all blocks are such
        config->ftl.options.set(page_option::slc_blocks, 0);
        config->ftl.options.set(page_option::slc_dynamic_permille, 0);
        config->ftl.options.set(page_option::records_in_slc, false);
    }
    config->ftl.scheme = scheme;
    return with_enough_blocks(*config);
}

std::expected<SsdConfig, std::string> with_enough_blocks(SsdConfig config) {
    const std::uint32_t blocks = config.nand.geometry.blocks_per_plane;
    std::string reason;
    for (std::uint32_t halves = 3; halves <= 16; ++halves) {
        const auto geometry = Geometry::make(config.nand.geometry);
        if (!geometry) return std::unexpected(geometry.error());
        const auto plan = plan_ftl(config, *geometry);
        if (plan) return config;
        if (reason.empty()) reason = plan.error();
        config.nand.geometry.blocks_per_plane = blocks * halves / 2;
    }
    return std::unexpected(reason);
}

} // namespace flashlab

/// What is mapped is smaller than a page of the chip (nand.subpages): padding, copies, cuts, refusals.
#include <map>

#include "base/random.h"
#include "ftl/make_ftl.h"
#include "ftl/schemes/page_plan.h"
#include "tests/support/cut_rig.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

SsdConfig with_subpages(const std::string& scheme, std::uint32_t subpages) {
    SsdConfig config = tiny_config();
    config.ftl.scheme = scheme;
    config.nand.geometry.cell = CellType::tlc;
    config.nand.geometry.pages_per_block = 12 * subpages;
    config.nand.options.subpages = subpages;
    config.ftl.reserved_permille = 300;
    return config;
}

std::map<PageKind, std::uint64_t> kinds_on(CutRig& rig) {
    std::map<PageKind, std::uint64_t> out;
    for (std::uint32_t p = 0; p < rig.geometry().pages(); ++p)
        if (const auto stored = rig.array().inspect_oob(Ppn{p}); stored->oob) ++out[stored->oob->kind];
    return out;
}

} // namespace

TEST_CASE("a page that is written alone takes a page of the chip, and a request fills whole ones", "[ftl][subpages]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    const bool one_shot = GENERATE(false, true);
    CAPTURE(scheme, one_shot);
    SsdConfig config = with_subpages(scheme, 4);
    config.nand.options.one_shot = one_shot;
    CutRig rig{config};
    const std::uint64_t before = rig.programs();
    for (std::uint32_t unit : {0u, 9u, 3u}) rig.now = rig.write(unit, 1);
    CHECK(kinds_on(rig)[PageKind::data] == 3);
    CHECK(kinds_on(rig)[PageKind::padding] == 9);
    CHECK(rig.programs() - before == 12);
    rig.now = rig.write(16, 8);
    CHECK(rig.programs() - before == 20);
    rig.now = rig.write(32, 7);
    CHECK(rig.programs() - before == 28);
    CHECK(kinds_on(rig)[PageKind::padding] == 10);
    for (const bool clean : {true, false}) { // what goes on behind it, and what a scan finds
        if (clean)
            rig.remount_clean();
        else
            rig.kill();
        rig.check_all();
        rig.now = rig.write(1, 1);
        rig.check_all();
    }
}

TEST_CASE("the first subpages of a page of the chip are filled before another plane's", "[ftl][subpages]") {
    CutRig rig{with_subpages("hftl", 4)};
    rig.now = rig.write(0, 8);
    std::map<std::uint32_t, std::vector<std::uint32_t>> lpns; // by plane
    for (std::uint32_t p = 0; p < rig.geometry().pages(); ++p)
        if (const auto stored = rig.array().inspect_oob(Ppn{p}); stored->oob)
            lpns[rig.geometry().plane_of(rig.geometry().block_of(Ppn{p})).value()].push_back(stored->oob->lpn.value());
    REQUIRE(lpns.size() == 2);
    CHECK(lpns.begin()->second == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(lpns.rbegin()->second == std::vector<std::uint32_t>{4, 5, 6, 7});
    CHECK(rig.array().counters().multi_plane_programs == 1);
}

TEST_CASE("a read that begins and ends within logical pages senses a page of the chip once, and gives its bytes", "[ssd][subpages]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    SsdConfig config = with_subpages(scheme, 4);
    config.nand.geometry.page_bytes = 4 * sector_bytes;
    CutRig rig{config};
    rig.now = rig.write(0, 12);
    const std::uint32_t sectors = rig.ssd().identify().atomic_unit_bytes / sector_bytes;
    std::vector<std::byte> all(std::size_t{12} * sectors * sector_bytes);
    const auto whole = rig.ssd().read(Sector{0}, 12 * sectors, all, {rig.now});
    REQUIRE(whole.has_value());
    rig.now = *whole;
    for (std::uint32_t first = 0; first < 5 * sectors; ++first) {
        for (const std::uint32_t count : {1u, sectors - 1, sectors, sectors + 1, 3 * sectors, 4 * sectors + 1, 6 * sectors}) {
            CAPTURE(first, count);
            std::vector<std::byte> bytes(std::size_t{count} * sector_bytes);
            const auto before = rig.array().counters();
            const auto read = rig.ssd().read(Sector{first}, count, bytes, {rig.now});
            REQUIRE(read.has_value());
            rig.now = *read;
            CHECK(std::ranges::equal(bytes, std::span{all}.subspan(std::size_t{first} * sector_bytes, bytes.size())));
            const auto& after = rig.array().counters();
            std::uint64_t reads = 0;
            for (std::size_t c = 0; c < cause_count; ++c) reads += after.reads[c] - before.reads[c];
            const std::uint32_t pages = (first + count - 1) / (4 * sectors) - first / (4 * sectors) + 1;
            CHECK(reads - (after.reads_along - before.reads_along) == pages);
        }
    }
}

TEST_CASE("a buffer merges pages that lie apart: random writes of one page are padded only when they are flushed", "[ssd][buffer][subpages]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    const bool one_shot = GENERATE(false, true);
    CAPTURE(scheme, one_shot);
    SsdConfig config = with_subpages(scheme, 4);
    config.nand.options.one_shot = one_shot;
    config.dram.write_buffer_bytes = 48 * config.nand.geometry.page_bytes;
    CutRig rig{config};
    Random random{5};
    for (std::uint32_t i = 0; i < 6 * rig.units(); ++i)
        rig.now = std::max(rig.now, rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1));
    CHECK(rig.array().counters().programs[std::to_underlying(Cause::gc)] > rig.units());
    CHECK(kinds_on(rig)[PageKind::padding] * 20 < kinds_on(rig)[PageKind::data]);
    rig.check_all();
    rig.kill();
    rig.check_all();
}

TEST_CASE("subpages survive cuts and clean mounts, with word lines, an SLC cache, streams and failures of programs", "[ftl][subpages][crash]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    const std::string with = GENERATE("", "lines", "slc", "cause");
    SsdConfig config = with_subpages(scheme, 2);
    if (with == "lines") config.nand.options.one_shot = true;
    if (with == "cause") config.ftl.separation = "cause";
    if (with == "slc") {
        if (scheme != "page_map") return;
        config.nand.modes[0].page_program = Duration{100'000};
        config.ftl.options.set(page_option::slc_blocks, 4);
        config.ftl.options.set(page_option::fold_after_us, 0);
    }
    config = *test::shape_for(scheme, config);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(scheme, with, seed);
        CutRig rig{config};
        Random random{seed};
        for (std::uint32_t unit = 0; unit < rig.units() && seed % 2 == 0; unit += 4) rig.now = rig.write(unit, std::min(4u, rig.units() - unit));
        for (int c = 0; c < 10; ++c) {
            CAPTURE(c);
            const SimTime from = rig.steps_and_pauses(random);
            rig.leave(from, random);
        }
        rig.check_all();
    }
}

TEST_CASE("what padding can take in each block is spare on top", "[ftl][subpages]") {
    const auto spare_of = [](std::uint32_t subpages) {
        SsdConfig config = with_subpages("page_map", 4);
        config.nand.options.subpages = subpages;
        config.ftl.reserved_permille = 1; // as few as must be
        config.nand.geometry.blocks_per_plane = 160;
        const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
        REQUIRE(plan);
        return plan->spare_blocks;
    };
    const SsdConfig config = with_subpages("page_map", 4);
    const GeometryConfig& g = config.nand.geometry;
    const std::uint32_t dies = g.channels * g.chips_per_channel * g.dies_per_chip, blocks = g.planes_per_die * 160;
    CHECK(spare_of(4) - spare_of(1) >= dies * (blocks * 3 / g.pages_per_block)); // the ring may be larger, too
}

TEST_CASE("subpages are refused where something else programs or maps page by page", "[ftl][subpages]") {
    const auto refusal = [](const SsdConfig& config) {
        const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
        return plan ? "" : plan.error();
    };
    SsdConfig config = with_subpages("page_map", 4);
    CHECK(refusal(config).empty());
    const auto refused = [&](std::string_view word, const auto& change) {
        SsdConfig changed = config;
        change(changed);
        CAPTURE(refusal(changed));
        CHECK(refusal(changed).find(word) != std::string::npos);
    };
    for (const char* scheme : {"dftl", "tpftl", "sftl", "leaftl", "learnedftl", "fast", "log_block", "block_map", "coftl"})
        refused("page by page", [&](SsdConfig& c) { c.ftl.scheme = scheme; });
    refused("multiple", [](SsdConfig& c) { c.nand.geometry.pages_per_block = 50; });
    refused("mapping_unit_pages", [](SsdConfig& c) { c.ftl.mapping_unit_pages = 2; });
    refused("paired_pages", [](SsdConfig& c) { c.nand.options.paired_pages = true; });
}

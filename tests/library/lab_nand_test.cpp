// One chip and one drive of the library for programs of others: what the noted instants are worth, and what callers may get wrong.
#include "tools/library/lab_nand.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "tests/support/catch.h"
#include "tools/library/flashlab.h"
#include "tools/library/flashlab_nand.h"
#include "tools/library/lab_device.h"

using namespace flashlab;

namespace {

NandConfig small_chip() {
    NandConfig config;
    config.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 1,
                       .blocks_per_plane = 3,
                       .pages_per_block = 4,
                       .page_bytes = 512,
                       .spare_bytes = 64,
                       .cell = CellType::slc};
    config.factory_bad_per_million = 0;
    return config;
}

std::vector<std::byte> page_of(unsigned value) { return std::vector<std::byte>(512, std::byte(value)); }

/// The first byte of a page; none: it cannot be read.
std::optional<unsigned> first_byte(LabNand& nand, std::uint32_t page) {
    std::vector<std::byte> to(512);
    if (!nand.read(page, 0, to)) return std::nullopt;
    return std::to_integer<unsigned>(to.front());
}

/// Erases block 0, then programs its first two pages.
void erase_and_program(LabNand& nand) {
    if (nand.erase(0) && nand.program(0, page_of(1))) (void)nand.program(1, page_of(2));
}

} // namespace

TEST_CASE("a chip refuses a page that is not erased, and one before another of its block", "[library]") {
    const auto nand = *LabNand::make(small_chip());
    REQUIRE(nand->program(1, page_of(1)));
    const std::uint64_t before = nand->now_ns();
    CHECK(nand->program(1, page_of(2)).error() == LabNandError::not_erased);
    CHECK(nand->program(0, page_of(2)).error() == LabNandError::out_of_order);
    CHECK(nand->program(12, page_of(2)).error() == LabNandError::out_of_range);
    CHECK(nand->program(2, std::vector<std::byte>(511)).error() == LabNandError::out_of_range);
    CHECK(nand->erase(3).error() == LabNandError::out_of_range);
    CHECK(nand->now_ns() == before);
    CHECK(first_byte(*nand, 1) == 1);
    CHECK(first_byte(*nand, 0) == 0xff);
    REQUIRE(nand->erase(0));
    CHECK(nand->program(0, page_of(2)));
    CHECK(nand->erase_count(0) == 1);
}

TEST_CASE("cuts at the noted instants of a chip leave every state that a cut at any nanosecond leaves", "[library]") {
    constexpr std::uint64_t seeds = 40;
    std::vector<std::uint64_t> instants;
    std::uint64_t end = 0;
    const auto left_by = [](std::uint64_t at, std::uint64_t seed) {
        const auto nand = *LabNand::make(small_chip());
        REQUIRE(nand->program(0, page_of(9)));
        nand->cut_at(at, seed);
        erase_and_program(*nand);
        REQUIRE(nand->recover());
        std::vector<std::optional<unsigned>> left;
        for (const std::uint32_t page : {0u, 1u, 0u, 1u}) left.push_back(first_byte(*nand, page));
        return left;
    };
    {
        const auto nand = *LabNand::make(small_chip());
        REQUIRE(nand->program(0, page_of(9)));
        nand->note_instants();
        erase_and_program(*nand);
        instants = nand->instants();
        end = nand->now_ns();
    }
    REQUIRE(std::ranges::is_sorted(instants));
    CHECK(instants.size() < 20);
    std::set<std::vector<std::optional<unsigned>>> noted, any;
    for (const std::uint64_t at : instants)
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) noted.insert(left_by(at, seed));
    for (std::uint64_t at = 200'000; at < end + 1000; at += 9'973)
        for (std::uint64_t seed = 1; seed <= 12; ++seed) any.insert(left_by(at, seed));
    CHECK(any.size() > 8);
    CHECK(std::ranges::includes(noted, any));
}

TEST_CASE("cuts at the noted instants of a drive leave every acknowledged write, and reach each point between two", "[library]") {
    const LabOptions small{.preset = "tiny", .settings = {"ftl.scheme=page_map", "dram.write_buffer_bytes=64K"}, .bytes = {}};
    const auto run = [](LabDevice& device) {
        unsigned acknowledged = 0;
        while (acknowledged < 3 && device.write(0, page_of(acknowledged + 1)) && device.flush()) ++acknowledged;
        return acknowledged;
    };
    const auto noting = *LabDevice::make(small);
    CHECK(noting->instants().empty());
    noting->note_instants();
    REQUIRE(run(*noting) == 3);
    std::set<std::pair<unsigned, unsigned>> seen;
    for (const std::uint64_t at : noting->instants()) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const auto device = *LabDevice::make(small);
            device->cut_at(at, seed);
            const unsigned acknowledged = run(*device);
            REQUIRE(device->recover());
            std::vector<std::byte> to(512);
            REQUIRE(device->read(0, to));
            const unsigned left = std::to_integer<unsigned>(to.front());
            CHECK((left == acknowledged || left == acknowledged + 1));
            seen.insert({acknowledged, left});
        }
    }
    CHECK(seen == std::set<std::pair<unsigned, unsigned>>{{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 3}});
}

TEST_CASE("a cut beyond all simulated time never comes, and no wait goes there", "[library]") {
    const auto device = *LabDevice::make({.preset = "tiny", .settings = {}, .bytes = {}});
    device->cut_at(~std::uint64_t{0}, 1);
    CHECK(device->has_power());
    CHECK(device->wait(~std::uint64_t{0}).error() == LabError::out_of_range);
    CHECK(device->wait(1'000'000'000));
    CHECK(device->wait(LabDevice::longest_ns).error() == LabError::out_of_range);
    CHECK(device->read(device->sectors(), {}));
    CHECK(device->read(device->sectors() + 1, {}).error() == LabError::out_of_range);
    CHECK(device->trim(0, 0));
    CHECK(device->wait(LabDevice::longest_ns - device->now_ns()));
    const std::vector<std::byte> sector(512, std::byte{1});
    CHECK(device->write(0, sector)); // ends behind the longest time
    for (const std::uint64_t ns : {std::uint64_t{1}, std::uint64_t{1} << 61, std::uint64_t{1} << 63})
        CHECK(device->wait(ns).error() == LabError::out_of_range);
    device->cut_at(~std::uint64_t{0}, 1);
    CHECK(device->has_power());
    const auto nand = *LabNand::make(small_chip());
    nand->cut_at(~std::uint64_t{0}, 1);
    CHECK(nand->program(0, page_of(1)));
}

TEST_CASE("through the functions of C an impossible chip is none and says why, and a code names what was refused", "[library]") {
    char why[100] = "";
    for (const flashlab_nand_chip wrong : {flashlab_nand_chip{100, 4, 3, 0, 0, 0}, flashlab_nand_chip{512, 4, 0, 0, 0, 0},
                                           flashlab_nand_chip{512, 4, 1u << 31, 0, 0, 0}, flashlab_nand_chip{512, 4, 3, 0, ~std::uint64_t{0}, 0}}) {
        why[0] = '\0';
        CHECK(flashlab_nand_make(&wrong, why, sizeof why) == nullptr);
        CHECK(why[0] != '\0');
        CHECK(flashlab_nand_make(&wrong, nullptr, 0) == nullptr);
    }
    const flashlab_nand_chip chip{512, 4, 3, 0, 0, 0};
    flashlab_nand* nand = flashlab_nand_make(&chip, why, sizeof why);
    REQUIRE(nand != nullptr);
    std::byte bytes[512] = {};
    CHECK(flashlab_nand_program(nand, 1, bytes) == FLASHLAB_OK);
    CHECK(flashlab_nand_program(nand, 1, bytes) == FLASHLAB_NOT_ERASED);
    CHECK(flashlab_nand_program(nand, 0, bytes) == FLASHLAB_OUT_OF_ORDER);
    CHECK(flashlab_nand_read(nand, 1, 1, 512, bytes) == FLASHLAB_OUT_OF_RANGE);
    CHECK(flashlab_nand_read(nand, 1, ~0u, ~0u, bytes) == FLASHLAB_OUT_OF_RANGE);
    flashlab_nand_note_instants(nand);
    std::uint64_t first = 0;
    const std::size_t count = flashlab_nand_instants(nand, &first, 1);
    CHECK(count == flashlab_nand_instants(nand, nullptr, 0));
    CHECK(first != 0);
    flashlab_nand_cut_at(nand, 0, 1);
    CHECK(flashlab_nand_read(nand, 1, 0, 512, bytes) == FLASHLAB_POWER_LOST);
    CHECK(flashlab_nand_erase_count(nand, 0) == 0);
    CHECK(flashlab_nand_recover(nand) == FLASHLAB_OK);
    CHECK(flashlab_nand_read(nand, 1, 0, 512, bytes) == FLASHLAB_OK);
    flashlab_nand_free(nand);
    flashlab_nand_free(nullptr);
}

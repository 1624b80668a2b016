// Goal: a bit that changes in the cells behind the drive's back is found, and nothing that a kill, a cut or a recovery leaves is taken for damage.
// Method: image files, flipped one bit at a time; changes that stop between their stores.
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "pram/image_pram_store.h"
#include "pram/pram_line_checks.h"
#include "pram/redo_log.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::array<std::byte, 16> any_uuid() { return {}; }

std::unique_ptr<ImagePramStore> opened(const std::filesystem::path& path) {
    auto store = ImagePramStore::open(path);
    REQUIRE(store.has_value());
    return std::move(*store);
}

/// The stores of a line's change, up to some of them.
struct Line {
    std::array<std::byte, 256> cells{};
    std::array<std::uint32_t, 4> sums{};
    PramChangeMark mark;
    PramLineChecks checks{cells, sums, mark};
};

} // namespace

TEST_CASE("every flipped bit of the cells and of their sums is found, and its line named", "[pram][checks]") {
    TemporaryDirectory folder;
    const PramConfig config = small_config();
    REQUIRE(ImagePramStore::create(folder / "pram.img", config, any_uuid()).has_value());
    NullEventSink sink;
    std::uint64_t cells = 0;
    std::uint64_t sums = 0;
    {
        const auto store = opened(folder / "pram.img");
        cells = store->header().cells_offset();
        sums = store->header().sums_offset();
        Pram pram{config, *store, sink, PramUndo::keep};
        Random random{1};
        std::vector<std::byte> data(3000);
        for (auto& b : data) b = static_cast<std::byte>(random.next());
        pram.write(PramUser::fs, PramAddress{70'001}, data, sim_start);
        CHECK(store->damaged_lines(10).empty());
    }
    Random random{2};
    for (int i = 0; i < 300; ++i) {
        const bool in_sums = i % 10 == 9;
        const std::uint64_t line = i % 2 == 0 ? 70'001 / 64 + random.below(47) : random.below(config.bytes / 64);
        const std::uint64_t at = in_sums ? sums + line * 4 + random.below(4) : cells + line * 64 + random.below(64);
        const auto bit = static_cast<unsigned>(random.below(8));
        flip(folder / "pram.img", at, 1u << bit);
        CHECK(opened(folder / "pram.img")->damaged_lines(10) == std::vector<std::uint64_t>{line * 64});
        flip(folder / "pram.img", at, 1u << bit);
    }
    CHECK(opened(folder / "pram.img")->damaged_lines(10).empty());
}

TEST_CASE("cut and recovered cells have the sums of what they hold", "[pram][checks]") {
    TemporaryDirectory folder;
    const PramConfig config = small_config();
    NullEventSink sink;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::filesystem::remove(folder / "pram.img");
        REQUIRE(ImagePramStore::create(folder / "pram.img", config, any_uuid()).has_value());
        Random random{seed};
        {
            const auto store = opened(folder / "pram.img");
            Pram pram{config, *store, sink, PramUndo::keep};
            RedoLog log{pram, PramUser::fs, {PramAddress{0}, 8192}};
            (void)log.recover(sim_start);
            SimTime now = sim_start;
            for (int i = 0; i < 20; ++i) {
                PramTransaction t;
                for (int w = 0; w < 5; ++w) t.write_u64(PramAddress{16384 + random.below(100) * 8}, random.next());
                now = *log.commit(t, now, no_event);
            }
            FixedOutcome outcomes{WordOutcome::mixed_bits, seed};
            (void)pram.cut(
                sim_time_from_ns(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ns_since_start(pram.last_reserved_end()))))),
                outcomes);
        }
        const auto store = opened(folder / "pram.img");
        CHECK(store->damaged_lines(10).empty());
        Pram pram{config, *store, sink, PramUndo::keep};
        RedoLog log{pram, PramUser::fs, {PramAddress{0}, 8192}};
        (void)log.recover(sim_start);
        CHECK(store->damaged_lines(10).empty());
    }
}

TEST_CASE("a process killed in the middle of a change leaves no damage, one that was not leaves nothing out", "[pram][checks]") {
    Line line;
    line.checks.begin(60, 8); // killed before any cell, between the two lines, behind both, and between the sums
    CHECK(line.checks.damaged(0, 4, 4).empty());
    line.cells[61] = std::byte{1};
    CHECK(line.checks.damaged(0, 4, 4) == std::vector<std::uint64_t>{0});
    line.cells[65] = std::byte{2};
    Line killed;
    killed.cells = line.cells;
    killed.sums = line.sums;
    killed.mark = line.mark;
    killed.checks.settle_mark();
    CHECK(killed.checks.damaged(0, 4, 4).empty());
    CHECK(killed.mark.lines == 0);
    // A mark of which a bit was flipped excuses nothing.
    Line flipped;
    flipped.cells = line.cells;
    flipped.mark = line.mark;
    flipped.mark.lines ^= 2;
    flipped.checks.settle_mark();
    CHECK(flipped.checks.damaged(0, 4, 4) == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("a generation survives, its damage is noticed, and one kill between two stores leaves the images together", "[pram][checks]") {
    TemporaryDirectory folder;
    REQUIRE(ImagePramStore::create(folder / "pram.img", small_config(), any_uuid()).has_value());
    const ImageGeneration first = ImageGeneration{}.next(5);
    std::uint64_t state = 0;
    {
        const auto store = opened(folder / "pram.img");
        CHECK(store->generation() == ImageGeneration{});
        store->set_generation(first);
        state = store->header().state_offset();
    }
    CHECK(opened(folder / "pram.img")->generation() == first);
    flip(folder / "pram.img", state + 64, 1u << 3); // its first copy
    CHECK(opened(folder / "pram.img")->generation() == first);
    flip(folder / "pram.img", state + 128, 1u << 3); // both
    CHECK_FALSE(opened(folder / "pram.img")->generation().has_value());

    ImageGeneration announced = first.next(6);
    announced.announced = true;
    CHECK(belong_together(first, first));
    CHECK(belong_together(announced, first));
    CHECK(belong_together(announced, first.next(6)));
    CHECK_FALSE(belong_together(first.next(6), first));
    CHECK_FALSE(belong_together(first, first.next(6)));
    CHECK_FALSE(belong_together(announced.next(1), first));
    CHECK_FALSE(belong_together(first.next(6), first.next(7))); // another past
}

TEST_CASE("the line of a word that a cut mixed has its sum at once, not only when the image is opened again", "[pram][checks][cut]") {
    TemporaryDirectory folder;
    const PramConfig config = small_config();
    REQUIRE(ImagePramStore::create(folder / "pram.img", config, any_uuid()).has_value());
    const auto store = opened(folder / "pram.img");
    NullEventSink sink;
    Pram pram{config, *store, sink, PramUndo::keep};
    const std::vector<std::byte> data(8, std::byte{0xff});
    const PramWritten written = pram.write(PramUser::fs, PramAddress{4096}, data, sim_start);
    FixedOutcome mixed{WordOutcome::mixed_bits, 5};
    REQUIRE(pram.cut(written.end - Duration{1}, mixed).words_torn == 1);
    CHECK(store->damaged_lines(10).empty());
}

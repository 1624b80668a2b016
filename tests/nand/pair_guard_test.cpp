// C5: what must survive is copied before a program endangers it, and is read from its copy when the cut took it. MLC, 8 pages: L0 L1 U0 L2 U1 L3 U2
// U3.
#include "nand/pair_backup.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

class PairDamage final : public CutOutcomes {
public:
    ProgramOutcome of_program(Ppn) override { return ProgramOutcome::pair_damaged; }
    EraseOutcome of_erase(BlockId) override { return EraseOutcome::not_started; }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_{5};
};

NandConfig guarded() {
    NandConfig config = round_config();
    config.geometry.cell = CellType::mlc;
    config.geometry.blocks_per_plane = 8;
    config.options.paired_pages = true;
    return config;
}

constexpr std::uint32_t first_free = 4; // blocks 0 to 3 of each plane may hold backups

std::uint64_t backups(const NandArray& array) { return array.counters().programs[static_cast<std::size_t>(Cause::backup)]; }

/// Programs pages 0, 1 of the block, then page 2, whose line is page 0's; cut in the middle of it.
void lose_page_0(Flash& flash, std::uint32_t block, std::uint64_t value, SimTime from) {
    REQUIRE(flash.program(flash.page(block, 0), value, from));
    REQUIRE(flash.program(flash.page(block, 1), value + 1, from));
    (void)flash.array.note_durable(from);
    const auto end = flash.program(flash.page(block, 2), value + 2, from);
    REQUIRE(end);
    PairDamage damage;
    REQUIRE(flash.array.cut(*end - Duration{10}, damage));
    CHECK(flash.store.read_record(flash.page(block, 0))->state == CellState::garbage);
}

struct Reopened {
    explicit Reopened(Flash& flash_) : flash{flash_}, array{flash.geometry, flash.config, flash.store, sink, UndoPolicy::keep} {
        REQUIRE(array.open());
    }
    auto read(Ppn page, SimTime now) {
        data.assign(flash.geometry.page_bytes(), std::byte{0});
        return array.read(PageRead{page, 0, flash.geometry.page_bytes(), data}, {now, {}});
    }
    Flash& flash;
    RecordingSink sink;
    NandArray array;
    std::vector<std::byte> data;
};

} // namespace

TEST_CASE("the OOB of a backup: golden bytes, and no flipped bit passes", "[nand][pairs]") {
    const BackupOob backup{PageOob{Lpn{0x01020304}, WriteSequence{0x1122334455}, PageKind::translation, 0xa1a2a3a4}, Ppn{0xb1b2b3b4}, 0xc1c2};
    const auto bytes = backup.encode();
    const std::uint8_t golden[] = {0x55, 0x44, 0x33, 0x22, 0x11, 0x02, 0xc2, 0xc1, 0x04, 0x03,
                                   0x02, 0x01, 0xa4, 0xa3, 0xa2, 0xa1, 0xb4, 0xb3, 0xb2, 0xb1};
    for (std::size_t i = 0; i < std::size(golden); ++i) CHECK(std::to_integer<std::uint8_t>(bytes[i]) == golden[i]);
    const auto decoded = BackupOob::decode(bytes);
    REQUIRE(decoded);
    CHECK(decoded->origin == backup.origin);
    CHECK(decoded->page == backup.page);
    CHECK(decoded->life == backup.life);
    CHECK_FALSE(PageOob::decode(bytes));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto flipped = bytes;
        flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        CHECK_FALSE(BackupOob::decode(flipped));
    }
    std::array<std::byte, PageOob::encoded_size> ordinary{};
    backup.origin.encode(ordinary);
    CHECK_FALSE(BackupOob::decode(ordinary));
}

TEST_CASE("what must survive is copied before its pair is programmed, what need not is not", "[nand][pairs]") {
    Flash flash{guarded()};
    REQUIRE(flash.program(flash.page(first_free, 0), 1, at(0)) == at(101'124));
    REQUIRE(flash.program(flash.page(first_free, 1), 2, at(0)));
    CHECK(flash.program(flash.page(first_free, 2), 3, at(300'000)) == at(401'124)); // page 0 need not survive: no copy
    CHECK(backups(flash.array) == 0);
    REQUIRE(flash.program(flash.page(first_free, 3), 4, at(500'000)));
    CHECK(flash.array.note_durable(at(700'000)) == at(700'000));
    // Erase of a backup block on the same plane, read of page 1 (its command meanwhile), its copy, and only then page 4.
    CHECK(flash.program(flash.page(first_free, 4), 5, at(700'000)) == at(700'000 + 1'000'100 + 11'024 + 101'124 + 101'124));
    CHECK(backups(flash.array) == 1);
    REQUIRE(flash.program(flash.page(first_free, 5), 6, at(3'000'000)));
    CHECK(backups(flash.array) == 1); // page 5 is a first pass: nothing is in danger
    REQUIRE(flash.program(flash.page(first_free, 6), 7, at(4'000'000)));
    CHECK(backups(flash.array) == 2); // page 3's pair
}

TEST_CASE("a backup block whose erase fails is bad from then on: another takes the backups, and it is never tried again", "[nand][pairs][faults]") {
    struct FailingErases final : NandFaults {
        std::vector<BlockId> failed;
        std::uint32_t erases = 0;
        bool program_fails(Ppn) override { return false; }
        bool erase_fails(BlockId block) override {
            ++erases;
            if (failed.size() < 2) failed.push_back(block);
            return std::ranges::find(failed, block) != failed.end();
        }
    } faults;
    Flash flash{guarded()};
    flash.array.set_faults(&faults);
    SimTime now = at(0);
    for (std::uint64_t block = first_free; block < first_free + 2; ++block) {
        for (std::uint32_t page = 0; page < 8; ++page) {
            const auto end = flash.program(flash.page(static_cast<std::uint32_t>(block), page), page + 1, now);
            REQUIRE(end);
            now = flash.array.note_durable(*end);
        }
    }
    CHECK(backups(flash.array) == 8); // each second pass endangers a page that was flushed
    REQUIRE(faults.failed.size() == 2);
    CHECK(faults.failed[0] != faults.failed[1]);
    for (const BlockId block : faults.failed) CHECK(flash.array.is_bad(block));
    CHECK(faults.erases == 2 + 2); // eight backups fill two blocks
}

TEST_CASE("a durable page that a cut took is read from its backup, with its OOB, until its block is erased", "[nand][pairs]") {
    Flash flash{guarded()};
    lose_page_0(flash, first_free, 1, at(0));
    Reopened on{flash};
    const auto scanned = on.array.scan_backups(at(10'000'000));
    REQUIRE(scanned);
    CHECK(*scanned > at(10'000'000));
    const Ppn lost = flash.page(first_free, 0);
    REQUIRE(on.read(lost, at(11'000'000)));
    CHECK(on.data == page_bytes_of(flash.geometry, 1));
    const auto oob = on.array.read_oob(lost, {at(11'000'000), {}});
    REQUIRE(oob);
    CHECK(oob->state == CellState::programmed);
    CHECK(oob->oob->sequence == WriteSequence{1});
    CHECK(on.array.inspect(lost)->state == CellState::programmed);
    CHECK(on.array.inspect_oob(lost)->oob->lpn == Lpn{1});
    CHECK_FALSE(on.read(flash.page(first_free, 2), at(11'000'000))); // what was being written was promised to nobody
    REQUIRE(on.array.copy(lost, flash.page(first_free + 1, 0), {at(12'000'000), {}}));
    REQUIRE(on.read(flash.page(first_free + 1, 0), at(13'000'000)));
    CHECK(on.data == page_bytes_of(flash.geometry, 1));
    std::vector<std::byte> other(flash.geometry.page_bytes());
    on.data.assign(flash.geometry.page_bytes(), std::byte{0});
    const PageRead two[] = {{lost, 0, flash.geometry.page_bytes(), on.data}, {flash.page(first_free, 1), 0, flash.geometry.page_bytes(), other}};
    REQUIRE(on.array.read(two, {at(13'000'000), {}}));
    CHECK(on.data == page_bytes_of(flash.geometry, 1));
    CHECK(other == page_bytes_of(flash.geometry, 2));
    REQUIRE(on.array.erase(BlockId{first_free}, {at(14'000'000), {}}));
    const auto gone = on.read(lost, at(16'000'000));
    REQUIRE_FALSE(gone);
    CHECK(gone.error().kind == NandErrorKind::erased_page);
}

TEST_CASE("a backup of an earlier life of the block is never taken for this life's page", "[nand][pairs]") {
    Flash flash{guarded()};
    lose_page_0(flash, first_free, 1, at(0));
    Reopened on{flash};
    REQUIRE(on.array.erase(BlockId{first_free}, {at(10'000'000), {}}));
    const auto data = page_bytes_of(flash.geometry, 9);
    const PageProgram one{flash.page(first_free, 0), data, PageOob{Lpn{1}, WriteSequence{9}, PageKind::data, 0}};
    const auto end = on.array.program({&one, 1}, {at(20'000'000), {}});
    REQUIRE(end);
    PairDamage damage; // page 0 itself becomes garbage
    REQUIRE(on.array.cut(*end - Duration{10}, damage));
    Reopened again{flash};
    CHECK_FALSE(again.read(flash.page(first_free, 0), at(30'000'000)));
}

TEST_CASE("an erase waits for programs that endanger pages without a backup, and makes durable what was there before", "[nand][pairs]") {
    Flash flash{guarded()};
    for (std::uint32_t page = 0; page < 3; ++page) REQUIRE(flash.program(flash.page(first_free, page), 1 + page, at(0)));
    const SimTime in_danger_until = at(101'124 + 2 * 101'124);
    CHECK(flash.array.erase(BlockId{first_free + 1}, {at(0), {}}) == in_danger_until + Duration{1'000'100});
    CHECK(backups(flash.array) == 0);
    REQUIRE(flash.program(flash.page(first_free, 3), 4, at(2'000'000)));
    REQUIRE(flash.program(flash.page(first_free, 4), 5, at(2'000'000))); // page 1 was there before the erase
    CHECK(backups(flash.array) == 1);
}

TEST_CASE("a program of other than data makes durable what it may speak of", "[nand][pairs]") {
    Flash flash{guarded()};
    REQUIRE(flash.program(flash.page(first_free, 0), 1, at(0)));
    REQUIRE(flash.program(flash.page(first_free, 1), 2, at(0)));
    const auto data = page_bytes_of(flash.geometry, 3);
    const PageProgram record{flash.page(first_free + 1, 0), data, PageOob{Lpn{0}, WriteSequence{3}, PageKind::journal, 0}};
    REQUIRE(flash.array.program({&record, 1}, {at(500'000), {}}));
    REQUIRE(flash.program(flash.page(first_free, 2), 4, at(1'000'000)));
    CHECK(backups(flash.array) == 1);
}

TEST_CASE("thousands of backups fit a few blocks, and those that are read from survive the moves", "[nand][pairs]") {
    Flash flash{guarded()};
    lose_page_0(flash, first_free, 1, at(0));
    Reopened on{flash};
    SimTime now = at(10'000'000);
    for (int round = 0; round < 200; ++round) {
        const BlockId block{first_free + 1};
        now = *on.array.erase(block, {now, {}});
        for (std::uint32_t page = 0; page < 8; ++page) {
            const auto data = page_bytes_of(flash.geometry, 100 + page);
            const PageProgram one{flash.page(block.value(), page), data, PageOob{Lpn{page}, WriteSequence{100 + page}, PageKind::data, 0}};
            (void)on.array.note_durable(now);
            now = *on.array.program({&one, 1}, {now, {}});
        }
        on.array.settle(now);
    }
    CHECK(backups(on.array) >= 800);
    REQUIRE(on.read(flash.page(first_free, 0), now));
    CHECK(on.data == page_bytes_of(flash.geometry, 1));
    Reopened again{flash};
    REQUIRE(again.read(flash.page(first_free, 0), now));
    CHECK(again.data == page_bytes_of(flash.geometry, 1));
}

TEST_CASE("a backup that the cut struck, and one that can only be read once more, are not used", "[nand][pairs]") {
    class Unstable final : public CutOutcomes {
    public:
        ProgramOutcome of_program(Ppn) override { return ProgramOutcome::unstable; }
        EraseOutcome of_erase(BlockId) override { return EraseOutcome::complete; }
        std::uint64_t random() override { return 1; }
    };
    Flash flash{guarded()};
    REQUIRE(flash.program(flash.page(first_free, 0), 1, at(0)));
    REQUIRE(flash.program(flash.page(first_free, 1), 2, at(0)));
    (void)flash.array.note_durable(at(300'000));
    const auto end = flash.program(flash.page(first_free, 2), 3, at(300'000)); // a copy, then the program
    REQUIRE(end);
    Unstable outcomes;
    REQUIRE(flash.array.cut(*end - Duration{150'000}, outcomes)); // amid the copy
    Reopened on{flash};
    REQUIRE(on.read(flash.page(first_free, 0), at(10'000'000))); // never in danger
    CHECK(on.data == page_bytes_of(flash.geometry, 1));
    std::uint32_t unstable = 0;
    for (std::uint32_t b = 0; b < first_free; ++b) unstable += flash.store.read_record(flash.page(b, 0))->state == CellState::unstable ? 1 : 0;
    CHECK(unstable == 1);
}

TEST_CASE("blocks for backups are nobody else's, and there are none where pages share no cells", "[nand][pairs]") {
    NandConfig config = guarded();
    Flash flash{config};
    std::uint32_t kept = 0;
    for (std::uint32_t b = 0; b < flash.geometry.blocks(); ++b) {
        CHECK(flash.array.is_bad(BlockId{b}) == is_set_aside(config, BlockId{b}));
        kept += is_backup_block(config, BlockId{b}) ? 1 : 0;
    }
    CHECK(kept == backup_blocks_per_die(config) * flash.geometry.dies());
    CHECK(backup_blocks_per_die(config) == 5); // (1 + 4 cuts) x 2 planes x 1 page, 4 a block, and 2 to turn over
    config.geometry.cell = CellType::slc;
    CHECK(backup_blocks_per_die(config) == 0);
    config.geometry.cell = CellType::mlc;
    config.options.paired_pages = false;
    CHECK(backup_blocks_per_die(config) == 0);
}

// A block whose pages were copied elsewhere is erased after the copies; until then its damaged page may be needed again, and with it the backup.
TEST_CASE("a backup outlives the erase of its origin's block: no cut before that finds neither page nor backup", "[nand][pairs]") {
    class Ends final : public CutOutcomes {
    public:
        ProgramOutcome of_program(Ppn) override { return ProgramOutcome::garbage; }
        EraseOutcome of_erase(BlockId) override { return EraseOutcome::complete; }
        std::uint64_t random() override { return 1; }
    };
    Flash flash{guarded()};
    const std::uint32_t origin = flash.block_on(1, first_free); // on the other plane than the first backup block
    lose_page_0(flash, origin, 1, at(0));
    Reopened on{flash};
    const auto program = [&](std::uint32_t block, std::uint32_t index, SimTime from) {
        const auto data = page_bytes_of(flash.geometry, 9);
        const PageProgram one{flash.page(block, index), data, PageOob{Lpn{index}, WriteSequence{9}, PageKind::data, 0}};
        return on.array.program({&one, 1}, {from, {}});
    };
    REQUIRE(program(first_free, 0, at(10'000'000)));
    REQUIRE(program(first_free, 1, at(10'000'000)));
    (void)on.array.note_durable(at(11'000'000));
    const auto copied = on.array.copy(flash.page(origin, 0), flash.page(origin + 1, 0), {at(12'000'000), {}});
    REQUIRE(copied);
    REQUIRE(on.array.erase(BlockId{origin}, {*copied, {}}));
    REQUIRE(program(first_free, 2, at(12'000'000))); // asks for a backup of page 0: a backup block is erased for it
    Ends outcomes;
    REQUIRE(on.array.cut(*copied - Duration{10}, outcomes)); // amid the copy
    Reopened again{flash};
    REQUIRE(again.read(flash.page(origin, 0), at(30'000'000)));
    CHECK(again.data == page_bytes_of(flash.geometry, 1));
}

TEST_CASE("a page from before the power came on that no block takes a backup of counts as in danger, too", "[nand][pairs]") {
    Flash flash{guarded()};
    REQUIRE(flash.program(flash.page(first_free, 0), 1, at(0)));
    REQUIRE(flash.program(flash.page(first_free, 1), 2, at(0)));
    Reopened on{flash};
    for (std::uint32_t b = 0; b < flash.geometry.blocks(); ++b) {
        if (is_backup_block(flash.config, BlockId{b})) REQUIRE(on.array.mark_bad(BlockId{b}, at(0)));
    }
    const auto data = page_bytes_of(flash.geometry, 3);
    const PageProgram one{flash.page(first_free, 2), data, PageOob{Lpn{3}, WriteSequence{3}, PageKind::data, 0}};
    const auto end = on.array.program({&one, 1}, {at(1'000'000), {}});
    REQUIRE(end);
    CHECK(on.array.note_durable(at(1'000'000)) == *end);
}

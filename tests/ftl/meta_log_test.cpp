/// The on-flash log: nothing ended is lost, nothing half written is believed, and no number of cuts uses it up.
#include "tests/ftl/meta_log_rig.h"

using namespace flashlab;
using namespace flashlab::meta_log_rig;

TEST_CASE("a new ring recovers to nothing, and what is appended comes back in order after a reopen", "[metalog]") {
    LogRig rig;
    CHECK_FALSE(rig.recovered.checkpoint.has_value());
    CHECK(rig.recovered.records.empty());
    Model model;
    Random random{1};
    for (int i = 0; i < 300; ++i) {
        model.write(rig, random);
        if (random.chance(1, 10)) {
            rig.now = rig.log->last_end();
            rig.open();
            CAPTURE(i);
            model.compare(rig.recovered, rig.now);
            CHECK(rig.log->check().empty());
        }
    }
}

TEST_CASE("as many records as were planned fit between two checkpoints, however long those are", "[metalog]") {
    const std::uint64_t journal_bytes = GENERATE(0u, 9000u, 30000u);
    LogRig rig{9000u, RingPlace::fixed, journal_bytes};
    const std::uint64_t row_bytes = std::uint64_t{rig.planned().width} * rig.geometry.pages_per_block() * rig.geometry.page_bytes();
    const std::uint64_t planned = std::max(row_bytes, journal_bytes / row_bytes * row_bytes);
    for (std::uint64_t round = 0; round < 3; ++round) {
        std::uint64_t written = 0;
        for (; !rig.log->needs_checkpoint(100); written += rig.geometry.page_bytes())
            REQUIRE(rig.log->append(1, content(written, 100), {rig.log->last_end(), origin}).has_value());
        CHECK(written >= planned);
        if (round > 0) CHECK(written <= planned + row_bytes); // before, no checkpoint takes its rows
        REQUIRE(rig.log->checkpoint(content(round, 9000), {rig.log->last_end(), origin}).has_value());
    }
}

TEST_CASE("after a power cut at any instant the log is a prefix of what was written that holds everything that had ended", "[metalog][crash]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        LogRig rig{seed % 2 == 0 ? 700u : 9000u}; // one row of one block; rows of two blocks on two planes
        Model model;
        Random random{seed};
        for (int cut = 0; cut < 60; ++cut) {
            CAPTURE(seed, cut);
            const SimTime at = write_some(rig, model, random);
            rig.cut(at, random.next());
            model.compare(rig.recovered, at);
        }
    }
}

TEST_CASE("a checkpoint written in parts says how things were when it began, and the records beside it outlive its being torn", "[metalog][crash]") {
    const std::size_t largest = GENERATE(700u, 3000u, 9000u); // a part of a row; most of one; a row of two planes
    std::size_t beside = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        LogRig rig{largest};
        Model model;
        Random random{seed};
        for (int cut = 0; cut < 60; ++cut) {
            CAPTURE(largest, seed, cut);
            rig.array->settle(rig.now);
            const SimTime from = rig.now;
            for (std::uint64_t k = random.below(9); k > 0; --k) {
                model.write_in_parts(rig, random, largest);
                if (random.chance(1, 2)) rig.now = rig.log->last_end();
            }
            const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(0, (rig.array->last_reserved_end() - from).count()));
            const SimTime at = from + Duration{static_cast<std::int64_t>(random.below(span + 1))};
            rig.cut(at, random.next());
            model.compare(rig.recovered, at);
            REQUIRE(rig.log->can_write()); // M2: a checkpoint can always be tried again
        }
        beside += model.records_beside;
    }
    CHECK(beside > 100);
}

TEST_CASE("a record does not overtake the one before it, though its plane is idle and the other's is not", "[metalog]") {
    LogRig rig{9000u}; // rows of two blocks on two planes
    for (std::uint64_t id = 1; id <= 2; ++id) REQUIRE(rig.log->append(1, content(id, 100), {rig.now, origin}).has_value());
    rig.now = rig.log->last_end();
    const BlockId busy = rig.geometry.block_at(PlaneId{0}, rig.geometry.blocks_per_plane() - 1);
    for (std::uint32_t page = 0; page < 4; ++page) {
        const auto data = content(page, rig.geometry.page_bytes());
        const PageProgram one{rig.geometry.page_of(busy, page), data, PageOob{Lpn{page}, WriteSequence{1}, PageKind::data, 0}};
        REQUIRE(rig.array->program({&one, 1}, {rig.now, origin}).has_value());
    }
    const auto first = rig.log->append(1, content(3, 100), {rig.now, origin});  // on the busy plane
    const auto second = rig.log->append(1, content(4, 100), {rig.now, origin}); // on the other
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(*second - *first >= rig.config.timing.page_program);
    rig.cut(*first - Duration{1}, 1); // the first is in flight: the second is not there
    CHECK(rig.recovered.records.size() <= 3);
}

TEST_CASE("a ring that moves is found wherever it is after a cut at any instant, and wears no more than the blocks it moves among",
          "[metalog][crash][wear]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        LogRig rig{seed % 2 == 0 ? 700u : 9000u, RingPlace::moves};
        FreePool pool{rig};
        rig.exchange = &pool;
        rig.open();
        pool.load();
        Model model;
        Random random{seed};
        std::uint64_t moves = 0;
        for (int cut = 0; cut < 150; ++cut) {
            CAPTURE(seed, cut);
            const SimTime at = write_some(rig, model, random, [&] {
                if (random.chance(1, 2)) pool.delay_table();
            });
            moves += rig.log->moves();
            rig.cut(at, random.next());
            pool.require_kept(at);
            pool.load();
            model.compare(rig.recovered, at);
        }
        CHECK(moves > 20);
        CHECK(rig.log->area().blocks != rig.planned().blocks);
        for (const BlockId a : rig.log->area().blocks) {
            const PlaneId plane = rig.geometry.plane_of(a);
            std::uint32_t least = ~0u;
            for (const auto& f : pool.free)
                if (rig.geometry.plane_of(f.block) == plane) least = std::min(least, rig.array->erase_count(f.block));
            CAPTURE(seed, a.value(), rig.array->erase_count(a), least);
            CHECK(rig.array->erase_count(a) <= least + 4); // the margin, and erases since it was looked at
        }
    }
}

TEST_CASE("a table that is not the ring's is not believed", "[metalog][format]") {
    LogRig rig{700, RingPlace::moves};
    const std::vector<BlockId> anchor = rig.planned().anchor;
    REQUIRE(anchor.size() == 3);
    MetaLog tables{MetaArea{1, 3, 1, anchor, {}}, *rig.array};
    REQUIRE(tables.recover(rig.now).has_value());
    std::vector<std::byte> table((rig.planned().blocks.size() + 1) * 4); // a count of 0, and block 0 again and again
    REQUIRE(tables.append(1, table, {rig.now, origin}).has_value());
    MetaLog log{rig.planned(), *rig.array};
    const auto got = log.recover(tables.last_end());
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().kind == NandErrorKind::uncorrectable);
}

TEST_CASE("checkpoints share a row until it is full: a row is erased once for as many as fit in it", "[metalog][wear]") {
    LogRig rig;
    const auto erases = [&] {
        std::uint64_t all = 0;
        for (const std::uint64_t n : rig.array->counters().erases) all += n;
        return all;
    };
    const std::uint32_t pages = rig.geometry.pages_per_block();
    for (std::uint64_t id = 1; id <= 10 * pages; ++id)
        REQUIRE(rig.log->checkpoint(content(id, 100), {rig.now, origin}).has_value()); // of a page each
    CHECK(erases() == 10);
    for (std::uint64_t id = 1; id <= 9; ++id)
        REQUIRE(rig.log->checkpoint(content(id, 700), {rig.now, origin}).has_value()); // of two pages, with one of an odd place in between
    REQUIRE(rig.log->append(1, content(1, 100), {rig.now, origin}).has_value());
    for (std::uint64_t id = 10; id <= 12; ++id) REQUIRE(rig.log->checkpoint(content(id, 700), {rig.now, origin}).has_value());
    CHECK(erases() == 10 + 4); // 4 of them to a row; the record and three; none lies in two rows
    rig.now = rig.log->last_end();
    rig.open();
    REQUIRE(rig.recovered.checkpoint.has_value());
    CHECK(rig.recovered.checkpoint->payload == content(12, 700));
    CHECK(rig.recovered.records.empty());
}

TEST_CASE("coming back reads the first page of each block and the rows from the newest checkpoint on, not the older ones", "[metalog]") {
    LogRig rig;
    const std::uint32_t pages = rig.geometry.pages_per_block();
    for (std::uint64_t id = 1; id <= 10 * pages; ++id) REQUIRE(rig.log->checkpoint(content(id, 100), {rig.now, origin}).has_value());
    rig.now = rig.log->last_end();
    rig.open();
    CHECK(rig.recovered.checkpoint->payload == content(10 * pages, 100));
    CHECK(rig.recovered.pages_read == rig.planned().blocks.size() + pages + 1);
}

TEST_CASE("an old checkpoint in a row whose first page does not read any more is not taken for the newest", "[metalog]") {
    LogRig rig;
    const std::uint32_t pages = rig.geometry.pages_per_block();
    for (std::uint64_t id = 1; id <= 2 * pages; ++id) REQUIRE(rig.log->checkpoint(content(id, 100), {rig.now, origin}).has_value()); // two rows
    rig.now = rig.log->last_end();
    for (const std::uint32_t row : {0u, 1u}) { // as an erase leaves it that was cut, or read disturb: first the older row, then both
        const Ppn first = rig.geometry.page_of(rig.log->area().blocks[row], 0);
        PageRecord record = *rig.store.read_record(first);
        record.state = CellState::garbage;
        REQUIRE(rig.store.write_record(first, record).has_value());
        rig.open();
        CAPTURE(row);
        REQUIRE(rig.recovered.checkpoint.has_value());
        CHECK(rig.recovered.checkpoint->payload == content(2 * pages, 100));
    }
}

TEST_CASE("a thousand cuts in the middle of the first checkpoint after a mount leave room for the next one", "[metalog][crash]") {
    LogRig rig;
    Random random{7};
    REQUIRE(rig.log->checkpoint(content(1, 600), {rig.now, origin}).has_value());
    rig.now = rig.log->last_end();
    for (int i = 0; i < 1000; ++i) {
        CAPTURE(i);
        rig.array->settle(rig.now);
        const SimTime from = rig.now;
        REQUIRE(rig.log->can_write());
        const auto done = rig.log->checkpoint(content(1, 600), {rig.now, origin});
        REQUIRE(done.has_value());
        rig.cut(from + Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((*done - from).count())))}, random.next());
        REQUIRE(rig.recovered.checkpoint.has_value());
        CHECK(rig.recovered.checkpoint->payload == content(1, 600));
    }
}

TEST_CASE("a block that fails under the log, whenever it does, costs its row's rest, no record, and not the log", "[metalog]") {
    struct FailOnce final : NandFaults {
        int in = 5;
        bool program_fails(Ppn) override { return --in == 0; }
        bool erase_fails(BlockId) override { return --in == 0; }
    } faults;
    for (int in = 1; in <= 100; ++in) {
        CAPTURE(in);
        faults.in = in;
        LogRig rig;
        rig.array->set_faults(&faults);
        Model model;
        Random random{3};
        for (int i = 0; i < 60; ++i) {
            CAPTURE(i);
            model.write(rig, random);
            REQUIRE(rig.log->can_write());
        }
        REQUIRE(faults.in <= 0);
        rig.now = rig.log->last_end();
        rig.open();
        model.compare(rig.recovered, rig.now);
    }
}

TEST_CASE("the bytes of a record are as ftl/FORMAT.md says", "[metalog][format]") {
    LogRig rig;
    const std::vector<std::byte> payload{std::byte{0xaa}, std::byte{0xbb}, std::byte{0xcc}};
    REQUIRE(rig.log->append(5, payload, {rig.now, origin}).has_value());
    const Ppn page = rig.geometry.page_of(rig.log->area().blocks.front(), 0);
    std::vector<std::byte> data(512);
    REQUIRE(rig.store.read_data(page, 0, data).has_value());
    std::string text;
    for (std::size_t i = 0; i < 20; ++i) text += fmt::format("{:02x}", std::to_integer<int>(data[i]));
    CHECK(text == "05000000"
                  "aa2989e1"
                  "0300000000000000"
                  "aabbcc00");
    const auto oob = PageOob::decode(rig.array->inspect(page)->oob);
    REQUIRE(oob.has_value());
    CHECK(*oob == PageOob{Lpn{0}, WriteSequence{1}, PageKind::journal, 1});
}

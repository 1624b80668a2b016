// A run of copies in one go and the same copies one by one: the same times, records, counters and reservations.
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

class Silent final : public EventSink {
public:
    Silent() : EventSink{EventLevel::none} {}
};

struct Quiet {
    explicit Quiet(std::uint32_t pages_per_block = 8, std::uint32_t chips_per_channel = 2, Duration msb_program = Duration{0},
                   bool has_command = true, bool has_transfer = true)
        : config{[&] {
              NandConfig c = round_config();
              if (!has_command) c.timing.command = Duration{0};
              if (!has_transfer) c.timing.bus_ps_per_byte = 0;
              c.geometry.pages_per_block = pages_per_block;
              c.geometry.chips_per_channel = chips_per_channel;
              c.geometry.cell = CellType::tlc;
              c.timing.msb_program = msb_program;
              return c;
          }()},
          geometry{*Geometry::make(config.geometry)}, store{geometry, Payload::none}, array{geometry, config, store, sink, UndoPolicy::none} {
        REQUIRE(array.open());
    }
    [[nodiscard]] Ppn page(std::uint32_t block, std::uint32_t index) const { return geometry.page_of(BlockId{block}, index); }
    SimTime program(std::uint32_t block, std::uint32_t index, SimTime now) {
        const PageProgram one{page(block, index), {}, PageOob{Lpn{block * 100 + index}, WriteSequence{next++}, PageKind::data, index % 3}};
        return array.program({&one, 1}, {now, {}}).value();
    }
    NandConfig config;
    Geometry geometry;
    Silent sink;
    MemoryPageStore store;
    NandArray array;
    std::uint64_t next = 1;
};

CopiedRun one_by_one(NandArray& array, Ppn from, Ppn to, std::uint32_t pages, const Io& io) {
    CopiedRun run{.pages = 0, .done = io.when, .failed = std::nullopt};
    for (; run.pages < pages; ++run.pages) {
        const auto done = array.copy(Ppn{from.value() + run.pages}, Ppn{to.value() + run.pages}, io.at(run.done));
        if (!done) {
            run.failed = done.error();
            break;
        }
        run.done = *done;
    }
    return run;
}

/// The pages of a set are read together, then programmed one call each.
SimTime sets_one_by_one(NandArray& array, const RewriteRun& run, const Io& io) {
    SimTime done = io.when;
    for (std::uint32_t set = 0; set < run.sets; ++set) {
        std::vector<PageRead> reads;
        for (const Ppn page : run.from) reads.push_back({Ppn{page.value() + set}, 0, array.geometry().page_bytes(), {}});
        const SimTime read = array.read(reads, io).value();
        PageOob oob = run.oob;
        oob.lpn = Lpn{oob.lpn.value() + set};
        for (const Ppn page : run.to) {
            const PageProgram one{Ppn{page.value() + set}, {}, oob};
            done = std::max(done, array.program({&one, 1}, io.at(read)).value());
        }
    }
    return done;
}

/// Now and then far enough that planes are idle, now and then in the middle of a run.
SimTime later(Quiet& a, Quiet& b, Random& random, SimTime now) {
    const std::int64_t most = random.chance(1, 3) ? std::max<std::int64_t>(1, (a.array.last_reserved_end() - now).count()) : 900'000;
    now += Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)))};
    a.array.settle(now);
    b.array.settle(now);
    return now;
}

void compare(Quiet& a, Quiet& b) {
    std::uint32_t different = 0;
    for (std::uint32_t p = 0; p < a.geometry.pages(); ++p) {
        const auto one = a.array.inspect_oob(Ppn{p}), other = b.array.inspect_oob(Ppn{p});
        if (one->state != other->state || one->oob != other->oob) ++different;
    }
    REQUIRE(different == 0);
    for (std::uint32_t block = 0; block < a.geometry.blocks(); ++block)
        REQUIRE(a.array.write_pointer(BlockId{block}) == b.array.write_pointer(BlockId{block}));
    for (std::uint32_t plane = 0; plane < a.geometry.planes(); ++plane) {
        REQUIRE(a.array.plane_free_at(PlaneId{plane}) == b.array.plane_free_at(PlaneId{plane}));
        REQUIRE(a.array.plane_busy(PlaneId{plane}) == b.array.plane_busy(PlaneId{plane}));
    }
    for (std::uint32_t channel = 0; channel < a.geometry.channels(); ++channel)
        REQUIRE(a.array.channel_busy(ChannelId{channel}) == b.array.channel_busy(ChannelId{channel}));
    REQUIRE(a.array.last_reserved_end() == b.array.last_reserved_end());
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
        REQUIRE(a.array.counters().reads[cause] == b.array.counters().reads[cause]);
        REQUIRE(a.array.counters().programs[cause] == b.array.counters().programs[cause]);
    }
}

} // namespace

TEST_CASE("a run of copies takes its pages times read and program, by hand", "[nand][copy-run]") {
    Quiet flash;
    SimTime now = sim_start;
    for (std::uint32_t i = 0; i < 8; ++i) now = flash.program(0, i, now);
    const auto run = flash.array.copy_run(flash.page(0, 2), flash.page(8, 0), 5, {at(2'000'000), {Cause::merge, no_event}});
    CHECK(run.pages == 5);
    CHECK_FALSE(run.failed);
    CHECK(run.done == at(2'000'000 + 5 * (11'124 + 101'124)));
    CHECK(flash.array.write_pointer(BlockId{8}) == 5);
    CHECK(flash.array.inspect_oob(flash.page(8, 4))->oob->lpn == Lpn{6});
}

TEST_CASE("a run of copies takes the program time of each page's type, by hand", "[nand][copy-run]") {
    Quiet flash{8, 2, Duration{170'000}};
    SimTime now = sim_start;
    for (std::uint32_t i = 0; i < 8; ++i) now = flash.program(0, i, now);
    const auto run = flash.array.copy_run(flash.page(0, 2), flash.page(8, 0), 5, {at(2'000'000), {Cause::merge, no_event}});
    CHECK(run.pages == 5);
    // To the pages L0 L1 C0 C1 M0: only the last is of the type with a time of its own.
    CHECK(run.done == at(2'000'000 + 5 * (11'124 + 101'124) + 70'000));
}

TEST_CASE("runs at random leave what single copies leave, beside traffic on the same buses and planes", "[nand][copy-run]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    // In long blocks a run makes more reservations than a calendar remembers.
    const std::uint32_t pages_per_block = GENERATE(8u, 300u);
    // A phase of no length takes nothing of any calendar.
    const bool has_command = GENERATE(true, false), has_transfer = GENERATE(true, false);
    Quiet whole{pages_per_block, 2, Duration{0}, has_command, has_transfer}, single{pages_per_block, 2, Duration{0}, has_command, has_transfer};
    Random random{seed};
    SimTime now = sim_start;
    for (int i = 0; i < 400; ++i) {
        CAPTURE(seed, pages_per_block, has_command, has_transfer, i);
        const auto from = static_cast<std::uint32_t>(random.below(whole.geometry.blocks()));
        const auto to = static_cast<std::uint32_t>(random.below(whole.geometry.blocks()));
        const std::uint32_t filled = whole.array.write_pointer(BlockId{from}), next = whole.array.write_pointer(BlockId{to});
        const std::uint64_t what = random.below(8);
        if (what < 3 && next < pages_per_block) {
            const auto index = static_cast<std::uint32_t>(next + random.below(random.chance(1, 4) ? pages_per_block - next : 1));
            REQUIRE(whole.program(to, index, now) == single.program(to, index, now));
        } else if (what < 6 && from != to && filled > 0 && next < pages_per_block) {
            const auto first = static_cast<std::uint32_t>(random.chance(1, 2) ? 0 : random.below(filled));
            const auto target = static_cast<std::uint32_t>(next + random.below(random.chance(1, 4) ? pages_per_block - next : 1));
            const auto pages = static_cast<std::uint32_t>(1 + random.below(std::min(pages_per_block - target, pages_per_block - first)));
            const auto a = whole.array.copy_run(whole.page(from, first), whole.page(to, target), pages, {now, {Cause::merge, no_event}});
            const auto b = one_by_one(single.array, single.page(from, first), single.page(to, target), pages, {now, {Cause::merge, no_event}});
            REQUIRE(a.pages == b.pages);
            REQUIRE(a.done == b.done);
            REQUIRE(a.failed.has_value() == b.failed.has_value());
            if (a.failed) REQUIRE(a.failed->page == b.failed->page);
        } else if (what == 6) {
            REQUIRE(whole.array.erase(BlockId{to}, {now, {}}).value() == single.array.erase(BlockId{to}, {now, {}}).value());
        } else {
            now = later(whole, single, random, now);
        }
        if (pages_per_block < 100 || i % 40 == 39) compare(whole, single);
    }
}

TEST_CASE("runs of page sets at random leave what single reads and programs leave, beside traffic on the same buses and planes", "[nand][copy-run]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    const std::uint32_t pages_per_block = GENERATE(8u, 300u);
    Quiet whole{pages_per_block}, single{pages_per_block};
    Random random{seed};
    SimTime now = sim_start;
    std::uint64_t asked = 0, taken = 0, in_part = 0;
    for (int i = 0; i < 400; ++i) {
        CAPTURE(seed, pages_per_block, i);
        std::vector<std::uint32_t> blocks; // different ones: sources, then targets
        const std::size_t width = 1 + random.below(3);
        while (blocks.size() < 2 * width) {
            const auto block = static_cast<std::uint32_t>(random.below(whole.geometry.blocks()));
            const auto die_of = [&](std::uint32_t of) { return whole.geometry.die_of(whole.geometry.plane_of(BlockId{of})); };
            const auto is_near = [&](std::uint32_t other) { return die_of(other) == die_of(block); };
            const auto targets = std::span{blocks}.subspan(std::min(width, blocks.size()));
            if (std::ranges::find(blocks, block) == blocks.end() && std::ranges::none_of(targets, is_near)) blocks.push_back(block);
        }
        const auto pointer = [&](std::uint32_t block) { return whole.array.write_pointer(BlockId{block}); };
        const std::uint64_t what = random.below(8);
        if (what < 3 && pointer(blocks[0]) < pages_per_block) {
            // Sources of several pages, whose programs have often not ended.
            for (std::uint64_t n = 1 + random.below(8); n-- > 0 && pointer(blocks[0]) < pages_per_block;)
                REQUIRE(whole.program(blocks[0], pointer(blocks[0]), now) == single.program(blocks[0], pointer(blocks[0]), now));
        } else if (what < 6) {
            std::vector<Ppn> from, to;
            std::uint32_t sets = pages_per_block;
            for (std::size_t c = 0; c < width; ++c) {
                const std::uint32_t filled = pointer(blocks[c]), next = pointer(blocks[width + c]);
                const auto first = static_cast<std::uint32_t>(filled == 0 || random.chance(1, 2) ? 0 : random.below(filled));
                sets = std::min({sets, filled - first, pages_per_block - next});
                from.push_back(whole.page(blocks[c], first));
                to.push_back(whole.page(blocks[width + c], std::min(next, pages_per_block - 1)));
            }
            if (sets == 0) continue;
            RewriteRun run{from, to, sets, {Lpn{static_cast<std::uint32_t>(random.below(1000))}, WriteSequence{whole.next}, PageKind::data, 7}};
            const Io io{now, {Cause::merge, no_event}};
            const CopiedRun copied = whole.array.rewrite_run(run, io);
            REQUIRE(copied.pages <= sets);
            asked += sets;
            taken += copied.pages;
            in_part += copied.pages != 0 && copied.pages != sets ? 1 : 0;
            run.sets = copied.pages;
            REQUIRE(copied.done == sets_one_by_one(single.array, run, io));
        } else if (what == 6) {
            REQUIRE(whole.array.erase(BlockId{blocks[0]}, {now, {}}).value() == single.array.erase(BlockId{blocks[0]}, {now, {}}).value());
        } else {
            now = later(whole, single, random, now);
        }
        if (pages_per_block < 100 || i % 40 == 39) compare(whole, single);
    }
    CHECK(taken * 4 > asked);
    CHECK(in_part > 0);
}

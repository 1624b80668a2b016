/// Hand-made traces: merges, copies and erases are those that the papers of BAST and FAST define. Blocks of 8 pages; "0:3" is page 3 of logical block
/// 0.
#include "ftl/schemes/merge_plan.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

constexpr std::uint32_t per_block = 8;

struct Tally {
    std::uint64_t switched = 0, partial = 0, full = 0, copies = 0, erases = 0;
    friend bool operator==(const Tally&, const Tally&) = default;
};

std::ostream& operator<<(std::ostream& out, const Tally& t) {
    return out << t.switched << " switch, " << t.partial << " partial, " << t.full << " full merges, " << t.copies << " copies, " << t.erases
               << " erases";
}

class Trace {
public:
    Trace(const std::string& scheme, std::uint32_t logs) : rig_{config(scheme, logs), Payload::keep, UndoPolicy::none} {}
    void write(std::uint32_t block, std::uint32_t page, std::uint32_t pages = 1) { rig_.now = rig_.write(block * per_block + page, pages); }
    void trim(std::uint32_t block, std::uint32_t page, std::uint32_t pages) { rig_.now = rig_.trim(block * per_block + page, pages); }
    /// Since the last call. Lets what is under way end: its blocks are forgotten and erased.
    Tally since() {
        for (SimTime wake = rig_.ssd().tick(rig_.now); wake != sim_never; wake = rig_.ssd().tick(rig_.now)) rig_.now = std::max(rig_.now, wake);
        rig_.check_all();
        const FtlCounters c = rig_.ftl().counters();
        const CounterValues own = own_counters(rig_.ftl());
        const auto merge = static_cast<std::size_t>(Cause::merge);
        const NandCounters& nand = rig_.array().counters();
        CHECK(nand.programs[merge] == c.gc_page_copies);
        const Tally all{own["switch_merges"], own["partial_merges"], own["full_merges"], c.gc_page_copies, nand.erases[merge]};
        const Tally out{all.switched - seen_.switched, all.partial - seen_.partial, all.full - seen_.full, all.copies - seen_.copies,
                        all.erases - seen_.erases};
        seen_ = all;
        return out;
    }
    CutRig& rig() { return rig_; }

private:
    static SsdConfig config(const std::string& scheme, std::uint32_t logs) {
        SsdConfig c = tiny_config();
        c.nand.geometry.blocks_per_plane = 20;
        c.ftl.scheme = scheme;
        c.ftl.options.set(merge_option::log_blocks, logs);
        return c;
    }
    CutRig rig_;
    Tally seen_;
};

} // namespace

TEST_CASE("writing logical blocks in order copies nothing, whatever the requests' size", "[ftl][merge]") {
    const std::string scheme = GENERATE("block_map", "log_block", "fast");
    const std::uint32_t pages = GENERATE(1u, 2u, 8u, 24u);
    CAPTURE(scheme, pages);
    Trace trace{scheme, 2};
    for (std::uint32_t u = 0; u < 3 * per_block; u += pages) trace.write(0, u, pages);
    CHECK(trace.since() == Tally{.switched = 3});
    for (std::uint32_t u = 0; u < 3 * per_block; u += pages) trace.write(0, u, pages);
    CHECK(trace.since() == Tally{.switched = 3, .erases = 3}); // the old data blocks
    CHECK(trace.rig().array().counters().programs[static_cast<std::size_t>(Cause::user)] == 6 * per_block);
}

TEST_CASE("BAST: a log block left half written in order is completed by a partial merge", "[ftl][merge]") {
    Trace trace{"log_block", 2};
    for (std::uint32_t b = 0; b < 3; ++b) trace.write(b, 0, per_block);
    (void)trace.since();
    trace.write(0, 0, 3);
    trace.write(1, 4);
    CHECK(trace.since() == Tally{});
    trace.write(2, 0); // takes the log block written least recently
    CHECK(trace.since() == Tally{.partial = 1, .copies = 5, .erases = 1});
}

TEST_CASE("BAST: a log block written out of order is a full merge of two erases", "[ftl][merge]") {
    Trace trace{"log_block", 2};
    for (std::uint32_t b = 0; b < 3; ++b) trace.write(b, 0, per_block);
    (void)trace.since();
    for (const std::uint32_t page : {5u, 3u, 5u, 3u, 0u, 1u, 7u, 7u}) trace.write(1, page);
    CHECK(trace.since() == Tally{});
    trace.write(1, 2); // the log block is full
    CHECK(trace.since() == Tally{.full = 1, .copies = per_block, .erases = 2});
}

TEST_CASE("BAST: more logical blocks under write than log blocks thrash: a merge a write", "[ftl][merge]") {
    Trace trace{"log_block", 2};
    for (std::uint32_t b = 0; b < 3; ++b) trace.write(b, 0, per_block);
    (void)trace.since();
    for (std::uint32_t i = 0; i < 12; ++i) trace.write(i % 3, 4);
    CHECK(trace.since() == Tally{.full = 10, .copies = 10 * per_block, .erases = 20});
}

TEST_CASE("BAST: merges leave out what was trimmed, and a block without pages is freed without a copy", "[ftl][merge]") {
    Trace trace{"log_block", 2};
    trace.write(0, 0, per_block);
    trace.write(1, 0, per_block);
    (void)trace.since();
    trace.trim(0, 2, 4);
    trace.write(0, 7);
    trace.trim(1, 0, per_block);
    CHECK(trace.since() == Tally{.erases = 1});
    trace.write(1, 0);
    trace.write(2, 0);
    CHECK(trace.since() == Tally{.full = 1, .copies = 4, .erases = 2});
}

TEST_CASE("FAST: a victim costs a full merge for each logical block with a newest page in it", "[ftl][merge]") {
    Trace trace{"fast", 1};
    for (std::uint32_t b = 0; b < 4; ++b) trace.write(b, 0, per_block);
    CHECK(trace.since() == Tally{.switched = 4});
    for (const std::uint32_t at : {01u, 11u, 21u, 31u, 02u, 01u, 13u, 25u}) trace.write(at / 8, at % 8); // octal: block, page
    CHECK(trace.since() == Tally{});
    trace.write(3, 2);
    CHECK(trace.since() == Tally{.full = 4, .copies = 4 * per_block, .erases = 4 + 1});
}

TEST_CASE("FAST: round robin spares the pages that were overwritten in a newer log block", "[ftl][merge]") {
    Trace trace{"fast", 2};
    for (std::uint32_t b = 0; b < 4; ++b) trace.write(b, 0, per_block);
    (void)trace.since();
    for (std::uint32_t i = 0; i < 8; ++i) trace.write(i % 4, 1 + i / 4); // the first log block
    for (std::uint32_t i = 0; i < 6; ++i) trace.write(i % 3, 1 + i / 3); // blocks 0 to 2 again, in the second
    trace.write(0, 5);
    trace.write(0, 6);
    CHECK(trace.since() == Tally{});
    trace.write(1, 3); // the first goes: only block 3 still needs it
    CHECK(trace.since() == Tally{.full = 1, .copies = per_block, .erases = 2});
}

TEST_CASE("FAST: a new beginning merges what the sequential log block holds", "[ftl][merge]") {
    Trace trace{"fast", 2};
    for (std::uint32_t b = 0; b < 4; ++b) trace.write(b, 0, per_block);
    (void)trace.since();
    trace.write(0, 0, 3);
    CHECK(trace.since() == Tally{});
    trace.write(2, 0, 2);
    CHECK(trace.since() == Tally{.partial = 1, .copies = 5, .erases = 1});
    trace.write(2, 1); // not the next page of the sequential log block: random, and its page 1 is stale
    CHECK(trace.since() == Tally{});
    trace.write(3, 0);
    CHECK(trace.since() == Tally{.full = 1, .copies = per_block, .erases = 2});
}

TEST_CASE("FAST: a log block whose pages were all overwritten is not erased before what overwrote them is durable", "[ftl][merge][crash]") {
    const std::uint64_t seed = 1;
    CAPTURE(seed);
    SimTime from = sim_start;
    SimTime end = sim_start;
    for (std::int64_t after = 0; from + Duration{after} <= end; after += 100'000) {
        CAPTURE(after);
        SsdConfig config = tiny_config();
        config.nand.geometry.blocks_per_plane = 20;
        config.ftl.scheme = "fast";
        config.ftl.options.set(merge_option::log_blocks, 2);
        CutRig rig{config};
        for (std::uint32_t i = 0; i < per_block; ++i) rig.now = rig.write(1, 1); // the first RW log block: one page again and again
        rig.now = rig.flush();
        from = rig.now;
        rig.settle();
        for (std::uint32_t i = 0; i + 1 < per_block; ++i) (void)rig.write(per_block + 1 + i % 4, 1);
        (void)rig.write(1, 1);                 // last in the second's queue
        (void)rig.write(2 * per_block + 1, 1); // takes the first
        end = rig.ssd().last_reserved_end();
        rig.cut(from + Duration{after}, seed);
    }
    CHECK(end - from > Duration{7 * 700'000});
}

TEST_CASE("BL: an overwrite copies its block, an ascending run of overwrites copies it once", "[ftl][merge]") {
    Trace trace{"block_map", 1};
    trace.write(0, 0, per_block);
    trace.write(1, 0, per_block);
    (void)trace.since();
    trace.write(0, 3);
    CHECK(trace.since() == Tally{.copies = 3});
    trace.write(0, 5);
    CHECK(trace.since() == Tally{.copies = 1});
    trace.write(1, 0); // another block: the rest follows
    CHECK(trace.since() == Tally{.partial = 1, .copies = 2, .erases = 1});
    trace.write(1, 0); // backwards
    CHECK(trace.since() == Tally{.partial = 1, .copies = per_block - 1, .erases = 1});
}

TEST_CASE("block mapping spreads neighbouring logical blocks over channels, then dies, then planes", "[ftl][merge]") {
    const std::string scheme = GENERATE("block_map", "log_block", "fast");
    CAPTURE(scheme);
    SsdConfig config = tiny_config();
    config.nand.geometry.channels = 2;
    config.nand.geometry.dies_per_chip = 2;
    config.nand.geometry.blocks_per_plane = 8;
    config.ftl.scheme = scheme;
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    const SimTime start = rig.now;
    const SimTime done = rig.write(0, 8 * per_block);
    // Eight blocks of eight pages on eight planes: little more than the time of one block, journal and transfers included.
    const Duration one_block = config.nand.timing.page_program * per_block;
    CHECK(done - start < one_block + one_block);
    for (std::uint32_t b = 0; b < rig.geometry().planes(); ++b) {
        std::uint32_t data = 0;
        for (std::uint32_t i = 0; i < rig.geometry().blocks_per_plane(); ++i)
            data += rig.ftl().status_of(rig.geometry().block_at(PlaneId{b}, i)).use == BlockUse::data ? 1 : 0;
        CHECK(data == 1);
    }
}

TEST_CASE("a full merge takes the time of its page reads and programs, one after the other", "[ftl][merge][time]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.planes_per_die = 1;
    config.nand.geometry.blocks_per_plane = 30;
    config.nand.timing = test::round_timing;
    config.ftl.scheme = "log_block";
    config.ftl.options.set(merge_option::log_blocks, 2);
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    const auto wait = [&rig] {
        for (SimTime wake = rig.ssd().tick(rig.now); wake != sim_never; wake = rig.ssd().tick(rig.now)) rig.now = std::max(rig.now, wake);
        rig.now = std::max(rig.now, rig.ssd().last_reserved_end());
    };
    rig.now = rig.write(0, 2 * per_block);
    wait();
    for (std::uint32_t i = 0; i < per_block; ++i) rig.now = rig.write(3, 1);
    wait();
    const SimTime start = rig.now;
    const SimTime answered = rig.write(3, 1); // the log block is full
    // Link 1000 + 512 B x 250 ps; then each page: command 100 and 60 us, 512 B out; command 100, 512 B in, 700 us.
    const Duration arrival = config.host_link.request_overhead + Duration{128};
    const Duration copy = Duration{100 + 60'000 + 512 + 100 + 512 + 700'000};
    // Then, on the same plane, the write itself, and the record that names its log block; both have 512 B to program.
    CHECK(answered - start == arrival + copy * per_block + 2 * Duration{100 + 512 + 700'000});
}

TEST_CASE("block mapping refuses what it cannot do, says why, and warns of what will collapse", "[ftl][merge]") {
    const std::string scheme = GENERATE("block_map", "log_block", "fast");
    CAPTURE(scheme);
    const auto plan = [&](auto change) {
        SsdConfig config = tiny_config();
        config.ftl.scheme = scheme;
        change(config);
        return plan_ftl(config, *Geometry::make(config.nand.geometry));
    };
    const auto says = [](const auto& refused, const char* what) { return !refused && refused.error().find(what) != std::string::npos; };
    CHECK(says(plan([](SsdConfig& c) { c.ftl.mapping_unit_pages = 2; }), "mapping_unit_pages"));
    CHECK(says(plan([](SsdConfig& c) { c.ftl.striping = 2; }), "striping"));
    CHECK(says(plan([](SsdConfig& c) { c.ftl.groups = 2; }), "groups"));
    CHECK(says(plan([](SsdConfig& c) { c.nand.geometry.blocks_per_plane = 4; }), "larger --size"));
    CHECK(says(plan([](SsdConfig& c) { c.ftl.options.set(merge_option::log_blocks, 500); }), "fewer ftl.log_blocks"));
    const auto fits = plan([](SsdConfig&) {});
    REQUIRE(fits.has_value());
    CHECK(fits->pram_bytes == 0);
    const bool warns =
        std::ranges::any_of(fits->warnings, [](const std::string& w) { return w.find("rewrites a whole block") != std::string::npos; });
    CHECK(warns == (scheme == "block_map"));
}

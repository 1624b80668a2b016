/// Collections of drives that program whole word lines: from several planes at once, in whole lines, the last of them together with pages of the
/// host, no more than is needed; and the map's records in SLC mode beside them.
#include <map>
#include <set>

#include "base/random.h"
#include "ftl/schemes/page_plan.h"
#include "tests/support/cut_rig.h"
#include "tests/support/every_scheme.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::TestDrive;

namespace {

constexpr std::uint32_t planes_a_line = 4, units_a_line = planes_a_line * 3;
constexpr Duration record_program{20'000};

SsdConfig line_config(const std::string& scheme, std::uint32_t pages_a_block = 24) {
    SsdConfig c = test::one_die(planes_a_line, 40, pages_a_block, 512, 32);
    c.nand.geometry.cell = CellType::tlc;
    c.nand.timing = test::round_timing;
    c.nand.options.one_shot = true;
    c.nand.options.independent_planes = true;
    c.dram.write_buffer_bytes = 64 * 512;
    c.dram.destage = "ahead";
    c.dram.is_protected = true;
    c.ftl.scheme = scheme;
    c.ftl.reserved_permille = 250;
    return c;
}

/// Of pages with subpages, so that a line takes what several victims hold.
SsdConfig subpage_config(const std::string& scheme) {
    SsdConfig c = line_config(scheme, 48);
    c.nand.options.subpages = 4;
    c.dram.write_buffer_bytes = 512 * 512;
    return c;
}
constexpr std::uint32_t subpages_a_line = 4 * units_a_line;

/// What collections do, by the time at which it begins.
class LineCopies final : public EventSink {
public:
    LineCopies() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& e) override {
        if (e.origin.cause == Cause::map && e.op == NandOp::program) records.push_back(e);
        if (e.origin.cause == Cause::user && e.op == NandOp::program) {
            ++of_host[e.start];
            planes_of_host[e.start].insert(e.plane.value());
        }
        if (e.origin.cause != Cause::gc) return;
        if (e.op == NandOp::program) ++copies[e.start];
        if (e.op != NandOp::read) return;
        if (copies.size() != lines_begun) planes_of_line.emplace_back();
        lines_begun = copies.size();
        if (planes_of_line.empty()) planes_of_line.emplace_back();
        planes_of_line.back().insert(e.plane.value());
    }
    [[nodiscard]] std::uint32_t pages_of_host(SimTime begin) const {
        const auto line = of_host.find(begin);
        return line == of_host.end() ? 0 : line->second;
    }
    std::map<SimTime, std::uint32_t> copies, of_host; ///< pages of a program
    std::map<SimTime, std::set<std::uint32_t>> planes_of_host;
    std::vector<std::set<std::uint32_t>> planes_of_line;
    std::vector<NandOpEvent> records;

private:
    std::size_t lines_begun = 0;
};

struct LineDrive : TestDrive<LineCopies> {
    explicit LineDrive(const SsdConfig& made) : TestDrive{made} { recover(); }
    /// Each page once, then so many at random; the drive works in the background as it likes.
    void overwrite(std::uint32_t times, std::uint64_t seed) {
        Random random{seed};
        const std::uint32_t pages = ftl.logical_pages();
        for (std::uint32_t i = 0; i < (times + 1) * pages; ++i) {
            const auto done = ssd.write(Sector{i < pages ? i : random.below(pages)}, 1, {}, WriteDurability::volatile_ok, now);
            REQUIRE(done);
            now = *done + gap;
            pass(now);
        }
    }
    void pass(SimTime until) {
        while (wake <= until) wake = std::max(ssd.tick(wake), wake + Duration{1});
        wake = std::min(wake, until);
    }
    SimTime wake = sim_start;
    Duration gap{0}; ///< between two writes
};

class UnreadablePages final : public NandFaults {
public:
    bool program_fails(Ppn) override { return false; }
    bool erase_fails(BlockId) override { return false; }
    bool read_fails(Ppn page) override {
        const bool fails = pages.contains(page);
        met += fails ? 1 : 0;
        return fails;
    }
    std::set<Ppn> pages;
    std::uint64_t met = 0;
};

double share_of(const auto& all, auto which) { return static_cast<double>(std::ranges::count_if(all, which)) / static_cast<double>(all.size()); }

} // namespace

TEST_CASE("victims of several planes are emptied beside each other, so that copies fill their lines", "[ftl][one-shot][collect]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    CAPTURE(scheme);
    LineDrive drive{line_config(scheme)};
    drive.overwrite(4, 7);
    REQUIRE(drive.log.copies.size() > 200);
    const double whole =
        share_of(drive.log.copies, [&](const auto& line) { return line.second + drive.log.pages_of_host(line.first) == units_a_line; });
    const double wide = share_of(drive.log.planes_of_line, [](const auto& one) { return one.size() >= 3; });
    CAPTURE(whole, wide);
    // Without it 0.1 to 0.3 of the lines are whole, none is wide. Pages of dftl's maps come between.
    CHECK(whole > (scheme == "dftl" ? 0.3 : 0.55));
    CHECK(wide > (scheme == "dftl" ? 0.3 : 0.6));
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("the last copies of a collection share their word line with the host's next pages", "[ftl][one-shot][collect]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    LineDrive drive{subpage_config(scheme)};
    drive.overwrite(4, 13);
    const auto& log = drive.log;
    const double shared = share_of(log.copies, [&](const auto& line) { return log.pages_of_host(line.first) != 0; });
    const auto is_alone = [&](const auto& line) { return line.second <= subpages_a_line / 2 && log.pages_of_host(line.first) == 0; };
    const double alone = share_of(log.copies, is_alone);
    CAPTURE(shared, alone);
    CHECK(shared > 0.01);
    if (scheme == "page_map") CHECK(alone < 0.2); // 0.31 without; where the host waits for the collection's end it is made at once
    // Each page is counted and logged as what it is.
    std::uint64_t copies = 0, host = 0;
    for (const auto& line : log.copies) copies += line.second;
    for (const auto& line : log.of_host) host += line.second;
    const auto& programs = drive.array.counters().programs;
    CHECK(copies == programs[std::to_underlying(Cause::gc)]);
    CHECK(host == programs[std::to_underlying(Cause::user)]);
    CHECK(copies >= drive.ftl.counters().gc_page_copies); // and padding
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("planes of a die keep as many free blocks as each other, so that superblocks are as wide as the die", "[ftl][one-shot][collect]") {
    const std::string victim = GENERATE("greedy", "fifo");
    SsdConfig config = subpage_config("page_map");
    config.ftl.victim = victim;
    LineDrive drive{config};
    drive.overwrite(4, 13);
    const double narrow = share_of(drive.log.planes_of_host, [](const auto& line) { return line.second.size() < planes_a_line; });
    CAPTURE(victim, narrow);
    CHECK(narrow < 0.35); // greedy: 0.46 where victims are taken plane by plane; fifo: 0.43 where it minds copies
}

TEST_CASE("what cannot be read is copied with no line of the host, and what lies beside it is kept", "[ftl][one-shot][collect][faults]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        UnreadablePages faults;
        CutRig rig{subpage_config(scheme)};
        rig.set_faults(&faults);
        Random random{seed};
        for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
        for (std::uint32_t i = 0; i < 3 * rig.units(); ++i) {
            rig.now = std::max(rig.now, rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1));
            if (i % 2000 == 1999) faults.pages.insert(Ppn{static_cast<std::uint32_t>(random.below(rig.geometry().pages()))});
            if (random.chance(1, 8)) (void)rig.ssd().tick(rig.now);
        }
        rig.require_sound();
        REQUIRE(faults.met > 0);
        faults.pages.clear(); // a page that could not be read was not dropped
        rig.check_all();
    }
}

TEST_CASE("a page that cannot be read behind one that can, among the last copies of a collection, costs no other page its data",
          "[ftl][one-shot][collect][faults]") {
    struct BehindTheFirst final : NandFaults { // of what is read together, a page of the chip behind the first one
        explicit BehindTheFirst(CutRig& of) : rig{of} { rig.set_faults(this); }
        bool program_fails(Ppn) override {
            first.reset();
            return false;
        }
        bool erase_fails(BlockId) override { return false; }
        bool read_fails(Ppn page) override {
            const std::uint32_t of_chip = page.value() / 4, valid = rig.ftl().status_of(rig.geometry().block_of(page)).valid_pages;
            if (!first) first = of_chip;
            if (is_armed && first != of_chip && valid > 1 && valid <= subpages_a_line / 2 && pages.size() < 8) pages.insert(page);
            const bool fails = is_armed && pages.contains(page);
            met += fails ? 1 : 0;
            return fails;
        }
        CutRig& rig;
        std::optional<std::uint32_t> first{};
        std::set<Ppn> pages{};
        std::uint64_t met = 0;
        bool is_armed = true;
    };
    const std::string scheme = GENERATE("page_map", "hftl");
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    CAPTURE(scheme, seed);
    CutRig rig{subpage_config(scheme)};
    BehindTheFirst faults{rig};
    Random random{seed};
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
    for (std::uint32_t i = 0; i < 3 * rig.units(); ++i) {
        rig.now = std::max(rig.now, rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1));
        if (random.chance(1, 8)) (void)rig.ssd().tick(rig.now);
        if (random.chance(1, 30)) rig.now = std::max(rig.now, rig.flush()); // lines that the host does not fill
    }
    CHECK(faults.pages.size() == 8);
    CHECK(faults.met > faults.pages.size());
    faults.is_armed = false;
    rig.require_sound();
    rig.check_all();
}

TEST_CASE("copies that share a line with the host's pages survive every cut", "[ftl][one-shot][collect][crash]") {
    const std::string scheme = GENERATE("page_map", "dftl", "tpftl", "sftl", "leaftl", "learnedftl", "hftl");
    CAPTURE(scheme);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        CutRig rig{*test::shape_for(scheme, scheme == "page_map" || scheme == "hftl" ? subpage_config(scheme) : line_config(scheme, 48))};
        Random random{seed};
        for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
        for (int cut = 0; cut < 8; ++cut) {
            CAPTURE(cut);
            rig.settle();
            const SimTime from = rig.now;
            for (std::uint32_t i = 0; i < rig.units() / 2; ++i) {
                const SimTime done = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
                rig.now = std::max(rig.now, done);
                if (random.chance(1, 16)) (void)rig.ssd().tick(rig.now);
            }
            rig.leave(from, random);
        }
        rig.check_all();
    }
}

TEST_CASE("a drive that has time between its writes copies about as much as a busy one", "[ftl][one-shot][collect]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    std::array<std::uint64_t, 2> copies{};
    for (const bool rests : {false, true}) {
        LineDrive drive{line_config(scheme, 192)};
        drive.overwrite(3, 9);
        const auto copied = [&] { return drive.array.counters().programs[std::to_underlying(Cause::gc)]; };
        const std::uint64_t before = copied();
        drive.gap = rests ? 10 * drive.config.nand.timing.page_program : Duration{0};
        drive.overwrite(1, 11);
        copies[rests ? 1 : 0] = copied() - before;
    }
    CAPTURE(copies[0], copies[1]);
    CHECK(copies[1] * 10 < copies[0] * 11);
}

TEST_CASE("with ftl.records_in_slc the map's records take the time of an SLC page", "[ftl][one-shot][collect]") {
    const bool in_slc = GENERATE(false, true);
    CAPTURE(in_slc);
    SsdConfig config = line_config("page_map");
    config.nand.modes[std::to_underlying(CellType::slc)].page_program = record_program;
    config.ftl.options.set(page_option::records_in_slc, in_slc);
    LineDrive drive{config};
    drive.overwrite(2, 5);
    REQUIRE(drive.log.records.size() > 20);
    const Duration takes = in_slc ? record_program : config.nand.timing.page_program;
    for (const NandOpEvent& e : drive.log.records) {
        CHECK(e.phases.cells_end - e.phases.cells == takes);
        CHECK((drive.array.mode_of(drive.geometry.block_of(drive.geometry.page_of(e.block, e.page))) == CellType::slc) == in_slc);
    }
}

TEST_CASE("records in SLC mode bring the map back after every cut", "[ftl][one-shot][collect][crash]") {
    SsdConfig config = line_config("page_map");
    config.nand.geometry.blocks_per_plane = 16;
    config.nand.modes[std::to_underlying(CellType::slc)].page_program = record_program;
    config.ftl.options.set(page_option::records_in_slc, true);
    config = *test::shape_for("page_map", config);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        CutRig rig{config};
        Random random{seed};
        for (std::uint32_t unit = 0; unit < rig.units() && seed % 2 == 0; ++unit) rig.now = rig.write(unit, 1);
        for (int cut = 0; cut < 12; ++cut) {
            CAPTURE(cut);
            const SimTime from = rig.steps_and_pauses(random);
            rig.leave(from, random);
        }
        rig.check_all();
    }
}

TEST_CASE("records in SLC mode are refused where the chips have no such mode", "[ftl][one-shot][collect]") {
    SsdConfig config = line_config("page_map");
    config.ftl.options.set(page_option::records_in_slc, true);
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    REQUIRE_FALSE(plan);
    CHECK(plan.error().find("ftl.records_in_slc: the chips have no mode SLC; set nand.slc_page_program_ns") == 0);
}

TEST_CASE("level planes cost a drive of few blocks no more than a few copies", "[ftl][one-shot][collect]") {
    SsdConfig config = line_config("page_map", 96);
    config.nand.geometry.blocks_per_plane = 12;
    LineDrive drive{config};
    drive.overwrite(4, 19);
    const auto& programs = drive.array.counters().programs;
    const double copied =
        static_cast<double>(programs[std::to_underlying(Cause::gc)]) / static_cast<double>(programs[std::to_underlying(Cause::user)]);
    CAPTURE(copied);
    CHECK(copied < 4); // 2.1; 23 where a plane that is one block behind goes first, whatever its victim costs
}

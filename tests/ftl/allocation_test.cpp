/// Where a request's pages go: over channels, chips, dies and planes, in the order of ftl.allocation; and in which order its parts are issued.
#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "ftl/blocks/allocation.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::TestDrive;
using flashlab::test::tiny_config;

namespace {

class OrderRecorder final : public EventSink {
public:
    OrderRecorder() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& e) override {
        if (e.origin.cause != Cause::user) return;
        operations.push_back(e);
        if (e.op == NandOp::program) order += 'p';
    }
    void on(const PramWriteEvent&) override { order += 'm'; }
    std::vector<NandOpEvent> operations;
    std::string order; ///< user programs and committed changes of the map, as they came
};

struct IdleDrive : TestDrive<OrderRecorder> {
    explicit IdleDrive(const SsdConfig& config_) : TestDrive{config_} {
        recover();
        now += Duration{10'000'000};
    }
    std::vector<NandOpEvent> write(std::uint64_t sector, std::uint32_t sectors) {
        log.operations.clear();
        const auto done = ssd.write(Sector{sector}, sectors, {}, WriteDurability::volatile_ok, now);
        REQUIRE(done);
        took = *done - now;
        now = *done + Duration{10'000'000}; // idle again
        return programs();
    }
    Duration read(std::uint64_t sector, std::uint32_t sectors) {
        log.operations.clear();
        const auto done = ssd.read(Sector{sector}, sectors, {}, now);
        REQUIRE(done);
        took = *done - now;
        now = *done + Duration{10'000'000};
        return took;
    }
    [[nodiscard]] std::vector<NandOpEvent> programs() const {
        std::vector<NandOpEvent> out;
        for (const NandOpEvent& e : log.operations)
            if (e.op == NandOp::program) out.push_back(e);
        return out;
    }

    Duration took{0};
};

SsdConfig with_chips(const std::string& scheme, std::uint32_t channels, std::uint32_t chips, std::uint32_t planes) {
    SsdConfig config = tiny_config();
    config.ftl.scheme = scheme;
    config.nand.geometry.channels = channels;
    config.nand.geometry.chips_per_channel = chips;
    config.nand.geometry.planes_per_die = planes;
    config.nand.geometry.page_bytes = 4096;
    config.nand.geometry.blocks_per_plane = 24;
    config.pram.bytes = 8u << 20;
    return config;
}

std::vector<std::uint32_t> channels_of(const std::vector<NandOpEvent>& programs) {
    std::vector<std::uint32_t> out;
    for (const NandOpEvent& e : programs) out.push_back(e.channel.value());
    return out;
}

} // namespace

TEST_CASE("the pages of a request on an idle drive take every channel before any channel twice", "[ftl][allocation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::uint32_t planes = GENERATE(1u, 2u);
    CAPTURE(scheme, planes);
    IdleDrive drive{with_chips(scheme, 4, 4, planes)};
    CHECK(channels_of(drive.write(0, 64)) == std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3});
    const auto again = drive.write(64, 64);
    std::set<std::uint32_t> chips;
    for (const NandOpEvent& e : again) chips.insert(e.chip.value());
    CHECK(chips.size() == 8);
    CHECK(channels_of(again) == std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3});
    CHECK(drive.array.counters().multi_plane_programs == 0);
}

TEST_CASE("eight pages on idle drives lie on as many channels as there are, in one request or in eight", "[ftl][allocation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const auto [channels, chips] =
        GENERATE(std::pair{4u, 8u}, std::pair{8u, 1u}, std::pair{2u, 4u}); // as dumbo has it, as the default has it, fewer than pages
    CAPTURE(scheme, channels, chips);
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < 8; ++i) wanted.push_back(i % channels);
    IdleDrive drive{with_chips(scheme, channels, chips, 1)};
    CHECK(channels_of(drive.write(0, 64)) == wanted);
    std::vector<std::uint32_t> one_by_one;
    for (std::uint64_t page = 8; page < 16; ++page) {
        const auto at = channels_of(drive.write(page * 8, 8));
        one_by_one.insert(one_by_one.end(), at.begin(), at.end());
    }
    CHECK(one_by_one == wanted);
}

TEST_CASE("a page goes to the first die in turn that is idle; where none is, to the one that is free first", "[ftl][allocation]") {
    const auto [channels, chips] = GENERATE(std::pair{2u, 2u}, std::pair{3u, 5u}, std::pair{8u, 16u});
    CAPTURE(channels, chips);
    IdleDrive drive{with_chips("page_map", channels, chips, 1)};
    Random random{channels};
    const std::uint32_t dies = drive.geometry.dies();
    for (std::uint32_t page = 0, next = 0; page < 6 * dies; ++page) {
        const SimTime now = drive.now;
        std::uint32_t wanted = dies; // turn
        for (std::uint32_t i = 0; i < dies; ++i) {
            const std::uint32_t turn = (next + i) % dies;
            const auto free_at = [&](std::uint32_t t) {
                return std::max(now, drive.array.plane_free_at(PlaneId{t % channels * chips + t / channels}));
            };
            if (wanted == dies || free_at(turn) < free_at(wanted)) wanted = turn;
        }
        next = (wanted + 1) % dies;
        const auto programs = drive.write(std::uint64_t{page} * 8, 8);
        REQUIRE(programs.size() == 1);
        REQUIRE(programs.front().plane == PlaneId{wanted % channels * chips + wanted / channels});
        drive.now = now + Duration{static_cast<std::int64_t>(random.below(800'000 / dies))}; // some are idle by then, or none
    }
}

TEST_CASE("schemes of blocks put neighbouring logical blocks on neighbouring channels", "[ftl][allocation]") {
    const std::string scheme = GENERATE("block_map", "log_block", "fast");
    CAPTURE(scheme);
    IdleDrive drive{with_chips(scheme, 4, 4, 1)};
    const std::uint32_t block = drive.geometry.pages_per_block() * 8; // sectors
    std::set<std::uint32_t> channels;
    for (std::uint32_t i = 0; i < 4; ++i)
        for (const std::uint32_t at : channels_of(drive.write(std::uint64_t{i} * block, block))) channels.insert(at);
    CHECK(channels == std::set<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("the order of ftl.allocation is followed, for each of its letters first", "[ftl][allocation]") {
    const std::string order = GENERATE("CWDP", "WCDP", "DCWP", "PCWD");
    CAPTURE(order);
    SsdConfig config = with_chips("page_map", 2, 2, 2);
    config.nand.geometry.dies_per_chip = 2;
    config.ftl.allocation = order;
    IdleDrive drive{config};
    const auto two = drive.write(0, 16);
    REQUIRE(two.size() == 2);
    CHECK((two[0].channel == two[1].channel) == (order[0] != 'C'));
    CHECK((two[0].chip == two[1].chip) == (order[0] == 'D' || order[0] == 'P'));
    CHECK((two[0].die == two[1].die) == (order[0] == 'P'));
    CHECK(two[0].plane != two[1].plane);
    config.ftl.allocation = "CWDD";
    CHECK_FALSE(plan_ftl(config, drive.geometry).has_value());
}

TEST_CASE("each plane of the groups has one turn in any order", "[ftl][allocation]") {
    const auto geometry = *Geometry::make(
        {.channels = 3, .chips_per_channel = 2, .dies_per_chip = 2, .planes_per_die = 2, .blocks_per_plane = 4, .pages_per_block = 4});
    std::string order = "CDPW";
    do {
        const auto allocation = Allocation::parse(order);
        REQUIRE(allocation);
        for (const std::uint32_t dies : {geometry.dies(), 5u}) {
            const auto planes = allocation->planes(geometry, dies);
            CHECK(planes.size() == dies * 2);
            CHECK(std::set<PlaneId>{planes.begin(), planes.end()}.size() == planes.size());
        }
    } while (std::ranges::next_permutation(order).found);
    for (const std::string_view wrong : {"", "CWD", "cwdp", "CWDPP", "CCDP"}) CHECK_FALSE(Allocation::parse(wrong));
}

TEST_CASE("neighbours share a multi-plane command once every die has a page of the request", "[ftl][allocation]") {
    SsdConfig config = with_chips("page_map", 2, 2, 2);
    config.nand.options.independent_planes = GENERATE(true, false);
    CAPTURE(config.nand.options.independent_planes);
    IdleDrive drive{config};
    const auto all = drive.write(0, 64); // eight pages on eight planes of four dies
    REQUIRE(all.size() == 8);
    CHECK(drive.array.counters().multi_plane_programs == 4);
    std::map<std::uint32_t, std::set<std::uint32_t>> by_die;
    for (const NandOpEvent& e : all) by_die[e.die.value()].insert(e.lpn->value());
    CHECK(by_die.size() == 4);
    for (const auto& [die, lpns] : by_die) CHECK(*lpns.rbegin() == *lpns.begin() + 1);
    CHECK(drive.took < 2 * config.nand.timing.page_program);
}

TEST_CASE("the parts of an unaligned request are programmed in ascending order", "[ssd][allocation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl", "fast");
    CAPTURE(scheme);
    IdleDrive drive{with_chips(scheme, 2, 2, 1)};
    const auto programs = drive.write(3, 4 * 8); // head, three pages, tail
    REQUIRE(programs.size() >= 5);
    std::vector<std::uint32_t> lpns;
    for (const NandOpEvent& e : programs) lpns.push_back(e.lpn->value());
    CHECK(std::ranges::is_sorted(lpns));
}

TEST_CASE("the parts of an unaligned trim are done in ascending order", "[ssd][allocation]") {
    IdleDrive drive{with_chips("hftl", 2, 2, 1)}; // whose map's changes are seen, in PRAM
    drive.write(0, 6 * 8);
    drive.log.order.clear();
    REQUIRE(drive.ssd.trim(Sector{3}, 4 * 8, drive.now)); // head, three pages, tail: the ends are written anew
    CHECK(std::ranges::count(drive.log.order, 'p') == 2);
    CHECK(drive.log.order.find('m') < drive.log.order.rfind('p'));
}

TEST_CASE("on a pipelined link a page crosses while others are sensed, and nothing is programmed before it has come", "[ssd][allocation]") {
    SsdConfig config = with_chips("page_map", 2, 1, 1);
    config.host_link.ps_per_byte = 10'000; // 41 us a page
    IdleDrive plain{config};
    config.host_link.pipelined = true;
    IdleDrive pipelined{config};
    const Duration page{40'960};
    const auto plain_programs = plain.write(0, 64), piped_programs = pipelined.write(0, 64);
    REQUIRE(piped_programs.size() == 8);
    const SimTime begin = pipelined.now - Duration{10'000'000} - pipelined.took;
    for (const NandOpEvent& e : piped_programs) CHECK(e.start >= begin + static_cast<std::int64_t>(e.lpn->value() + 1) * page);
    CHECK(pipelined.took < plain.took);
    CHECK(pipelined.took >= 8 * page + config.nand.timing.page_program);
    const Duration slow = plain.read(0, 64), fast = pipelined.read(0, 64);
    CHECK(fast < slow);
    CHECK(fast >= 8 * page + config.nand.timing.page_read);
}

TEST_CASE("a request fills the word line of a die on all its planes before it goes on, and pays the cells once", "[ftl][allocation][one-shot]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    CAPTURE(scheme);
    SsdConfig config = with_chips(scheme, 2, 1, 2);
    config.nand.geometry.cell = CellType::tlc;
    config.nand.options.one_shot = true;
    IdleDrive drive{config};
    const auto programs = drive.write(0, 80); // six pages on one die, four on the other
    REQUIRE(programs.size() == 10);
    CHECK(drive.array.counters().multi_plane_programs == 2);
    CHECK(drive.array.counters().programs_along == 10 - 2 * 2);
    std::map<std::uint32_t, std::vector<std::uint32_t>> lpns_of; // by plane
    for (const NandOpEvent& e : programs) lpns_of[e.plane.value()].push_back(e.lpn->value());
    const std::uint32_t first = programs.front().plane.value() / 2 * 2, other = 2 - first;
    CHECK(lpns_of[first] == std::vector<std::uint32_t>{0, 2, 4}); // row by row
    CHECK(lpns_of[first + 1] == std::vector<std::uint32_t>{1, 3, 5});
    CHECK(lpns_of[other] == std::vector<std::uint32_t>{6, 8});
    CHECK(lpns_of[other + 1] == std::vector<std::uint32_t>{7, 9});
    CHECK(drive.took < 2 * config.nand.timing.page_program);
    const auto next = drive.write(80, 8); // one page: on one die a new word line begins, on the other the last row of one is left
    REQUIRE(next.size() == 1);
    CHECK(next.front().page == (next.front().plane.value() == first ? 3u : 2u));
}

TEST_CASE("copies of a collection go as whole word lines on all planes", "[ftl][allocation][one-shot]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::string separation = GENERATE("none", "cause");
    CAPTURE(scheme, separation);
    SsdConfig config = with_chips(scheme, 1, 1, 2);
    config.nand.geometry.cell = CellType::tlc;
    config.nand.geometry.pages_per_block = 24;
    config.nand.options.one_shot = true;
    config.ftl.reserved_permille = 300;
    config.ftl.separation = separation;
    IdleDrive drive{config};
    Random random{7};
    const std::uint32_t pages = drive.ftl.logical_pages();
    for (std::uint32_t i = 0; i < 4 * pages; ++i)
        drive.write(8 * (i < pages ? i : random.below(pages)), 8); // a page each: nothing of theirs goes along
    const NandCounters& flash = drive.array.counters();
    const double copies = static_cast<double>(flash.programs[std::to_underlying(Cause::gc)]);
    REQUIRE(copies > pages);
    // Of a line of six pages five, where copies have superblocks of their own; pages of the host break the lines of a superblock that they share.
    const double along = static_cast<double>(flash.programs_along + flash.multi_plane_programs) / copies;
    CHECK(along > (separation == "cause" ? 0.7 : 0.4));
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("what random writes are foretold to cost has the parity of their rows in it", "[ftl][rain]") {
    SsdConfig config = with_chips("page_map", 2, 2, 1);
    config.ftl.reserved_permille = 600; // collections find next to nothing valid
    const auto cost = [&](std::uint32_t rain) {
        config.nand.rain = rain;
        const auto geometry = *Geometry::make(config.nand.geometry);
        const auto plan = plan_ftl(config, rain == 0 ? geometry : geometry.with_parity(rain).value());
        REQUIRE(plan.has_value());
        return plan->closed_form_waf;
    };
    CHECK(cost(0) < 1.2);
    CHECK(cost(2) > 2);
    CHECK(cost(2) < 2 * 1.2);
}

TEST_CASE("a word line at once is refused with what asks for passes", "[ftl][one-shot]") {
    SsdConfig config = with_chips("page_map", 2, 1, 2);
    config.nand.geometry.cell = CellType::tlc;
    config.nand.options.one_shot = true;
    const auto geometry = *Geometry::make(config.nand.geometry);
    CHECK(plan_ftl(config, geometry));
    config.nand.timing.csb_program = Duration{1};
    CHECK_FALSE(plan_ftl(config, geometry));
    config.nand.timing.csb_program = Duration{0};
    config.nand.options.paired_pages = true;
    CHECK_FALSE(plan_ftl(config, geometry));
}

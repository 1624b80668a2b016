/// ftl.separation: streams of data with frontiers of their own, for page_map, dftl and hftl.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "ftl/blocks/cause_separation.h"
#include "ftl/blocks/frequency_separation.h"
#include "ftl/blocks/separation_policies.h"
#include "ftl/placement_handles.h"
#include "tests/support/every_scheme.h"
#include "tests/support/separation_experiment.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::measure_separation;
using flashlab::test::shape_for;
using flashlab::test::skewed_drive;
using flashlab::test::tiny_config;

namespace {

SsdConfig separated(const std::string& scheme, const std::string& separation, SsdConfig shape = tiny_config()) {
    shape.ftl.separation = separation;
    return *shape_for(scheme, shape);
}

/// Pages on flash, and of them those whose block holds mostly pages of another stream. The host gave page l the stream l % 4.
struct StreamsOnFlash {
    std::uint32_t pages = 0;
    std::uint32_t strangers = 0;
    bool all_tell = true;
};
StreamsOnFlash streams_on_flash(CutRig& rig) {
    StreamsOnFlash out;
    for (const BlockId block : ids<BlockId>(rig.geometry().blocks())) {
        std::array<std::uint32_t, 4> of{};
        for (std::uint32_t page = 0; page < rig.geometry().pages_per_block(); ++page) {
            const auto known = rig.array().inspect_oob(rig.geometry().page_of(block, page));
            if (known->state != CellState::programmed || !known->oob || known->oob->kind != PageKind::data) continue;
            if (known->oob->stream.value() != known->oob->lpn.value() % 4) out.all_tell = false;
            ++of[known->oob->lpn.value() % 4];
        }
        const std::uint32_t all = of[0] + of[1] + of[2] + of[3];
        out.pages += all;
        out.strangers += all - *std::ranges::max_element(of);
    }
    return out;
}

class OneFailedProgram final : public NandFaults {
public:
    bool program_fails(Ppn) override { return !std::exchange(has_struck, true); }
    bool erase_fails(BlockId) override { return false; }
    bool has_struck = false;
};

std::uint32_t open_blocks(CutRig& rig) {
    std::uint32_t open = 0;
    for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) open += rig.ftl().status_of(BlockId{b}).use == BlockUse::open ? 1 : 0;
    return open;
}

std::string refusal(const SsdConfig& config) {
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    return plan ? "" : plan.error();
}

} // namespace

TEST_CASE("hot and cold pages kept apart are written with less amplification under a skewed load", "[ftl][separation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const auto mixed = measure_separation(skewed_drive(scheme, "none"));
    REQUIRE(mixed.has_value());
    for (const auto& policy : separation_policies()) {
        const auto point = measure_separation(skewed_drive(scheme, std::string{policy.name}));
        if (!point) FAIL(point.error());
        fmt::print("{}, ftl.separation {}: write amplification {:.3f}, copies of collections {:.3f} of it\n", scheme, policy.name, point->all,
                   point->collections);
        CAPTURE(scheme, policy.name);
        CHECK(point->is_sound);
        if (policy.streams == 1 || policy.name == "host") continue; // the load names no streams
        // With dftl what two streams of map updates cost takes back what `cause` saves of the copies.
        const bool gains = scheme != "dftl" || policy.name != "cause";
        CHECK(point->all < mixed->all * (gains ? 1 : 1.03));
        if (policy.name == "frequency") CHECK(point->collections < mixed->collections);
    }
}

TEST_CASE("a page is hot when it was written twice and more than twice as often as the mean, and cools down", "[ftl][separation]") {
    FrequencySeparation policy{100};
    const auto hot = FrequencySeparation::hot, cold = FrequencySeparation::cold;
    const auto stream_of = [&policy](std::uint32_t lpn) { return policy.stream_of_write(Lpn{lpn}, {}); };
    for (std::uint32_t l = 0; l < 99; ++l) {
        CHECK(stream_of(l) == cold);
        policy.written(Lpn{l}); // a fill makes nothing hot
        CHECK(stream_of(l) == cold);
    }
    policy.written(Lpn{5}); // the hundredth: 2 becomes 1, 1 becomes 0
    CHECK(stream_of(5) == cold);
    for (int i = 0; i < 3; ++i) policy.written(Lpn{5});
    CHECK(stream_of(5) == hot);
    CHECK(policy.stream_of_copy(Lpn{5}, cold) == hot);
    CHECK(policy.stream_of_copy(Lpn{6}, hot) == cold);
    for (std::uint32_t i = 0; i < 400; ++i) policy.written(Lpn{10 + i % 90});
    CHECK(stream_of(5) == cold);
    for (int i = 0; i < 1000; ++i) policy.written(Lpn{0}); // saturates
    CHECK(stream_of(0) == hot);
}

TEST_CASE("by cause the host and collections have a stream each", "[ftl][separation]") {
    const CauseSeparation policy;
    CHECK(policy.stream_of_write(Lpn{3}, {}) != policy.stream_of_copy(Lpn{3}, StreamId{0}));
}

TEST_CASE("pages of one of the host's streams share blocks with few others, also when they are copied after a cut", "[ftl][separation][crash]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::string separation = GENERATE("host", "none");
    SsdConfig shape = tiny_config();
    shape.nand.geometry.blocks_per_plane = 60;
    shape.nand.geometry.pages_per_block = 16;
    shape.ftl.reserved_permille = 400;
    CutRig rig{separated(scheme, separation, shape)};
    CAPTURE(scheme, separation);
    Random random{5};
    const auto write = [&](std::uint32_t unit) {
        rig.now = rig.write(unit, 1, WriteDurability::volatile_ok, StreamId{static_cast<std::uint16_t>(unit % 4)});
    };
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) write(unit);
    for (int c = 0; c < 4; ++c) {
        const std::uint64_t copies = rig.ftl().counters().gc_page_copies;
        SimTime from = rig.now;
        for (std::uint32_t i = 0; i < 2 * rig.units(); ++i) {
            if (i % 40 == 0) {
                rig.settle();
                from = rig.now;
            }
            write(static_cast<std::uint32_t>(random.below(rig.units())));
        }
        REQUIRE(rig.ftl().counters().gc_page_copies > copies);
        const StreamsOnFlash seen = streams_on_flash(rig);
        CHECK(seen.all_tell == (separation == "host"));
        CHECK((seen.strangers * 5 < seen.pages) == (separation == "host"));
        rig.cut(rig.random_moment(random, from), random.next());
    }
    rig.check_all();
}

TEST_CASE("a drive has as many streams of the host as it is asked for, and places others with stream 0", "[ftl][separation]") {
    const SeparationPolicyEntry& entry = *find_named(separation_policies(), "host");
    OptionSet set;
    CHECK(entry.streams_of(set) == entry.streams);
    set.put(*entry.options[0], 100);
    CHECK(entry.streams_of(set) == 100);
    const auto policy = entry.make(set, 0);
    CHECK(policy->stream_of_write(Lpn{1}, {Cause::user, no_event, StreamId{99}}) == StreamId{99});
    CHECK(policy->stream_of_write(Lpn{1}, {Cause::user, no_event, StreamId{100}}) == no_stream);
    CHECK(policy->stream_of_copy(Lpn{1}, StreamId{99}) == StreamId{99});
    OptionSet mixing = set;
    mixing.put(*entry.options[1], 0);
    CHECK(entry.streams_of(mixing) == 101);
    const auto mixes = entry.make(mixing, 0);
    CHECK(mixes->stream_of_write(Lpn{1}, {Cause::user, no_event, StreamId{99}}) == StreamId{99});
    CHECK(mixes->stream_of_write(Lpn{1}, {Cause::user, no_event, StreamId{100}}) == no_stream);
    for (const std::uint16_t from : {std::uint16_t{0}, std::uint16_t{99}, std::uint16_t{100}})
        CHECK(mixes->stream_of_copy(Lpn{1}, StreamId{from}) == StreamId{100});
    SsdConfig config = tiny_config();
    config.ftl.scheme = "page_map";
    config.ftl.separation = "host";
    config.nand.geometry.planes_per_die = 1;
    config.nand.geometry.blocks_per_plane = 400;
    config.ftl.options = set;
    CutRig rig{config};
    for (std::uint16_t stream = 0; stream < 100; ++stream) rig.now = rig.write(stream, 1, WriteDurability::volatile_ok, StreamId{stream});
    CHECK(open_blocks(rig) == 100 * rig.geometry().dies());
    rig.remount_clean();
    CHECK(open_blocks(rig) == 100 * rig.geometry().dies());
    rig.check_all();
}

TEST_CASE("the drive tells what befell its handles: pages that collections moved, units closed with room, handles that it does not have",
          "[ftl][separation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    SsdConfig shape = tiny_config();
    shape.nand.geometry.blocks_per_plane = 60;
    shape.ftl.reserved_permille = 300;
    CutRig rig{separated(scheme, "host", shape)};
    CAPTURE(scheme);
    const auto* handles = dynamic_cast<const PlacementHandles*>(&rig.ftl().undecorated());
    REQUIRE(handles != nullptr);
    using Kind = PlacementEvent::Kind;
    const auto write = [&](std::uint32_t unit, std::uint16_t stream) {
        rig.settle();
        rig.now = rig.write(unit, 1, WriteDurability::volatile_ok, StreamId{stream});
    };
    const auto newest = [&] { return handles->placement_events().back(); };
    write(0, 3);
    CHECK(handles->placement_events().empty());
    write(0, 77);
    CHECK(newest().kind == Kind::unknown_handle);
    CHECK(newest().handle == StreamId{77});

    OneFailedProgram fault;
    rig.set_faults(&fault);
    write(0, 2);
    rig.set_faults(nullptr);
    REQUIRE(fault.has_struck);
    const auto after_failure = handles->placement_events();
    const auto closed = std::ranges::find(after_failure, Kind::unit_not_full, &PlacementEvent::kind);
    REQUIRE(closed != after_failure.end());
    CHECK(closed->handle == StreamId{2});

    Random random{3};
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) write(unit, unit % 4);
    for (std::uint64_t moved = 0; rig.ftl().counters().gc_page_copies < 200;) {
        const std::uint64_t copies = rig.ftl().counters().gc_page_copies;
        const auto unit = static_cast<std::uint32_t>(random.below(rig.units()));
        write(unit, unit % 4);
        moved += rig.ftl().counters().gc_page_copies - copies;
        REQUIRE(moved < 1000);
    }
    const auto events = handles->placement_events();
    CHECK(events.size() <= 63);
    CHECK(std::ranges::is_sorted(events, {}, &PlacementEvent::at));
    std::uint64_t moved = 0;
    for (const PlacementEvent& e : events) {
        if (e.kind != Kind::media_moved) continue;
        moved += e.pages;
        CHECK(e.handle.value() < 4);
        CHECK((e.pages > 0 && e.pages <= rig.geometry().pages_per_block()));
    }
    CHECK((moved > 0 && moved <= rig.ftl().counters().gc_page_copies));
    rig.remount_clean();
    CHECK(dynamic_cast<const PlacementHandles&>(rig.ftl().undecorated()).placement_events().empty());
    rig.check_all();
}

TEST_CASE("a cut with several superblocks open, and a clean mount that goes on in them, keep every page", "[ftl][separation][crash]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::string separation = GENERATE("frequency", "cause");
    SsdConfig shape = tiny_config();
    shape.nand.geometry.blocks_per_plane = 40;
    shape.ftl.reserved_permille = 300;
    const SsdConfig config = separated(scheme, separation, shape);
    CAPTURE(scheme, separation);
    CutRig rig{config};
    Random random{11};
    const std::uint32_t one_superblock = 2 + (scheme == "dftl" ? 1 : 0); // of two planes; dftl's translation pages have a block, too
    const auto churn = [&] {
        for (int i = 0; i < 600; ++i) {
            rig.settle();
            rig.now = rig.write(static_cast<std::uint32_t>(random.below(random.chance(9, 10) ? rig.units() / 10 : rig.units())), 1);
        }
        for (int i = 0; i < 2000 && open_blocks(rig) <= one_superblock; ++i)
            rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 10)), 1);
    };
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
    bool goes_on_in_both = false; // what is full at the shutdown is closed
    for (int i = 0; i < 100 && !goes_on_in_both; ++i) {
        churn(); // after each mount, too: what was written often is forgotten by then
        REQUIRE(open_blocks(rig) > one_superblock);
        rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 10)), 1);
        rig.remount_clean();
        goes_on_in_both = open_blocks(rig) > one_superblock;
    }
    CHECK(goes_on_in_both);
    rig.check_all();
    for (int c = 0; c < 10; ++c) {
        CAPTURE(c);
        churn();
        const SimTime from = rig.now;
        for (int k = 0; k < 20; ++k) rig.step(random);
        rig.cut(rig.random_moment(random, from), random.next());
    }
    rig.check_all();
}

TEST_CASE("ftl.separation is refused where it does nothing, where nobody knows it, and where the drive is too small", "[ftl][separation]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        SsdConfig config = skewed_drive(scheme, "cause");
        const bool separates = scheme == "page_map" || scheme == "dftl" || scheme == "tpftl" || scheme == "sftl" || scheme == "leaftl" ||
                               scheme == "learnedftl" || scheme == "hftl";
        CHECK(refusal(config).empty() == separates);
        if (!separates) CHECK(refusal(config).find("ftl.separation is cause: " + scheme) == 0);
        config.ftl.separation = "best";
        if (separates) CHECK(refusal(config).find("there are: none, frequency, cause, host") != std::string::npos);
        if (!separates) continue;
        // The smallest drive that the scheme takes at all has no blocks for another open superblock.
        config = tiny_config();
        config.ftl.scheme = scheme;
        config.nand.geometry.blocks_per_plane = 1;
        while (!refusal(config).empty()) ++config.nand.geometry.blocks_per_plane;
        config.ftl.separation = "frequency";
        CHECK(refusal(config).find("ftl.separation frequency holds 2 superblocks open") != std::string::npos);
    }
}

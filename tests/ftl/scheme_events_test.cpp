/// What the event log and the counters tell of every scheme: who caused what, and how often.
#include <map>
#include <set>

#include <fmt/format.h>

#include "ftl/schemes/coftl.h"
#include "tests/support/every_scheme.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::on_every_scheme;
using flashlab::test::TestDrive;
using flashlab::test::tiny_config;

namespace {

class JobRecorder final : public EventSink {
public:
    JobRecorder() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& e) override { operations.push_back(e); }
    void on(const GcJobEvent& e) override { jobs.push_back(e); }
    void on(const HostRequestEvent& e) override { requests.push_back(e.id); }
    std::vector<NandOpEvent> operations;
    std::vector<GcJobEvent> jobs;
    std::vector<EventId> requests;
};

/// A drive of the scheme with an event log, on which some fills of random writes, trims and flushes were done.
struct AgedDrive : TestDrive<JobRecorder> {
    AgedDrive(const SsdConfig& config_, std::uint64_t seed) : TestDrive{config_} {
        recover();
        age(seed);
    }

private:
    void age(std::uint64_t seed) {
        Random random{seed};
        const std::uint32_t unit = ftl.logical_page_bytes() / sector_bytes;
        for (std::uint32_t i = 0; i < 6 * ftl.logical_pages(); ++i) {
            const Sector at{random.below(ftl.logical_pages()) * unit};
            DeviceResult<SimTime> done = now;
            if (i % 50 == 20)
                done = ssd.trim(at, unit, now);
            else if (i % 50 == 40)
                done = ssd.flush(now);
            else
                done = ssd.write(at, unit, {}, WriteDurability::volatile_ok, now);
            REQUIRE(done);
            now = std::max(now, *done);
            (void)ssd.tick(now);
            if (i % 97 == 0) { // what wear levelling does
                const BlockId block{static_cast<std::uint32_t>(random.below(geometry.blocks()))};
                if (ftl.status_of(block).use == BlockUse::data) REQUIRE(ftl.relocate(block, now));
            }
            ssd.settle(now);
        }
        REQUIRE(ssd.shut_down(now)); // collections under way are given up
    }
};

bool is_collection(Cause cause) { return cause == Cause::gc || cause == Cause::merge || cause == Cause::wear; }

} // namespace

TEST_CASE("a job and a block count pages of the flash, where a page of the map is several", "[ftl][events][scheme]") {
    SsdConfig shape = tiny_config();
    shape.ftl.mapping_unit_pages = 2;
    shape.nand.geometry.pages_per_block = 16;
    on_every_scheme(shape, [](const SsdConfig& config) {
        AgedDrive drive{config, 2};
        std::uint64_t told = 0, valid = 0;
        for (const GcJobEvent& job : drive.log.jobs) told += job.valid_pages;
        CHECK(told == drive.ftl.counters().gc_page_copies);
        for (const BlockId block : ids<BlockId>(drive.geometry.blocks())) valid += drive.ftl.status_of(block).valid_pages;
        const std::uint32_t pages = drive.ftl.logical_page_bytes() / drive.geometry.page_bytes();
        CHECK(pages == 2);
        CHECK(valid >= drive.ftl.space().mapped_pages * pages);
    });
}

TEST_CASE("a merge of page sets counts the pages of all their blocks", "[ftl][events]") {
    SsdConfig shape = tiny_config();
    shape.nand.options.two_plane = true;
    shape.ftl.striping = 2;
    const auto config = flashlab::test::shape_for("coftl", shape);
    REQUIRE(config);
    AgedDrive drive{*config, 3};
    REQUIRE(drive.ftl.logical_page_bytes() == 2 * drive.geometry.page_bytes());
    std::uint64_t told = 0;
    for (const GcJobEvent& job : drive.log.jobs) {
        told += job.valid_pages;
        CHECK(job.victim_pages == 2 * drive.geometry.pages_per_block());
    }
    CHECK(told != 0);
    CHECK(told == drive.ftl.counters().gc_page_copies);
}

TEST_CASE("every copy and erase of a collection or merge names its job, and is counted with the job's cause", "[ftl][events][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        AgedDrive drive{config, 1};
        std::map<EventId, Cause> jobs;
        const std::set<EventId> requests(drive.log.requests.begin(), drive.log.requests.end());
        for (const GcJobEvent& job : drive.log.jobs) {
            CHECK(is_collection(job.cause));
            CHECK(jobs.emplace(job.id, job.cause).second);
        }
        REQUIRE_FALSE(jobs.empty());
        std::set<std::string> nameless;
        for (const NandOpEvent& o : drive.log.operations) {
            if (!is_collection(o.origin.cause)) continue;
            const auto job = jobs.find(o.origin.parent);
            if (o.op == NandOp::erase && requests.contains(o.origin.parent)) continue; // coftl: a flush after a trim gives sets back
            if (job == jobs.end() || job->second != o.origin.cause)
                nameless.insert(fmt::format("op {} of cause {}, {}", static_cast<int>(o.op), static_cast<int>(o.origin.cause),
                                            o.origin.parent == no_event ? "nobody's"
                                            : job == jobs.end()         ? "of no job"
                                                                        : "of a job of another cause"));
        }
        for (const std::string& n : nameless) UNSCOPED_INFO(n);
        CHECK(nameless.empty());
    });
}

TEST_CASE("counters and event log tell the same, and copies are what collections programmed", "[ftl][events][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        AgedDrive drive{config, 2};
        NandCounters told;
        for (const NandOpEvent& o : drive.log.operations) {
            auto& counts = o.op == NandOp::read ? told.reads : o.op == NandOp::program ? told.programs : told.erases;
            counts[static_cast<std::size_t>(o.origin.cause)] += o.pages;
        }
        const NandCounters& counted = drive.array.counters();
        std::uint64_t copies = 0;
        for (std::size_t c = 0; c < cause_count; ++c) {
            CAPTURE(c);
            CHECK(told.reads[c] == counted.reads[c]);
            CHECK(told.programs[c] == counted.programs[c]);
            CHECK(told.erases[c] == counted.erases[c]);
            if (is_collection(static_cast<Cause>(c))) copies += counted.programs[c];
        }
        const FtlCounters ftl = drive.ftl.counters();
        CHECK(copies == ftl.gc_page_copies);
        std::uint64_t worn = 0;
        for (std::uint32_t b = 0; b < drive.geometry.blocks(); ++b) worn += drive.array.erase_count(BlockId{b});
        std::uint64_t erases = 0;
        for (const std::uint64_t n : counted.erases) erases += n;
        CHECK(worn == erases);
        for (std::uint32_t p = 0; p < drive.geometry.planes(); ++p)
            CHECK(drive.array.plane_busy(PlaneId{p}) <= drive.ssd.last_reserved_end() - sim_start);
        for (std::uint32_t c = 0; c < drive.geometry.channels(); ++c)
            CHECK(drive.array.channel_busy(ChannelId{c}) <= drive.ssd.last_reserved_end() - sim_start);
    });
}

TEST_CASE("a page that waited in a buffer goes to the flash with its own stream and queue, for the request that waits", "[ftl][events][scheme]") {
    auto base = tiny_config();
    base.dram.write_buffer_bytes = 8 * base.nand.geometry.page_bytes;
    base.ftl.options.set(coftl_option::cache_bytes, 8 * base.nand.geometry.page_bytes);
    on_every_scheme(base, [](const SsdConfig& config) {
        TestDrive<JobRecorder> drive{config};
        drive.recover();
        Random random{3};
        const auto stream_of = [](std::uint32_t lpn) { return StreamId{static_cast<std::uint16_t>(1 + lpn % 5)}; };
        const auto queue_of = [](std::uint32_t lpn) { return QueueId{static_cast<std::uint16_t>(lpn % 3)}; };
        const std::uint32_t unit = drive.ftl.logical_page_bytes() / sector_bytes;
        std::uint64_t looked_at = 0;
        for (std::uint32_t i = 0; i < 4 * drive.ftl.logical_pages(); ++i) {
            const auto lpn = static_cast<std::uint32_t>(random.below(drive.ftl.logical_pages()));
            const HostIo host{drive.now, stream_of(lpn), queue_of(lpn)};
            const auto done = drive.ssd.write(Sector{std::uint64_t{lpn} * unit}, unit, {}, WriteDurability::volatile_ok, host);
            REQUIRE(done);
            drive.now = std::max(drive.now, *done);
            for (const NandOpEvent& o : drive.log.operations) {
                if (o.op != NandOp::program || o.origin.cause != Cause::user || !o.lpn) continue;
                ++looked_at;
                CHECK(o.origin.stream == stream_of(o.lpn->value()));
                CHECK(o.origin.queue == queue_of(o.lpn->value()));
                CHECK(o.origin.parent == drive.log.requests.back());
            }
            drive.log.operations.clear();
        }
        CHECK(looked_at > drive.ftl.logical_pages());
    });
}

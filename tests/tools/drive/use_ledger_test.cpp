// Who caused what: the ledger hears calls, names, writes and flash operations, in the order in which a mount tells them.
#include "tools/drive/use_ledger.h"

#include "tests/support/catch.h"

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr Ino root{1}, first{2}, second{3};

NandOpEvent program_of(std::uint32_t lpn, Cause cause, std::uint8_t kind = 1) {
    NandOpEvent event;
    event.op = NandOp::program;
    event.origin.cause = cause;
    event.lpn = Lpn{lpn};
    event.page_kind = kind;
    return event;
}

struct Rig {
    NullEventSink log;
    UseLedger ledger{log, [](std::int32_t thread) { return thread < 10 ? std::string{"writer"} : std::string{"other"}; }};
    Rig() { ledger.begin(4096, 4096, 4096); }
    void write(std::int32_t thread, Ino ino, std::uint64_t page) {
        ledger.call_began(thread, FsOp::write, ino, page * 4096, 4096);
        ledger.call_ended(thread, FsOp::write, ino, 4096, 0, Duration{0});
    }
    /// The file system sends the page to this logical page of the drive.
    void send(Ino ino, std::uint64_t page, std::uint32_t lpn) {
        ledger.data_written(ino, FilePage{page}, Sector{lpn * 8}, 8);
        HostRequestEvent request;
        request.op = HostOp::write;
        request.sectors = 8;
        ledger.on(program_of(lpn, Cause::user));
        ledger.on(request);
    }
    [[nodiscard]] Json row(const char* list, const char* key, const std::string& name) const {
        const Json report = ledger.report(1000);
        for (const Json& row : report[list].items())
            if (row[key].text() == name) return row;
        return {};
    }
};

} // namespace

TEST_CASE("a copy that a collection makes later counts for the file and the process whose page it is", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "a");
    rig.write(1, first, 0);
    rig.send(first, 0, 7);
    rig.ledger.on(program_of(7, Cause::gc));
    rig.ledger.on(program_of(7, Cause::gc));
    const Json file = rig.row("files", "path", "a");
    CHECK(file["nand_write_bytes"].number() == 3 * 4096);
    CHECK(file["nand_write_bytes_by_cause"]["gc"].number() == 2 * 4096);
    CHECK(rig.row("processes", "process", "writer")["nand_write_bytes"].number() == 3 * 4096);
}

TEST_CASE("the process that wrote a page answers for it, not the one that calls fsync", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "a");
    rig.write(1, first, 0);
    rig.ledger.call_began(20, FsOp::fsync, first, 0, 0);
    rig.send(first, 0, 7);
    rig.ledger.call_ended(20, FsOp::fsync, first, 0, 0, Duration{5000});
    CHECK(rig.row("processes", "process", "writer")["host_write_bytes"].number() == 4096);
    CHECK(rig.row("processes", "process", "other")["host_write_bytes"].number() == 0);
    const Json sync = rig.ledger.report(10)["syncs_by_caller"].items().at(0);
    CHECK(sync["process"].text() == "other");
    CHECK(sync["path"].text() == "a");
    CHECK(sync["max_us"].real() == 5);
}

TEST_CASE("of two processes that write one file each answers for its own pages", "[use]") {
    Rig rig;
    rig.write(1, first, 0);
    rig.write(20, first, 1);
    rig.write(20, first, 2);
    rig.send(first, 0, 7);
    rig.send(first, 1, 8);
    rig.send(first, 2, 9);
    CHECK(rig.row("processes", "process", "writer")["host_write_bytes"].number() == 4096);
    CHECK(rig.row("processes", "process", "other")["host_write_bytes"].number() == 2 * 4096);
}

TEST_CASE("a page given to another file is the other file's from then on", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "a");
    rig.ledger.named(second, 1, root, "b");
    rig.send(first, 0, 7);
    rig.send(second, 0, 7);
    rig.ledger.on(program_of(7, Cause::gc));
    CHECK(rig.row("files", "path", "a")["nand_write_bytes"].number() == 4096);
    CHECK(rig.row("files", "path", "b")["nand_write_bytes"].number() == 2 * 4096);
}

TEST_CASE("an inode number that is used again is another file, and a path that is used again is one row", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "journal");
    rig.send(first, 0, 1);
    rig.ledger.named(first, 2, root, "journal");
    rig.send(first, 0, 2);
    rig.ledger.named(first, 3, root, "data");
    rig.send(first, 0, 3);
    CHECK(rig.row("files", "path", "journal")["files"].number() == 2);
    CHECK(rig.row("files", "path", "journal")["host_write_bytes"].number() == 2 * 4096);
    CHECK(rig.row("files", "path", "data")["host_write_bytes"].number() == 4096);
}

TEST_CASE("a file is told under its last path, also when a folder above it moved", "[use]") {
    Rig rig;
    rig.ledger.named(second, 1, root, "folder");
    rig.ledger.named(first, 1, second, "file");
    rig.send(first, 0, 1);
    rig.ledger.named(second, 1, root, "moved");
    CHECK(rig.row("files", "path", "moved/file")["host_write_bytes"].number() == 4096);
    rig.ledger.named(second, 1, second, "loop"); // what no file system does must end, too
    CHECK_FALSE(rig.ledger.report(10)["files"].items().empty());
}

TEST_CASE("what belongs to nobody is the drive's or the file system's, so that columns add up", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "a");
    rig.write(1, first, 0);
    rig.send(first, 0, 7);
    rig.ledger.on(program_of(3, Cause::map, 2));
    rig.ledger.on(program_of(9, Cause::user));
    HostRequestEvent metadata;
    metadata.op = HostOp::write;
    metadata.sectors = 8;
    rig.ledger.on(metadata);
    const Json report = rig.ledger.report(1000);
    for (const char* list : {"files", "processes"})
        for (const char* key : {"host_write_bytes", "nand_write_bytes"}) {
            std::uint64_t sum = 0;
            for (const Json& row : report[list].items()) sum += row[key].number();
            CHECK(sum == report[key].number());
        }
    CHECK(report["metadata_write_bytes"].number() == 4096);
    CHECK(rig.row("files", "path", "(drive)")["nand_write_bytes_by_cause"]["map"].number() == 4096);
    CHECK(rig.row("files", "path", "(file system)")["nand_write_bytes"].number() == 4096);
}

TEST_CASE("beyond so many files the others are one row, and nothing is lost", "[use]") {
    Rig rig;
    for (std::uint32_t i = 0; i < 20; ++i) {
        rig.ledger.named(Ino{10 + i}, 1, root, fmt::format("f{}", i));
        rig.send(Ino{10 + i}, 0, i);
    }
    std::uint64_t sum = 0;
    const Json report = rig.ledger.report(5);
    for (const Json& row : report["files"].items()) sum += row["host_write_bytes"].number();
    CHECK(report["files"].items().size() == 6);
    CHECK(sum == 20 * 4096);
}

TEST_CASE("a slow write is its last writer's whoever syncs, a slow read the reader's, and the drive's own work nobody's", "[use]") {
    Rig rig;
    rig.ledger.named(first, 1, root, "a");
    rig.ledger.named(second, 1, root, "b");
    rig.write(1, first, 0);
    const auto request = [&](HostOp op, std::uint32_t lpn, std::uint64_t id, int us) {
        HostRequestEvent event;
        event.id = EventId{id};
        event.op = op;
        event.first = Sector{lpn * 8};
        event.sectors = 8;
        event.completion = event.arrival + Duration{us * 1000};
        rig.ledger.on(event);
    };
    rig.ledger.call_began(20, FsOp::fsync, second, 0, 0);
    rig.ledger.data_written(first, FilePage{0}, Sector{7 * 8}, 8);
    request(HostOp::write, 7, 1, 50);
    request(HostOp::flush, 0, 2, 40);
    rig.ledger.call_ended(20, FsOp::fsync, second, 0, 0, Duration{0});
    rig.ledger.call_began(20, FsOp::read, first, 0, 4096);
    request(HostOp::read, 7, 3, 30);
    rig.ledger.call_ended(20, FsOp::read, first, 4096, 0, Duration{0});
    request(HostOp::trim, 7, 4, 20);
    request(HostOp::write, 99, 5, 10);
    std::string told;
    const Json report = rig.ledger.report(10);
    for (const Json& row : report["slow_requests"].items())
        told +=
            fmt::format("{} {} {} {} {}; ", row["id"].number(), row["op"].text(), row["process"].text(), row["path"].text(), row["dur_ns"].number());
    CHECK(told == "1 write writer a 50000; 2 flush other b 40000; 3 read other a 30000; 4 trim (kernel, drive) (file system) 20000; "
                  "5 write (kernel, drive) (file system) 10000; ");
}

TEST_CASE("of many requests the slowest are kept, of equal ones the earlier, whatever their order", "[use]") {
    SlowRequests slow;
    constexpr std::size_t all = 3 * SlowRequests::most;
    for (std::size_t i = 0; i < all; ++i) {
        const std::size_t n = i * 7919 % all; // each once, in no order
        const Duration arrival{static_cast<std::int64_t>(n)}, took{static_cast<std::int64_t>(n / 2)};
        slow.add({.id = EventId{n}, .arrival = sim_start + arrival, .took = took});
    }
    const auto kept = slow.slowest_first();
    REQUIRE(kept.size() == SlowRequests::most);
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i].id.value() == all - 2 - i / 2 * 2 + i % 2);
}

} // namespace flashlab

// Goal: one flipped bit in a data page is found by fsck --data, named in mount.log and the event log, and counted by smart.
#include <fmt/format.h>

#include "nand/image_page_store.h"
#include "tests/tools/device_fixture.h"
#include "tools/drive/device_check.h"
#include "tools/log/sqlite.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("fsck --data names file and offset of a page that does not read, and the read is counted", "[tools][damage]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    make(directory);
    {
        auto opened = open(directory);
        write_something(*opened, "one");
        write_something(*opened, "two");
        close(*opened);
    }
    // The first page of data that is full of the byte that was written.
    {
        const int fd = ::open((directory / "nand.img").c_str(), O_RDWR | O_CLOEXEC);
        const DeviceConfig config = *read_device_toml(directory);
        const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
        std::vector<char> page(layout.page_bytes);
        std::uint64_t at = layout.payload_at;
        for (; at < layout.generation_at; at += page.size()) {
            REQUIRE(::pread(fd, page.data(), page.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(page.size()));
            if (std::ranges::all_of(page, [](char c) { return c == 7; })) break;
        }
        REQUIRE(at < layout.generation_at);
        REQUIRE(::pwrite(fd, "\x06", 1, static_cast<off_t>(at)) == 1);
        ::close(fd);
    }
    std::vector<std::string> said;
    OpenOptions options;
    options.complain = [&](const std::string& what) { said.push_back(what); };
    options.log = EventLevel::summary;
    auto opened = DeviceDirectory::open(directory, options);
    REQUIRE(opened.has_value());
    Device& device = (*opened)->device();
    CHECK(check_device(device, DeviceCheckDepth::oob, {}).problems.items().empty()); // it says what it did not read
    const auto checked = check_device(device, DeviceCheckDepth::data, [](std::uint64_t) { return true; });
    CHECK(checked.data_checked);
    CHECK(checked.data_pages >= 50);
    REQUIRE(checked.problems.items().size() == 1);
    const Json& problem = checked.problems.items().front();
    CHECK(problem["kind"].text() == "unreadable-data");
    CHECK((problem["where"].text() == "/one" || problem["where"].text() == "/two"));
    CHECK_THAT(problem["detail"].text(), ContainsSubstring("offset "));
    const auto before = (*opened)->history_now().uncorrectable_reads;
    std::vector<std::byte> all(100'000);
    const FsCall call = call_at(device.ready_at());
    int failed = 0;
    for (const char* name : {"one", "two"}) {
        const auto node = device.fs().lookup(call, root_ino, name);
        REQUIRE(node.has_value());
        const auto read = device.fs().read(call, node->value.ino, 0, all);
        if (!read) CHECK(read.error().error_number == EIO);
        failed += read ? 0 : 1;
    }
    CHECK(failed == 1);
    CHECK((*opened)->history_now().uncorrectable_reads == before + 1);
    REQUIRE(said.size() == 1);
    CHECK_THAT(said.front(), ContainsSubstring(problem["where"].text()) && ContainsSubstring("offset"));
    close(**opened);
    CHECK(DeviceHistory::read(directory)->uncorrectable_reads == before + 1);
    auto log = SqliteConnection::open(directory / "events.db", SqliteAccess::read_only);
    REQUIRE(log.has_value());
    CHECK(log->number("SELECT sum(requests) FROM v_unreadable").value_or(-1) == static_cast<std::int64_t>(before) + 1);
    CHECK(log->number(fmt::format("SELECT count(*) FROM v_unreadable WHERE path = '{}' AND op = 'read' AND requests = 1", problem["where"].text()))
              .value_or(-1) == 1);
    const auto stopped = check_device(open(directory)->device(), DeviceCheckDepth::data, [](std::uint64_t) { return false; });
    CHECK_FALSE(stopped.data_checked);
}

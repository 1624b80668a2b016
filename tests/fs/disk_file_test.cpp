// A raw drive as a file: every call of a file is the drive's call of the same meaning, and nothing else happens to it.
#include <sys/stat.h>

#include "base/random.h"
#include "fs/disk_file.h"
#include "fs/write_back_faults.h"
#include "tests/support/catch.h"
#include "tests/support/memory_block_device.h"

namespace flashlab::test {
namespace {

constexpr std::uint64_t disk_bytes = 64 * 4096;

struct Disk {
    MemoryBlockDevice device{64};
    FsOptions options{};
    DiskFile file{device, options};
    FsCall call{.now = sim_start, .wall = {.seconds = 7}};

    FsResult<Timed<std::size_t>> write(std::uint64_t at, const std::vector<std::byte>& from) { return file.write(call, DiskFile::ino, at, from); }
    std::vector<std::byte> read(std::uint64_t at, std::size_t bytes) {
        std::vector<std::byte> to(bytes, std::byte{0xEE});
        const auto got = file.read(call, DiskFile::ino, at, to);
        REQUIRE(got.has_value());
        to.resize(got->value);
        return to;
    }
    SimTime sync() {
        auto job = file.begin_sync(call, DiskFile::ino, SyncScope::data_only, nullptr);
        REQUIRE(job.has_value());
        const auto step = (*job)->step(call.now);
        REQUIRE(step.has_value());
        return std::get<Done>(*step).at;
    }
};

std::vector<std::byte> bytes_of(std::size_t count, unsigned char value) { return std::vector<std::byte>(count, std::byte{value}); }

} // namespace

TEST_CASE("a raw drive is a directory with one file, as large as the drive", "[fs][disk]") {
    Disk disk;
    const auto found = disk.file.lookup(disk.call, root_ino, "disk");
    REQUIRE(found.has_value());
    CHECK(found->value.size == disk_bytes);
    CHECK(S_ISREG(found->value.mode));
    CHECK(disk.file.lookup(disk.call, root_ino, "other").error().error_number == ENOENT);
    std::vector<std::string> names;
    REQUIRE(disk.file.read_directory(disk.call, root_ino, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
        names.emplace_back(name);
        return true;
    }));
    CHECK(names == std::vector<std::string>{".", "..", "disk"});
}

TEST_CASE("no name of a raw drive is made or removed, and its size stays", "[fs][disk]") {
    Disk disk;
    CHECK(disk.file.make_node(disk.call, root_ino, "new", S_IFREG | 0600, 0).error().error_number == EPERM);
    CHECK(disk.file.unlink(disk.call, root_ino, "disk").error().error_number == EPERM);
    AttributeChange shorter;
    shorter.which = AttributeChange::size;
    CHECK(disk.file.change_attributes(disk.call, DiskFile::ino, shorter).error().error_number == EPERM);
    AttributeChange mode;
    mode.which = AttributeChange::mode;
    mode.new_mode = 0640;
    REQUIRE(disk.file.change_attributes(disk.call, DiskFile::ino, mode).has_value());
    CHECK(disk.file.attributes(disk.call, DiskFile::ino)->value.mode == (S_IFREG | 0640));
}

TEST_CASE("any range of bytes is written and read back, and its neighbours stay", "[fs][disk]") {
    const std::uint64_t seed = GENERATE(range(1, 6));
    CAPTURE(seed);
    Random random{seed};
    Disk disk;
    std::vector<std::byte> model(disk_bytes);
    for (int i = 0; i < 400; ++i) {
        const std::size_t bytes = 1 + random.below(9000);
        const std::size_t at = random.below(disk_bytes - bytes);
        const auto value = static_cast<unsigned char>(random.next());
        if (random.chance(1, 4)) {
            REQUIRE(
                disk.file.allocate(disk.call, DiskFile::ino, random.chance(1, 2) ? FallocateMode::punch_hole : FallocateMode::zero_range, at, bytes));
            std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte{0});
        } else {
            const auto written = disk.write(at, bytes_of(bytes, value));
            REQUIRE(written.has_value());
            REQUIRE(written->value == bytes);
            std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte{value});
        }
    }
    CHECK(disk.read(0, disk_bytes) == model);
    const std::size_t at = 4095, bytes = 8195;
    const auto begin = model.begin() + static_cast<std::ptrdiff_t>(at);
    CHECK(disk.read(at, bytes) == std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(bytes)));
}

TEST_CASE("a raw drive ends where it ends: short reads, short writes, then no space", "[fs][disk]") {
    Disk disk;
    CHECK(disk.read(disk_bytes - 10, 100).size() == 10);
    CHECK(disk.read(disk_bytes, 100).empty());
    CHECK(disk.write(disk_bytes - 10, bytes_of(100, 1))->value == 10);
    CHECK(disk.write(disk_bytes, bytes_of(1, 1)).error().error_number == ENOSPC);
    CHECK(disk.file.allocate(disk.call, DiskFile::ino, FallocateMode::allocate, disk_bytes - 4096, 8192).error().error_number == ENOSPC);
    CHECK(disk.file.allocate(disk.call, DiskFile::ino, FallocateMode::punch_hole, disk_bytes - 4096, 8192).has_value());
}

TEST_CASE("fsync is a flush, and without it a cut may take what was written", "[fs][disk]") {
    Disk disk;
    REQUIRE(disk.write(0, bytes_of(4096, 1)));
    REQUIRE(disk.file.unsynced().size() == 1);
    CHECK(disk.file.unsynced().front().bytes == 4096);
    disk.sync();
    CHECK(disk.device.flushes == 1);
    CHECK(disk.file.unsynced().empty());
    disk.sync(); // the kernel's after each synced write
    CHECK(disk.device.flushes == 1);
    for (std::uint64_t at = 0; at < disk_bytes; at += 4096) REQUIRE(disk.write(at, bytes_of(4096, 2)));
    disk.device.cut(1);
    CHECK(disk.read(0, 1).front() != std::byte{0}); // old or new
    CHECK(disk.read(0, disk_bytes) != bytes_of(disk_bytes, 2));
}

TEST_CASE("an fsync with nothing left to flush ends no earlier than the flush that is under way", "[fs][disk]") {
    Disk disk;
    disk.device.flush_takes = Duration{1'000'000};
    REQUIRE(disk.write(0, bytes_of(4096, 1)));
    const SimTime first = disk.sync();
    CHECK(first == sim_start + Duration{1'000'000});
    disk.call.now = sim_start + Duration{400'000}; // of another thread
    CHECK(disk.sync() == first);
    CHECK(disk.device.flushes == 1);
    disk.call.now = first + Duration{1};
    CHECK(disk.sync() == disk.call.now);
}

TEST_CASE("a synced write is durable by itself and needs no flush", "[fs][disk]") {
    Disk disk;
    REQUIRE(disk.file.write_durably(disk.call, 100, bytes_of(5000, 3)));
    CHECK(disk.device.flushes == 0);
    disk.device.cut(1);
    CHECK(disk.read(100, 5000) == bytes_of(5000, 3));
}

TEST_CASE("a hole is trimmed and found again", "[fs][disk]") {
    Disk disk;
    REQUIRE(disk.write(0, bytes_of(disk_bytes, 9)));
    REQUIRE(disk.file.allocate(disk.call, DiskFile::ino, FallocateMode::punch_hole, 8192, 16384));
    CHECK(disk.file.seek(disk.call, DiskFile::ino, 0, SeekWhat::hole).value() == 8192);
    CHECK(disk.file.seek(disk.call, DiskFile::ino, 8192, SeekWhat::data).value() == 24576);
    CHECK(disk.file.seek(disk.call, DiskFile::ino, 30000, SeekWhat::hole).value() == disk_bytes);
    CHECK(disk.file.seek(disk.call, DiskFile::ino, disk_bytes, SeekWhat::data).error().error_number == ENXIO);
    CHECK(disk.read(8192, 16384) == bytes_of(16384, 0));
}

TEST_CASE("a sync that is to fail does not flush", "[fs][disk]") {
    struct Failing final : WriteBackFaults {
        int write_back_fails(Ino) override { return EIO; }
        void page_reverted(Ino, std::uint64_t, std::uint64_t) override {}
    } failing;
    Disk disk;
    FsOptions options;
    options.write_back_faults = &failing;
    DiskFile file{disk.device, options};
    CHECK(file.begin_sync(disk.call, DiskFile::ino, SyncScope::data_only, nullptr).error().error_number == EIO);
    CHECK(disk.device.flushes == 0);
}

TEST_CASE("what the flash does not give back is an error, and is told with its place", "[fs][disk]") {
    Disk disk;
    std::uint64_t told = 0;
    FsOptions options;
    options.unreadable = [&](Ino, std::uint64_t offset, std::uint64_t) { told = offset; };
    DiskFile file{disk.device, options};
    REQUIRE(disk.write(8192, bytes_of(4096, 1)));
    disk.device.fail_reads = true;
    std::vector<std::byte> to(4096);
    CHECK(file.read(disk.call, DiskFile::ino, 8192, to).error().error_number == EIO);
    CHECK(told == 8192);
    const DataCheck checked = file.check_data([](std::uint64_t) { return true; }, sim_start);
    CHECK(checked.pages_bad == 1);
}

TEST_CASE("a raw drive that is only looked at takes no change", "[fs][disk]") {
    Disk disk;
    FsOptions options;
    options.read_only = true;
    DiskFile file{disk.device, options};
    CHECK(file.write(disk.call, DiskFile::ino, 0, bytes_of(1, 1)).error().error_number == EROFS);
    CHECK(file.allocate(disk.call, DiskFile::ino, FallocateMode::punch_hole, 0, 4096).error().error_number == EROFS);
    CHECK(disk.device.writes == 0);
}

} // namespace flashlab::test

// What happens at the edges: no room for metadata, flags, read-only mounts, errors of the device, large directories.
#include "tests/fs/fs_world.h"

#include <algorithm>

#include "base/contract.h"
#include "base/random.h"
#include "fs/file_flags.h"

using namespace flashlab;
using flashlab::test::FsWorld;
using flashlab::test::kib;

namespace {

int make(FsWorld& world, const std::string& name) {
    const auto made = world.fs->make_node(world.call(), root_ino, name, S_IFREG | 0644, 0);
    if (made) world.fs->forget(made->value.ino, 1, world.now);
    return made ? 0 : made.error().error_number;
}

} // namespace

TEST_CASE("when the metadata are full nothing new fits, everything else works, and removing gives the room back", "[fs]") {
    FsWorld world{256, 512 * kib};
    const Ino data = world.create("data");
    REQUIRE(world.write(data, 0, std::string(20'000, 'd')) == 0);
    REQUIRE(world.sync(data) == 0);
    int names = 0;
    while (make(world, fmt::format("file-{:06}", names)) == 0) ++names;
    CHECK(names > 500);
    CHECK(make(world, "another") == ENOSPC);
    CHECK(world.write(data, 100'000, "more") == ENOSPC);
    CHECK(world.write(data, 0, "over") == 0); // its page has a place
    CHECK(world.sync(data) == 0);
    world.check();
    SECTION("first to last") {
        for (int i = 0; i < names; ++i) REQUIRE(world.unlink(fmt::format("file-{:06}", i)) == 0);
    }
    SECTION("in any order") {
        std::vector<int> order(static_cast<std::size_t>(names));
        for (int i = 0; i < names; ++i) order[static_cast<std::size_t>(i)] = i;
        Random random{7};
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i))]);
        for (const int i : order) REQUIRE(world.unlink(fmt::format("file-{:06}", i)) == 0);
    }
    world.settle();
    CHECK(make(world, "another") == 0);
    CHECK(world.contents(data).substr(0, 5) == "overd");
    world.check();
}

TEST_CASE("what write() accepted is never refused at write-back, however little metadata are left and however it is scattered", "[fs]") {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
        CAPTURE(seed);
        Random random{seed};
        FsOptions options;
        options.cache_bytes = 2048 * 4096;
        FsWorld world{8192, 512 * kib, options};
        const Ino preallocated = world.create("preallocated");
        REQUIRE(world.allocate(preallocated, FallocateMode::keep_size, 0, 1000 * 4096) == 0);
        std::vector<Ino> files{preallocated};
        for (int i = 0; i < 8; ++i) files.push_back(world.create(fmt::format("f{}", i)));
        // Single pages with holes between them, in any order, between them names: every page is an extent of its own, in a leaf of its own choice.
        int refused = 0;
        for (int step = 0; step < 60'000 && refused < 300; ++step) {
            const Ino file = files[static_cast<std::size_t>(random.below(files.size()))];
            const int error = world.write(file, random.below(file == preallocated ? 500 : 3000) * 2 * 4096, "x");
            REQUIRE((error == 0 || error == ENOSPC));
            refused += error == ENOSPC;
            if (random.chance(1, 3)) refused += make(world, fmt::format("{}-{}", step, random.below(100))) == ENOSPC;
        }
        CHECK(refused >= 300);
        for (const Ino file : files) REQUIRE(world.sync(file) == 0);
        world.check();
        const auto names = world.list(root_ino);
        for (const std::string& name : names)
            if (name != "." && name != "..") REQUIRE(world.unlink(name) == 0);
        for (const Ino file : files) world.fs->forget(file, 1, world.now);
        world.settle();
        CHECK(world.fs->usage().data_pages_free == 8192);
        world.check();
    }
}

TEST_CASE("a full cache on an empty drive with little room for metadata makes a writer wait, and refuses nothing", "[fs][space]") {
    FsWorld world{16384, 512 * kib};
    const Ino ino = world.create("a");
    const std::string piece(64 * 4096, 'x');
    const std::uint64_t pieces = 14000 / 64;
    for (std::uint64_t at = 0; at < pieces; ++at) REQUIRE(world.write(ino, at * piece.size(), piece) == 0);
    SECTION("what it overwrites in the cache is promised nothing") {
        REQUIRE(world.sync(ino) == 0);
        for (std::uint64_t at = 0; at < pieces; ++at) REQUIRE(world.write(ino, at * piece.size(), piece) == 0);
        CHECK(world.fs->usage().metadata_bytes_free > 256 * kib);
    }
    REQUIRE(world.write(world.create("b"), 0, piece) == 0);
    CHECK(world.sync(ino) == 0);
    CHECK(world.read(ino, (pieces - 1) * piece.size(), piece.size()) == piece);
    world.check();
}

TEST_CASE("fallocate that does not fit changes nothing", "[fs]") {
    FsWorld world{64};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(10 * 4096, 'x')) == 0);
    const std::string before = world.contents(ino);
    for (const auto mode : {FallocateMode::allocate, FallocateMode::keep_size, FallocateMode::zero_range, FallocateMode::zero_range_keep_size}) {
        CHECK(world.allocate(ino, mode, 5000, 64 * 4096) == ENOSPC);
        CHECK(world.contents(ino) == before);
        CHECK(world.fs->usage().data_pages_free == 54);
    }
    // What is there already need not fit again.
    CHECK(world.allocate(ino, FallocateMode::zero_range, 0, 64 * 4096) == 0);
    CHECK(world.contents(ino) == std::string(64 * 4096, '\0'));
    CHECK(world.fs->usage().data_pages_free == 0);
    CHECK(world.unlink("a") == 0);
    world.fs->forget(ino, 1, world.now);
    world.settle();
    CHECK(world.fs->usage().data_pages_free == 64);
    world.check();
}

TEST_CASE("an immutable file takes no write, an append-only one only at its end", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    const auto set = [&](std::uint32_t flags) { REQUIRE(world.fs->set_file_flags(world.call(), ino, flags).has_value()); };
    set(file_flag_append);
    CHECK(world.write(ino, 0, "J") == EPERM);
    CHECK(world.write(ino, 4, "oo") == EPERM);
    CHECK(world.write(ino, 5, " world") == 0);
    CHECK(world.fs->open_file(world.call(), ino, {.writes = true}).error() == FsError{EPERM});
    REQUIRE(world.fs->open_file(world.call(), ino, {.writes = true, .appends = true}).has_value());
    world.fs->close_file(world.call(), ino, true);
    CHECK(world.truncate(ino, 3) == EPERM);
    CHECK(world.allocate(ino, FallocateMode::punch_hole, 0, 4096) == EPERM);
    CHECK(world.unlink("a") == EPERM);
    CHECK(world.rename(root_ino, "a", root_ino, "b") == EPERM);
    set(file_flag_immutable);
    CHECK(world.write(ino, 11, "!") == EPERM);
    const Ino other = world.create("other");
    REQUIRE(world.write(other, 0, "zzz") == 0);
    CHECK(world.fs->copy_range(world.call(), other, 0, ino, 0, 3).error() == FsError{EPERM});
    CHECK(world.contents(ino) == "hello world");
    FsCall flush = world.call(); // what the kernel took before the flag comes later, a whole page of it
    flush.from_page_cache = true;
    CHECK(world.fs->write(flush, ino, 0, std::as_bytes(std::span{std::string_view{"Hello world"}})).has_value());
    CHECK(world.contents(ino) == "Hello world");
    set(0);
    CHECK(world.write(ino, 0, "J") == 0);
    CHECK(world.unlink("a") == 0);
    FsCall call = world.call();
    call.uid = 1000;
    CHECK(world.fs->set_file_flags(call, other, file_flag_immutable).error() == FsError{EPERM});
}

TEST_CASE("a read moves an access time that is older than the last change, unless the reader says no, and any if it is to be strict", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    const FileTime before = world.stat(ino).accessed;
    std::string text(5, ' ');
    const auto read = [&](AccessTimes times) {
        FsCall call = world.call();
        ++call.wall.seconds;
        call.access_times = times;
        REQUIRE(world.fs->read(call, ino, 0, std::as_writable_bytes(std::span{text})).has_value());
        return world.stat(ino).accessed;
    };
    CHECK(read(AccessTimes::kept) == before);
    const FileTime first = read(AccessTimes::relative);
    CHECK(first > before);
    CHECK(read(AccessTimes::relative) == first);
    const FileTime second = read(AccessTimes::strict);
    CHECK(second > first);
    CHECK(read(AccessTimes::strict) > second);
}

TEST_CASE("a failed write-back is told once to each open of the file, and to one that comes later if nobody knows yet", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.fs->open_file(world.call(), ino, {.writes = true}).has_value());
    WriteErrorMark first = world.fs->write_error_mark(ino);
    WriteErrorMark second = world.fs->write_error_mark(ino);
    const auto sync = [&](WriteErrorMark& mark) { return world.run(world.fs->begin_sync(world.call(), ino, SyncScope::data_only, &mark)); };
    REQUIRE(world.write(ino, 0, "hello") == 0);
    CHECK(sync(first) == 0);
    REQUIRE(world.write(ino, 0, "jello") == 0);
    world.device.fail_writes = true;
    world.settle(Duration{6'000'000'000}); // by age, behind everybody's back
    world.device.fail_writes = false;
    WriteErrorMark late = world.fs->write_error_mark(ino);
    CHECK(sync(first) == EIO);
    CHECK(sync(first) == 0); // and the data are there now
    CHECK(sync(second) == EIO);
    CHECK(sync(second) == 0);
    CHECK(sync(late) == EIO);
    WriteErrorMark after = world.fs->write_error_mark(ino);
    CHECK(sync(after) == 0);
    world.fs->close_file(world.call(), ino, true);
    world.crash(1);
    CHECK(world.contents(world.find("a")) == "jello");
}

TEST_CASE("a full host is ENOSPC for an fsync that meets it, and for one that comes after it", "[fs]") {
    const int host_errno = GENERATE(ENOSPC, EDQUOT);
    FsWorld world;
    world.device.host_errno = host_errno;
    const Ino ino = world.create("a");
    REQUIRE(world.fs->open_file(world.call(), ino, {.writes = true}).has_value());
    WriteErrorMark mark = world.fs->write_error_mark(ino);
    const auto sync = [&] { return world.run(world.fs->begin_sync(world.call(), ino, SyncScope::data_only, &mark)); };
    REQUIRE(world.write(ino, 0, "hello") == 0);
    world.device.fail_writes = true;
    CHECK(sync() == ENOSPC);
    world.settle(Duration{6'000'000'000}); // by age, behind everybody's back
    world.device.fail_writes = false;
    CHECK(sync() == ENOSPC);
    CHECK(sync() == 0);
    world.device.host_errno = EIO; // another failure is none of space
    REQUIRE(world.write(ino, 0, "jello") == 0);
    world.device.fail_writes = true;
    world.settle(Duration{6'000'000'000});
    world.device.fail_writes = false;
    CHECK(sync() == EIO);
    world.fs->close_file(world.call(), ino, true);
}

TEST_CASE("a read-only mount shows everything and changes nothing", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    REQUIRE(world.fs->set_xattr(world.call(), ino, "user.x", std::as_bytes(std::span{"y", 1}), XattrMode::any).has_value());
    REQUIRE(world.fs->shut_down(world.now).has_value());
    world.fs.reset();
    world.options.read_only = true;
    world.open();
    const std::vector<std::byte> before{world.cells.cells().begin(), world.cells.cells().end()};
    const std::uint64_t writes = world.device.writes, trims = world.device.trims;
    CHECK(world.contents(world.find("a")) == "hello");
    CHECK(world.list(root_ino).size() == 3);
    CHECK(world.fs->get_xattr(world.call(), ino, "user.x").has_value());
    CHECK(world.write(ino, 0, "J") == EROFS);
    CHECK(make(world, "b") == EROFS);
    CHECK(world.unlink("a") == EROFS);
    CHECK(world.truncate(ino, 0) == EROFS);
    CHECK(world.allocate(ino, FallocateMode::allocate, 0, 4096) == EROFS);
    CHECK(world.rename(root_ino, "a", root_ino, "b") == EROFS);
    CHECK(world.fs->make_directory(world.call(), root_ino, "d", 0755).error() == FsError{EROFS});
    CHECK(world.fs->make_symlink(world.call(), root_ino, "s", "a").error() == FsError{EROFS});
    CHECK(world.fs->link(world.call(), ino, root_ino, "l").error() == FsError{EROFS});
    CHECK(world.fs->remove_xattr(world.call(), ino, "user.x").error() == FsError{EROFS});
    CHECK(world.fs->set_file_flags(world.call(), ino, 0).error() == FsError{EROFS});
    CHECK(world.fs->set_label(world.call(), "new").error() == FsError{EROFS});
    CHECK(world.fs->trim_free(world.call(), 0, 1u << 20, 0).error() == FsError{EROFS});
    CHECK(world.fs->open_file(world.call(), ino, {.writes = true}).error() == FsError{EROFS});
    REQUIRE(world.fs->open_file(world.call(), ino, {}).has_value());
    world.fs->close_file(world.call(), ino, false);
    world.settle();
    world.check();
    REQUIRE(world.fs->shut_down(world.now).has_value());
    CHECK(world.device.writes == writes);
    CHECK(world.device.trims == trims);
    CHECK(std::ranges::equal(before, world.cells.cells()));
}

TEST_CASE("20,000 names in one directory: found, listed in small portions while others come and go, removed", "[fs]") {
    FsWorld world{256, 16u << 20};
    const Ino directory = world.mkdir("d");
    const auto name = [](int i) { return fmt::format("a-name-of-medium-length-{}", i); };
    constexpr int many = 20'000;
    for (int i = 0; i < many; ++i) {
        const auto made = world.fs->make_node(world.call(), directory, name(i), S_IFREG | 0600, 0);
        REQUIRE(made.has_value());
        world.fs->forget(made->value.ino, 1, world.now);
    }
    for (int i = 0; i < many; i += 97) REQUIRE(world.find(name(i), directory) != Ino{0});
    CHECK(world.find(name(many), directory) == Ino{0});
    std::vector<std::string> seen;
    std::uint64_t offset = 0;
    for (bool more = true; more;) {
        int portion = 0;
        more = false;
        REQUIRE(world.fs
                    ->read_directory(world.call(), directory, offset,
                                     [&](std::string_view entry, Ino, std::uint32_t, std::uint64_t next) {
                                         if (portion++ == 50) {
                                             more = true;
                                             return false;
                                         }
                                         seen.emplace_back(entry);
                                         offset = next;
                                         return true;
                                     })
                    .has_value());
        // What comes and goes meanwhile may or may not be seen; what stays is seen once.
        if (seen.size() % 1000 == 0) REQUIRE(world.unlink(name(many - 1 - static_cast<int>(seen.size() / 1000)), directory) == 0);
    }
    std::ranges::sort(seen);
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
    for (int i = 0; i < many - 30; ++i) REQUIRE(std::ranges::binary_search(seen, name(i)));
    CHECK(world.fs->remove_directory(world.call(), root_ino, "d").error() == FsError{ENOTEMPTY});
    for (int i = 0; i < many; ++i) (void)world.unlink(name(i), directory);
    CHECK(world.list(directory).size() == 2);
    CHECK(world.fs->remove_directory(world.call(), root_ino, "d").has_value());
    world.check();
}

TEST_CASE("FITRIM tells the free bytes of its range, of pages that the device never had, too", "[fs]") {
    FsWorld world;
    const std::uint64_t page = world.fs->usage().block_bytes;
    const auto told = [&](std::uint64_t offset, std::uint64_t bytes, std::uint64_t least) {
        const auto trimmed = world.fs->trim_free(world.call(), offset, bytes, least);
        REQUIRE(trimmed.has_value());
        return trimmed->value;
    };
    const std::uint64_t all = world.fs->usage().data_pages * page;
    CHECK(told(0, ~0ull, 0) == all);
    CHECK(told(10 * page, ~0ull, 0) == all - 10 * page);
    CHECK(told(page, 5 * page, 0) == 5 * page);
    CHECK(told(page, 5 * page, 6 * page) == 0);
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(4 * page, 'x')) == 0);
    REQUIRE(world.sync(ino) == 0);
    CHECK(told(0, ~0ull, 0) == all - 4 * page);
    world.check();
}

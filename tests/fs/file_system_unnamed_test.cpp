// Goal: files without a name (O_TMPFILE) take part in everything that files do, get at most one chance of a name, and leave nothing behind.
// Method: both stores; the daemon dies or is ended; usage and fsck tell what is left.
#include "fs/posix_acl.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;

namespace {

constexpr std::uint64_t one_page = 4096;
constexpr std::uint64_t drive_pages = 4096;

struct UnnamedWorld : FsWorld {
    using FsWorld::FsWorld;
    [[nodiscard]] Ino make(bool may_be_linked = true, Ino parent = root_ino, std::uint32_t mode = 0644) {
        const auto made = fs->make_unnamed(call(), parent, mode, may_be_linked);
        REQUIRE(made.has_value());
        CHECK(made->value.links == 0);
        REQUIRE(fs->open_file(call(), made->value.ino, {.writes = true}).has_value());
        return made->value.ino;
    }
    [[nodiscard]] int link(Ino ino, std::string_view name, Ino parent = root_ino) {
        const auto linked = fs->link(call(), ino, parent, name);
        if (!linked) return linked.error().error_number;
        fs->forget(ino, 1, now);
        return 0;
    }
    void drop(Ino ino) {
        fs->close_file(call(), ino, true);
        fs->forget(ino, 1, now);
    }
    /// Names are durable with the next sync when they are in a journal.
    void make_durable() { REQUIRE(run(fs->begin_sync_all(call())) == 0); }
    [[nodiscard]] std::uint64_t free_pages() {
        settle();
        return fs->usage().data_pages_free;
    }
};

/// Runs `test` with metadata on PRAM and in a journal.
template <class Test>
void in_both_stores(const Test& test) {
    SECTION("on PRAM") {
        UnnamedWorld world{drive_pages};
        test(world);
        world.check();
    }
    SECTION("in a journal") {
        UnnamedWorld world{drive_pages, FsWorld::in_journal};
        test(world);
        world.check();
    }
}

} // namespace

TEST_CASE("a file made without a name is in no directory, is written and read, and goes with its last user", "[fs][unnamed]") {
    in_both_stores([](UnnamedWorld& world) {
        const std::uint64_t free_before = world.free_pages();
        const Ino ino = world.make();
        CHECK(world.stat(root_ino).modified == FileTime{.seconds = 1});
        CHECK(world.list(root_ino) == std::vector<std::string>{".", ".."});
        REQUIRE(world.write(ino, 0, std::string(50'000, 'x')) == 0);
        CHECK(world.contents(ino) == std::string(50'000, 'x'));
        SECTION("before its data reach the drive") {}
        SECTION("after that") {
            REQUIRE(world.sync(ino) == 0);
            CHECK(world.fs->usage().data_pages_free == free_before - 13);
        }
        CHECK(world.fs->usage().inodes == 2);
        world.check();
        world.drop(ino);
        CHECK(world.fs->usage().inodes == 1);
        CHECK_FALSE(world.fs->attributes(world.call(), ino).has_value());
        CHECK(world.free_pages() == free_before);
    });
}

TEST_CASE("a power cut and a forgotten unmount take a file without a name, whatever was synced of it", "[fs][unnamed][crash]") {
    in_both_stores([](UnnamedWorld& world) {
        const std::uint64_t free_before = world.free_pages();
        const Ino ino = world.make();
        REQUIRE(world.fs->set_xattr(world.call(), ino, "user.k", std::as_bytes(std::span{std::string_view{"v"}}), XattrMode::any).has_value());
        REQUIRE(world.write(ino, 0, std::string(50'000, 'x')) == 0);
        SECTION("nothing") { world.crash(3); }
        SECTION("all of it") {
            REQUIRE(world.sync(ino) == 0);
            world.make_durable();
            world.crash(3);
        }
        SECTION("unmounted while it is open") { world.remount(); }
        CHECK_FALSE(world.fs->attributes(world.call(), ino).has_value());
        CHECK(world.fs->usage().inodes == 1);
        CHECK(world.free_pages() == free_before);
    });
}

TEST_CASE("a file without a name is whole under the name that it gets when it was synced before", "[fs][unnamed][crash]") {
    in_both_stores([](UnnamedWorld& world) {
        const Ino ino = world.make();
        REQUIRE(world.write(ino, 0, std::string(50'000, 'x')) == 0);
        REQUIRE(world.sync(ino) == 0);
        REQUIRE(world.link(ino, "f") == 0);
        world.make_durable();
        world.crash(7);
        REQUIRE(world.find("f") == ino);
        CHECK(world.contents(ino) == std::string(50'000, 'x'));
        CHECK(world.stat(ino).links == 1);
        CHECK(world.unlink("f") == 0);
        world.settle();
        CHECK(world.fs->usage().inodes == 1);
    });
}

TEST_CASE("a sync of the file after its link makes the name durable, too", "[fs][unnamed][crash]") {
    in_both_stores([](UnnamedWorld& world) {
        const Ino ino = world.make();
        REQUIRE(world.write(ino, 0, "bytes") == 0);
        REQUIRE(world.link(ino, "f") == 0);
        REQUIRE(world.sync(ino) == 0);
        world.crash(11);
        REQUIRE(world.find("f") == ino);
        CHECK(world.contents(ino) == "bytes");
    });
}

TEST_CASE("a name is given to an unnamed file once, to one that may have none never", "[fs][unnamed]") {
    in_both_stores([](UnnamedWorld& world) {
        const Ino exclusive = world.make(false);
        CHECK(world.link(exclusive, "e") == ENOENT);
        const Ino ino = world.make();
        REQUIRE(world.create("taken") != Ino{0});
        CHECK(world.link(ino, "taken") == EEXIST);
        REQUIRE(world.link(ino, "a") == 0);
        REQUIRE(world.link(ino, "b") == 0); // an ordinary hard link
        REQUIRE(world.unlink("a") == 0);
        REQUIRE(world.unlink("b") == 0);
        CHECK(world.link(ino, "c") == ENOENT);
        world.check();
        world.drop(ino);
        world.drop(exclusive);
        CHECK(world.fs->usage().inodes == 2);
    });
}

TEST_CASE("an unnamed file has the mode, group and lists that a new file of its directory has", "[fs][unnamed]") {
    in_both_stores([](UnnamedWorld& world) {
        const Ino dir = world.mkdir("d");
        CHECK(world.stat(world.make(true, dir, 0666)).mode == (S_IFREG | 0644)); // umask 022
        AttributeChange change;
        change.which = AttributeChange::mode | AttributeChange::gid;
        change.new_mode = 02775;
        change.new_gid = 77;
        REQUIRE(world.fs->change_attributes(world.call(), dir, change).has_value());
        CHECK(world.stat(world.make(true, dir, 0600)).gid == 77);
        PosixAcl acl = *PosixAcl::decode(std::as_bytes(std::span<const std::uint8_t>{
            std::array<std::uint8_t, 44>{2, 0, 0,   0,   1,   0,   7,  0, 255, 255, 255, 255, 2,   0,   6,  0, 5, 0, 0,   0,   4,   0,
                                         5, 0, 255, 255, 255, 255, 16, 0, 6,   0,   255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255}}));
        REQUIRE(world.fs->set_xattr(world.call(), dir, acl_default_name, acl.encode(), XattrMode::any).has_value());
        const Ino listed = world.make(true, dir, 0666);
        CHECK(world.stat(listed).mode == (S_IFREG | 0664)); // by the mask, not by the umask
        CHECK(world.fs->get_xattr(world.call(), listed, acl_access_name).has_value());
        world.make_durable();
        world.crash(5);
        CHECK(world.fs->usage().inodes == 2);
    });
}

TEST_CASE("where no file can be made no unnamed one can, and the attempt leaves nothing", "[fs][unnamed]") {
    const auto error = [](FsWorld& world, Ino parent) {
        const auto made = world.fs->make_unnamed(world.call(), parent, 0644, true);
        return made ? 0 : made.error().error_number;
    };
    in_both_stores([&](UnnamedWorld& world) {
        CHECK(error(world, world.create("file")) == ENOTDIR);
        CHECK(error(world, Ino{999}) == ENOENT);
        const Ino gone = world.mkdir("gone");
        REQUIRE(world.fs->remove_directory(world.call(), root_ino, "gone").has_value());
        CHECK(error(world, gone) == ENOENT);
        const Ino locked = world.mkdir("locked");
        FsCall root = world.call();
        REQUIRE(world.fs->set_file_flags(root, locked, 0x10).has_value());
        CHECK(error(world, locked) == EPERM);
        const std::uint64_t inodes = world.fs->usage().inodes;
        world.options.read_only = true;
        world.remount();
        CHECK(error(world, root_ino) == EROFS);
        CHECK(world.fs->usage().inodes == inodes); // the removed directory stays until somebody may write
    });
    SECTION("no room for metadata") {
        UnnamedWorld world{256, 512u << 10};
        std::vector<Ino> made;
        for (;;) {
            const auto one = world.fs->make_unnamed(world.call(), root_ino, 0644, true);
            if (!one) {
                CHECK(one.error().error_number == ENOSPC);
                break;
            }
            made.push_back(one->value.ino);
        }
        CHECK(world.fs->usage().inodes == made.size() + 1);
        world.check();
        for (const Ino ino : made) world.fs->forget(ino, 1, world.now);
        CHECK(world.fs->usage().inodes == 1);
        CHECK(error(world, root_ino) == 0);
        world.check();
    }
}

TEST_CASE("an unnamed file that was cut in many steps keeps what was written afterwards when it gets a name", "[fs][unnamed][crash]") {
    in_both_stores([](UnnamedWorld& world) {
        const Ino ino = world.make();
        for (std::uint64_t n = 0; n < 150; ++n) REQUIRE(world.write(ino, 2 * n * one_page, "piece") == 0);
        REQUIRE(world.sync(ino) == 0);
        REQUIRE(world.truncate(ino, 0) == 0);
        const std::string text(20'000, 'y');
        REQUIRE(world.write(ino, 0, text) == 0);
        REQUIRE(world.sync(ino) == 0);
        REQUIRE(world.link(ino, "f") == 0);
        world.make_durable();
        world.crash(9);
        REQUIRE(world.find("f") == ino);
        CHECK(world.contents(ino) == text);
    });
}

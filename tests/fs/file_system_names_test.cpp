// Names: creation, links, rename, orphans, attributes, xattrs.
#include <set>

#include "fs/posix_acl.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("an answered create, link, rename and removal survive a crash", "[fs][names]") {
    FsWorld world;
    const Ino dir = world.mkdir("d");
    const Ino a = world.create("a");
    REQUIRE(world.fs->link(world.call(), a, dir, "b").has_value());
    REQUIRE(world.rename(root_ino, "a", dir, "c") == 0);
    REQUIRE(world.fs->make_symlink(world.call(), root_ino, "s", std::string(3000, 'p')).has_value());
    world.crash(1);
    CHECK(world.find("a") == Ino{0});
    CHECK(world.find("c", dir) == a);
    CHECK(world.stat(a).links == 2);
    CHECK(world.fs->read_link(world.call(), world.find("s"))->value == std::string(3000, 'p'));
    CHECK(world.unlink("b", dir) == 0);
    CHECK(world.unlink("d") == EISDIR);
    CHECK(world.fs->remove_directory(world.call(), root_ino, "d").error() == FsError{ENOTEMPTY});
    world.check();
}

TEST_CASE("rename replaces, refuses, exchanges and whites out", "[fs][names]") {
    FsWorld world;
    const Ino left = world.mkdir("left");
    const Ino right = world.mkdir("right");
    const Ino sub = world.mkdir("sub", left);
    const Ino file = world.create("file", right);
    CHECK(world.rename(left, "sub", right, "file") == ENOTDIR);
    CHECK(world.rename(right, "file", left, "sub") == EISDIR);
    CHECK(world.rename(left, "sub", right, "file", RenameMode::no_replace) == EEXIST);
    CHECK(world.rename(root_ino, "left", sub, "x") == EINVAL);
    CHECK(world.rename(left, "sub", right, "file", RenameMode::exchange) == 0);
    CHECK(world.find("sub", left) == file);
    CHECK(world.find("file", right) == sub);
    CHECK(world.find("..", sub) == right);
    CHECK(world.stat(left).links == 2);
    CHECK(world.stat(right).links == 3);
    CHECK(world.rename(left, "sub", root_ino, "out", RenameMode::whiteout) == 0);
    CHECK(world.stat(world.find("sub", left)).mode == S_IFCHR);
    const Ino empty = world.mkdir("empty");
    CHECK(world.rename(right, "file", root_ino, "empty") == 0);
    CHECK(world.find("empty") == sub);
    world.fs->forget(empty, 1, world.now);
    world.check();
}

TEST_CASE("a rename over an existing file leaves the whole new file after a crash", "[fs][crash]") {
    FsWorld world;
    const Ino old = world.create("f");
    REQUIRE(world.write(old, 0, "old") == 0);
    REQUIRE(world.sync(old) == 0);
    const Ino fresh = world.create("f.tmp");
    REQUIRE(world.write(fresh, 0, std::string(20'000, 'n')) == 0);
    REQUIRE(world.rename(root_ino, "f.tmp", root_ino, "f") == 0);
    world.crash(5);
    CHECK(world.contents(world.find("f")) == std::string(20'000, 'n'));
    world.check();
}

TEST_CASE("an unlinked open file lives until its last close, or the next mount", "[fs][names]") {
    FsWorld world;
    const Ino a = world.create("a");
    REQUIRE(world.fs->open_file(world.call(), a, {.writes = true}).has_value());
    REQUIRE(world.write(a, 0, std::string(9000, 'x')) == 0);
    REQUIRE(world.sync(a) == 0);
    REQUIRE(world.unlink("a") == 0);
    CHECK(world.stat(a).links == 0);
    CHECK(world.contents(a).size() == 9000);
    world.check();
    const bool crashes = GENERATE(false, true);
    if (crashes) {
        world.crash(1);
    } else {
        world.fs->close_file(world.call(), a, true);
        world.fs->forget(a, 1, world.now);
    }
    CHECK_FALSE(world.fs->attributes(world.call(), a).has_value());
    world.settle();
    CHECK(world.fs->usage().data_pages_free == world.fs->usage().data_pages);
    CHECK(world.fs->usage().inodes == 1);
    world.check();
}

TEST_CASE("a directory of many names lists each once, while some come and go", "[fs][names]") {
    FsWorld world{1024, 32u << 20};
    std::set<std::string> names;
    for (int i = 0; i < 5000; ++i) {
        const std::string name = fmt::format("file-{}", i);
        (void)world.create(name);
        names.insert(name);
    }
    std::set<std::string> seen;
    std::uint64_t offset = 0;
    for (bool more = true; more;) {
        more = false;
        int left = 100;
        REQUIRE(world.fs
                    ->read_directory(world.call(), root_ino, offset,
                                     [&](std::string_view name, Ino, std::uint32_t, std::uint64_t next) {
                                         if (left-- == 0) return false;
                                         CHECK(seen.insert(std::string{name}).second);
                                         offset = next;
                                         return more = true;
                                     })
                    .has_value());
        const std::string gone = *names.begin();
        if (!seen.contains(gone)) {
            REQUIRE(world.unlink(gone) == 0);
            seen.insert(gone);
        }
        names.erase(gone);
    }
    for (const std::string& name : names) CHECK(seen.contains(name));
    world.check();
}

TEST_CASE("xattrs take 64 KiB and a thousand names", "[fs][xattr]") {
    FsWorld world{1024, 16u << 20};
    const Ino a = world.create("a");
    const std::vector<std::byte> big(65'536, std::byte{7});
    REQUIRE(world.fs->set_xattr(world.call(), a, "user.big", big, XattrMode::any).has_value());
    CHECK(world.fs->get_xattr(world.call(), a, "user.big")->value == big);
    for (int i = 0; i < 1000; ++i)
        REQUIRE(world.fs->set_xattr(world.call(), a, fmt::format("user.{}", i), std::span{big}.first(20), XattrMode::create));
    CHECK(world.fs->set_xattr(world.call(), a, "user.1", {}, XattrMode::create).error() == FsError{EEXIST});
    CHECK(world.fs->set_xattr(world.call(), a, "user.1", {}, XattrMode::create_and_replace).error() == FsError{EEXIST});
    CHECK(world.fs->set_xattr(world.call(), a, "user.none", {}, XattrMode::create_and_replace).error() == FsError{ENODATA});
    CHECK(world.fs->remove_xattr(world.call(), a, "user.none").error() == FsError{ENODATA});
    CHECK(world.fs->remove_xattr(world.call(), a, acl_access_name).has_value()); // as ext4 has it
    CHECK(world.fs->remove_xattr(world.call(), a, "user.none").error() == FsError{ENODATA});
    REQUIRE(world.fs->remove_xattr(world.call(), a, "user.big").has_value());
    CHECK(std::ranges::count(world.fs->list_xattrs(world.call(), a)->value, '\0') == 1000);
    world.check();
    REQUIRE(world.unlink("a") == 0);
    world.fs->forget(a, 1, world.now);
    world.check();
}

TEST_CASE("a write and a chown by the unprivileged take suid and sgid away", "[fs][attributes]") {
    FsWorld world;
    const Ino a = world.create("a", root_ino, S_IFREG | 06755);
    REQUIRE(world.write(a, 0, "x") == 0);
    CHECK((world.stat(a).mode & 07777) == 0755);
    AttributeChange change;
    change.which = AttributeChange::mode;
    change.new_mode = 06755;
    REQUIRE(world.fs->change_attributes(world.call(), a, change).has_value());
    CHECK((world.stat(a).mode & 07777) == 06755);
    change.which = AttributeChange::uid;
    change.new_uid = 5;
    REQUIRE(world.fs->change_attributes(world.call(), a, change).has_value());
    CHECK((world.stat(a).mode & 07777) == 0755);
    CHECK(world.stat(a).uid == 5);
}

/// The judge of trees, judged: states made by hand, each wrong in one way that one statement of TreeModel must see.
///
/// A file system that shows what the test puts there stands where the recovered one stands. A right state is accepted first, so that each refusal
/// comes from the one thing that was changed.
#include <sys/stat.h>

#include <functional>

#include "tests/fs/judged_scene.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

using Kind = ModelOp::Kind;

/// A directory, a file with an attribute in it, a symbolic link and a device.
JudgedScene judged_small_tree() {
    JudgedScene scene;
    scene.make(tree_directory, root_ino, "d", S_IFDIR | 0700);
    scene.make(tree_file, tree_directory, "f", S_IFREG | 0600);
    scene.make(tree_link, root_ino, "s", S_IFLNK | 0777, "d/f");
    scene.make(tree_device, root_ino, "n", S_IFCHR | 0600, "", 0x103);
    ModelOp op;
    op.kind = Kind::set_xattr;
    op.ino = tree_file, op.name = "user.a", op.name2 = "1";
    scene.note(op);
    scene.show_newest();
    return scene;
}

JudgedScene judged_one_file() {
    JudgedScene scene;
    scene.make(tree_file, root_ino, "f", S_IFREG | 0600);
    return scene;
}

} // namespace

TEST_CASE("of a tree that is right but for one attribute, name or link each is missed", "[fs][crash][judges][tree]") {
    struct Change {
        const char* words;
        std::function<void(ShownTree&)> make;
        Judge judge = Judge::tree;
    };
    const Change change = GENERATE(from_range(std::vector<Change>{
        {"inode 5: mode is", [](ShownTree& t) { t.nodes.at(tree_device).attributes.mode ^= 0100; }},
        {"inode 5: uid is 7, must be 0", [](ShownTree& t) { t.nodes.at(tree_device).attributes.uid = 7; }},
        {"inode 5: gid is 7, must be 0", [](ShownTree& t) { t.nodes.at(tree_device).attributes.gid = 7; }},
        {"inode 5: rdev is", [](ShownTree& t) { t.nodes.at(tree_device).attributes.rdev = 0x104; }},
        {"inode 3: links is 2, must be 1", [](ShownTree& t) { t.nodes.at(tree_file).attributes.links = 2; }},
        {"inode 4: another target", [](ShownTree& t) { t.nodes.at(tree_link).target = "d/g"; }},
        {"inode 3: other xattrs: 0 instead of 1", [](ShownTree& t) { t.nodes.at(tree_file).xattrs.clear(); }, Judge::names},
        {"inode 3: other xattrs: 1 instead of 1", [](ShownTree& t) { t.nodes.at(tree_file).xattrs.at("user.a") = "2"; }},
        {"inode 2: other names", [](ShownTree& t) { t.nodes.at(tree_directory).entries.emplace("g", tree_file); }},
        {"inode 2: parent is 2, must be 1", [](ShownTree& t) { t.nodes.at(tree_directory).parent = tree_directory; }},
        {"inode 5: mtime is", [](ShownTree& t) { t.nodes.at(tree_device).attributes.modified.nanoseconds = 1; }},
        {"inode 5: mtime is", [](ShownTree& t) { ++t.nodes.at(tree_device).attributes.modified.seconds; }},
        {"inode 9 must not be there",
         [](ShownTree& t) { t.nodes[Ino{9}].attributes.mode = S_IFREG, t.nodes.at(root_ino).entries.emplace("x", Ino{9}); }},
        {"inode 1: other names: 2 instead of 3", [](ShownTree& t) { t.nodes.at(root_ino).entries.erase("n"); }},
        {"inode 5 has a name but no attributes", [](ShownTree& t) { t.hidden = tree_device; }},
        {"xattr user.a is listed and cannot be read", [](ShownTree& t) { t.loses_xattrs = true; }},
        {"inode 3 of 0 bytes cannot be read: errno 5", [](ShownTree& t) { t.fails_reads = true; }},
        {"directory 1 cannot be listed", [](ShownTree& t) { t.fails_listings = true; }},
        {"directory 1: d is listed and not found", [](ShownTree& t) { t.finds_nothing = true; }},
        {"directory 1: d is listed and not found", [](ShownTree& t) { t.finds_another = true; }},
    }));
    DYNAMIC_SECTION(change.words) {
        JudgedScene scene = judged_small_tree();
        CHECK_FALSE(scene.verdict());
        change.make(scene.shown);
        scene.refuses(change.words, change.judge);
    }
}

TEST_CASE("inodes that are counted and not there, or there and not counted, are seen", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_small_tree();
    scene.shown.inodes_too_many = 1;
    scene.refuses("6 inodes are counted, 5 are there", Judge::space);
    scene.shown.inodes_too_many = ~std::uint64_t{0}; // one too few
    scene.refuses("4 inodes are counted, 5 are there", Judge::space);
}

TEST_CASE("what a name's operation was answered for is there, in order, and nothing that was not asked for", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_small_tree();
    ShownTree& tree = scene.shown;
    tree.nodes.at(root_ino).entries.erase("n"); // made at 40, answered at 45
    --tree.nodes.at(root_ino).attributes.modified.seconds;
    tree.nodes.at(root_ino).attributes.modified.seconds = 30;
    tree.nodes.at(tree_file).xattrs.clear();
    tree.nodes.erase(tree_device);
    CHECK_FALSE(scene.verdict(44));
    CHECK_FALSE(scene.verdict(30));
    scene.refuses("no allowed state (4 answered)", Judge::names, 45);
    scene.refuses("inode 4 must not be there", Judge::tree, 29); // the link was asked for at 30
    JudgedScene late = judged_small_tree();
    late.shown.nodes.at(root_ino).entries.erase("s"); // the device, made after the link, is there
    late.shown.nodes.erase(tree_link);
    late.refuses("with 3 of 3 ordered operations: inode 5 must not be there", Judge::tree, 31);
    late.refuses("with 5 of 5 ordered operations: inode 1: other names: 2 instead of 3", Judge::tree);
}

TEST_CASE("in a journal the answer promises nothing, and a sync that has ended everything before it", "[fs][crash][judges][tree]") {
    JudgedScene scene{false};
    const ShownTree::Node empty = scene.shown.nodes.at(root_ino);
    scene.make(tree_file, root_ino, "f", S_IFREG | 0600);
    CHECK_FALSE(scene.verdict());
    scene.sync(); // issued at 20, done at 25
    CHECK_FALSE(scene.verdict(24));
    scene.refuses("no allowed state (1 answered)", Judge::names, 25);
    scene.make(tree_device, root_ino, "n", S_IFREG | 0600); // behind the sync: may be missing
    TreeModel before = scene.model;
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    scene.shown.nodes.erase(tree_device);
    scene.shown.nodes.at(root_ino).entries.erase("n");
    scene.shown.nodes.at(root_ino).attributes.modified.seconds = 10;
    CHECK_FALSE(scene.verdict());
}

TEST_CASE("behind the end that a file had there are zeros", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    (void)scene.change(Kind::write, std::string(100, 'a'));
    scene.sync();
    std::string grown(100, 'a');
    grown.resize(2 * tree_page - 1);
    (void)scene.change(Kind::truncate, grown, grown.size());
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    for (const std::size_t stale : {std::size_t{100}, std::size_t{tree_page - 1}, std::size_t{tree_page}, grown.size() - 1}) {
        CAPTURE(stale);
        scene.bytes() = grown;
        scene.bytes()[stale] = 'x';
        scene.refuses("no version ever", Judge::file_contents);
    }
}

TEST_CASE("a size that was synced or set may not shrink, by one byte or to nothing", "[fs][crash][judges][tree]") {
    const std::string content(tree_page + 900, 'a');
    JudgedScene synced = judged_one_file();
    (void)synced.change(Kind::write, content);
    synced.sync();
    JudgedScene set = judged_one_file();
    (void)set.change(Kind::truncate, std::string(content.size(), '\0'), content.size());
    for (JudgedScene* scene : {&synced, &set}) {
        scene->show_newest();
        CHECK_FALSE(scene->verdict());
        for (const std::size_t size : {content.size() - 1, std::size_t{tree_page}, std::size_t{1}, std::size_t{0}}) {
            CAPTURE(size);
            scene->bytes().resize(size);
            const Verdict found = scene->verdict();
            REQUIRE(found.has_value());
            CHECK_THAT(found->what, ContainsSubstring(std::to_string(size) + " bytes, 4996 were set or synced (R4)"));
        }
    }
    CHECK_FALSE(synced.verdict(24)); // before the sync had ended nothing was promised
}

TEST_CASE("a size behind the synced one is that of a version, or whole pages of one, and has its bytes", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    (void)scene.change(Kind::write, std::string(tree_page + 900, 'a'));
    scene.sync();
    std::string longer(tree_page + 900, 'a');
    longer.resize(3 * tree_page + 5, 'b');
    (void)scene.change(Kind::write, longer);
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    for (const std::size_t size : {std::size_t{2 * tree_page}, std::size_t{3 * tree_page}, std::size_t{tree_page + 900}}) {
        CAPTURE(size);
        scene.bytes() = longer.substr(0, size);
        CHECK_FALSE(scene.verdict());
    }
    scene.bytes() = longer + 'b';
    scene.refuses("were never written (R4)", Judge::file_contents);
    scene.bytes() = longer.substr(0, 2 * tree_page + 1);
    scene.refuses("is no size that it ever had (R4)", Judge::file_contents);
    // The second page at its full length, but as it was before it grew: the size came before its bytes.
    scene.bytes() = std::string(tree_page + 900, 'a') + std::string(tree_page - 900, '\0');
    scene.refuses("only version 0, older than 1 which made the size", Judge::file_contents);
}

TEST_CASE("a page is one version as a whole, none older than the last sync, and of this file", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    (void)scene.change(Kind::write, std::string(2 * tree_page, 'a'));
    (void)scene.change(Kind::write, std::string(2 * tree_page, 'b'));
    scene.sync();
    (void)scene.change(Kind::write, std::string(2 * tree_page, 'c'));
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    scene.bytes() = std::string(tree_page, 'c') + std::string(tree_page, 'b'); // pages of two versions
    CHECK_FALSE(scene.verdict());
    scene.bytes()[tree_page + 1] = 'c';
    scene.refuses("bytes 4096..8192 of 8192: no version ever (R2, R3", Judge::file_contents);
    scene.bytes() = std::string(tree_page, 'a') + std::string(tree_page, 'c'); // as the sync found it no more
    scene.refuses("bytes 0..4096 of 8192", Judge::fsync);
    scene.bytes() = std::string(2 * tree_page, '\0');
    scene.refuses("bytes 0..4096 of 8192", Judge::file_contents);
}

TEST_CASE("what was cut off, punched out or allocated shows in every version before it", "[fs][crash][judges][tree]") {
    const std::string old(2 * tree_page, 'a');
    JudgedScene cut_off = judged_one_file();
    (void)cut_off.change(Kind::write, old);
    (void)cut_off.change(Kind::truncate, old.substr(0, 10), 10);
    cut_off.show_newest();
    CHECK_FALSE(cut_off.verdict());
    cut_off.bytes() = old;                                               // the bytes behind the new end come back
    cut_off.refuses("8192 bytes were never written (R4)", Judge::names); // the truncate was answered
    const auto allocate = [](JudgedScene& scene, FallocateMode mode, std::uint64_t bytes, const std::string& after) {
        ModelOp op;
        op.kind = Kind::allocate;
        op.ino = tree_file, op.allocate = mode, op.offset = tree_page, op.bytes = bytes;
        op.after = std::make_shared<const std::string>(after);
        scene.note(op);
        scene.show_newest();
    };
    JudgedScene punched = judged_one_file();
    (void)punched.change(Kind::write, old);
    allocate(punched, FallocateMode::punch_hole, 100, std::string(tree_page, 'a') + std::string(100, '\0') + std::string(tree_page - 100, 'a'));
    CHECK_FALSE(punched.verdict());
    punched.bytes() = old;
    punched.refuses("bytes 4096..8192 of 8192: no version ever", Judge::names); // it was answered
    JudgedScene grown = judged_one_file();
    allocate(grown, FallocateMode::allocate, 50, std::string(tree_page + 50, '\0'));
    CHECK_FALSE(grown.verdict());
    grown.bytes().pop_back();
    grown.refuses("4145 bytes, 4146 were set or synced (R4)", Judge::file_contents);
}

TEST_CASE("what was written behind a truncate is not there before the truncate is, lest its page lose bytes that were synced",
          "[fs][crash][judges][tree]") {
    JudgedScene scene{false};
    scene.make(tree_file, root_ino, "f", S_IFREG | 0600);
    const std::string old(2 * tree_page, 'a');
    (void)scene.change(Kind::write, old);
    scene.sync();
    const std::string kept = old.substr(0, 100), longer = kept + std::string(50, 'b');
    (void)scene.change(Kind::truncate, kept, kept.size());
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    (void)scene.change(Kind::write, longer);
    for (const std::string& right : {kept, longer, old}) {
        scene.bytes() = right;
        scene.shown.nodes.at(tree_file).attributes.modified = {.seconds = right == old ? 20 : 40}; // of the write before, or the truncate
        CHECK_FALSE(scene.verdict());
    }
    scene.bytes().replace(0, tree_page, longer + std::string(tree_page - longer.size(), '\0'));
    scene.refuses("bytes 0..4096 of 8192: no version ever", Judge::file_contents);
}

TEST_CASE("a file without a name is gone after a cut, and one whose directory has a later number is missed", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_small_tree();
    scene.show_newest();
    ModelOp op;
    op.kind = Kind::unnamed;
    op.ino = Ino{6}, op.mode = S_IFREG | 0600, op.parent = root_ino;
    scene.note(op);
    CHECK_FALSE(scene.verdict());
    scene.make(Ino{9}, root_ino, "late", S_IFDIR | 0700);
    scene.make(Ino{7}, Ino{9}, "early", S_IFREG | 0600);
    scene.show_newest();
    scene.shown.nodes.erase(Ino{6});
    CHECK_FALSE(scene.verdict());
    scene.shown.nodes.at(Ino{9}).entries.clear();
    scene.shown.nodes.erase(Ino{7});
    scene.refuses("inode 7 is missing", Judge::tree);
}

TEST_CASE("a rename over a name shows the whole of what was written before it", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    scene.make(tree_device, root_ino, "old", S_IFREG | 0600);
    const std::size_t before = scene.model.operations() + 2;
    (void)scene.change(Kind::write, std::string(tree_page, 'n'));
    ModelOp over;
    over.kind = Kind::rename;
    over.ino = tree_file, over.parent = over.parent2 = root_ino, over.name = "f", over.name2 = "old", over.since = before;
    scene.note(over);
    scene.show_newest();
    CHECK_FALSE(scene.verdict());
    scene.bytes().clear();
    scene.refuses("0 bytes, 4096 were set or synced", Judge::fsync);
}

TEST_CASE("without a cut only what was written last will do", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    (void)scene.change(Kind::write, std::string(tree_page, 'a'));
    (void)scene.change(Kind::write, std::string(tree_page, 'b'));
    scene.show_newest();
    CHECK_FALSE(scene.model.compare_now(scene.shown, JudgedScene::at(1000)));
    scene.bytes() = std::string(tree_page, 'a');
    CHECK(scene.model.compare_now(scene.shown, JudgedScene::at(1000)));
    for (const std::size_t size : {std::size_t{tree_page + 1}, std::size_t{tree_page - 1}, std::size_t{0}}) {
        scene.bytes() = std::string(size, 'b');
        CHECK(scene.model.compare_now(scene.shown, JudgedScene::at(1000)));
    }
    scene.show_newest();
    scene.shown.fails_reads = true;
    CHECK(scene.model.compare_now(scene.shown, JudgedScene::at(1000)));
}

TEST_CASE("what a cut has shown is the past: the next cut may not bring back what it might have shown instead", "[fs][crash][judges][tree]") {
    JudgedScene scene = judged_one_file();
    (void)scene.change(Kind::write, std::string(tree_page, 'a'));
    scene.sync();
    (void)scene.change(Kind::write, std::string(tree_page, 'b'));
    scene.show_newest();
    scene.bytes() = std::string(tree_page, 'a');
    REQUIRE_FALSE(scene.model.settle_after_cut(scene.shown, JudgedScene::at(1000), JudgedScene::at(1000)));
    CHECK_FALSE(scene.verdict());
    scene.bytes() = std::string(tree_page, 'b');
    scene.refuses("no version ever", Judge::file_contents);
    scene.bytes().clear(); // it had been seen at full length
    scene.refuses("0 bytes, 4096 were set or synced", Judge::file_contents);
    scene.bytes() = std::string(tree_page, 'a');
    scene.shown.nodes.at(tree_file).attributes.modified.seconds = 4711;
    scene.refuses("inode 3: mtime is", Judge::tree);

    JudgedScene grown = judged_one_file();
    (void)grown.change(Kind::write, std::string(2 * tree_page, 'a'));
    grown.show_newest();
    REQUIRE_FALSE(grown.model.settle_after_cut(grown.shown, JudgedScene::at(1000), JudgedScene::at(1000)));
    CHECK_FALSE(grown.verdict());
    grown.bytes().resize(tree_page); // never synced, but seen
    grown.refuses("4096 bytes, 8192 were set or synced", Judge::file_contents);
}

/// The judge of trees, judged: states made by hand, each wrong in one way that one statement of TreeModel must see.
///
/// A file system that shows what the test puts there stands where the recovered one stands. A right state is accepted first, so that each refusal
/// comes from the one thing that was changed.
#include <sys/stat.h>

#include <cstring>
#include <functional>
#include <map>

#include "crash/fs/forwarding_file_system.h"
#include "crash/fs/tree_model.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

using Kind = ModelOp::Kind;

/// Shows nodes that the test writes down. Nothing stands behind it.
struct ShownTree final : ForwardingFileSystem {
    struct Node {
        Attributes attributes;
        std::string bytes, target;
        std::map<std::string, std::string> xattrs;
        std::map<std::string, Ino> entries;
        Ino parent{1};
    };

    ShownTree() : ForwardingFileSystem{nullptr} {}

    FsResult<Timed<Attributes>> attributes(const FsCall& c, Ino ino) override {
        const auto at = nodes.find(ino);
        if (at == nodes.end() || ino == hidden) return std::unexpected(FsError{ENOENT});
        Attributes shown = at->second.attributes;
        shown.ino = ino;
        if (S_ISREG(shown.mode)) shown.size = at->second.bytes.size();
        return Timed<Attributes>{shown, c.now};
    }
    FsResult<Timed<std::string>> list_xattrs(const FsCall& c, Ino ino) override {
        std::string names;
        for (const auto& [name, value] : nodes.at(ino).xattrs) names += name + '\0';
        return Timed<std::string>{names, c.now};
    }
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall& c, Ino ino, std::string_view name) override {
        if (loses_xattrs) return std::unexpected(FsError{ENODATA});
        const auto bytes = std::as_bytes(std::span{nodes.at(ino).xattrs.at(std::string{name})});
        return Timed<std::vector<std::byte>>{{bytes.begin(), bytes.end()}, c.now};
    }
    FsResult<Timed<std::string>> read_link(const FsCall& c, Ino ino) override { return Timed<std::string>{nodes.at(ino).target, c.now}; }
    FsResult<Timed<std::size_t>> read(const FsCall& c, Ino ino, std::uint64_t, std::span<std::byte> to) override {
        if (fails_reads) return std::unexpected(FsError{EIO});
        const std::string& bytes = nodes.at(ino).bytes;
        std::memcpy(to.data(), bytes.data(), bytes.size());
        return Timed<std::size_t>{bytes.size() - (reads_short ? 1 : 0), c.now};
    }
    FsResult<SimTime> read_directory(const FsCall& c, Ino ino, std::uint64_t, const EntrySink& sink) override {
        if (fails_listings) return std::unexpected(FsError{EIO});
        const Node& node = nodes.at(ino);
        (void)sink(".", ino, S_IFDIR, 1);
        (void)sink("..", node.parent, S_IFDIR, 2);
        std::uint64_t next = 3;
        for (const auto& [name, child] : node.entries) (void)sink(name, child, 0, next++);
        return c.now;
    }
    FsResult<Timed<Attributes>> lookup(const FsCall& c, Ino parent, std::string_view name) override {
        if (finds_nothing) return std::unexpected(FsError{ENOENT});
        Attributes found;
        found.ino = finds_another ? Ino{1} : nodes.at(parent).entries.at(std::string{name});
        return Timed<Attributes>{found, c.now};
    }
    void forget(Ino, std::uint64_t, SimTime) override {}
    FsUsage usage() const override {
        FsUsage usage;
        usage.inodes = nodes.size() + inodes_too_many;
        return usage;
    }

    std::map<Ino, Node> nodes;
    std::uint64_t inodes_too_many = 0;
    Ino hidden{0}; ///< has a name and no attributes
    bool loses_xattrs = false, fails_reads = false, reads_short = false, fails_listings = false, finds_nothing = false, finds_another = false;
};

constexpr Ino tree_directory{2}, tree_file{3}, tree_link{4}, tree_device{5};
constexpr std::uint32_t tree_page = 4096;

/// A model and what is shown after a cut. Operations are issued at 10, 20, 30 … and answered five later.
struct JudgedScene {
    explicit JudgedScene(bool answered_is_durable = true) : model{tree_page, answered_is_durable} {
        ShownTree::Node& root = shown.nodes[root_ino];
        root.attributes.mode = S_IFDIR | 0755;
        root.attributes.links = 2;
    }
    static SimTime at(int nanoseconds) { return sim_start + Duration{nanoseconds}; }

    std::size_t note(ModelOp op) {
        clock += 10;
        op.issued = at(clock);
        op.done = at(clock + 5);
        op.wall = {.seconds = clock};
        return model.note(std::move(op));
    }
    void make(Ino ino, Ino parent, const std::string& name, std::uint32_t mode, const std::string& target = "", std::uint32_t rdev = 0) {
        ModelOp op;
        op.kind = Kind::create;
        op.ino = ino, op.parent = parent, op.name = name, op.name2 = target, op.mode = mode, op.rdev = rdev;
        note(op);
    }
    std::size_t change(Kind kind, const std::string& after, std::uint64_t bytes = 0) {
        ModelOp op;
        op.kind = kind;
        op.ino = tree_file, op.bytes = bytes;
        op.after = std::make_shared<const std::string>(after);
        return note(op);
    }
    void sync() {
        ModelOp op;
        op.kind = Kind::sync_end;
        op.ino = tree_file, op.since = model.operations() + 1;
        note(op);
    }
    /// What the last operation has left is what is shown.
    void show_newest() {
        shown.nodes.clear();
        for (const auto& [ino, node] : model.now()) {
            ShownTree::Node& is = shown.nodes[ino];
            is.attributes.mode = node.mode;
            is.attributes.uid = node.uid;
            is.attributes.gid = node.gid;
            is.attributes.rdev = node.rdev;
            is.attributes.links = node.links;
            if (node.modified) is.attributes.modified = *node.modified;
            if (node.is_regular()) is.bytes = node.content();
            is.target = node.target, is.xattrs = node.xattrs, is.entries = node.entries, is.parent = node.parent;
        }
        shown.nodes.at(root_ino).parent = model.now().at(root_ino).parent;
    }
    /// A verdict on the state after a cut behind all operations; the model itself stays as it is.
    Verdict verdict(int cut = 1'000'000) {
        TreeModel asked = model;
        return asked.settle_after_cut(shown, at(cut), at(cut));
    }
    void refuses(const std::string& words, Judge judge, int cut = 1'000'000) {
        const Verdict found = verdict(cut);
        REQUIRE(found.has_value());
        CHECK_THAT(found->what, ContainsSubstring(words));
        CHECK(name_of(found->judge) == name_of(judge));
    }
    std::string& bytes() { return shown.nodes.at(tree_file).bytes; }

    TreeModel model;
    ShownTree shown;
    int clock = 0;
};

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
    scene.bytes() = std::string(tree_page + 1, 'b');
    CHECK(scene.model.compare_now(scene.shown, JudgedScene::at(1000)));
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
    scene.bytes() = std::string(tree_page, 'a');
    scene.shown.nodes.at(tree_file).attributes.modified.seconds = 4711;
    scene.refuses("inode 3: mtime is", Judge::tree);
}

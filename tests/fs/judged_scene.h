/// States made by hand for the judge of trees: a file system that shows what a test writes down, and a model beside it.
#pragma once

#include <cstring>
#include <map>
#include <string>

#include <sys/stat.h>

#include "crash/fs/forwarding_file_system.h"
#include "crash/fs/tree_model.h"
#include "tests/support/catch.h"

namespace flashlab::test {

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

inline constexpr Ino tree_directory{2}, tree_file{3}, tree_link{4}, tree_device{5};
inline constexpr std::uint32_t tree_page = 4096;

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
        op.kind = ModelOp::Kind::create;
        op.ino = ino, op.parent = parent, op.name = name, op.name2 = target, op.mode = mode, op.rdev = rdev;
        note(op);
    }
    std::size_t change(ModelOp::Kind kind, const std::string& after, std::uint64_t bytes = 0) {
        ModelOp op;
        op.kind = kind;
        op.ino = tree_file, op.bytes = bytes;
        op.after = std::make_shared<const std::string>(after);
        return note(op);
    }
    void sync() {
        ModelOp op;
        op.kind = ModelOp::Kind::sync_end;
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

} // namespace flashlab::test

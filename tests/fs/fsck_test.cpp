/// fsck, judged: records damaged by hand, each in one way that one of its findings is about. What is right is said to be right first.
#include "fs/fsck.h"

#include <sys/stat.h>

#include <array>
#include <functional>
#include <set>

#include "crash/fs/forwarding_metadata_store.h"
#include "fs/directory.h"
#include "fs/pram_metadata_store.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A store that says something else than its records do.
struct UntrueStore final : ForwardingMetadataStore {
    using ForwardingMetadataStore::ForwardingMetadataStore;
    std::uint64_t data_pages_in_use() const override { return real_->data_pages_in_use() + pages_too_many; }
    std::vector<CheckProblem> check() const override {
        return complains ? std::vector<CheckProblem>{{"M9", "node 3", "a key stands before its parent's"}} : real_->check();
    }
    std::uint64_t pages_too_many = 0;
    bool complains = false;
};

/// /d/e/f, a file of three pages with an attribute, and /g, one of one page; closed, and its records open for changes.
struct OpenedRecords {
    OpenedRecords() {
        d = world.mkdir("d");
        e = world.mkdir("e", d);
        f = world.create("f", e);
        g = world.create("g");
        CHECK(world.write(f, 0, std::string(3 * 4096, 'f')) == 0);
        CHECK(world.write(g, 0, std::string(4096, 'g')) == 0);
        const std::array<std::byte, 3> value{};
        CHECK(world.fs->set_xattr(world.call(), f, "user.a", value, XattrMode::any).has_value());
        CHECK(world.fs->shut_down(world.now).has_value());
        world.fs.reset();
        auto opened = PramMetadataStore::open(*world.pram, world.range(), world.now);
        REQUIRE(opened.has_value());
        store = std::make_shared<UntrueStore>(std::shared_ptr<MetadataStore>{std::move(*opened)});
    }
    [[nodiscard]] InodeRecord record(Ino ino) const {
        std::span<const std::byte> value;
        REQUIRE(store->get({ino, RecordKind::inode, 0}, value));
        const auto read = InodeRecord::decode(value);
        REQUIRE(read.has_value());
        return *read;
    }
    void change(Ino ino, const std::function<void(InodeRecord&)>& how) {
        InodeRecord changed = record(ino);
        how(changed);
        std::array<std::byte, InodeRecord::encoded_size> bytes;
        changed.encode(bytes);
        put({ino, RecordKind::inode, 0}, bytes);
    }
    void put(const RecordKey& key, std::span<const std::byte> value) { REQUIRE(store->put(key, value).has_value()); }
    void put_short(const RecordKey& key) { put(key, std::array<std::byte, 3>{std::byte{1}}); }
    void name(Ino in, const char* text, Ino ino, std::uint32_t type) { REQUIRE(Directory{*store}.add(in, text, ino, type).has_value()); }
    void unname(Ino in, const char* text) {
        Dirent entry;
        REQUIRE(Directory{*store}.find(in, text, entry));
        REQUIRE(Directory{*store}.remove(in, entry).has_value());
    }
    [[nodiscard]] Extent extent_of(Ino ino) const { return *ExtentMap{*store}.next(ino, FilePage{0}); }
    [[nodiscard]] MetadataStore::PageRun free_page() const { return store->find_free_run(LogicalPage{store->data_pages() / 2}, 1); }

    /// The kinds of what fsck finds after this change.
    std::set<std::string> found_after(const std::function<void(OpenedRecords&)>& damage) {
        store->begin();
        damage(*this);
        REQUIRE(store->commit(world.now, no_event).has_value());
        SpaceAccounting space{*store, world.device, 4096};
        space.load();
        std::set<std::string> kinds;
        for (const FsckProblem& problem : Fsck{*store, space, world.device}.run()) kinds.insert(problem.kind);
        return kinds;
    }

    FsWorld world;
    Ino d{0}, e{0}, f{0}, g{0};
    std::shared_ptr<UntrueStore> store;
};

struct RecordDamage {
    const char* what;
    std::set<std::string> kinds; ///< that are found, no others
    std::function<void(OpenedRecords&)> make;
};

std::vector<RecordDamage> damage_to_inodes() {
    using R = OpenedRecords&;
    return {
        {"an inode record of three bytes",
         {"bad-inode", "no-inode", "dangling-name", "entries"},
         [](R r) {
             r.put_short({r.g, RecordKind::inode, 0});
         }},
        {"an attribute of no inode",
         {"no-inode"},
         [](R r) {
             r.put_short({Ino{99}, RecordKind::xattr, 1u << 16});
         }},
        {"a directory's links", {"links"}, [](R r) { r.change(r.d, [](InodeRecord& i) { ++i.links; }); }},
        {"a file's links", {"links"}, [](R r) { r.change(r.f, [](InodeRecord& i) { ++i.links; }); }},
        {"a directory's names", {"entries"}, [](R r) { r.change(r.e, [](InodeRecord& i) { ++i.entries; }); }},
        {"a name in a file", {"entries", "links"}, [](R r) { r.name(r.g, "x", r.f, S_IFREG); }},
        {"a second name of a directory",
         {"directory-names"},
         [](R r) {
             r.name(root_ino, "z", r.e, S_IFDIR);
             r.change(root_ino, [](InodeRecord& i) { ++i.entries, ++i.links; });
         }},
        {"where .. leads", {"parent"}, [](R r) { r.change(r.e, [](InodeRecord& i) { i.parent = root_ino.value(); }); }},
        {"a file without a name and without an orphan record",
         {"orphan"},
         [](R r) {
             r.unname(root_ino, "g");
             r.change(root_ino, [](InodeRecord& i) { --i.entries; });
             r.change(r.g, [](InodeRecord& i) { i.links = 0; });
         }},
        {"a file's pages", {"blocks"}, [](R r) { r.change(r.f, [](InodeRecord& i) { ++i.pages; }); }},
        {"a file's attributes", {"xattrs"}, [](R r) { r.change(r.f, [](InodeRecord& i) { ++i.xattrs; }); }},
        {"a ring of directories, all counts of which are right",
         {"unreachable"},
         [](R r) {
             r.unname(root_ino, "d");
             r.change(root_ino, [](InodeRecord& i) { --i.entries, --i.links; });
             r.name(r.e, "d", r.d, S_IFDIR);
             r.change(r.e, [](InodeRecord& i) { ++i.entries, ++i.links; });
             r.change(r.d, [&](InodeRecord& i) { i.parent = r.e.value(); });
         }},
        {"a name of three bytes",
         {"bad-name"},
         [](R r) {
             r.put_short({root_ino, RecordKind::dirent, 7});
         }},
        {"a name that leads nowhere", {"dangling-name"}, [](R r) { r.name(root_ino, "z", Ino{99}, S_IFREG); }},
        {"a name that says another type",
         {"name-type"},
         [](R r) {
             r.unname(root_ino, "g");
             r.name(root_ino, "g", r.g, S_IFIFO);
         }},
        {"a name where its hash does not put it",
         {"name-misplaced"},
         [](R r) {
             Dirent entry;
             REQUIRE(Directory{*r.store}.find(root_ino, "g", entry));
             std::span<const std::byte> value;
             REQUIRE(r.store->get({root_ino, RecordKind::dirent, entry.position}, value));
             const std::vector<std::byte> kept{value.begin(), value.end()};
             r.unname(root_ino, "g");
             r.put({root_ino, RecordKind::dirent, entry.position ^ (1u << 20)}, kept);
         }},
        {"a record of a kind that there is not",
         {"unknown-record"},
         [](R r) {
             r.put_short({r.g, static_cast<RecordKind>(77), 0});
         }},
    };
}

std::vector<RecordDamage> damage_to_pages() {
    using R = OpenedRecords&;
    return {
        {"an extent of three bytes",
         {"bad-extent"},
         [](R r) {
             r.put_short({r.g, RecordKind::extent, 50});
         }},
        {"an extent over another",
         {"extents-overlap"},
         [](R r) {
             const auto page = r.free_page();
             REQUIRE(ExtentMap{*r.store}.insert(r.g, {FilePage{1}, page.first, 1}).has_value()); // one page that is in f's middle, too
             r.store->set_data_pages(page, true);
             std::span<const std::byte> value;
             REQUIRE(r.store->get({r.g, RecordKind::extent, 1}, value));
             const std::vector<std::byte> kept{value.begin(), value.end()};
             REQUIRE(r.store->erase({r.g, RecordKind::extent, 1}).has_value());
             r.put({r.f, RecordKind::extent, 1}, kept);
             r.change(r.f, [](InodeRecord& i) { ++i.pages; });
         }},
        {"data behind the end of a file", {"data-beyond-size"}, [](R r) { r.change(r.f, [](InodeRecord& i) { i.size = 2 * 4096; }); }},
        {"an extent behind the end of the drive",
         {"pages-outside"},
         [](R r) {
             REQUIRE(ExtentMap{*r.store}.insert(r.g, {FilePage{1}, LogicalPage{r.store->data_pages()}, 1}).has_value());
             r.change(r.g, [](InodeRecord& i) { ++i.pages, i.size = 2 * 4096; });
         }},
        {"an extent that begins in the drive and ends behind it",
         {"pages-outside"},
         [](R r) {
             REQUIRE(ExtentMap{*r.store}.insert(r.g, {FilePage{1}, LogicalPage{r.store->data_pages() - 1}, 2}).has_value());
             r.change(r.g, [](InodeRecord& i) { i.pages += 2, i.size = 3 * 4096; });
         }},
        {"a page of two files",
         {"page-owned-twice"},
         [](R r) {
             REQUIRE(ExtentMap{*r.store}.insert(r.g, {FilePage{1}, r.extent_of(r.f).first, 1}).has_value());
             r.change(r.g, [](InodeRecord& i) { ++i.pages, i.size = 2 * 4096; });
         }},
        {"a page of nobody that is in use", {"page-leaked"}, [](R r) { r.store->set_data_pages(r.free_page(), true); }},
        {"a page of a file that is free",
         {"page-free-in-use"},
         [](R r) {
             r.store->set_data_pages({r.extent_of(r.g).first, 1}, false);
         }},
        {"a count of pages in use", {"page-count"}, [](R r) { r.store->pages_too_many = 1; }},
        {"a free page that is valid in the drive",
         {"free-page-mapped"},
         [](R r) {
             const std::vector<std::byte> bytes(4096);
             const Sector at{r.free_page().first.value() * 8};
             REQUIRE(r.world.device.write(at, 8, bytes, WriteDurability::fua, r.world.now).has_value());
         }},
        {"a tree whose own check complains", {"metadata M9"}, [](R r) { r.store->complains = true; }},
    };
}

} // namespace

TEST_CASE("fsck finds nothing where nothing is wrong", "[fs][fsck][judges]") {
    OpenedRecords records;
    CHECK(records.found_after([](OpenedRecords&) {}).empty());
}

TEST_CASE("fsck names each damage to names and inodes, and nothing else", "[fs][fsck][judges]") {
    const RecordDamage damage = GENERATE(from_range(damage_to_inodes()));
    DYNAMIC_SECTION(damage.what) { CHECK(OpenedRecords{}.found_after(damage.make) == damage.kinds); }
}

TEST_CASE("fsck names each damage to extents and pages, and nothing else", "[fs][fsck][judges]") {
    const RecordDamage damage = GENERATE(from_range(damage_to_pages()));
    DYNAMIC_SECTION(damage.what) { CHECK(OpenedRecords{}.found_after(damage.make) == damage.kinds); }
}

TEST_CASE("fsck misses the root where there is none", "[fs][fsck][judges]") {
    OpenedRecords records;
    const auto found = records.found_after([](OpenedRecords& r) {
        std::vector<RecordKey> all;
        r.store->scan({Ino{0}, RecordKind::inode, 0}, {Ino{1000}, RecordKind::inode, 0}, [&](const RecordKey& key, std::span<const std::byte>) {
            if (key.ino != Ino{0}) all.push_back(key);
            return true;
        });
        for (const auto& extent : {r.extent_of(r.f), r.extent_of(r.g)}) r.store->set_data_pages({extent.first, extent.pages}, false);
        for (const RecordKey& key : all) REQUIRE(r.store->erase(key).has_value());
    });
    CHECK(found == std::set<std::string>{"no-root", "free-page-mapped"});
}

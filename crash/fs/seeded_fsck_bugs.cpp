/// What a wrong recovery may leave in the metadata: each is put there when the file system has been opened after a cut.
#include <sys/stat.h>

#include <array>
#include <limits>
#include <vector>

#include "crash/fs/forwarding_file_system.h"
#include "crash/fs/forwarding_metadata_store.h"
#include "crash/fs/seeded_fs_bugs.h"
#include "fs/inode.h"

namespace flashlab {

namespace {

struct Numbered {
    Ino ino{0};
    InodeRecord record;
};

/// A sabotage that edits records, in one transaction.
class Editor : public FsSabotage {
public:
    void spoil(MetadataStore& store, SimTime now) override {
        inodes_.clear();
        constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        store.scan({Ino{0}, RecordKind::inode, 0}, {Ino{most}, RecordKind::counter, most},
                   [this](const RecordKey& key, std::span<const std::byte> value) {
                       const auto record = key.kind == RecordKind::inode ? InodeRecord::decode(value) : std::nullopt;
                       if (record && record->links != 0) inodes_.push_back({key.ino, *record});
                       return true;
                   });
        store.begin();
        edit(store);
        (void)store.commit(now, no_event);
    }

protected:
    virtual void edit(MetadataStore& store) = 0;
    static void put(MetadataStore& store, const Numbered& inode) {
        std::array<std::byte, InodeRecord::encoded_size> bytes;
        inode.record.encode(bytes);
        (void)store.put({inode.ino, RecordKind::inode, 0}, bytes);
    }
    /// The first inodes that `good` likes, at most `count`; empty when there are fewer.
    template <class Good>
    [[nodiscard]] std::vector<Numbered> pick(std::size_t count, const Good& good) const {
        std::vector<Numbered> fit;
        for (const Numbered& inode : inodes_)
            if (fit.size() < count && good(inode)) fit.push_back(inode);
        if (fit.size() < count) fit.clear();
        return fit;
    }
    static bool has_pages(const Numbered& inode) { return inode.record.is_regular() && inode.record.pages != 0; }

    std::vector<Numbered> inodes_;
};

class LinkTooMany final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& file : pick(1, [](const Numbered& n) { return n.record.is_regular(); })) {
            ++file.record.links;
            put(store, file);
        }
    }
};

class EntryTooMany final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& directory : pick(1, [](const Numbered& n) { return n.record.is_directory() && n.ino != root_ino; })) {
            ++directory.record.entries;
            put(store, directory);
        }
    }
};

class XattrTooMany final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& file : pick(1, [](const Numbered& n) { return n.record.is_regular() && n.record.xattrs == 0; })) {
            ++file.record.xattrs;
            put(store, file);
        }
    }
};

/// Attributes of an inode that is gone.
class StrayXattr final : public Editor {
    void edit(MetadataStore& store) override {
        constexpr std::array<std::byte, 8> value{};
        (void)store.put({Ino{1'000'000'007}, RecordKind::xattr, std::uint64_t{1} << 16}, value);
    }
};

class PageLeaked final : public Editor {
    void edit(MetadataStore& store) override {
        if (const auto run = store.find_free_run(LogicalPage{0}, 1); run.pages != 0) store.set_data_pages(run, true);
    }
};

/// A page of a file is free, and a page of nobody is in use: the counts are right.
class PagesMistaken final : public Editor {
    void edit(MetadataStore& store) override {
        for (std::uint64_t page = 0; page < store.data_pages(); ++page) {
            if (!store.data_page_in_use(LogicalPage{page})) continue;
            const auto run = store.find_free_run(LogicalPage{store.data_pages() / 2}, 1);
            if (run.pages == 0) return;
            store.set_data_pages({LogicalPage{page}, 1}, false);
            store.set_data_pages(run, true);
            return;
        }
    }
};

class SizeCutOff final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& file : pick(1, has_pages)) {
            file.record.size /= 2;
            put(store, file);
        }
    }
};

/// One file counts a page of another: st_blocks of both are wrong, their sum is right. It is so in the records alone; who asks the running
/// file system is told the truth.
class BlocksMistaken final : public FsSabotage {
    struct Store : ForwardingMetadataStore {
        Store(std::shared_ptr<MetadataStore> real, const bool& looks) : ForwardingMetadataStore{std::move(real)}, looks_{looks} {}
        void scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const override {
            if (!looks_) return real_->scan(from, to, visit);
            std::size_t files = 0; // with pages, so far
            std::size_t most = 0;
            const auto is_file = [](const RecordKey& key, std::span<const std::byte> value) -> std::optional<InodeRecord> {
                auto record = key.kind == RecordKind::inode ? InodeRecord::decode(value) : std::nullopt;
                return record && record->is_regular() && record->pages != 0 ? record : std::nullopt;
            };
            real_->scan(from, to, [&](const RecordKey& key, std::span<const std::byte> value) {
                most += is_file(key, value) ? 1 : 0;
                return true;
            });
            real_->scan(from, to, [&](const RecordKey& key, std::span<const std::byte> value) {
                auto record = is_file(key, value);
                if (most < 2 || !record || files++ > 1) return visit(key, value);
                record->pages = files == 1 ? record->pages + 1 : record->pages - 1;
                std::array<std::byte, InodeRecord::encoded_size> bytes;
                record->encode(bytes);
                return visit(key, bytes);
            });
        }
        const bool& looks_;
    };
    struct Program : ForwardingFileSystem {
        Program(std::unique_ptr<FileSystem> real, bool& looks) : ForwardingFileSystem{std::move(real)}, looks_{looks} {}
        std::vector<FsckProblem> check() override {
            looks_ = true;
            auto found = real_->check();
            looks_ = false;
            return found;
        }
        bool& looks_;
    };
    std::shared_ptr<MetadataStore> around_store(std::shared_ptr<MetadataStore> store) override {
        return std::make_shared<Store>(std::move(store), looks_);
    }
    std::unique_ptr<FileSystem> around_fs(std::unique_ptr<FileSystem> fs) override { return std::make_unique<Program>(std::move(fs), looks_); }
    bool looks_ = false;
};

class BlockTooMany final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& file : pick(1, has_pages)) {
            ++file.record.pages;
            put(store, file);
        }
    }
};

class ParentMistaken final : public Editor {
    void edit(MetadataStore& store) override {
        for (Numbered& directory :
             pick(1, [](const Numbered& n) { return n.record.is_directory() && n.ino != root_ino && n.record.parent != root_ino.value(); })) {
            directory.record.parent = root_ino.value();
            put(store, directory);
        }
    }
};

} // namespace

std::vector<SeededFsBug> seeded_fsck_bugs() {
    const std::string_view level = "fsck";
    return {
        {"link_too_many", "a file counts a name that it does not have", made<LinkTooMany>, level, Judge::fsck},
        {"entry_too_many", "a directory counts a name that it does not have", made<EntryTooMany>, level, Judge::fsck},
        {"xattr_too_many", "a file counts an attribute that it does not have", made<XattrTooMany>, level, Judge::fsck},
        {"stray_xattr", "an attribute of no inode is left", made<StrayXattr>, level, Judge::fsck},
        {"page_leaked", "a page of nobody is in use", made<PageLeaked>, level, Judge::fsck},
        {"pages_mistaken", "a page of a file is free, one of nobody is in use", made<PagesMistaken>, level, Judge::fsck},
        {"size_cut_off", "a size is half of what was there", made<SizeCutOff>, level, Judge::file_contents},
        {"blocks_mistaken", "a file counts a page of another", made<BlocksMistaken>, level, Judge::st_blocks},
        {"block_too_many", "a file counts a page that it does not have", made<BlockTooMany>, level, Judge::st_blocks},
        {"parent_mistaken", "a directory's .. leads to the root", made<ParentMistaken>, level, Judge::fsck},
    };
}

} // namespace flashlab

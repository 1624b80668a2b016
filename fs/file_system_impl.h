/// FileSystem over a MetadataStore: the operations, each in the file named after its kind.
///
/// Idea       Every operation checks its arguments, changes copies of the records, commits these in one transaction, then changes memory.
/// Invariant  Memory is changed only after the commit: an operation that fails leaves no trace.
/// Cost       As file_system.h.
/// Power cut  As file_system.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/directory.h"
#include "fs/file_system.h"
#include "fs/inode_table.h"
#include "fs/metadata_transaction.h"
#include "fs/posix_acl.h"
#include "fs/space_accounting.h"
#include "fs/write_back.h"
#include "fs/xattr_store.h"

namespace flashlab {

/// The part of the medium's superblock that the file system uses. PramMetadataStore has it; tests bring their own.
class FsSuperblock {
public:
    virtual ~FsSuperblock() = default;
    [[nodiscard]] virtual std::string label() const = 0;
    [[nodiscard]] virtual FsResult<SimTime> set_label(std::string_view label, SimTime now) = 0;
    [[nodiscard]] virtual bool was_clean() const = 0;
    [[nodiscard]] virtual FsResult<SimTime> mark_dirty(SimTime now) = 0;
    [[nodiscard]] virtual FsResult<SimTime> mark_clean(SimTime now) = 0;
};

/// Page size of the file system on this device: a multiple of what the device keeps whole.
[[nodiscard]] std::uint32_t data_page_bytes_for(const BlockDevice& device);
/// Writes the root directory and the counters into an empty store.
[[nodiscard]] FsResult<void> make_empty_file_system(MetadataStore& store, FileTime wall, SimTime now);

class FileSystemImpl final : public FileSystem {
public:
    FileSystemImpl(std::shared_ptr<MetadataStore> store, std::shared_ptr<FsSuperblock> superblock, BlockDevice& device, EventSink& events,
                   const FsOptions& options, std::uint32_t page_bytes);
    ~FileSystemImpl() override;
    /// Takes ownership of the device that the constructor was given, when nobody else owns it.
    void own(std::unique_ptr<BlockDevice> device) { owned_device_ = std::move(device); }
    /// Recovers orphans, pending trims and counters. The error says what is wrong.
    [[nodiscard]] std::expected<void, std::string> recover(SimTime now);

    FsResult<Timed<Attributes>> lookup(const FsCall&, Ino parent, std::string_view name) override;
    void forget(Ino ino, std::uint64_t references, SimTime now) override;
    FsResult<Timed<Attributes>> make_node(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t rdev) override;
    FsResult<Timed<Attributes>> make_unnamed(const FsCall&, Ino parent, std::uint32_t mode, bool may_be_linked) override;
    FsResult<Timed<Attributes>> make_directory(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode) override;
    FsResult<Timed<Attributes>> make_symlink(const FsCall&, Ino parent, std::string_view name, std::string_view target) override;
    FsResult<Timed<Attributes>> link(const FsCall&, Ino ino, Ino parent, std::string_view name) override;
    FsResult<SimTime> unlink(const FsCall&, Ino parent, std::string_view name) override;
    FsResult<SimTime> remove_directory(const FsCall&, Ino parent, std::string_view name) override;
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall&, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                     RenameMode mode) override;
    FsResult<Timed<std::string>> read_link(const FsCall&, Ino ino) override;
    FsResult<SimTime> read_directory(const FsCall&, Ino ino, std::uint64_t offset, const EntrySink& sink) override;

    FsResult<Timed<Attributes>> attributes(const FsCall&, Ino ino) override;
    FsResult<Timed<Attributes>> change_attributes(const FsCall&, Ino ino, const AttributeChange& change) override;
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall&, Ino ino, std::string_view name) override;
    FsResult<SimTime> set_xattr(const FsCall&, Ino ino, std::string_view name, std::span<const std::byte> value, XattrMode mode) override;
    FsResult<SimTime> remove_xattr(const FsCall&, Ino ino, std::string_view name) override;
    FsResult<Timed<std::string>> list_xattrs(const FsCall&, Ino ino) override;
    FsResult<SimTime> set_file_flags(const FsCall&, Ino ino, std::uint32_t flags) override;

    FsResult<SimTime> open_file(const FsCall&, Ino ino, const OpenMode& mode) override;
    void close_file(const FsCall&, Ino ino, bool for_writing) override;
    FsResult<Timed<std::size_t>> read(const FsCall&, Ino ino, std::uint64_t offset, std::span<std::byte> to) override;
    FsResult<Timed<std::size_t>> write(const FsCall&, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override;
    WriteErrorMark write_error_mark(Ino ino) override;
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino ino, SyncScope scope, WriteErrorMark* mark) override;
    FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall&) override;
    FsResult<SimTime> allocate(const FsCall&, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) override;
    FsResult<std::unique_ptr<BlockDevice>> device_of(Ino ino) override;
    FsResult<std::uint64_t> seek(const FsCall&, Ino ino, std::uint64_t offset, SeekWhat what) override;
    FsResult<Timed<std::uint64_t>> copy_range(const FsCall&, Ino from, std::uint64_t from_offset, Ino to, std::uint64_t to_offset,
                                              std::uint64_t bytes) override;

    FsUsage usage() const override;
    HostCache host_cache() const override { return options_.host_cache; }
    std::string label() const override;
    FsResult<SimTime> set_label(const FsCall&, std::string_view label) override;
    FsResult<Timed<std::uint64_t>> trim_free(const FsCall&, std::uint64_t offset, std::uint64_t bytes, std::uint64_t min_bytes) override;
    SimTime tick(SimTime now) override;
    std::vector<UnsyncedRange> unsynced() const override;
    FsResult<SimTime> shut_down(SimTime now) override;
    std::vector<FsckProblem> check() override;
    DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) override;
    std::vector<std::string> paths_of(Ino ino, std::size_t most) const override;

private:
    friend class SyncCall;
    friend class RenameCall;

    struct NewNode {
        std::uint32_t mode = 0;
        std::uint32_t rdev = 0;
        std::string_view target; ///< symbolic links
    };
    struct InodeNumbers {
        std::uint64_t next = 0;
        std::uint64_t limit = 0; ///< numbers below are reserved in the store
    };
    /// An inode that a transaction makes.
    struct NewInode {
        Ino ino;
        InodeRecord record;
        InodeNumbers numbers; ///< after it
    };
    /// The result of a transaction that removes one link of an inode.
    struct LinkDrop {
        InodeRecord record;
        bool destroyed = false; ///< the inode went in the same transaction
        PageRuns freed;
    };

    // --- file_system_impl.cpp
    [[nodiscard]] FsResult<Inode*> get(Ino ino);
    [[nodiscard]] FsResult<Inode*> get_directory(Ino ino);
    [[nodiscard]] FsResult<Inode*> get_regular(Ino ino);
    [[nodiscard]] FsResult<void> may_change() const;
    /// 0 where there is no such file.
    [[nodiscard]] std::uint64_t size_of(Ino ino) const;
    [[nodiscard]] Attributes attributes_of(const Inode& inode) const;
    void touch_accessed(const FsCall& call, Inode& inode);
    [[nodiscard]] FilePage page_of(std::uint64_t offset) const { return FilePage{offset / page_bytes_}; }
    /// The first page that begins at `offset` or behind it.
    [[nodiscard]] FilePage page_from(std::uint64_t offset) const { return FilePage{pages_for(offset)}; }
    [[nodiscard]] std::uint64_t offset_of(FilePage page) const { return page.value() * page_bytes_; }
    [[nodiscard]] std::uint64_t pages_for(std::uint64_t size) const { return (size + page_bytes_ - 1) / page_bytes_; }
    /// Puts the record into the transaction, with the committed size.
    [[nodiscard]] static FsResult<void> put(MetadataTransaction& transaction, const Inode& inode, const InodeRecord& record);

    // --- file_system_names.cpp
    [[nodiscard]] FsResult<void> check_name(std::string_view name) const;
    [[nodiscard]] FsResult<Timed<Attributes>> create(const FsCall&, Ino parent, std::string_view name, NewNode node);
    [[nodiscard]] static InodeRecord new_record(const FsCall&, std::uint32_t mode);
    [[nodiscard]] FsResult<void> inherit(const FsCall&, const Inode& parent, Ino ino, InodeRecord& record);
    /// Must be called inside a transaction. The caller keeps the numbers once the transaction is committed.
    [[nodiscard]] FsResult<Ino> next_number(InodeNumbers& numbers);
    /// Gives a new inode its number and what its parent hands down, and puts it into the transaction. Nothing changes in memory.
    [[nodiscard]] FsResult<NewInode> put_new(MetadataTransaction& transaction, const FsCall&, const Inode& parent, InodeRecord record);
    /// Once the transaction is committed. The caller of the call holds the inode.
    Inode& add_new(const NewInode& made);
    struct FoundEntry {
        Inode* parent;
        Dirent entry;
        Inode* inode;
    };
    [[nodiscard]] FsResult<FoundEntry> find_entry(Ino parent, std::string_view name);
    [[nodiscard]] FsResult<SimTime> remove_entry(const FsCall& call, Inode& parent, const Dirent& entry, Inode& inode);
    [[nodiscard]] FsResult<LinkDrop> drop_link(MetadataTransaction& transaction, const Inode& inode, FileTime when);
    void finish_drop(Inode& inode, const LinkDrop& drop, SimTime now);

    // --- file_system_rename.cpp
    struct RenamePlan;
    [[nodiscard]] FsResult<RenamePlan> plan_rename(Ino from_parent, std::string_view from, Ino to_parent, std::string_view to, RenameMode mode);
    [[nodiscard]] FsResult<SimTime> commit_rename(const FsCall&, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                  RenameMode mode, SimTime now);
    [[nodiscard]] FsResult<SimTime> commit_exchange(const FsCall&, RenamePlan& plan, std::string_view from, std::string_view to, SimTime now);
    [[nodiscard]] bool is_within(Ino directory, Ino ancestor);

    // --- file_system_orphans.cpp
    /// Must be called inside the transaction that gives an unnamed inode its name.
    [[nodiscard]] FsResult<void> end_orphan(Ino ino);
    void destroy_if_unused(Inode& inode, SimTime now);
    [[nodiscard]] FsResult<SimTime> destroy(Inode& inode, SimTime now);
    void destroy_doomed(SimTime now);
    [[nodiscard]] FsResult<void> clean_orphans(SimTime now);
    void load_counters(bool clean);
    [[nodiscard]] FsResult<SimTime> free_extents_from(Inode& inode, FilePage page, SimTime now);

    // --- file_system_attributes.cpp, file_system_xattrs.cpp
    [[nodiscard]] FsResult<void> chmod_acl(const Inode& inode, InodeRecord& record);
    [[nodiscard]] FsResult<void> set_acl(const Inode& inode, InodeRecord& record, std::string_view name, std::span<const std::byte> value);

    // --- file_system_data.cpp, file_system_write.cpp
    [[nodiscard]] FsResult<SimTime> truncate(const FsCall&, Inode& inode, InodeRecord changed, std::uint64_t size, bool with_mode);
    [[nodiscard]] FsResult<void> zero_committed_tail(Inode& inode, SimTime now);
    [[nodiscard]] FsResult<SimTime> load_page(Inode& inode, FilePage page, std::span<std::byte> to, SimTime now);
    [[nodiscard]] FsResult<SimTime> read_device(std::uint64_t device_byte, std::span<std::byte> to, SimTime now);
    [[nodiscard]] FsResult<SimTime> read_uncached(Inode& inode, std::uint64_t offset, std::span<std::byte> to, SimTime now);
    enum class Fit : std::uint8_t { all, what_fits };
    /// Returns the bytes written, and the time at which the pages that it had to read are there.
    [[nodiscard]] FsResult<Timed<std::size_t>> write_pages(Inode& inode, std::uint64_t offset, std::span<const std::byte> from, Fit fit, SimTime now);
    /// What has to be reserved for the pages [first, last] of a file.
    struct Needs {
        std::uint64_t pages = 0;   ///< logical pages
        std::uint64_t records = 0; ///< pages whose commit adds records
    };
    [[nodiscard]] Needs needs_of(Inode& inode, FilePage first, FilePage last);
    [[nodiscard]] FsResult<void> make_room_for_records(Inode& inode, FilePage first, FilePage last, SimTime now);
    [[nodiscard]] FsResult<FilePage> reserve_for(Inode& inode, FilePage first, FilePage last, Fit fit);
    [[nodiscard]] bool needs_load(const Inode& inode, FilePage page, std::uint64_t from, std::uint64_t to) const;
    [[nodiscard]] FsResult<SimTime> take_tail_along(Inode& inode, FilePage first, SimTime now);
    [[nodiscard]] FsResult<void> write_zeros(const FsCall&, Inode& inode, std::uint64_t from, std::uint64_t to);
    [[nodiscard]] static FsResult<void> may_write(const Inode& inode, std::uint64_t offset);

    // --- file_system_allocate.cpp
    [[nodiscard]] FsResult<void> zero_edges(const FsCall&, Inode& inode, std::uint64_t from, std::uint64_t to);
    [[nodiscard]] FsResult<void> empty_pages(Inode& inode, FilePage first, FilePage last, bool keep_pages, SimTime now);
    [[nodiscard]] std::uint64_t holes_in(const Inode& inode, FilePage first, FilePage last) const;
    [[nodiscard]] FsResult<void> fill_holes(Inode& inode, FilePage first, FilePage last, SimTime now);
    [[nodiscard]] FsResult<FilePage> fill_some(Inode& inode, FilePage page, FilePage last, SimTime now);
    [[nodiscard]] FsResult<ExtentMap::Removed> empty_some(Ino ino, FilePage first, FilePage last, bool keep_pages);
    [[nodiscard]] FilePage end_of_hole(const Inode& inode, FilePage page, FilePage last) const;
    [[nodiscard]] std::optional<FilePage> next_data(Inode& inode, FilePage page) const;

    std::unique_ptr<BlockDevice> owned_device_; ///< first: the others use it
    std::shared_ptr<MetadataStore> store_;
    std::shared_ptr<FsSuperblock> superblock_;
    BlockDevice& device_;
    EventSink& events_;
    FsOptions options_;
    std::uint32_t page_bytes_;
    InodeTable table_;
    Directory directory_;
    XattrStore xattrs_;
    ExtentMap extents_;
    SpaceAccounting space_;
    PageCache cache_;
    WriteBack write_back_;
    std::vector<Ino> doomed_; ///< inodes without name and user, whose write-back job was under way
    InodeNumbers numbers_;
    std::uint64_t inodes_ = 0;
    std::vector<std::byte> scratch_;               ///< unaligned reads
    std::vector<std::byte> head_page_, tail_page_; ///< partly overwritten pages of a write
};

} // namespace flashlab

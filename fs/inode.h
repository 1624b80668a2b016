/// An inode: its record in the store, and its state in memory.
///
/// Idea       The record in the store is what a cut leaves. `Inode::record` may be ahead of it in size and times until write-back commits these.
/// Invariant  I1 committed_size <= what committed extents and explicit size changes justify. I2 cached bytes at or beyond record.size are zero.
///            I3 bytes of the device at or beyond committed_size are never shown and are zeroed before committed_size grows over them.
/// Cost       112 bytes a record. Fields that stay the same cost no PRAM word.
/// Power cut  The record is as of its last commit. Size and mtime of unsynced writes are lost.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fs/extent_map.h"
#include "fs/fs_types.h"
#include "fs/metadata_store.h"

namespace flashlab {

inline constexpr std::uint64_t largest_file = 1ull << 60; ///< bytes

struct InodeRecord {
    static constexpr std::size_t encoded_size = 112;
    enum AclBit : std::uint32_t { has_access_acl = 1, has_default_acl = 2 };

    std::uint32_t mode = 0;
    std::uint32_t links = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t rdev = 0;
    std::uint32_t flags = 0; ///< FS_IOC_GETFLAGS
    std::uint64_t size = 0;
    std::uint64_t pages = 0; ///< data pages its extents map
    FileTime accessed, modified, changed, born;
    std::uint64_t parent = 0;  ///< directories: where ".." leads
    std::uint64_t entries = 0; ///< directories: names, without "." and ".."
    std::uint32_t xattrs = 0;  ///< named attributes, ACLs included
    std::uint32_t acl = 0;     ///< AclBit

    void encode(std::span<std::byte, encoded_size> out) const;
    [[nodiscard]] static std::optional<InodeRecord> decode(std::span<const std::byte> in);

    [[nodiscard]] std::uint32_t type() const;
    [[nodiscard]] bool is_directory() const;
    [[nodiscard]] bool is_regular() const;
    [[nodiscard]] bool is_symlink() const;
    /// Takes away the bits that a write, truncate or chown by an unprivileged caller takes away.
    void clear_suid_sgid();
};

/// Call after a change of the file's bytes or of its owner. It clears the set-id bits unless the caller is the superuser. Where the group may not
/// execute, it clears S_ISGID only for callers outside the group.
void drop_set_ids(const FsCall& call, InodeRecord& record);

struct CachePage;
class WriteBackJob;
using InodeListHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

struct CachePageHook : boost::intrusive::list_base_hook<> {};
using CachePageList = boost::intrusive::list<CachePage, boost::intrusive::base_hook<CachePageHook>, boost::intrusive::constant_time_size<true>>;

/// An inode in memory. It is linked into the list of dirty inodes while it has something to write back.
struct Inode : InodeListHook {
    explicit Inode(Ino number) : ino{number} {}

    Ino ino;
    InodeRecord record;
    std::uint64_t committed_size = 0;
    std::uint64_t references = 0; ///< lookups not yet forgotten
    std::uint32_t opens = 0;
    std::uint32_t writers = 0;
    std::uint32_t pins = 0;             ///< slow calls that hold it
    StreamId writer_stream = no_stream; ///< of who wrote last
    bool record_dirty = false;          ///< times (or size) ahead of the store
    bool flush_on_close = false;        ///< truncated to 0: flushed when its last writer closes it
    bool flush_now = false;             ///< to be written back by the next tick
    bool may_be_linked = false;         ///< made without a name, and may still get one
    std::uint64_t write_errors = 0;     ///< failed write-backs
    std::uint64_t errors_told = 0;      ///< of these, told to somebody
    int last_write_error = EIO;         ///< errno of the newest
    SimTime dirty_since = sim_start;
    CommitMark shrunk;                ///< the last commit that removed bytes: their pages are not overwritten before it is durable
    SimTime tail_zeroed = sim_never;  ///< when the bytes behind committed_size are zero on the device; sim_never: not known to be
    SimTime loaded_until = sim_start; ///< bytes of its cached pages are being read until then: they are not written back earlier
    WriteBackJob* job = nullptr;
    CachePageList* pages = nullptr;  ///< dirty or in flight; owned by the page cache, null when none
    std::uint64_t delayed_pages = 0; ///< cached pages that have no logical page yet
    Extent last_extent;              ///< pages == 0: unknown
    FilePage extents_end{0};         ///< no extent reaches this page or beyond; valid when extents_end_known
    bool extents_end_known = false;

    [[nodiscard]] bool is_dirty() const { return pages != nullptr || record_dirty; }
    [[nodiscard]] bool is_idle() const { return references == 0 && opens == 0 && pins == 0 && job == nullptr && !is_dirty(); }
    [[nodiscard]] bool is_unused() const { return references == 0 && opens == 0 && pins == 0; }
    void forget_extents() {
        last_extent = Extent{};
        extents_end_known = false;
    }
};

} // namespace flashlab

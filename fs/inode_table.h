/// The inodes in memory.
///
/// Idea       Loaded on first use; kept while the kernel refers to them, they are open, or something of them is not committed.
/// Invariant  One Inode an inode number; its address stays while it is in the table. What was loaded waits for every commit that shrank an inode dropped before:
///            the mark of its own outlives it in the newest of all.
/// Cost       A hash look-up; a record read on a miss.
/// Power cut  Gone; unlinked open inodes are orphan records.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>

#include "fs/inode.h"
#include "fs/metadata_store.h"

namespace flashlab {

class InodeTable {
public:
    explicit InodeTable(MetadataStore& store) : store_{store} {}
    /// Null when there is no such inode.
    [[nodiscard]] Inode* find(Ino ino);
    /// Only what is in memory.
    [[nodiscard]] Inode* peek(Ino ino) const;
    /// As the store has it, whatever of it is open.
    [[nodiscard]] std::optional<InodeRecord> stored(Ino ino) const;
    Inode& add(Ino ino, const InodeRecord& record);
    void remove(Ino ino);
    /// Forgets the inode when nobody needs it in memory.
    void drop_if_idle(Inode& inode);
    [[nodiscard]] std::size_t size() const { return inodes_.size(); }

private:
    MetadataStore& store_;
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Inode>> inodes_;
    CommitMark dropped_shrunk_; ///< the newest of the dropped: one for all, as a mark an inode would keep every inode
};

} // namespace flashlab

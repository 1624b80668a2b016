/// The inodes in memory.
///
/// Idea       An inode is loaded on first use. It is kept while the kernel refers to it, while it is open,
///            and while something of it is not committed.
/// Invariant  Each inode number has at most one Inode, whose address does not change while it is in the table. A freshly loaded inode waits for the
///            newest commit that shrank any dropped inode. So it also waits for the commit that shrank this inode before it was dropped.
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
    /// The inode if it is in memory, else null.
    [[nodiscard]] Inode* peek(Ino ino) const;
    /// The record as it is in the store, whether the inode is in memory or not.
    [[nodiscard]] std::optional<InodeRecord> stored(Ino ino) const;
    Inode& add(Ino ino, const InodeRecord& record);
    void remove(Ino ino);
    /// Forgets the inode when nobody needs it in memory.
    void drop_if_idle(Inode& inode);
    [[nodiscard]] std::size_t size() const { return inodes_.size(); }

private:
    MetadataStore& store_;
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Inode>> inodes_;
    CommitMark dropped_shrunk_; ///< the newest mark of all dropped inodes: a mark for each would keep every inode in memory
};

} // namespace flashlab

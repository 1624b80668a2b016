/// One transaction of the store, rolled back unless committed.
///
/// Idea       An operation that returns early leaves no trace.
/// Cost       None of its own.
/// Power cut  As MetadataStore: wholly there or not at all.
#pragma once

#include <array>

#include "fs/inode.h"
#include "fs/metadata_store.h"

namespace flashlab {

class MetadataTransaction {
public:
    enum class Reserve : std::uint8_t { keep, use };
    explicit MetadataTransaction(MetadataStore& store, Reserve reserve = Reserve::keep) : store_{store} {
        store_.begin();
        if (reserve == Reserve::use) store_.use_reserve();
    }
    ~MetadataTransaction() {
        if (open_) store_.roll_back();
    }
    MetadataTransaction(const MetadataTransaction&) = delete;
    MetadataTransaction& operator=(const MetadataTransaction&) = delete;

    /// Puts the record with the committed size: a size whose data are not durable yet is left out.
    [[nodiscard]] FsResult<void> put_inode(Ino ino, InodeRecord record, std::uint64_t committed_size) {
        std::array<std::byte, InodeRecord::encoded_size> bytes;
        record.size = committed_size;
        record.encode(bytes);
        return store_.put(RecordKey{.ino = ino, .kind = RecordKind::inode, .subkey = 0}, bytes);
    }
    [[nodiscard]] FsResult<SimTime> commit(SimTime now, EventId parent = no_event) {
        open_ = false;
        return store_.commit(now, parent);
    }

private:
    MetadataStore& store_;
    bool open_ = true;
};

} // namespace flashlab

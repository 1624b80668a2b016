#include "fs/inode_table.h"

#include <algorithm>

namespace flashlab {

Inode* InodeTable::peek(Ino ino) const {
    const auto at = inodes_.find(ino.value());
    return at == inodes_.end() ? nullptr : at->second.get();
}

std::optional<InodeRecord> InodeTable::stored(Ino ino) const {
    std::span<const std::byte> value;
    if (!store_.get(RecordKey{.ino = ino, .kind = RecordKind::inode, .subkey = 0}, value)) return std::nullopt;
    const auto record = InodeRecord::decode(value);
    return record ? std::optional{*record} : std::nullopt;
}

Inode* InodeTable::find(Ino ino) {
    if (Inode* inode = peek(ino)) return inode;
    const auto record = stored(ino);
    if (!record) return nullptr;
    Inode& inode = add(ino, *record);
    inode.shrunk = dropped_shrunk_; // perhaps its own
    return &inode;
}

Inode& InodeTable::add(Ino ino, const InodeRecord& record) {
    auto& slot = inodes_[ino.value()];
    slot = std::make_unique<Inode>(ino);
    slot->record = record;
    slot->committed_size = record.size;
    return *slot;
}

void InodeTable::remove(Ino ino) { inodes_.erase(ino.value()); }

void InodeTable::drop_if_idle(Inode& inode) {
    if (!inode.is_idle() || inode.record.links == 0) return;
    dropped_shrunk_ = std::max(dropped_shrunk_, inode.shrunk);
    inodes_.erase(inode.ino.value());
}

} // namespace flashlab

// The superblock of a PramMetadataStore, as FsSuperblock.
//
// Idea: FileSystemImpl knows the superblock apart from the store, because the tree of a journal is not its store.
// Invariant: `owner` keeps the store alive as long as this.
// Cost: a virtual call. Power cut: what PramMetadataStore says.
#pragma once

#include "fs/file_system_impl.h"
#include "fs/pram_metadata_store.h"

namespace flashlab {

class TreeSuperblock final : public FsSuperblock {
public:
    TreeSuperblock(std::shared_ptr<MetadataStore> owner, PramMetadataStore& store) : owner_{std::move(owner)}, store_{store} {}
    std::string label() const override { return store_.label(); }
    FsResult<SimTime> set_label(std::string_view label, SimTime now) override { return store_.set_label(label, now); }
    bool was_clean() const override { return store_.was_clean(); }
    FsResult<SimTime> mark_dirty(SimTime now) override { return store_.mark_dirty(now); }
    FsResult<SimTime> mark_clean(SimTime now) override { return store_.mark_clean(now); }

private:
    std::shared_ptr<MetadataStore> owner_;
    PramMetadataStore& store_;
};

} // namespace flashlab

// mkfs and mount: the file system over its metadata on PRAM.
#include "base/contract.h"
#include "fs/file_system_impl.h"
#include "fs/pram_metadata_store.h"

namespace flashlab {

namespace {

/// The superblock half of a PramMetadataStore.
class PramSuperblock final : public FsSuperblock {
public:
    explicit PramSuperblock(std::shared_ptr<PramMetadataStore> store) : store_{std::move(store)} {}
    std::string label() const override { return store_->label(); }
    FsResult<SimTime> set_label(std::string_view label, SimTime now) override { return store_->set_label(label, now); }
    bool was_clean() const override { return store_->was_clean(); }
    FsResult<SimTime> mark_dirty(SimTime now) override { return store_->mark_dirty(now); }
    FsResult<SimTime> mark_clean(SimTime now) override { return store_->mark_clean(now); }

private:
    std::shared_ptr<PramMetadataStore> store_;
};

std::uint64_t data_pages_of(const BlockDevice& device) { return device.identify().sectors / (data_page_bytes_for(device) / sector_bytes); }

} // namespace

std::uint64_t FileSystem::suggested_pram_bytes(std::uint64_t data_bytes) { return PramMetadataStore::suggested_bytes(data_bytes); }

FsResult<void> FileSystem::format(Pram& pram, PramRange range, const BlockDevice& device, std::string_view label, FileTime wall) {
    const MetadataFormat wanted{.data_pages = data_pages_of(device),
                                .data_page_bytes = data_page_bytes_for(device),
                                .label = std::string{label},
                                .created = wall,
                                .uuid_seed = static_cast<std::uint64_t>(wall.seconds) * 1'000'000'007u + wall.nanoseconds};
    if (label.size() > PramMetadataStore::max_label_bytes) return std::unexpected(FsError{ENAMETOOLONG});
    if (!PramMetadataStore::format(pram, range, wanted)) return std::unexpected(FsError{ENOSPC});
    const SimTime now = pram.last_reserved_end();
    const auto store = PramMetadataStore::open(pram, range, now);
    if (!store) return std::unexpected(FsError{EIO});
    return make_empty_file_system(**store, wall, now);
}

std::expected<std::unique_ptr<FileSystem>, std::string> FileSystem::open(Pram& pram, PramRange range, BlockDevice& device, EventSink& events,
                                                                        const FsOptions& options, SimTime now) {
    auto opened = PramMetadataStore::open(pram, range, now);
    if (!opened) return std::unexpected(opened.error());
    const std::shared_ptr<PramMetadataStore> store{std::move(*opened)};
    const std::uint32_t page_bytes = store->data_page_bytes();
    if (page_bytes != data_page_bytes_for(device) || store->data_pages() > data_pages_of(device)) {
        return std::unexpected("the metadata belong to a device of " + std::to_string(store->data_pages()) + " pages of " + std::to_string(page_bytes) +
                               " bytes, this one has " + std::to_string(data_pages_of(device)) + " of " + std::to_string(data_page_bytes_for(device)) +
                               "; nand.img and pram.img are not of the same mkfs");
    }
    auto fs = std::make_unique<FileSystemImpl>(store, std::make_shared<PramSuperblock>(store), device, events, options, page_bytes);
    try {
        if (auto recovered = fs->recover(now); !recovered) return std::unexpected(recovered.error());
    } catch (const ContractViolation& broken) { // a tree that is not what it promises: nothing has been written but whole transactions
        return std::unexpected(std::string{"the metadata are damaged: "} + broken.what() + "; restore the image from a copy");
    }
    return fs;
}

} // namespace flashlab

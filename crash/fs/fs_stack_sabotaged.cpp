// Opens the file system as FileSystem::open() does, with a sabotage's wrappers between its parts.
#include "crash/fs/fs_stack.h"
#include "fs/journal_metadata_store.h"
#include "fs/offset_device.h"
#include "fs/tree_superblock.h"

namespace flashlab {

std::expected<std::unique_ptr<FileSystem>, std::string> FsStack::open_sabotaged() {
    FsSabotage& sabotage = *config_.sabotage;
    liar_ = sabotage.around_drive(ssd());
    BlockDevice& drive = liar_ ? *liar_ : static_cast<BlockDevice&>(ssd());
    std::shared_ptr<MetadataStore> store;
    PramMetadataStore* tree = nullptr;
    std::unique_ptr<OffsetDevice> part;
    SimTime now = ready_at_;
    if (config_.journal) {
        auto opened = JournalMetadataStore::open(drive, config_.fs.dirty_age, now, cells_.journal_memory.get());
        if (!opened) return std::unexpected(opened.error());
        tree = &(*opened)->tree();
        const std::uint64_t sectors = (*opened)->data_pages() * (tree->data_page_bytes() / sector_bytes);
        part = std::make_unique<OffsetDevice>(drive, (*opened)->data_sector(), sectors);
        store = std::move(*opened);
    } else {
        auto opened = PramMetadataStore::open(*drive_->pram(), fs_range(), now);
        if (!opened) return std::unexpected(opened.error());
        tree = opened->get();
        store = std::move(*opened);
    }
    const std::uint32_t page_bytes = tree->data_page_bytes();
    auto superblock = std::make_shared<TreeSuperblock>(store, *tree);
    store = sabotage.around_store(std::move(store));
    BlockDevice& data = part ? *part : drive;
    auto fs = std::make_unique<FileSystemImpl>(store, std::move(superblock), data, events_, config_.fs, page_bytes);
    fs->own(std::move(part));
    if (auto recovered = fs->recover(now); !recovered) return std::unexpected(recovered.error());
    sabotage.spoil(*store, std::max(now, ssd().last_reserved_end()));
    return sabotage.around_fs(std::move(fs));
}

} // namespace flashlab

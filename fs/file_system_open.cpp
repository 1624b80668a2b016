// mkfs and mount: the file system over its metadata on PRAM.
#include "base/contract.h"
#include "fs/journal_memory.h"
#include "fs/journal_metadata_store.h"
#include "fs/offset_device.h"
#include "fs/tree_superblock.h"

namespace flashlab {

namespace {

MetadataFormat format_of(const BlockDevice& device, std::string_view label, FileTime wall) {
    return {.data_pages = device.identify().sectors / (data_page_bytes_for(device) / sector_bytes),
            .data_page_bytes = data_page_bytes_for(device),
            .label = std::string{label},
            .created = wall,
            .uuid_seed = static_cast<std::uint64_t>(wall.seconds) * 1'000'000'007u + wall.nanoseconds};
}

std::expected<void, std::string> recover_guarded(FileSystemImpl& fs, SimTime now) {
    try {
        return fs.recover(now);
    } catch (const ContractViolation& broken) { // the tree breaks its own promises; only whole transactions have been written
        return std::unexpected(std::string{"the metadata are damaged: "} + broken.what() + "; restore the image from a copy");
    }
}

std::uint64_t data_pages_of(const BlockDevice& device) { return device.identify().sectors / (data_page_bytes_for(device) / sector_bytes); }

} // namespace

std::uint64_t FileSystem::suggested_pram_bytes(std::uint64_t data_bytes) { return PramMetadataStore::suggested_bytes(data_bytes); }

FsResult<void> FileSystem::format(Pram& pram, PramRange range, const BlockDevice& device, std::string_view label, FileTime wall) {
    const MetadataFormat wanted = format_of(device, label, wall);
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
        return std::unexpected("the metadata belong to a device of " + std::to_string(store->data_pages()) + " pages of " +
                               std::to_string(page_bytes) + " bytes, this one has " + std::to_string(data_pages_of(device)) + " of " +
                               std::to_string(data_page_bytes_for(device)) + "; nand.img and pram.img are not of the same mkfs");
    }
    auto fs = std::make_unique<FileSystemImpl>(store, std::make_shared<TreeSuperblock>(store, *store), device, events, options, page_bytes);
    if (auto recovered = recover_guarded(*fs, now); !recovered) return std::unexpected(recovered.error());
    return fs;
}

FsResult<void> FileSystem::format_journal(BlockDevice& device, std::string_view label, FileTime wall, SimTime now) {
    if (label.size() > PramMetadataStore::max_label_bytes) return std::unexpected(FsError{ENAMETOOLONG});
    if (!JournalMetadataStore::format(device, data_page_bytes_for(device), format_of(device, label, wall), now))
        return std::unexpected(FsError{ENOSPC});
    const auto store = JournalMetadataStore::open(device, Duration{0}, now);
    if (!store) return std::unexpected(FsError{EIO});
    if (const auto made = make_empty_file_system(**store, wall, now); !made) return made;
    if (const auto durable = make_all_durable(**store, now); !durable) return std::unexpected(durable.error());
    return {};
}

namespace {

std::expected<std::unique_ptr<FileSystem>, std::string> open_in(JournalMemory* lent, BlockDevice& device, EventSink& events, const FsOptions& options,
                                                                SimTime now) {
    auto opened = JournalMetadataStore::open(device, options.dirty_age, now, lent);
    if (!opened) return std::unexpected(opened.error());
    const std::shared_ptr<JournalMetadataStore> store{std::move(*opened)};
    PramMetadataStore& tree = store->tree();
    const std::uint32_t page_bytes = tree.data_page_bytes();
    if (page_bytes != data_page_bytes_for(device)) return std::unexpected(std::string{"the metadata belong to a device with other pages"});
    auto data = std::make_unique<OffsetDevice>(device, store->data_sector(), store->data_pages() * (page_bytes / sector_bytes));
    auto fs = std::make_unique<FileSystemImpl>(store, std::make_shared<TreeSuperblock>(store, tree), *data, events, options, page_bytes);
    fs->own(std::move(data));
    if (auto recovered = recover_guarded(*fs, now); !recovered) return std::unexpected(recovered.error());
    return fs;
}

} // namespace

std::expected<std::unique_ptr<FileSystem>, std::string> FileSystem::open_journal(BlockDevice& device, EventSink& events, const FsOptions& options,
                                                                                 SimTime now) {
    return open_in(nullptr, device, events, options, now);
}

std::expected<std::unique_ptr<FileSystem>, std::string> open_journal_in(JournalMemory& memory, BlockDevice& device, EventSink& events,
                                                                        const FsOptions& options, SimTime now) {
    return open_in(&memory, device, events, options, now);
}

} // namespace flashlab

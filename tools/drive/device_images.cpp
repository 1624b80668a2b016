#include "tools/drive/device_images.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "fs/format.h"
#include "nand/private_page_store.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_directory.h"
#include "tools/text/shell_word.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

constexpr std::size_t most_listed = 1000;

/// What lies at this place of the file system's range.
std::string part_of_file_system(std::span<const std::byte> range, std::uint64_t at) {
    const auto id = SuperblockIdentity::decode(range.first<SuperblockIdentity::encoded_size>());
    if (at < superblock_bytes || !id) return at < superblock_bytes ? "superblock" : fmt::format("metadata + {}", at);
    if (at < id->page_bitmap_offset) return "redo log";
    if (at < id->node_bitmap_offset) return "bitmap of data pages";
    if (at < id->nodes_offset) return "bitmap of nodes";
    return fmt::format("node {}", (at - id->nodes_offset) / 4096 + 1);
}

std::string part_of_pram(const DeviceConfig& config, std::span<const std::byte> cells, std::uint64_t at) {
    const auto& layout = config.layout;
    if (at >= layout.fs_at && at - layout.fs_at < layout.fs_bytes)
        return "file system: " + part_of_file_system(cells.subspan(layout.fs_at, layout.fs_bytes), at - layout.fs_at);
    if (at >= layout.ftl_at && at - layout.ftl_at < layout.ftl_bytes) return fmt::format("translation layer: tables + {}", at - layout.ftl_at);
    return "unused";
}

void find_damaged_lines(ImagePramStore& pram, const DeviceConfig& config, std::vector<ImageDamage>& damage) {
    for (const std::uint64_t at : pram.damaged_lines(most_listed))
        damage.push_back({"pram-damaged",
                          fmt::format("pram.img byte {} ({})", pram.header().cells_offset() + at, part_of_pram(config, pram.cells(), at)),
                          fmt::format("these {} bytes are damaged: their checksum is wrong", pram_line_bytes)});
    for (const std::uint64_t region : pram.damaged_wear(most_listed))
        damage.push_back({"pram-wear-damaged", fmt::format("pram.img wear counter {}", region),
                          fmt::format("the wear counter of this region of {} bytes is lost: its checksum is wrong. Data are not affected",
                                      pram_wear_region_bytes)});
}

void find_damaged_blocks(ImagePageStore& nand, const Geometry& geometry, std::vector<ImageDamage>& damage) {
    std::vector<BlockRecord> records(std::min(geometry.blocks(), 1u << 16));
    for (std::uint32_t first = 0; first < geometry.blocks(); first += static_cast<std::uint32_t>(records.size())) {
        const auto part = std::span{records}.first(std::min<std::size_t>(records.size(), geometry.blocks() - first));
        if (nand.read_blocks(BlockId{first}, part)) continue;
        for (std::uint32_t i = 0; i < part.size() && damage.size() < most_listed; ++i)
            if (!nand.read_blocks(BlockId{first + i}, part.first(1)))
                damage.push_back({"block-record-damaged", fmt::format("nand.img block {}", first + i),
                                  "its record (erase count, bad mark) is not what was written: the checksum does not hold"});
    }
}

std::expected<void, std::string> fits_configuration(const std::string& directory, const DeviceConfig& config, const ImagePageStore& nand,
                                                    const ImagePramStore& pram) {
    if (pram.header().uuid != nand.uuid())
        return std::unexpected(
            fmt::format("{}: nand.img and pram.img belong to different devices; put back the two that were made together", directory));
    if (pram.header().cell_bytes != config.ssd.pram.bytes || pram.header().word_bytes != config.ssd.pram.word_bytes)
        return std::unexpected(
            fmt::format("{0}: device.toml says pram.bytes = {1}, pram.word_bytes = {2}, but pram.img has {3} and {4}; put the old values back",
                        directory, config.ssd.pram.bytes, config.ssd.pram.word_bytes, pram.header().cell_bytes, pram.header().word_bytes));
    if (auto kept = verify_images_keys(config, directory); !kept) return kept;
    const auto& layout = config.layout;
    if (layout.fs_at > config.ssd.pram.bytes || layout.ftl_at + layout.ftl_bytes > layout.fs_at ||
        layout.fs_at + layout.fs_bytes > config.ssd.pram.bytes)
        return std::unexpected(fmt::format("{}/device.toml: [layout] does not fit the PRAM; put the values of mkfs back", directory));
    return {};
}

} // namespace

std::string to_text(const std::vector<ImageDamage>& damage) {
    const ImageDamage& first = damage.front();
    const std::string more = damage.size() == 1 ? "" : fmt::format(", and {}{} more", damage.size() - 1, damage.size() >= most_listed ? " or" : "");
    return fmt::format("{}: {}: {}{}", first.kind, first.where, first.detail, more);
}

namespace {

std::expected<DeviceImages, std::string> open_images(const std::string& directory, const DeviceConfig& config, const Geometry& geometry, bool look) {
    const files::path place{directory};
    auto nand = ImagePageStore::open(place / "nand.img", geometry, HostSync::none, look ? ImageAccess::read_only : ImageAccess::read_write);
    if (!nand) return std::unexpected(nand.error().message);
    auto pram = ImagePramStore::open(place / "pram.img", look ? PramImageAccess::private_copy : PramImageAccess::read_write);
    if (!pram && !config.needs_pram() && !files::exists(place / "pram.img"))
        return std::unexpected(fmt::format("{} has no pram.img; this drive keeps nothing in it: flashlab fsck --repair {} makes it anew", directory,
                                           shell_word(directory)));
    if (!pram) return std::unexpected(pram.error());
    if (auto fits = fits_configuration(directory, config, **nand, **pram); !fits) return std::unexpected(fits.error());
    DeviceImages images;
    images.nand = nand->get();
    images.pram = pram->get();
    images.pages = std::move(*nand);
    images.cells = std::move(*pram);
    return images;
}

} // namespace

std::expected<DeviceImages, std::string> open_device_images(const std::string& directory, const DeviceConfig& config, DeviceAccess access) {
    const auto geometry = Geometry::make(config.ssd.nand.geometry);
    if (!geometry) return std::unexpected(fmt::format("{}/device.toml: {}", directory, geometry.error()));
    auto images = open_images(directory, config, *geometry, true);
    if (!images) return images;
    if (config.needs_pram()) find_damaged_lines(*images->pram, config, images->damage);
    find_damaged_blocks(*images->nand, *geometry, images->damage);
    images->evidence = judge_images(*images->nand, *images->pram, config, images->damage);
    if (access == DeviceAccess::look || !images->damage.empty()) {
        images->pages = std::make_unique<PrivatePageStore>(std::move(images->pages), *geometry);
        return images;
    }
    const DeviceEvidence judged = std::move(images->evidence);
    images->pages.reset(); // releases the locks before the images are opened again
    images->cells.reset();
    images = open_images(directory, config, *geometry, false);
    if (!images) return images;
    const auto generation = images->pram->generation();
    if (!generation || *generation != judged.generation)
        return std::unexpected(fmt::format("{}: in use: another process had it open just now; try again", directory));
    images->evidence = judged;
    return images;
}

} // namespace flashlab

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
                          fmt::format("these {} bytes are not what was written: the checksum does not hold", pram_line_bytes)});
    for (const std::uint64_t region : pram.damaged_wear(most_listed))
        damage.push_back({"pram-wear-damaged", fmt::format("pram.img wear counter {}", region),
                          fmt::format("how often the words of this region of {} bytes were written is not known any more: its check does not hold",
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

void find_unpaired(const ImagePageStore& nand, const ImagePramStore& pram, std::vector<ImageDamage>& damage) {
    const auto flash = nand.generation();
    const auto cells = pram.generation();
    if (!flash) damage.push_back({"generation-damaged", "nand.img", flash.error().message});
    if (!cells) damage.push_back({"generation-damaged", "pram.img", cells.error()});
    if (!flash || !cells || belong_together(*flash, *cells)) return;
    const bool is_older = flash->number < cells->number;
    damage.push_back({"images-apart",
                      is_older                        ? "nand.img"
                      : flash->number > cells->number ? "pram.img"
                                                      : "nand.img and pram.img",
                      flash->number == cells->number
                          ? std::string{"the two have different pasts: one is a copy from another device's life"}
                          : fmt::format("is older than its sister (generation {} against {}): put the two back that were copied together",
                                        std::min(flash->number, cells->number), std::max(flash->number, cells->number))});
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

std::expected<DeviceImages, std::string> open_device_images(const std::string& directory, const DeviceConfig& config, DeviceAccess access) {
    const auto geometry = Geometry::make(config.ssd.nand.geometry);
    if (!geometry) return std::unexpected(fmt::format("{}/device.toml: {}", directory, geometry.error()));
    const bool look = access == DeviceAccess::look;
    const files::path place{directory};
    auto nand = ImagePageStore::open(place / "nand.img", *geometry, HostSync::none, look ? ImageAccess::read_only : ImageAccess::read_write);
    if (!nand) return std::unexpected(nand.error().message);
    auto pram = ImagePramStore::open(place / "pram.img", look ? PramImageAccess::private_copy : PramImageAccess::read_write);
    if (!pram) return std::unexpected(pram.error());
    if (auto fits = fits_configuration(directory, config, **nand, **pram); !fits) return std::unexpected(fits.error());
    DeviceImages images{.pages = nullptr, .cells = nullptr, .nand = nand->get(), .pram = pram->get(), .damage = {}};
    if (config.needs_pram()) {
        find_unpaired(**nand, **pram, images.damage);
        find_damaged_lines(**pram, config, images.damage);
    }
    find_damaged_blocks(**nand, *geometry, images.damage);
    if (!images.damage.empty() && !look) {
        nand->reset(); // releases the locks before the images are opened again
        pram->reset();
        return open_device_images(directory, config, DeviceAccess::look);
    }
    images.cells = std::move(*pram);
    images.pages = std::move(*nand);
    if (look) images.pages = std::make_unique<PrivatePageStore>(std::move(images.pages), *geometry);
    return images;
}

std::expected<void, std::string> step_generation(ImagePageStore& nand, ImagePramStore& pram, std::uint64_t history) {
    // A kill may have left the two a step apart. The next generation counts from the PRAM's, which is then the one behind.
    const auto now = pram.generation();
    if (!now) return std::unexpected(now.error());
    ImageGeneration next = now->next(history);
    next.announced = true;
    if (auto written = nand.set_generation(next); !written)
        return std::unexpected(fmt::format("nand.img cannot be written: {}", std::strerror(written.error().error_number)));
    ImageGeneration made = next;
    made.announced = false;
    pram.set_generation(made);
    if (auto written = nand.set_generation(made); !written)
        return std::unexpected(fmt::format("nand.img cannot be written: {}", std::strerror(written.error().error_number)));
    return {};
}

} // namespace flashlab

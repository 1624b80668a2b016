/// nand.img and pram.img of a device: opened, verified, paired.
///
/// Idea       Before anything in them is believed: their headers, that they belong to one device and to one moment of it, every line of PRAM cells, every
///            block record. Page records and data are verified when they are read.
/// Invariant  Nothing is written before all of that was looked at; a damaged device is only ever looked at, on private copies.
/// Cost       Reads what the host has stored of pram.img once, and 16 bytes a block.
/// Power cut  step_generation() may be killed at any instant: the images still belong together.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tools/drive/device_config.h"

namespace flashlab {

enum class DeviceAccess : std::uint8_t;

/// Something in the images that is not as it was written.
struct ImageDamage {
    std::string kind;
    std::string where;
    std::string detail;
};

/// "pram-damaged: pram.img byte 4096 (...): ...", the first one, and how many more there are.
[[nodiscard]] std::string to_text(const std::vector<ImageDamage>& damage);

struct DeviceImages {
    std::unique_ptr<PageStore> pages;
    std::unique_ptr<PramStore> cells;
    ImagePageStore* nand = nullptr; ///< below `pages`
    ImagePramStore* pram = nullptr; ///< is `cells`
    std::vector<ImageDamage> damage;
};

/// Refuses what is foreign or does not fit device.toml. Damage is listed, and the images are then opened to be looked at, whatever `access` says.
[[nodiscard]] std::expected<DeviceImages, std::string> open_device_images(const std::string& directory, const DeviceConfig& config, DeviceAccess access);

/// A step of both images' generation; `history` tells this device's past from that of its copies.
[[nodiscard]] std::expected<void, std::string> step_generation(ImagePageStore& nand, ImagePramStore& pram, std::uint64_t history);

} // namespace flashlab

/// nand.img and pram.img of a device: opened, verified, paired.
///
/// Idea       Before anything in the images is trusted, these are verified: the headers, that both images belong to the same device and moment, and
///            no part of them to an earlier one (image_vouching.h), every line of PRAM cells, and every block record. Page records and data are
///            verified when they are read.
/// Invariant  All of that is verified on private copies: of a device that is refused not a byte changes. A damaged device is only opened to be
///            looked at.
/// Cost       Reads once what the host has stored of pram.img and of page records, and 16 bytes a block.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tools/drive/device_config.h"
#include "tools/drive/image_vouching.h"

namespace flashlab {

enum class DeviceAccess : std::uint8_t;

/// The first damage and how many more there are: "pram-damaged: pram.img byte 4096 (...): ...".
[[nodiscard]] std::string to_text(const std::vector<ImageDamage>& damage);

struct DeviceImages {
    std::unique_ptr<PageStore> pages;
    std::unique_ptr<PramStore> cells;
    ImagePageStore* nand = nullptr; ///< the store inside `pages`
    ImagePramStore* pram = nullptr; ///< the same object as `cells`
    std::vector<ImageDamage> damage;
    DeviceEvidence evidence;
};

/// Refuses images that belong to another device or do not fit device.toml. Damage is listed; damaged images are opened to be looked at only, whatever
/// `access` says.
[[nodiscard]] std::expected<DeviceImages, std::string> open_device_images(const std::string& directory, const DeviceConfig& config,
                                                                          DeviceAccess access);

} // namespace flashlab

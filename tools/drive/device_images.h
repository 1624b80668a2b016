/// nand.img and pram.img of a device: opened, verified, paired.
///
/// Idea       Before anything in the images is trusted, these are verified: the headers, that both images belong to the same device and to the same
///            moment, every line of PRAM cells, and every block record. Page records and data are verified when they are read.
/// Invariant  Nothing is written before all of that was verified. A damaged device is only opened to be looked at, on private copies.
/// Cost       Reads once what the host has stored of pram.img, and 16 bytes a block.
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

/// A place in the images that differs from what was written.
struct ImageDamage {
    std::string kind;
    std::string where;
    std::string detail;
};

/// The first damage and how many more there are: "pram-damaged: pram.img byte 4096 (...): ...".
[[nodiscard]] std::string to_text(const std::vector<ImageDamage>& damage);

struct DeviceImages {
    std::unique_ptr<PageStore> pages;
    std::unique_ptr<PramStore> cells;
    ImagePageStore* nand = nullptr; ///< the store inside `pages`
    ImagePramStore* pram = nullptr; ///< the same object as `cells`
    std::vector<ImageDamage> damage;
};

/// Refuses images that belong to another device or do not fit device.toml. Damage is listed; damaged images are opened to be looked at only, whatever
/// `access` says.
[[nodiscard]] std::expected<DeviceImages, std::string> open_device_images(const std::string& directory, const DeviceConfig& config,
                                                                          DeviceAccess access);

/// Moves the generation of both images one step on. `history` distinguishes this device's past from the past of its copies.
[[nodiscard]] std::expected<void, std::string> step_generation(ImagePageStore& nand, ImagePramStore& pram, std::uint64_t history);

} // namespace flashlab

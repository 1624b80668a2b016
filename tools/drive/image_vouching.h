/// The evidence of both images of a device: judged before anything changes, renewed when the device is opened and closed.
///
/// Idea       base/image_evidence.h. The digests of all blocks and parts are compared with those that the generation vouches for. After a clean end
///            they must be equal. After a kill no part may be older than when the device was opened.
/// Invariant  A refused device was not written to. What the generation vouches for was true when it was written.
/// Cost       Opening reads what the host has stored of page records and line sums; closing those of the blocks that changed. 16 bytes of memory a
///            block while the device is open.
/// Power cut  vouch() may be killed at any instant: the images still belong together, and what was vouched for before still holds.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tools/drive/device_config.h"

namespace flashlab {

/// A place in the images that differs from what was written.
struct ImageDamage {
    std::string kind;
    std::string where;
    std::string detail;
};

struct DeviceEvidence {
    std::vector<ImageEvidence> blocks;
    std::vector<ImageEvidence> parts; ///< of the PRAM; empty where the device keeps nothing in it
    ImageGeneration generation;       ///< at which it was judged

    [[nodiscard]] std::uint64_t root() const;
};

/// What the images are now. Adds to `damage` where they are apart or partly older; the parts of the PRAM are judged if its lines are sound.
[[nodiscard]] DeviceEvidence judge_images(const ImagePageStore& nand, const ImagePramStore& pram, const DeviceConfig& config,
                                          std::vector<ImageDamage>& damage);

/// is: nothing writes until the next open. or_later: it is about to be written to.
enum class Vouched : std::uint8_t { is, or_later };
/// Moves the generation of both images one step on. `history` distinguishes this device's past from the past of its copies. Where the host has no
/// room for new evidence, the old one stays as a lower bound.
[[nodiscard]] std::expected<void, std::string> vouch(ImagePageStore& nand, ImagePramStore& pram, const DeviceEvidence& evidence, Vouched vouched,
                                                     std::uint64_t history);

} // namespace flashlab

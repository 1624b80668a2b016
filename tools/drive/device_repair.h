/// fsck --repair: a device that the host has damaged, mended as far as its checksums allow.
///
/// Idea       First the images get those bits back that their checksums can tell (image_mender.h). If a check of every page finds nothing then, that
///            is all. Otherwise what reads is copied into new images, which take the place of the old ones: what a device that opens serves is right,
///            or an error; that is tested with damaged images (docs/crash-model.md, "Damaged images"). The old images stay as a snapshot.
/// Invariant  Nothing is guessed of data and names: a device that does not open, because its metadata do not agree with their checksums or with
///            each other, is left as it is. So is one whose repair fails. What is put in its place has passed a check of every page.
/// Cost       The device twice on the host's disk, for a while; as a snapshot for as long as the user wants.
/// Power cut  A kill leaves the device as it was, or mended.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "tools/drive/tree_salvage.h"

namespace flashlab {

struct Repair {
    bool is_in_place = false; ///< the images are whole again; false: what reads was copied into new ones
    std::uint64_t bits_mended = 0;
    Salvage salvage;            ///< what was copied
    std::vector<LostPart> lost; ///< what is missing, files and others
    std::string snapshot;       ///< name of the snapshot that holds the damaged images
};

/// The error says why it cannot be mended; the device is as it was.
[[nodiscard]] std::expected<Repair, std::string> repair_device(const std::string& directory);

} // namespace flashlab

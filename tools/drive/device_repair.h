/// fsck --repair: a device that the host has damaged, mended as far as its checksums allow.
///
/// Idea       What a device that opens serves is right, or an error; that is tested with damaged images (docs/crash-model.md, "Damaged images").
///            So all that reads is copied into new images, which take the place of the old ones. The old ones stay as a snapshot.
///            A damaged record of a block loses its erase count and bad mark alone: it is written anew, with the greatest erase count of the others.
/// Invariant  Nothing is guessed of data and names: a device that does not open, because its metadata do not agree with their checksums or with
///            each other, is left as it is. So is one whose repair fails. What is put in its place has passed a check of every page.
/// Cost       The device twice on the host's disk, for a while; as a snapshot for as long as the user wants.
/// Power cut  A kill leaves the device as it was, or mended.
#pragma once

#include <expected>
#include <string>

#include "tools/drive/tree_salvage.h"

namespace flashlab {

struct Repair {
    Salvage salvage;
    std::vector<LostPart> lost; ///< what is missing, files and others
    std::string snapshot;       ///< name of the snapshot that holds the damaged images
};

/// The error says why it cannot be mended; the device is as it was.
[[nodiscard]] std::expected<Repair, std::string> repair_device(const std::string& directory);

} // namespace flashlab

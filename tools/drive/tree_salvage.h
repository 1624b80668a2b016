/// Copies everything that can be read of one file system into another, empty one.
///
/// Idea       Directory by directory: names, hard links, attributes, extended attributes, holes and bytes. What the flash does not give back is
///            left out, and told.
/// Invariant  No byte is invented: a file of which bytes are missing gets the name NAME.damaged (NAME.damaged-2 ... where that is taken), so that
///            nobody takes it for whole, and its missing bytes read zero. No other file loses its name or anything else by that.
/// Cost       One read of all data and one write of it.
/// Power cut  The target is of use only when the copy is complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/drive/device.h"

namespace flashlab {

struct LostPart {
    std::string path; ///< as it was
    std::string what; ///< "bytes 4096 to 8191", "its extended attributes" ...
};

struct Salvage {
    std::uint64_t files = 0, directories = 0, bytes = 0;
    std::vector<LostPart> lost;
};

/// The error: the target does not take it (no room, say).
[[nodiscard]] std::expected<Salvage, std::string> salvage_tree(Device& from, Device& to);

} // namespace flashlab

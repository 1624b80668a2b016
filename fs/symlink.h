/// The targets of symbolic links: chunks of up to 1 KiB.
///
/// Idea       A target is written once, with its inode, and never changes.
/// Cost       One record a KiB.
/// Power cut  Part of the transaction that makes the link.
#pragma once

#include <string>
#include <string_view>

#include "fs/metadata_store.h"

namespace flashlab {

inline constexpr std::size_t longest_symlink = 4095;

[[nodiscard]] FsResult<void> put_symlink(MetadataStore& store, Ino ino, std::string_view target);
[[nodiscard]] std::string get_symlink(const MetadataStore& store, Ino ino);
[[nodiscard]] FsResult<void> erase_symlink(MetadataStore& store, Ino ino);

} // namespace flashlab

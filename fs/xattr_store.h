/// Extended attributes: a name and up to 64 KiB, chunked into records.
///
/// Idea       The key is hash | probe | chunk; the first chunk carries name and length.
/// Invariant  E1 a name occurs at most once in an inode. E2 all chunks 0 .. n-1 of a value exist.
/// Cost       A missing name: one look-up. A value: one record a KiB.
/// Power cut  Part of the caller's transaction.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs/metadata_store.h"

namespace flashlab {

class XattrStore {
public:
    static constexpr std::size_t longest_name = 255;
    static constexpr std::size_t longest_value = 65536;

    explicit XattrStore(MetadataStore& store) : store_{store} {}

    [[nodiscard]] bool has(Ino ino, std::string_view name) const { return find(ino, name).has_value(); }
    [[nodiscard]] std::optional<std::vector<std::byte>> get(Ino ino, std::string_view name) const;
    /// Inserts or replaces; true when the name is new.
    [[nodiscard]] FsResult<bool> set(Ino ino, std::string_view name, std::span<const std::byte> value);
    /// True when the name was there.
    [[nodiscard]] FsResult<bool> remove(Ino ino, std::string_view name);
    /// Names, each closed by NUL.
    [[nodiscard]] std::string names(Ino ino) const;
    /// Erases up to `limit` records of the inode; true when none is left.
    [[nodiscard]] FsResult<bool> remove_some(Ino ino, std::size_t limit);

private:
    /// Subkey of the first chunk.
    [[nodiscard]] std::optional<std::uint64_t> find(Ino ino, std::string_view name) const;
    [[nodiscard]] FsResult<void> erase_chunks(Ino ino, std::uint64_t first);
    MetadataStore& store_;
};

} // namespace flashlab

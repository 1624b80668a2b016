/// Names of a directory: one record each, in order of the name's hash.
///
/// Idea       The key is hash << 8 | collision index. So a name is found by one look-up, and a position in the listing is the key itself.
/// Invariant  N1 a name occurs once in a directory. N2 a name's position never changes while it exists, so offsets are stable.
/// Cost       find, add, remove: one or two look-ups. Listing: one record a name; no inode is read.
/// Power cut  Part of the caller's transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "fs/metadata_store.h"

namespace flashlab {

struct Dirent {
    std::uint64_t position = 0; ///< subkey; below 2^62
    Ino ino{0};
    std::uint32_t type = 0; ///< S_IFMT bits
};

class Directory {
public:
    static constexpr std::size_t longest_name = 255;

    explicit Directory(MetadataStore& store) : store_{store} {}

    [[nodiscard]] static bool decode(const RecordKey& key, std::span<const std::byte> value, Dirent& out, std::string_view& name);
    [[nodiscard]] static std::uint64_t hash_of(std::string_view name);

    [[nodiscard]] bool find(Ino directory, std::string_view name, Dirent& out) const;
    /// The name must not be there.
    [[nodiscard]] FsResult<void> add(Ino directory, std::string_view name, Ino ino, std::uint32_t type);
    /// Makes an existing name lead to another inode. The name keeps its position.
    [[nodiscard]] FsResult<void> redirect(Ino directory, const Dirent& entry, std::string_view name, Ino ino, std::uint32_t type);
    [[nodiscard]] FsResult<void> remove(Ino directory, const Dirent& entry);

    using Visitor = std::function<bool(const Dirent&, std::string_view name)>;
    void list(Ino directory, std::uint64_t from_position, const Visitor& visit) const;

private:
    [[nodiscard]] FsResult<void> put(Ino directory, std::uint64_t position, std::string_view name, Ino ino, std::uint32_t type);
    MetadataStore& store_;
};

} // namespace flashlab

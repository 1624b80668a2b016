#include "fs/directory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <limits>

#include "base/contract.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::uint64_t collisions = 256;
constexpr std::size_t fixed_bytes = 9; ///< inode number, type

RecordKey dirent_key(Ino directory, std::uint64_t position) { return RecordKey{.ino = directory, .kind = RecordKind::dirent, .subkey = position}; }

} // namespace

std::uint64_t Directory::hash_of(std::string_view name) {
    // 54 bits: position + 3 stays a positive 64-bit file offset.
    return XXH3_64bits(name.data(), name.size()) >> 10;
}

bool Directory::decode(const RecordKey& key, std::span<const std::byte> value, Dirent& out, std::string_view& name) {
    if (value.size() <= fixed_bytes || value.size() > fixed_bytes + longest_name) return false;
    LittleEndianReader reader{value};
    out.position = key.subkey;
    out.ino = Ino{reader.u64()};
    out.type = static_cast<std::uint32_t>(reader.u8()) << 12;
    name = std::string_view{reinterpret_cast<const char*>(value.data()) + fixed_bytes, value.size() - fixed_bytes};
    return true;
}

bool Directory::find(Ino directory, std::string_view name, Dirent& out) const {
    const std::uint64_t first = hash_of(name) << 8;
    RecordKey found;
    std::span<const std::byte> value;
    std::string_view there;
    if (!store_.find_at_or_before(dirent_key(directory, first + collisions - 1), dirent_key(directory, first), found, value)) return false;
    if (decode(found, value, out, there) && there == name) return true;
    bool hit = false;
    store_.scan(dirent_key(directory, first), dirent_key(directory, first + collisions), [&](const RecordKey& key, std::span<const std::byte> bytes) {
        hit = decode(key, bytes, out, there) && there == name;
        return !hit;
    });
    return hit;
}

FsResult<void> Directory::put(Ino directory, std::uint64_t position, std::string_view name, Ino ino, std::uint32_t type) {
    ensure(!name.empty() && name.size() <= longest_name, "Directory: a name of 1 to 255 bytes");
    std::array<std::byte, fixed_bytes + longest_name> bytes;
    LittleEndianWriter writer{bytes};
    writer.u64(ino.value());
    writer.u8(static_cast<std::uint8_t>(type >> 12));
    writer.bytes(std::as_bytes(std::span{name}));
    return store_.put(dirent_key(directory, position), writer.written());
}

FsResult<void> Directory::add(Ino directory, std::string_view name, Ino ino, std::uint32_t type) {
    const std::uint64_t first = hash_of(name) << 8;
    std::span<const std::byte> value;
    for (std::uint64_t index = 0; index < collisions; ++index) {
        if (!store_.get(dirent_key(directory, first + index), value)) return put(directory, first + index, name, ino, type);
    }
    return std::unexpected(FsError{ENOSPC});
}

FsResult<void> Directory::redirect(Ino directory, const Dirent& entry, std::string_view name, Ino ino, std::uint32_t type) {
    return put(directory, entry.position, name, ino, type);
}

FsResult<void> Directory::remove(Ino directory, const Dirent& entry) {
    const auto erased = store_.erase(dirent_key(directory, entry.position));
    if (!erased) return std::unexpected(erased.error());
    if (!*erased) return std::unexpected(FsError{ENOENT});
    return {};
}

void Directory::list(Ino directory, std::uint64_t from_position, const Visitor& visit) const {
    constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    store_.scan(dirent_key(directory, from_position), dirent_key(directory, end), [&](const RecordKey& key, std::span<const std::byte> value) {
        Dirent entry;
        std::string_view name;
        return !decode(key, value, entry, name) || visit(entry, name);
    });
}

} // namespace flashlab

#include "fs/posix_acl.h"

#include <algorithm>

#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::uint32_t xattr_version = 2;
constexpr std::size_t entry_bytes = 8;
constexpr std::uint16_t all_permissions = 7;
constexpr std::uint32_t no_id = 0xffffffff;

constexpr bool is_known(std::uint16_t tag) {
    return tag == PosixAcl::user_obj || tag == PosixAcl::user || tag == PosixAcl::group_obj || tag == PosixAcl::group || tag == PosixAcl::mask ||
           tag == PosixAcl::other;
}

constexpr bool is_named(std::uint16_t tag) { return tag == PosixAcl::user || tag == PosixAcl::group; }

} // namespace

std::optional<PosixAcl> PosixAcl::decode(std::span<const std::byte> xattr) {
    LittleEndianReader reader{xattr};
    if (reader.u32() != xattr_version || reader.failed() || reader.left() % entry_bytes != 0) return std::nullopt;
    PosixAcl acl;
    std::size_t count[64] = {};
    while (reader.left() != 0) {
        const Entry entry{.tag = reader.u16(), .permissions = reader.u16(), .id = reader.u32()};
        if (!is_known(entry.tag) || entry.permissions > all_permissions) return std::nullopt;
        if (!acl.entries_.empty() && acl.entries_.back().tag > entry.tag) return std::nullopt;
        ++count[entry.tag];
        acl.entries_.push_back(entry);
    }
    const bool has_named = count[user] + count[group] != 0;
    if (count[user_obj] != 1 || count[group_obj] != 1 || count[other] != 1 || count[mask] > 1 || (has_named && count[mask] == 0)) return std::nullopt;
    return acl;
}

std::vector<std::byte> PosixAcl::encode() const {
    std::vector<std::byte> bytes(sizeof(std::uint32_t) + entries_.size() * entry_bytes);
    LittleEndianWriter writer{bytes};
    writer.u32(xattr_version);
    for (const Entry& entry : entries_) {
        writer.u16(entry.tag);
        writer.u16(entry.permissions);
        writer.u32(is_named(entry.tag) ? entry.id : no_id);
    }
    return bytes;
}

PosixAcl::Entry* PosixAcl::find(std::uint16_t tag) {
    const auto at = std::ranges::find(entries_, tag, &Entry::tag);
    return at == entries_.end() ? nullptr : &*at;
}

const PosixAcl::Entry* PosixAcl::find(std::uint16_t tag) const {
    const auto at = std::ranges::find(entries_, tag, &Entry::tag);
    return at == entries_.end() ? nullptr : &*at;
}

std::uint32_t PosixAcl::mode() const {
    const Entry* middle = find(mask) != nullptr ? find(mask) : find(group_obj);
    return (static_cast<std::uint32_t>(find(user_obj)->permissions) << 6) | (static_cast<std::uint32_t>(middle->permissions) << 3) |
           find(other)->permissions;
}

void PosixAcl::set_mode(std::uint32_t mode) {
    Entry* middle = find(mask) != nullptr ? find(mask) : find(group_obj);
    find(user_obj)->permissions = static_cast<std::uint16_t>((mode >> 6) & all_permissions);
    middle->permissions = static_cast<std::uint16_t>((mode >> 3) & all_permissions);
    find(other)->permissions = static_cast<std::uint16_t>(mode & all_permissions);
}

std::uint32_t PosixAcl::restrict_to(std::uint32_t mode) {
    set_mode(this->mode() & mode);
    return this->mode();
}

} // namespace flashlab

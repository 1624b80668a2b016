#include "tools/reproduce/fat/fat_entry.h"

#include <algorithm>

#include "base/little_endian.h"

namespace flashlab {
namespace {

constexpr std::uint8_t directory_kind = 0x10;
constexpr std::uint8_t file_kind = 0x20;

} // namespace

FsResult<void> FatEntry::check_name(std::string_view name) {
    if (name.size() > max_name) return std::unexpected(FsError{ENAMETOOLONG});
    if (name.empty() || name == "." || name == ".." || std::byte(name[0]) == removed_mark || name.find('/') != name.npos ||
        name.find('\0') != name.npos)
        return std::unexpected(FsError{EINVAL});
    return {};
}

void FatEntry::encode(Bytes out) const {
    LittleEndianWriter to{out};
    to.bytes(std::as_bytes(std::span{name}));
    to.zeros(max_name - name.size());
    to.u8(is_directory ? directory_kind : file_kind);
    to.zeros(1);
    to.u32(static_cast<std::uint32_t>(modified.seconds));
    to.u32(modified.nanoseconds / 1'000'000);
    to.u32(first_cluster);
    to.u32(size);
}

FatEntry FatEntry::decode(std::span<const std::byte, encoded_size> in) {
    FatEntry entry;
    const auto* text = reinterpret_cast<const char*>(in.data());
    entry.name.assign(text, std::find(text, text + max_name, '\0'));
    entry.is_directory = in[max_name] == std::byte{directory_kind};
    entry.modified = {.seconds = load_le<std::uint32_t>(in.subspan(16)), .nanoseconds = load_le<std::uint32_t>(in.subspan(20)) * 1'000'000};
    entry.first_cluster = load_le<std::uint32_t>(in.subspan(24));
    entry.size = load_le<std::uint32_t>(in.subspan(28));
    return entry;
}

} // namespace flashlab

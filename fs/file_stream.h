/// Which of the drive's streams a file's data go to: an attribute of the file that a directory hands on to what is made in it.
///
/// Idea       `setfattr -n user.flashlab.stream -v 3 DIR`: what the file system writes back of such a file carries stream 3 (HostIo::stream), which
///            a drive with ftl.separation=host keeps in superblocks of its own (NVMe's placement handles). A file without it carries the stream of
///            who wrote it last (FsCall::stream), in memory alone.
/// Invariant  The value is a decimal number of 0 to 249 without leading zeros, and a stream of the drive, or set_xattr() refuses it with EINVAL. The
///            attribute is a wish: what was written before stays where it is, and a stream that the drive does not have is stream 0.
/// Cost       A look-up of the attribute for each write-back of a file that has attributes; nothing for others.
/// Power cut  The attribute is as durable as any other; the stream of each page lies in its OOB.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/id.h"
#include "fs/fs_types.h"
#include "fs/xattr_store.h"

namespace flashlab {

inline constexpr std::string_view stream_xattr = "user.flashlab.stream";

[[nodiscard]] inline std::optional<StreamId> parse_file_stream(std::span<const std::byte> value) {
    const auto* text = reinterpret_cast<const char*>(value.data());
    std::uint16_t stream = 0;
    const auto [end, error] = std::from_chars(text, text + value.size(), stream);
    if (error != std::errc{} || end != text + value.size() || stream >= file_streams) return std::nullopt;
    if (value.size() > 1 && *text == '0') return std::nullopt; // one text for each stream
    return StreamId{stream};
}

/// Of a file that has attributes; nothing: none of them is this one.
[[nodiscard]] inline std::optional<StreamId> stream_of_file(const XattrStore& xattrs, Ino ino) {
    const auto value = xattrs.get(ino, stream_xattr);
    return value ? parse_file_stream(*value) : std::nullopt;
}

} // namespace flashlab

/// The bytes of a trace file. The file may be compressed with gzip, zstd or xz, and may be standard input.
///
/// Idea       The first bytes tell the compression. A decoder sits between the file and the reader.
/// Invariant  The reader gets the whole content, or an error: a compressed file that ends early never looks like a shorter trace.
/// Cost       One 128 KiB buffer for the file and one for the decoder, however long the file is.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>

namespace flashlab {

class ByteStream {
public:
    virtual ~ByteStream() = default;
    /// Fills `to` from the front. It may return fewer bytes than asked for before the end, but none only at the end.
    [[nodiscard]] virtual std::expected<std::size_t, std::string> read(std::span<std::byte> to) = 0;
};

/// `path` "-" is standard input.
[[nodiscard]] std::expected<std::unique_ptr<ByteStream>, std::string> open_byte_stream(const std::string& path);

} // namespace flashlab

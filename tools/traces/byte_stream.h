/// The bytes of a trace file: plain, or packed with gzip, zstd or xz, from a file or from standard input.
///
/// Idea       The first bytes tell the packing; a decoder sits between the file and the reader.
/// Invariant  What is read is the whole content, or an error: a packed file that ends early never looks like a shorter trace.
/// Cost       One 128 KiB buffer a stage, however long the file.
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
    /// Fills `to` from the front; fewer bytes than asked for may come before the end, none only at the end.
    [[nodiscard]] virtual std::expected<std::size_t, std::string> read(std::span<std::byte> to) = 0;
};

/// `path` "-" is standard input.
[[nodiscard]] std::expected<std::unique_ptr<ByteStream>, std::string> open_byte_stream(const std::string& path);
/// Bytes that are already here: detection and tests. They outlive the stream.
[[nodiscard]] std::unique_ptr<ByteStream> make_byte_stream(std::span<const std::byte> bytes);

} // namespace flashlab

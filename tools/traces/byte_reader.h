/// A trace's content piece by piece: lines, or a fixed number of bytes, with a look ahead for the detection of the format.
///
/// Idea       One buffer over a ByteStream. Pieces are views into the buffer and are valid until the next call.
/// Invariant  No byte is skipped: the pieces together are the content. A line ends in \n or \r\n or at the end.
/// Cost       A 256 KiB buffer. A line is copied only when the buffer is refilled.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/traces/byte_stream.h"

namespace flashlab {

class ByteReader {
public:
    explicit ByteReader(std::unique_ptr<ByteStream> stream);

    /// The content from here on, as much of it as the buffer holds. Nothing is consumed.
    [[nodiscard]] std::expected<std::string_view, std::string> peek();
    /// The next line without its line end. Nothing at the end of the content. A line longer than the buffer is an error, because such a file is no
    /// text.
    [[nodiscard]] std::expected<std::optional<std::string_view>, std::string> line();
    /// The next `bytes` bytes, at most 64 KiB. Fewer come only at the end.
    [[nodiscard]] std::expected<std::string_view, std::string> take(std::size_t bytes);

private:
    [[nodiscard]] std::expected<void, std::string> fill();
    [[nodiscard]] std::string_view rest() const { return {buffer_.data() + at_, end_ - at_}; }

    std::unique_ptr<ByteStream> stream_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    bool at_end_ = false;
};

} // namespace flashlab

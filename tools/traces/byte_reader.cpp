#include "tools/traces/byte_reader.h"

#include <algorithm>
#include <cstring>

#include "base/contract.h"

namespace flashlab {

namespace {
constexpr std::size_t buffer_bytes = 256 * 1024;
} // namespace

ByteReader::ByteReader(std::unique_ptr<ByteStream> stream) : stream_{std::move(stream)}, buffer_(buffer_bytes) {}

/// Moves what is left to the front and reads until the buffer is full or the content ends.
std::expected<void, std::string> ByteReader::fill() {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    while (!at_end_ && end_ < buffer_.size()) {
        const auto got = stream_->read(std::as_writable_bytes(std::span{buffer_}.subspan(end_)));
        if (!got) return std::unexpected(got.error());
        at_end_ = *got == 0;
        end_ += *got;
    }
    return {};
}

std::expected<std::string_view, std::string> ByteReader::peek() {
    if (auto filled = fill(); !filled) return std::unexpected(filled.error());
    return rest();
}

std::expected<std::optional<std::string_view>, std::string> ByteReader::line() {
    for (bool again = true;; again = false) {
        const std::string_view all = rest();
        const std::size_t length = all.find('\n');
        if (length != std::string_view::npos || (at_end_ && !all.empty())) {
            std::string_view line = all.substr(0, length);
            at_ += std::min(line.size() + 1, all.size());
            if (line.ends_with('\r')) line.remove_suffix(1);
            return line;
        }
        if (at_end_) return std::nullopt;
        if (!again) return std::unexpected(std::string{"a line of more than 256 KiB: this is no text trace"});
        if (auto filled = fill(); !filled) return std::unexpected(filled.error());
    }
}

std::expected<std::string_view, std::string> ByteReader::take(std::size_t bytes) {
    ensure(bytes <= 65536, "a piece fits the buffer");
    if (rest().size() < bytes && !at_end_)
        if (auto filled = fill(); !filled) return std::unexpected(filled.error());
    const std::string_view piece = rest().substr(0, bytes);
    at_ += piece.size();
    return piece;
}

} // namespace flashlab

/// Small files that a user names, read whole: only regular ones, and never without bound.
///
/// Idea       A FIFO or a device in the place of a report or a configuration blocks, or never ends. It is refused at once instead.
/// Cost       One open, one fstat, the bytes.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace flashlab {

/// Its content, of at most `largest` bytes. The error does not name the path: "No such file or directory", "is a FIFO, no regular file", "is larger than 1 MiB".
[[nodiscard]] std::expected<std::string, std::string> read_regular_file(const std::string& path, std::size_t largest);
/// Nothing opens it: for files that others open by name (SQLite). One that does not exist is well.
[[nodiscard]] std::expected<void, std::string> check_regular_or_missing(const std::string& path);

} // namespace flashlab

/// Small files that a user names. They are read whole, up to a limit, and only if they are regular files.
///
/// Idea       A FIFO or a device in the place of a report or a configuration would block the reader, or never end. It is refused at once instead.
/// Cost       One open, one fstat, and reading the bytes.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace flashlab {

/// The file's content, at most `largest` bytes. The error does not name the path: "No such file or directory", "is a FIFO, no regular file",
/// "is larger than 1 MiB".
[[nodiscard]] std::expected<std::string, std::string> read_regular_file(const std::string& path, std::size_t largest);
/// Checks a file that other code opens by name (SQLite), without opening it. A file that does not exist passes.
[[nodiscard]] std::expected<void, std::string> check_regular_or_missing(const std::string& path);

} // namespace flashlab

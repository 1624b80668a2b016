/// Small files of a device directory: what they say is their owner's business.
///
/// Idea       Mode 0600 whatever the umask says; a symbolic link that somebody planted at their name is not followed.
/// Invariant  When it returns without an error, the file holds exactly the text.
/// Cost       A few system calls.
/// Power cut  A kill may leave a part of it: what matters is written beside its place and renamed.
#pragma once

#include <expected>
#include <string>

namespace flashlab {

/// Replaces whatever has the name. The error is a whole sentence.
[[nodiscard]] std::expected<void, std::string> write_private_file(const std::string& path, const std::string& text);

} // namespace flashlab

/// Small files of a device directory that only their owner may read.
///
/// Idea       The mode is 0600 whatever the umask says. A symbolic link that somebody planted under the file's name is not followed.
/// Invariant  After a return without an error the file holds exactly the text.
/// Cost       A few system calls.
/// Power cut  A kill may leave a part of the text. Important files are therefore written under another name and then renamed.
#pragma once

#include <expected>
#include <string>

namespace flashlab {

/// Replaces whatever file has this name. The error is a whole sentence.
[[nodiscard]] std::expected<void, std::string> write_private_file(const std::string& path, const std::string& text);

/// What root has made in another's folder becomes that other's: an open file, or a folder with all that lies in it. Only what belongs to root and has
/// no other name, since the other may have put links there.
void give_to_owner_of_folder(int file, const std::string& path);
void give_folder_to_owner_of(const std::string& above, const std::string& path);

} // namespace flashlab

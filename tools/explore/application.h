/// Which program a certificate is about: the files that the command's words name, with their SHA-256.
///
/// Idea       "sh -c '$DIR/writer --safe'" runs a shell, and says nothing of the writer. So the words that the shell would split are looked at, too:
///            programs are looked up in PATH, variables are put in, and what is a file is hashed.
/// Invariant  A file stands there once, in the order of the words. Only words are read, nothing is run. Relative paths are not: the command runs in a
///            directory that does not exist yet. What a program loads or starts by itself is not seen.
/// Cost       Reads these files once.
#pragma once

#include <string>
#include <vector>

namespace flashlab {

struct ApplicationFile {
    std::string path;   ///< absolute
    std::string sha256; ///< 64 hex digits
};

[[nodiscard]] std::vector<ApplicationFile> application_of(const std::vector<std::string>& command);
/// SHA-256 of the command's words and of the digests of its files.
[[nodiscard]] std::string hash_of_command(const std::vector<std::string>& command, const std::vector<ApplicationFile>& files);
/// Where a reader of SARIF should look: a file below `directory`, relative to it, or else the last; as a URI. Empty: there is no file.
[[nodiscard]] std::string uri_of(const std::vector<ApplicationFile>& files, const std::string& directory);

} // namespace flashlab

/// From argv to a command.
///
/// Idea       The usual call is `flashlab COMMAND ...`. Called as mkfs.flashlab, fsck.flashlab, mount.flashlab or mount.fuse.flashlab the program
///            takes what mkfs(8), fsck(8) and mount(8) pass, and ends with their exit codes.
/// Invariant  No command runs before every option has been checked.
#pragma once

#include <string>
#include <vector>

namespace flashlab {

[[nodiscard]] int run_command_line(int argc, char** argv);
/// A command, as if a user had typed these words behind `flashlab`.
[[nodiscard]] int run_words(const std::vector<std::string>& words);
/// What is wrong with the words of a command (without `flashlab`), in one sentence. Empty: they would be run.
[[nodiscard]] std::string wrong_usage_of(const std::vector<std::string>& words);

/// Rewrites the arguments that a helper of mount(8), mkfs(8) or fsck(8) gets for our command. `helper` is "mount", "mkfs" or "fsck".
[[nodiscard]] std::vector<std::string> translate_helper_arguments(const std::string& helper, const std::vector<std::string>& arguments);
/// Our command's exit code, translated to the one that mount(8), mkfs(8) or fsck(8) documents.
[[nodiscard]] int translate_exit_code(const std::string& helper, int code);

} // namespace flashlab

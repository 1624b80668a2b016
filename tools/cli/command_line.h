/// argv to command. CLI11 stays in the command_line files and command_failures.
///
/// Idea       `flashlab COMMAND ...`; called as mkfs.flashlab, fsck.flashlab, mount.flashlab or mount.fuse.flashlab it takes what mkfs(8), fsck(8) and
///            mount(8) pass and answers with their exit codes.
/// Invariant  Nothing runs before every option has been checked.
#pragma once

#include <string>
#include <vector>

namespace flashlab {

[[nodiscard]] int run_command_line(int argc, char** argv);

/// Arguments as a helper of mount(8), mkfs(8) or fsck(8) gets them, rewritten for the command; `helper` is "mount", "mkfs" or "fsck".
[[nodiscard]] std::vector<std::string> translate_helper_arguments(const std::string& helper, const std::vector<std::string>& arguments);
/// The command's exit code as that page has it.
[[nodiscard]] int translate_exit_code(const std::string& helper, int code);

} // namespace flashlab

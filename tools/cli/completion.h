/// Completion for bash, zsh and fish, and the manual page's list of options: all made from the command table. It includes CLI11, so only the
/// command_line files may include it.
///
/// Idea       The table that parses is asked what there is. So an option that is added is completed, and stands in the manual page.
/// Invariant  Every command and option of `--help` is in each of the texts.
/// Cost       A walk over the options.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace flashlab {

/// `what` is bash, zsh, fish, or man, the section OPTIONS as scdoc(5) reads it.
[[nodiscard]] std::string completion_text(const CLI::App& app, const std::string& what);

} // namespace flashlab

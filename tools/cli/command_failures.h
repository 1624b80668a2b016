/// What is said when the words of a command are wrong, and the help that was asked for. Includes CLI11: for the command_line files only.
///
/// Idea       What is written but unknown is named before what is missing: a mistyped option explains both. Numbers and names are checked in one place for all
///            commands: CLI11 takes -5 and 10^30 for the largest number, and an empty word for no word.
/// Invariant  A message names no place in our sources.
/// Cost       A walk over the options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace flashlab {

/// Every option of all commands: a whole number is digits and fits, a number is finite, a word is not empty (but where nothing means something).
void refuse_nonsense(CLI::App& app);
/// "unknown option --sise; did you mean --size? see: flashlab mkfs --help", or what CLI11 says.
[[nodiscard]] std::string usage_text(CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error);
/// Prints the help of the command that `words` name, of all without words; returns the exit code.
[[nodiscard]] int print_help(CLI::App& app, const std::vector<std::string>& words);

} // namespace flashlab

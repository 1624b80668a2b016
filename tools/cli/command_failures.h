/// What is said when the words of a command are wrong, and the help that was asked for.
///
/// Idea       An unknown option is named before a missing one, because a mistyped option explains both. Numbers and names are checked in one place
///            for all commands: CLI11 would take -5 and 10^30 for the largest number, and an empty word for no word.
/// Invariant  A message names no place in our sources.
/// Cost       A walk over the options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace flashlab {

/// Adds checks to every option of all commands: a whole number has digits only and fits, a number is finite, and a word is not empty, except where an
/// empty word has a meaning.
void refuse_nonsense(CLI::App& app);
/// "unknown option --sise; did you mean --size? see: flashlab mkfs --help", or what CLI11 says.
[[nodiscard]] std::string usage_text(CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error);
/// Prints the help of the command that `words` name, or of all commands if there are no words. Returns the exit code.
[[nodiscard]] int print_help(CLI::App& app, const std::vector<std::string>& words);

} // namespace flashlab

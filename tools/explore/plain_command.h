/// A command line that needs no shell: assignments, a program, its words.
///
/// Idea       Most checks are `./check`, `exec ./check` or `A=1 python3 check.py`. The shell would only split the words, and starting it costs more
///            than a check of a millisecond.
/// Invariant  What is split here is split as POSIX says. At the first character that may mean more (expansion, pattern, redirection, a second
///            command) there is no answer, and the shell has the line.
/// Cost       One pass over the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab {

struct PlainCommand {
    std::vector<std::pair<std::string, std::string>> assignments;
    std::vector<std::string> words; ///< the program first
};

/// Nothing: the shell has to read it.
[[nodiscard]] std::optional<PlainCommand> plain_command(std::string_view line);

} // namespace flashlab

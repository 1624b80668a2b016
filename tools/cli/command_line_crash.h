/// The options of flashlab crash, grade, snapshot and clone. They belong to command_line.cpp, and stand apart to keep that file short.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// After parsing, `action` runs the command that the command line names.
void add_crash(CLI::App& app, std::function<int()>& action);
void add_grade(CLI::App& app, std::function<int()>& action);
void add_copies(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

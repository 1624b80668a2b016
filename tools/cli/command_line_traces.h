/// The options of flashlab replay, trace and compare. They belong to command_line.cpp, and stand apart to keep that file short.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// After parsing, `action` runs the command that the command line names.
void add_replay(CLI::App& app, std::function<int()>& action);
void add_trace(CLI::App& app, std::function<int()>& action);
void add_compare(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

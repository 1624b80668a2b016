/// The options of flashlab crash and of snapshot and clone; part of command_line.cpp, which is long enough.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// `action` becomes what the command line asks for.
void add_crash(CLI::App& app, std::function<int()>& action);
void add_copies(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

/// The options of flashlab replay, trace and compare; part of command_line.cpp, which is long enough.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// `action` becomes what the command line asks for.
void add_replay(CLI::App& app, std::function<int()>& action);
void add_trace(CLI::App& app, std::function<int()>& action);
void add_compare(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

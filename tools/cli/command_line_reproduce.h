/// The options of flashlab reproduce; part of command_line.cpp, which is long enough.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// `action` becomes what the command line asks for.
void add_reproduce(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

/// The options of flashlab report and export. They belong to command_line.cpp, and stand apart to keep that file short.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace flashlab {

/// After parsing, `action` runs the command that the command line names.
void add_report(CLI::App& app, std::function<int()>& action);
void add_export(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

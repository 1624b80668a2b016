/// The command line of the commands that show what happened: run, smart, explain, top.
///
/// Idea       Options are put into plain structures; `action` then runs the command.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace flashlab {

void add_run(CLI::App& app, std::function<int()>& action);
void add_smart(CLI::App& app, std::function<int()>& action);
void add_explain(CLI::App& app, std::function<int()>& action);
void add_top(CLI::App& app, std::function<int()>& action);

} // namespace flashlab

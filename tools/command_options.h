/// What every command's options share. Includes CLI11: for the command_line files only.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/sizes.h"

namespace flashlab {

/// A size option; wrong text is wrong usage.
template <class Target>
CLI::Option* add_size(CLI::App& app, const std::string& names, Target& target, const std::string& help) {
    return app
        .add_option_function<std::string>(
            names,
            [&target, names](const std::string& text) {
                const auto bytes = parse_size(text);
                if (!bytes)
                    throw CLI::ValidationError(names, bytes.error());
                target = *bytes;
            },
            help)
        ->type_name("SIZE");
}

inline CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& help, const std::string& example) {
    CLI::App* command = app.add_subcommand(name, help);
    command->footer("Example:\n  " + example);
    return *command;
}

} // namespace flashlab

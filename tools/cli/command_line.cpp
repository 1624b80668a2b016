#include "tools/cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/cli/command_failures.h"
#include "tools/cli/command_options.h"
#include "tools/cli/completion.h"
#include "tools/cli/failure_text.h"
#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"

namespace flashlab {

std::string translation_layers() { return fmt::format("Translation layer: {}", fmt::join(all_schemes(), ", ")); }

namespace {

/// Commands about the command line itself.
void add_own_commands(CLI::App& app, Action& action) {
    auto& version = add_command(app, "version", "The version", "flashlab version");
    version.callback([&action] {
        action = [] {
            fmt::print("flashlab {}\n", FLASHLAB_VERSION);
            return exit_done;
        };
    });
    const auto shell = std::make_shared<std::string>();
    auto& completion = add_command(app, "completion", "Completion for a shell, or the options as scdoc", "flashlab completion bash");
    completion.group(""); // for packagers: not in the list
    completion.add_option("SHELL", *shell)->required()->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
    completion.callback([&action, &app, shell] {
        action = [&app, shell] {
            fmt::print("{}", completion_text(app, *shell));
            return exit_done;
        };
    });
    const auto words = std::make_shared<std::vector<std::string>>();
    auto& help = add_command(app, "help", "This text, or a command's", "flashlab help mkfs");
    help.add_option("COMMAND", *words, "Of this command: mkfs, or crash explore");
    help.callback([&action, &app, words] { action = [&app, words] { return print_help(app, *words); }; });
}

/// "mount" for .../mount.fuse.flashlab, empty for flashlab itself.
std::string helper_of(const std::string& program) {
    const std::string name = program.substr(program.rfind('/') + 1);
    for (const char* helper : {"mkfs", "fsck", "mount"})
        if (name.starts_with(std::string{helper} + ".") && name.ends_with("flashlab")) return helper;
    return {};
}

/// Empty when the first word is a command, or an option.
std::string unknown_command(const CLI::App& app, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (word.empty() || word.starts_with("-") || std::ranges::find(names, word) != names.end()) return {};
    const std::string near = nearest_name(word, names);
    return fmt::format("no command is called '{}'; {}see: flashlab --help", word, near.empty() ? "" : fmt::format("did you mean '{}'? ", near));
}

int usage_code(const std::string& helper, const std::string& command) {
    return command == "fsck" || helper == "fsck" ? 16 : translate_exit_code(helper, exit_usage);
}

int failure_code(const std::string& helper, const std::string& command) { return command == "fsck" ? 8 : translate_exit_code(helper, exit_failed); }

/// The last word on a command that would end with `code`: a signal that ended it, output that was not taken.
int final_code(int code, const std::string& helper, const std::string& command, int thrown = 0) {
    const auto unwritten = finish_standard_output(thrown);
    if (Interruption::came()) {
        if (Interruption::signal() != SIGPIPE) // nobody listens: no word, as of any program in a pipe
            complain(fmt::format("ended by {} before it was done", Interruption::name()));
        return Interruption::exit_code();
    }
    if (!unwritten) return code;
    complain(*unwritten);
    return code != exit_done ? code : failure_code(helper, command);
}

/// Every command there is.
void add_commands(CLI::App& app, Action& action) {
    app.set_version_flag("--version", "flashlab " FLASHLAB_VERSION);
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "Help of all commands");
#define COMMAND(name) add_##name(app, action);
#include "tools/cli/commands.def"
#undef COMMAND
    add_own_commands(app, action);
}

} // namespace

std::string wrong_usage_of(const std::vector<std::string>& words) {
    CLI::App app{"", "flashlab"};
    Action action;
    add_commands(app, action);
    refuse_nonsense(app);
    try {
        std::vector<std::string> reversed{words.rbegin(), words.rend()};
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        return usage_text(app, words, error);
    }
    return {};
}

int run_words(const std::vector<std::string>& words) {
    std::vector<std::string> all{"flashlab"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    return run_command_line(static_cast<int>(pointers.size()), pointers.data());
}

int run_command_line(int argc, char** argv) {
    CLI::App app{"FlashLab: an SSD laboratory that you mount as a directory", "flashlab"};
    Action action;
    add_commands(app, action);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string helper = argc > 0 ? helper_of(argv[0]) : "";
    if (!helper.empty()) arguments = translate_helper_arguments(helper, arguments);
    const std::string command = arguments.empty() ? "" : arguments.front();
    if (const std::string unknown = unknown_command(app, command); !unknown.empty()) return complain(unknown, usage_code(helper, command));
    refuse_nonsense(app);
    try {
        std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()}; // as CLI11 wants it
        app.parse(reversed);
    } catch (const CLI::Success& shown) { // --help, --version
        std::ostringstream text;
        const int code = app.exit(shown, text, text);
        (void)!std::fwrite(text.str().data(), 1, text.str().size(), stdout);
        return final_code(code, helper, command);
    } catch (const CLI::ParseError& error) {
        return complain(usage_text(app, arguments, error), usage_code(helper, command));
    }
    try {
        return final_code(translate_exit_code(helper, action()), helper, command);
    } catch (const std::exception& error) {
        const auto* system = dynamic_cast<const std::system_error*>(&error);
        if (Interruption::came() || (system != nullptr && std::ferror(stdout) != 0)) // what failed is a print
            return final_code(failure_code(helper, command), helper, command, system != nullptr ? system->code().value() : 0);
        return complain(failure_text(error), failure_code(helper, command));
    }
}

} // namespace flashlab

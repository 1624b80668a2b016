#include "tools/cli/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <sstream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/cli/command_options.h"
#include "tools/cli/completion.h"
#include "tools/cli/failure_text.h"
#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/terminal.h"
#include "tools/text/wrapped.h"

namespace flashlab {

std::string translation_layers() { return fmt::format("Translation layer: {}", fmt::join(all_schemes(), ", ")); }

namespace {

/// Empty words that mean something: no label, no history, nothing to run; words of mount(8) and of a user's own command are theirs.
constexpr std::array<std::string_view, 5> may_be_empty{"--label", "--precondition", "--options", "COMMAND", "ARGUMENTS"};

std::string check_whole(const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.starts_with('-')) return fmt::format("{} is negative: a whole number from 0 on is wanted", text);
    if (error == std::errc::result_out_of_range) return fmt::format("{} is too large: at most 18446744073709551615 is wanted", text);
    return error != std::errc{} || end != text.data() + text.size() ? fmt::format("'{}' is no whole number", text) : std::string{};
}

std::string check_finite(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) ? fmt::format("'{}' is no number", text)
                                                                                              : std::string{};
}

std::string plain_name(const CLI::Option& option) { return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front(); }

/// The innermost command that the words name, and where its own words begin.
std::pair<CLI::App*, std::size_t> command_of(CLI::App& app, const std::vector<std::string>& words) {
    CLI::App* command = &app;
    std::size_t at = 0;
    for (; at < words.size(); ++at) {
        const auto inner = command->get_subcommands([&](const CLI::App* c) { return c->get_name() == words[at]; });
        if (inner.empty()) break;
        command = inner.front();
    }
    return {command, at};
}

std::string full_name(const CLI::App* command) {
    std::string name;
    for (; command != nullptr; command = command->get_parent()) name = command->get_name() + (name.empty() ? "" : " " + name);
    return name;
}

const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
    for (const CLI::Option* option : command.get_options())
        if (word.starts_with("--") ? option->check_lname(word.substr(2)) : option->check_sname(word.substr(1, 1))) return option;
    return nullptr;
}

/// What nobody asked for: the first option that there is not, with the nearest that there is.
std::string unknown_option(const CLI::App& command, std::span<const std::string> words) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
        const std::string& word = words[at];
        const bool is_number = word.size() > 1 && (std::isdigit(static_cast<unsigned char>(word[1])) != 0 || word[1] == '.');
        if (word.size() < 2 || word.front() != '-' || is_number) continue;
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        if (const CLI::Option* known = option_of(command, name); known != nullptr) {
            const bool holds_value = name.starts_with("--") ? equals != std::string::npos : word.size() > 2;
            at += known->get_items_expected_max() > 0 && !holds_value ? 1 : 0;
            continue;
        }
        const std::string near = name.starts_with("--") ? nearest_name(name, names) : "";
        return near.empty() ? fmt::format("unknown option {};", name) : fmt::format("unknown option {}; did you mean {}?", name, near);
    }
    return {};
}

/// What is said when the words of a command are wrong, and the help that was asked for.
///
/// Idea       An unknown option is named before a missing one, because a mistyped option explains both. Numbers and names are checked in one place
///            for all commands: CLI11 would take -5 and 10^30 for the largest number, and an empty word for no word.
/// Invariant  A message names no place in our sources.
/// Cost       A walk over the options.
///
/// Adds checks to every option of all commands: a whole number has digits only and fits, a number is finite, and a word is not empty, except where an
/// empty word has a meaning.
void refuse_nonsense(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        const std::string name = plain_name(*option), type = option->get_type_name();
        if (option->get_items_expected_max() == 0) continue;
        if (type.starts_with("UINT"))
            option->check(CLI::Validator{[](std::string& text) { return check_whole(text); }, ""});
        else if (type.starts_with("FLOAT"))
            option->check(CLI::Validator{[](std::string& text) { return check_finite(text); }, ""});
        else if (std::ranges::find(may_be_empty, name) == may_be_empty.end())
            option->check(CLI::Validator{[must = option->get_required()](std::string& text) {
                                             return !text.empty() ? "" : must ? "is empty" : "is empty: leave it out, or say what you mean";
                                         },
                                         ""});
    }
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_nonsense(*command);
}

std::vector<std::string> commands_in(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) names.push_back(inner->get_name());
    return names;
}

/// "no command is called 'crash torure'; did you mean 'torture'?"
std::string no_such_command(const CLI::App& in, const std::string& word) {
    const std::string near = nearest_name(word, commands_in(in));
    const std::string name = in.get_parent() == nullptr ? word : fmt::format("{} {}", in.get_name(), word);
    return near.empty() ? fmt::format("no command is called '{}';", name) : fmt::format("no command is called '{}'; did you mean '{}'?", name, near);
}

/// What CLI11 says, in the words' order and with as many as there are.
std::string said_by_parser(const CLI::App& app, const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return fmt::format("not expected: {};", fmt::join(app.remaining(true), " "));
    std::string text = error.what();
    constexpr std::string_view one = " is required";
    if (text.ends_with(one) && text.find(" and ") != std::string::npos) text.replace(text.size() - one.size(), one.size(), " are required");
    return text + ";";
}

/// "unknown option --sise; did you mean --size? see: flashlab mkfs --help", or what CLI11 says.
std::string usage_text(CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
    const auto [command, at] = command_of(app, arguments);
    std::string what = unknown_option(*command, std::span{arguments}.subspan(at));
    const bool wants_command = !commands_in(*command).empty() && at < arguments.size() && !arguments[at].starts_with("-");
    if (what.empty()) what = wants_command ? no_such_command(*command, arguments[at]) : said_by_parser(app, error);
    return fmt::format("{} see: {} --help", what, full_name(command));
}

/// Prints the help of the command that `words` name, or of all commands if there are no words. Returns the exit code.
int print_help(CLI::App& app, const std::vector<std::string>& words) {
    const auto [command, at] = command_of(app, words);
    if (at != words.size()) return complain(fmt::format("help: {} see: flashlab --help", no_such_command(*command, words[at])), exit_usage);
    const std::string text = command->get_formatter()->make_help(command, full_name(command), CLI::AppFormatMode::Normal); // help(): that of `help`
    fmt::print("{}", wrapped_help(text, terminal_columns()));
    return exit_done;
}

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
    if (const auto [named, at] = command_of(app, arguments); named == &app && at < arguments.size() && !arguments[at].starts_with("-"))
        return complain(fmt::format("{} see: flashlab --help", no_such_command(app, arguments[at])), usage_code(helper, command));
    refuse_nonsense(app);
    try {
        std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()}; // as CLI11 wants it
        app.parse(reversed);
    } catch (const CLI::Success& shown) { // --help, --version
        std::ostringstream text;
        const int code = app.exit(shown, text, text);
        fmt::print("{}", wrapped_help(text.str(), terminal_columns()));
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
    } catch (...) { // of a scheme that was loaded: ours throw nothing else
        return complain(unexpected_failure("something was thrown that is no exception"), failure_code(helper, command));
    }
}

} // namespace flashlab

#include "tools/cli/command_failures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"

namespace flashlab {
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

} // namespace

void refuse_nonsense(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        const std::string name = plain_name(*option), type = option->get_type_name();
        if (option->get_items_expected_max() == 0) continue;
        if (type.starts_with("UINT"))
            option->check(CLI::Validator{[](std::string& text) { return check_whole(text); }, ""});
        else if (type.starts_with("FLOAT"))
            option->check(CLI::Validator{[](std::string& text) { return check_finite(text); }, ""});
        else if (std::ranges::find(may_be_empty, name) == may_be_empty.end())
            option->check(CLI::Validator{
                [](std::string& text) { return text.empty() ? std::string{"is empty: leave it out, or say what you mean"} : std::string{}; }, ""});
    }
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_nonsense(*command);
}

std::string usage_text(CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
    const auto [command, at] = command_of(app, arguments);
    std::string what = unknown_option(*command, std::span{arguments}.subspan(at));
    if (what.empty()) what = std::string{error.what()} + ";";
    return fmt::format("{} see: {} --help", what, full_name(command));
}

int print_help(CLI::App& app, const std::vector<std::string>& words) {
    const auto [command, at] = command_of(app, words);
    if (at != words.size()) {
        std::vector<std::string> names;
        for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) names.push_back(inner->get_name());
        const std::string near = nearest_name(words[at], names);
        return complain(fmt::format("help: no command is called '{}'; {}see: flashlab --help", words[at],
                                    near.empty() ? "" : fmt::format("did you mean '{}'? ", near)),
                        exit_usage);
    }
    fmt::print("{}", command->get_formatter()->make_help(command, full_name(command),
                                                         CLI::AppFormatMode::Normal)); // help() would be that of the command `help`
    return exit_done;
}

} // namespace flashlab

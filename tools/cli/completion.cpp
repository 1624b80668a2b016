#include "tools/cli/completion.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/drive/device_presets.h"
#include "tools/text/shell_word.h"

namespace flashlab {
namespace {

struct OptionEntry {
    std::vector<std::string> names; ///< --long first
    std::string value;              ///< SIZE, TEXT …; empty: a flag
    std::vector<std::string> choices;
    std::string help;
};
struct CommandEntry {
    std::string path; ///< "crash explore"; empty: flashlab itself
    std::string help;
    std::vector<std::pair<std::string, std::string>> inner; ///< name and help
    std::vector<OptionEntry> options;
    std::vector<std::string> places; ///< DIR, MNT …
};

/// "TEXT:{device,ftl,fs}" has the choices that CLI11 checks.
std::vector<std::string> choices_of(const CLI::Option& option) {
    if (option.check_lname("ftl")) return all_schemes();
    if (option.check_lname("preset")) {
        std::vector<std::string> names;
        for (const auto& preset : device_presets()) names.emplace_back(preset.name);
        return names;
    }
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    std::vector<std::string> choices;
    for (std::size_t at = begin + 1; at < end;) {
        const std::size_t comma = std::min(type.find(',', at), end);
        choices.push_back(type.substr(at, comma - at));
        at = comma + 1;
    }
    return choices;
}

bool is_shown(const CLI::App& command) { return !command.get_group().empty(); }

/// The options of a command, and those of its option groups, which CLI11 keeps as commands without a name.
void add_options(const CLI::App& command, CommandEntry& entry) {
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) {
            entry.places.push_back(option->get_name(true));
            continue;
        }
        OptionEntry one{.names = {}, .value = {}, .choices = choices_of(*option), .help = option->get_description()};
        for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
        const std::string type = option->get_type_name();
        if (option->get_items_expected_max() > 0) one.value = type.empty() ? "VALUE" : type.substr(0, type.find_first_of(":{ ["));
        entry.options.push_back(std::move(one));
    }
    for (const CLI::App* group : command.get_subcommands([](const CLI::App* c) { return c->get_name().empty(); })) add_options(*group, entry);
}

void collect(const CLI::App& command, const std::string& path, std::vector<CommandEntry>& to) {
    CommandEntry entry{.path = path, .help = command.get_description(), .inner = {}, .options = {}, .places = {}};
    add_options(command, entry);
    const auto inner = command.get_subcommands([](const CLI::App* c) { return is_shown(*c) && !c->get_name().empty(); });
    for (const CLI::App* c : inner) entry.inner.emplace_back(c->get_name(), c->get_description());
    to.push_back(std::move(entry));
    for (const CLI::App* c : inner) collect(*c, path.empty() ? c->get_name() : path + " " + c->get_name(), to);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
    return text;
}

std::string quoted_fish(const std::string& text) { return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'"; }

std::vector<std::string> names_of(const CommandEntry& command) {
    std::vector<std::string> names;
    for (const auto& [name, help] : command.inner) names.push_back(name);
    return names;
}
std::vector<std::string> options_of(const CommandEntry& command) {
    std::vector<std::string> names;
    for (const OptionEntry& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// bash and zsh find the command in the same way.
std::string path_loop(std::string_view words, std::string_view from, std::string_view to, const std::vector<CommandEntry>& commands) {
    std::vector<std::string> paths;
    for (const CommandEntry& command : commands)
        if (!command.path.empty()) paths.push_back(shell_word(command.path));
    return fmt::format(
        "    for ((i = {}; i < {}; i++)); do\n        case \"${{at:+$at }}${{{}[i]}}\" in\n            {}) at=\"${{at:+$at }}${{{}[i]}}\" ;;\n"
        "        esac\n    done\n",
        from, to, words, fmt::join(paths, "|"), words);
}

std::string bash_text(const std::vector<CommandEntry>& commands) {
    std::string text = "# bash completion for flashlab; made by: flashlab completion bash\n_flashlab() {\n"
                       "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} at= words= values= i\n";
    text += path_loop("COMP_WORDS", "1", "COMP_CWORD", commands) + "    case \"$at\" in\n";
    for (const CommandEntry& command : commands) {
        text += fmt::format("        {})\n            words={}\n", shell_word(command.path),
                            shell_word(fmt::format("{}", fmt::join(command.inner.empty() ? options_of(command) : names_of(command), " "))));
        if (!command.inner.empty())
            text += fmt::format("            [[ $cur != -* ]] || words={}\n", shell_word(fmt::format("{}", fmt::join(options_of(command), " "))));
        std::string cases;
        for (const OptionEntry& option : command.options)
            if (!option.choices.empty())
                cases += fmt::format("                {}) values={} ;;\n", fmt::join(option.names, "|"),
                                     shell_word(fmt::format("{}", fmt::join(option.choices, " "))));
        if (!cases.empty()) text += "            case \"$prev\" in\n" + cases + "            esac\n";
        text += "            ;;\n";
    }
    return text + "    esac\n"
                  "    COMPREPLY=()\n"
                  "    if [[ -n $values ]]; then\n        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n"
                  "    elif [[ $cur == -* || ( $words != -* && -n $words ) ]]; then\n        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
                  "\"$cur\")\n    fi\n"
                  "}\ncomplete -o default -F _flashlab flashlab\n";
}

std::string zsh_text(const std::vector<CommandEntry>& commands) {
    std::string text = "#compdef flashlab\n# made by: flashlab completion zsh\n_flashlab() {\n"
                       "    local at= i prev=${words[CURRENT-1]}\n    local -a inner options values\n";
    text += path_loop("words", "2", "CURRENT", commands) + "    case \"$at\" in\n";
    const auto described = [](const std::string& name, const std::string& help) { return shell_word(replaced(name, ":", "\\:") + ":" + help); };
    for (const CommandEntry& command : commands) {
        text += fmt::format("        {})\n            inner=(\n", shell_word(command.path));
        for (const auto& [name, help] : command.inner) text += "                " + described(name, help) + "\n";
        text += "            )\n            options=(\n";
        for (const OptionEntry& option : command.options)
            for (const std::string& name : option.names) text += "                " + described(name, option.help) + "\n";
        text += "            )\n            case \"$prev\" in\n";
        for (const OptionEntry& option : command.options)
            if (!option.choices.empty())
                text += fmt::format("                {}) values=({}) ;;\n", fmt::join(option.names, "|"), fmt::join(option.choices, " "));
        text += "            esac\n            ;;\n";
    }
    return text + "    esac\n"
                  "    if (( $#values )); then compadd -a values\n"
                  "    elif [[ ${words[CURRENT]} == -* ]]; then _describe option options\n"
                  "    elif (( $#inner )); then _describe command inner\n"
                  "    else _files; fi\n}\n_flashlab \"$@\"\n";
}

std::string fish_text(const std::vector<CommandEntry>& commands) {
    std::vector<std::string> paths;
    for (const CommandEntry& command : commands)
        if (!command.path.empty()) paths.push_back(quoted_fish(command.path));
    std::string text = fmt::format("# fish completion for flashlab; made by: flashlab completion fish\nfunction __flashlab_at\n    set -l at ''\n"
                                   "    for word in (commandline -opc)[2..-1]\n        set -l next (string trim -- \"$at $word\")\n"
                                   "        contains -- $next {}; and set at $next\n    end\n    test \"$at\" = \"$argv\"\nend\n",
                                   fmt::join(paths, " "));
    for (const CommandEntry& command : commands) {
        const std::string at = "complete -c flashlab -n " + quoted_fish(fmt::format("__flashlab_at {}", command.path));
        for (const auto& [name, help] : command.inner) text += fmt::format("{} -f -a {} -d {}\n", at, name, quoted_fish(help));
        for (const OptionEntry& option : command.options) {
            text += at;
            for (const std::string& name : option.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.value.empty()) text += " -r";
            if (!option.choices.empty()) text += fmt::format(" -f -a '{}'", fmt::join(option.choices, " "));
            text += fmt::format(" -d {}\n", quoted_fish(option.help));
        }
    }
    return text;
}

/// Characters that scdoc(5) would take for markup.
std::string plain_scdoc(const std::string& text) {
    std::string plain;
    for (const char c : text) {
        if (c == '*' || c == '_' || c == '\\' || c == '#' || c == '[') plain += '\\';
        plain += c;
    }
    return plain;
}

std::string man_text(const std::vector<CommandEntry>& commands) {
    std::string text = "# OPTIONS\n";
    for (const CommandEntry& command : commands) {
        if (!command.inner.empty() && !command.path.empty()) continue;
        std::string places;
        for (const std::string& place : command.places) places += " " + plain_scdoc(place);
        text += fmt::format("\n## flashlab{}{}\n\n{}.\n", command.path.empty() ? "" : " " + command.path, places, plain_scdoc(command.help));
        for (const OptionEntry& option : command.options) {
            text += fmt::format("\n*{}*", fmt::join(option.names, "*, *"));
            if (!option.value.empty()) text += " _" + plain_scdoc(option.value) + "_";
            text += "\n\t" + plain_scdoc(option.help);
            if (!option.choices.empty()) text += fmt::format("; one of {}", plain_scdoc(fmt::format("{}", fmt::join(option.choices, ", "))));
            text += "\n";
        }
    }
    return text;
}

} // namespace

std::string completion_text(const CLI::App& app, const std::string& what) {
    std::vector<CommandEntry> commands;
    collect(app, "", commands);
    if (what == "bash") return bash_text(commands);
    if (what == "zsh") return zsh_text(commands);
    if (what == "fish") return fish_text(commands);
    return man_text(commands);
}

} // namespace flashlab

#include "tools/imports/imported.h"

#include <map>

#include <fmt/format.h>

#include "tools/host/regular_file.h"
#include "tools/text/shell_word.h"

namespace flashlab {

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::expected<std::string, std::string> text_to_import(const std::string& path) {
    constexpr std::size_t most = 1u << 20; // such files are a few kilobytes
    auto text = read_regular_file(path, most);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    if (text->empty()) return std::unexpected(fmt::format("{}: is empty", path));
    return text;
}

std::string device_toml(const Imported& imported, const std::string& origin) {
    std::map<std::string, std::map<std::string, std::string>> sections;
    for (const auto& [key, value] : imported.keys) {
        const auto dot = key.find('.');
        sections[key.substr(0, dot)][key.substr(dot + 1)] = value;
    }
    std::string out = fmt::format("# Made by flashlab import from {}.\n", origin);
    for (const auto& [section, keys] : sections) {
        out += fmt::format("\n[{}]\n", section);
        for (const auto& [key, value] : keys) {
            const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
            out += is_number ? fmt::format("{} = {}\n", key, value) : fmt::format("{} = \"{}\"\n", key, value);
        }
    }
    return out;
}

std::string load_script(const Imported& imported, const std::string& origin, const std::string& config) {
    std::string out =
        fmt::format("#!/bin/sh\n# Made by flashlab import from {}. Virtual time: each takes moments.\nset -eu\ncd \"$(dirname \"$0\")\"\n", origin);
    for (const ImportedLoad& load : imported.loads) {
        out += fmt::format("\n# {}\n${{FLASHLAB:-flashlab}}", load.title);
        for (std::size_t i = 0; i < load.command.size(); ++i) {
            out += " " + shell_word(load.command[i]);
            if (i == 0 && !config.empty()) out += " --config " + shell_word(config);
        }
        out += "\n";
    }
    return out;
}

} // namespace flashlab

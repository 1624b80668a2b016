#include "tools/imports/imported.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "tools/text/shell_word.h"

namespace flashlab {

std::expected<std::string, std::string> text_to_import(const std::string& path) {
    constexpr std::size_t most = 1u << 20; // such files are a few kilobytes
    errno = 0;
    std::ifstream in{path, std::ios::binary};
    std::string text(most + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad() || (!in && in.gcount() == 0))
        return std::unexpected(fmt::format("{}: {}", path, errno == 0 ? "is empty" : std::generic_category().message(errno)));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) return std::unexpected(fmt::format("{}: more than 1 MiB; that is no configuration", path));
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

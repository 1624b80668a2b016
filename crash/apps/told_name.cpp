#include "crash/apps/told_name.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "crash/apps/history_base.h"

namespace flashlab {

namespace {

/// Controls, and the marks of Unicode that turn the direction of what follows.
bool is_invisible(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

std::string escape_of(char byte) {
    if (byte == '\n') return "\\n";
    if (byte == '\t') return "\\t";
    if (byte == '"' || byte == '\\') return {'\\', byte};
    return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

/// What stands behind the folder of files without a name: number and, within one of these, a path. Nothing: it has a name.
std::optional<std::pair<std::string_view, std::string_view>> in_nameless(std::string_view path) {
    const std::string folder = std::string{nameless_folder_name} + "/#";
    if (!path.starts_with(folder)) return std::nullopt;
    path.remove_prefix(folder.size());
    const std::size_t digits = std::min(path.find_first_not_of("0123456789"), path.size());
    return std::pair{path.substr(0, digits), path.substr(std::min(digits + 1, path.size()))};
}

} // namespace

std::string quoted_words(std::string_view words) {
    std::string told = "\"";
    while (!words.empty()) {
        const auto character = utf8_character(words);
        const std::size_t bytes = character ? character->bytes : 1;
        const bool is_escaped = !character || is_invisible(character->code) || character->code == '"' || character->code == '\\';
        for (const char byte : words.substr(0, bytes)) told += is_escaped ? escape_of(byte) : std::string{byte};
        words.remove_prefix(bytes);
    }
    return told + '"';
}

std::string told_name(std::string_view name) {
    if (name.empty()) return "\"\"";
    if (const auto nameless = in_nameless(name)) {
        const auto [number, inside] = *nameless;
        return inside.empty() ? fmt::format("(inode {})", number) : fmt::format("(inode {})/{}", number, told_name(inside));
    }
    std::string told = quoted_words(name);
    const bool is_plain = told.size() == name.size() + 2 && name.find_first_of(" \"'") == std::string_view::npos;
    return is_plain ? std::string{name} : told;
}

} // namespace flashlab

/// Files to import, and what is said of them.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"
#include "tools/imports/imported.h"

namespace flashlab::test {

using ImportKind = ImportNote::Kind;

struct ImportFile {
    TemporaryDirectory directory;
    std::string path;
    ImportFile(const std::string& name, const std::string& text) : path{(directory.path() / name).string()} { std::ofstream{path} << text; }
};

inline std::string key_of(const Imported& imported, std::string_view key) {
    std::string value = "none";
    for (const auto& [name, of] : imported.keys)
        if (name == key) value = of;
    return value;
}

inline const ImportNote* note_of(const Imported& imported, std::string_view setting) {
    const auto found = std::ranges::find(imported.notes, setting, &ImportNote::setting);
    return found == imported.notes.end() ? nullptr : &*found;
}

inline std::string error_of(const std::expected<Imported, std::string>& imported) { return imported ? "" : imported.error(); }

/// What `import` says of a file with this text, without the file's name at its begin.
template <class Import>
std::string error_in(const std::string& text, const Import& import) {
    const ImportFile file{"wrong", text};
    const std::string said = error_of(import(file.path));
    return said.starts_with(file.path) ? said.substr(file.path.size()) : said;
}

} // namespace flashlab::test

#include "tools/explore/application.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/explore/sha256.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_application_files = 32;

bool is_regular(const std::string& path) {
    std::error_code error;
    return path.starts_with('/') && fs::is_regular_file(path, error);
}

std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders{path == nullptr ? "" : path};
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string file = folder + "/" + program; is_regular(file) && ::access(file.c_str(), X_OK) == 0) return file;
    return {};
}

struct ScriptWord {
    std::string text;
    bool is_first = true; ///< of a command: a program
};

/// The value of the variable at the beginning of `rest`, which is cut off there: $NAME or ${NAME}. Nothing: it is something else.
std::optional<std::string> take_variable(std::string_view& rest) {
    const bool is_braced = rest.starts_with("${");
    std::string_view name = rest.substr(is_braced ? 2 : 1);
    const auto is_of_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    name = name.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(name, is_of_name) - name.begin()));
    const std::size_t bytes = name.size() + (is_braced ? 3 : 1);
    if (name.empty() || rest.size() < bytes || (is_braced && rest[bytes - 1] != '}')) return std::nullopt;
    rest.remove_prefix(bytes);
    const char* value = std::getenv(std::string{name}.c_str());
    return value == nullptr ? "" : value;
}

/// Roughly as a shell splits them: good enough to find the names of files.
std::vector<ScriptWord> words_of_script(std::string_view script) {
    std::vector<ScriptWord> words;
    ScriptWord word;
    const auto end_word = [&](bool begins_command) {
        const bool is_assignment = word.is_first && word.text.find('=') != std::string::npos;
        const bool was_first = word.is_first && (word.text.empty() || is_assignment || word.text == "exec");
        if (!word.text.empty()) words.push_back(word);
        word = {.text = {}, .is_first = begins_command || was_first};
    };
    for (char quote = '\0'; !script.empty();) {
        const char c = script.front();
        if (c == '$' && quote != '\'') {
            if (const auto value = take_variable(script)) {
                word.text += *value;
                continue;
            }
        }
        script.remove_prefix(1);
        if (quote == '\0' && std::string_view{" \t\n;|&()<>`"}.contains(c))
            end_word(std::string_view{"\n;|&(`"}.contains(c));
        else if (c == quote || (quote == '\0' && (c == '"' || c == '\'')))
            quote = c == quote ? '\0' : c;
        else
            word.text += c;
    }
    end_word(false);
    return words;
}

bool is_shell(const std::string& word) {
    static constexpr std::array<std::string_view, 6> shells{"sh", "bash", "dash", "ash", "ksh", "zsh"};
    return std::ranges::find(shells, fs::path{word}.filename().string()) != shells.end();
}

std::vector<ScriptWord> words_of_command(const std::vector<std::string>& command) {
    std::vector<ScriptWord> words;
    for (const std::string& word : command) words.push_back({word, words.empty()});
    for (std::size_t i = 1; i + 1 < command.size(); ++i) // sh -c, also behind env(1) and its like
        if (command[i] == "-c" && is_shell(command[i - 1])) std::ranges::move(words_of_script(command[i + 1]), std::back_inserter(words));
    return words;
}

std::optional<std::string> sha256_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return std::nullopt;
    Sha256 hash;
    std::vector<char> piece(1u << 16);
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() != 0)
        hash.take({piece.data(), static_cast<std::size_t>(file.gcount())});
    return hash.digest();
}

} // namespace

std::vector<ApplicationFile> application_of(const std::vector<std::string>& command) {
    std::vector<ApplicationFile> files;
    for (const ScriptWord& word : words_of_command(command)) {
        const bool is_program = word.is_first && word.text.find('/') == std::string::npos;
        const std::string path = is_program ? in_path(word.text) : word.text;
        if (files.size() == most_application_files || !is_regular(path) || std::ranges::find(files, path, &ApplicationFile::path) != files.end())
            continue;
        if (auto sha256 = sha256_of(path)) files.push_back({path, std::move(*sha256)});
    }
    return files;
}

std::string hash_of_command(const std::vector<std::string>& command, const std::vector<ApplicationFile>& files) {
    Sha256 hash;
    for (const std::string& word : command) hash.take(word + '\0');
    for (const ApplicationFile& file : files) hash.take(file.sha256);
    return hash.digest();
}

std::string uri_of(const std::vector<ApplicationFile>& files, const std::string& directory) {
    if (files.empty()) return {};
    const std::string below = directory + "/";
    const auto ours = std::ranges::find_if(files, [&](const ApplicationFile& file) { return file.path.starts_with(below); });
    const std::string path = ours != files.end() ? ours->path.substr(below.size()) : files.back().path;
    std::string uri;
    for (const char c : path) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view{"/-._~"}.contains(c);
        uri += is_plain ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

} // namespace flashlab

#include "tools/explore/plain_command.h"

#include <algorithm>

namespace flashlab {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_plain(char c) { return is_letter(c) || is_digit(c) || std::string_view{"./=,:@%+-"}.contains(c); }

struct CommandWord {
    std::string text;
    std::size_t name_bytes = 0; ///< it begins with the name of a variable and '=', so many bytes before that; 0: it does not
    bool is_quoted = false;
};

/// The length of a name that stands before '=' at the beginning of the word; 0: there is none.
std::size_t name_before_equals(std::string_view word) {
    if (word.empty() || !is_letter(word.front())) return 0;
    const auto end = std::ranges::find_if_not(word, [](char c) { return is_letter(c) || is_digit(c); });
    return end != word.end() && *end == '=' ? static_cast<std::size_t>(end - word.begin()) : 0;
}

/// The word at the beginning of `line`, which is cut off there. Nothing: the shell has to read it.
std::optional<CommandWord> take_word(std::string_view& line) {
    CommandWord word{.text = {}, .name_bytes = name_before_equals(line)};
    while (!line.empty() && !is_blank(line.front())) {
        const char first = line.front();
        if (is_plain(first)) {
            word.text += first;
            line.remove_prefix(1);
            continue;
        }
        if (first != '\'' && first != '"') return std::nullopt;
        const std::size_t end = line.find(first, 1);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view inside = line.substr(1, end - 1);
        if (first == '"' && inside.find_first_of("$`\\") != std::string_view::npos) return std::nullopt;
        word.text += inside;
        word.is_quoted = true;
        line.remove_prefix(end + 1);
    }
    return word;
}

} // namespace

std::optional<PlainCommand> plain_command(std::string_view line) {
    PlainCommand command;
    bool was_exec = false;
    while (true) {
        while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
        if (line.empty()) break;
        const auto word = take_word(line);
        if (!word) return std::nullopt;
        const bool is_program = command.words.empty();
        if (is_program && !was_exec && word->name_bytes != 0) {
            command.assignments.emplace_back(word->text.substr(0, word->name_bytes), word->text.substr(word->name_bytes + 1));
        } else if (is_program && !was_exec && !word->is_quoted && word->text == "exec") {
            was_exec = true;
        } else {
            if (is_program && was_exec && word->text.starts_with('-')) return std::nullopt; // options of exec itself
            command.words.push_back(word->text);
        }
    }
    const auto is_path = [](const auto& assignment) { return assignment.first == "PATH"; };
    if (command.words.empty() || std::ranges::any_of(command.assignments, is_path)) return std::nullopt; // the program is looked for in that PATH
    return command;
}

} // namespace flashlab

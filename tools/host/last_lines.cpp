#include "tools/host/last_lines.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr std::streamoff most_told_bytes = 2'000;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

} // namespace

std::string last_lines(const std::string& file, int lines) {
    std::ifstream in{file, std::ios::binary | std::ios::ate};
    const std::streamoff bytes = in ? static_cast<std::streamoff>(in.tellg()) : 0;
    const std::streamoff told = std::min(bytes, most_told_bytes);
    std::string text(static_cast<std::size_t>(std::max<std::streamoff>(told, 0)), '\0');
    in.seekg(bytes - told);
    if (!in.read(text.data(), told)) return {};
    const bool is_cut = bytes > told;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::size_t from = text.size();
    for (int i = 0; i < lines && from != std::string::npos; ++i) from = from == 0 ? std::string::npos : text.rfind('\n', from - 1);
    if (from != std::string::npos) return text.substr(from + 1);
    if (!is_cut) return text;
    const auto begin = std::ranges::find_if_not(text, continues_character);
    return fmt::format("(behind {} bytes) {}", bytes - (text.end() - begin), std::string{begin, text.end()});
}

std::string first_and_last_lines(const std::string& file, int lines) {
    std::ifstream in{file, std::ios::binary};
    std::string text(static_cast<std::size_t>(most_told_bytes), '\0');
    in.read(text.data(), most_told_bytes);
    text.resize(static_cast<std::size_t>(in.gcount()));
    const bool is_all = text.size() < static_cast<std::size_t>(most_told_bytes);
    if (is_all && std::ranges::count(text, '\n') <= 2 * lines) return last_lines(file, 2 * lines);
    std::size_t end = 0;
    for (int i = 0; i < lines && end != std::string::npos; ++i) end = text.find('\n', end == 0 ? 0 : end + 1);
    const std::string last = last_lines(file, lines);
    return end == std::string::npos ? last : text.substr(0, end) + "\n...\n" + last;
}

} // namespace flashlab

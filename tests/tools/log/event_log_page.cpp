#include "tests/tools/log/event_log_page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "tools/log/event_level.h"
#include "tools/log/event_log_schema.h"

namespace flashlab {
namespace {

struct LevelText {
    EventLevel level;
    std::string_view more, answers;
};
constexpr std::array levels{
    LevelText{EventLevel::none, "", "nothing"},
    LevelText{EventLevel::summary, " (default; `none` for a read-only mount)",
              "write amplification by cause, latency percentiles by operation, the busiest channel"},
    LevelText{EventLevel::requests, "", "which request was slow, what was asked where"},
    LevelText{EventLevel::all, "", "why it was slow: which chip, which block, whose copy"},
};

std::string levels_block() {
    std::string out = "| level | tables with rows | answers |\n|---|---|---|\n";
    for (const LevelText& of : levels) {
        std::string tables;
        for (const TableDescription& t : event_log_descriptions())
            if (t.text.level.value_or(EventLevel::summary) == of.level)
                tables += fmt::format("{}`{}`", tables.empty() ? (of.level > EventLevel::summary ? "and " : "") : ", ", t.text.name);
        out += fmt::format("| `{}`{} | {} | {} |\n", name_of(of.level), of.more, tables.empty() ? "none" : tables, of.answers);
    }
    return out;
}

std::string column_line(const ColumnDescription& c) {
    std::string meaning{c.text.meaning.empty() ? c.text.comment : c.text.meaning};
    if (c.refers_to_names)
        meaning += fmt::format("; names in `{}`", c.refers_to);
    else if (!c.refers_to.empty())
        meaning += fmt::format(" (`{}`)", c.refers_to);
    return fmt::format("`{}`{}: {}", c.text.name, c.text.unit.empty() ? "" : fmt::format(" ({})", c.text.unit), meaning);
}

std::string table_row(const TableDescription& t) {
    std::string about;
    if (!t.text.about.empty()) {
        about = t.text.level ? fmt::format("level {}: {}.", name_of(*t.text.level), t.text.about) : fmt::format("{}.", t.text.about);
        about.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(about.front())));
    }
    const auto add = [&](std::string_view sentence) { about += fmt::format("{}{}", about.empty() ? "" : " ", sentence); };
    if (!t.text.more.empty()) add(t.text.more);
    if (t.text.sheds) add("Beyond `--log-keep` its oldest rows go.");
    std::string columns;
    for (const ColumnDescription& c : t.columns) columns += fmt::format("{}{}", columns.empty() ? "" : "<br>", column_line(c));
    return fmt::format("| `{}` | {} | {} |\n", t.text.name, about, columns);
}

std::string tables_block() {
    std::string out = "| table | a row is | columns (unit) |\n|---|---|---|\n";
    for (const TableDescription& t : event_log_descriptions()) out += table_row(t);
    return out;
}

} // namespace

std::expected<std::string, std::string> event_log_page(std::string_view page) {
    std::string out{page};
    for (const auto& [name, block] : {std::pair{"levels", levels_block()}, std::pair{"tables", tables_block()}}) {
        const std::string begin = fmt::format("<!-- generated: {} -->\n", name), end = fmt::format("<!-- end of {} -->\n", name);
        const auto from = out.find(begin);
        const auto to = out.find(end);
        if (from == std::string::npos || to == std::string::npos || to < from)
            return std::unexpected(fmt::format("the page lacks the lines {} and {}", begin, end));
        if (out.find(begin, from + 1) != std::string::npos || out.find(end, to + 1) != std::string::npos)
            return std::unexpected(fmt::format("the page has the block {} twice", name));
        out.replace(from, to - from, fmt::format("{}\n{}\n", begin, block));
    }
    return out;
}

} // namespace flashlab

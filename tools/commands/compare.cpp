#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/standard_streams.h"
#include "tools/table.h"

namespace flashlab {
namespace {

std::expected<Json, std::string> read_report(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return std::unexpected(fmt::format("{}: is a directory, no report; one is made by: flashlab replay TRACE --json > FILE", path));
    std::ifstream file{path, std::ios::binary};
    if (!file)
        return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto json = Json::parse(text);
    if (!json)
        return std::unexpected(fmt::format("{}: {}; a report is made by: flashlab replay TRACE --json > FILE", path, json.error()));
    if (!json->is_object() || (*json)["requests"].is_null())
        return std::unexpected(fmt::format("{}: no report of a run; one is made by: flashlab replay TRACE --json > FILE", path));
    return json;
}

constexpr std::size_t longest_text = 30; ///< of a value in the table: the end of a path tells more than its beginning

std::string shown(const Json& value) {
    if (value.is_null())
        return "-";
    const std::string text = value.is_number() ? fmt::format("{:.6g}", value.real()) : value.text(value.dump());
    return text.size() <= longest_text ? text : "..." + text.substr(text.size() - longest_text);
}

/// Every key of either, in the order of the first; members of members as key.member.
void add_rows(const Json& a, const Json& b, const std::string& prefix, Json& out) {
    const auto add = [&](const std::string& key, const Json& left, const Json& right) {
        if (left.is_object() || right.is_object()) {
            add_rows(left, right, prefix + key + ".", out);
            return;
        }
        const std::size_t items = std::max(left.items().size(), right.items().size());
        for (std::size_t i = 0; i < items; ++i) {
            const auto item = [&](const Json& of) { return i < of.items().size() ? of.items()[i] : Json{}; };
            add_rows(Json::object({{fmt::format("{}", i), item(left)}}), Json::object({{fmt::format("{}", i), item(right)}}), prefix + key + ".", out);
        }
        if (items != 0)
            return;
        Json row = Json::object({{"key", prefix + key}, {"a", left}, {"b", right}});
        if (left.is_number() && right.is_number() && left.real() != 0)
            row.add("ratio", right.real() / left.real());
        out.push(std::move(row));
    };
    for (const auto& [key, value] : a.members())
        add(key, value, b[key]);
    for (const auto& [key, value] : b.members())
        if (std::ranges::find(a.members(), key, &Json::Member::first) == a.members().end())
            add(key, Json{}, value);
}

} // namespace

int run_compare(const std::string& first, const std::string& second, bool json) {
    const auto a = read_report(first);
    if (!a)
        return complain("compare: " + a.error());
    const auto b = read_report(second);
    if (!b)
        return complain("compare: " + b.error());
    for (const char* key : {"trace", "requests"})
        if ((*a)[key].dump() != (*b)[key].dump())
            tell(fmt::format("note: {} differs: these are not two runs of the same load\n", key));
    Json rows{Json::Array{}};
    add_rows(*a, *b, "", rows);
    if (json) {
        fmt::print("{}\n", rows.dump());
        return exit_done;
    }
    fmt::print("A  {}\nB  {}\n", first, second);
    Table table{{"", "A", "B", "B / A"}};
    for (const Json& row : rows.items())
        table.add({row["key"].text(), shown(row["a"]), shown(row["b"]), row["ratio"].is_null() ? "" : fmt::format("{:.3f}", row["ratio"].real())});
    fmt::print("{}", table.to_text());
    return exit_done;
}

} // namespace flashlab

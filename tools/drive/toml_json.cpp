#include "tools/drive/toml_json.h"

#include <sstream>

#include <fmt/format.h>

#include "tools/drive/toml_library.h"

namespace flashlab {
namespace {

Json as_json(const toml::node& node) {
    if (const auto* table = node.as_table()) {
        Json object{Json::Object{}};
        for (const auto& [key, value] : *table) object.add(std::string{key.str()}, as_json(value));
        return object;
    }
    if (const auto* array = node.as_array()) {
        Json list{Json::Array{}};
        for (const auto& value : *array) list.push(as_json(value));
        return list;
    }
    if (const auto* text = node.as_string()) return Json{text->get()};
    if (const auto* number = node.as_integer()) return Json{number->get()};
    if (const auto* number = node.as_floating_point()) return Json{number->get()};
    if (const auto* truth = node.as_boolean()) return Json{truth->get()};
    std::ostringstream date;
    if (const auto* day = node.as_date()) date << *day;
    if (const auto* time = node.as_time()) date << *time;
    if (const auto* instant = node.as_date_time()) date << *instant;
    return Json{date.str()};
}

} // namespace

std::expected<Json, std::string> toml_as_json(std::string_view text, const std::string& name) {
    const auto parsed = toml::parse(text, name);
    if (parsed) return as_json(parsed.table());
    const auto at = parsed.error().source().begin;
    return std::unexpected(fmt::format("{}:{}:{}: {}", name, at.line, at.column, parsed.error().description()));
}

} // namespace flashlab

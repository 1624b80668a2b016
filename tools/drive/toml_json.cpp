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

std::string place_in_toml(std::string_view text, std::span<const std::string> path) {
    const auto parsed = toml::parse(text);
    if (!parsed) return {};
    const toml::node* node = &parsed.table();
    auto at = node->source().begin;
    for (const std::string& step : path) {
        if (const auto* table = node->as_table()) {
            const auto found = table->find(step);
            if (found == table->end()) return {};
            at = found->first.source().begin; // of the key
            node = &found->second;
        } else if (const auto* list = node->as_array()) {
            node = list->get(std::stoull(step));
            if (node == nullptr) return {};
            at = node->source().begin;
        } else {
            return {};
        }
    }
    return fmt::format("{}:{}", at.line, at.column);
}

} // namespace flashlab

#include "tools/text/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace flashlab {
namespace {

const Json& null_json() {
    static const Json null;
    return null;
}

Json convert(const nlohmann::ordered_json& from) {
    using Kind = nlohmann::ordered_json::value_t;
    switch (from.type()) {
    case Kind::boolean:
        return Json{from.get<bool>()};
    case Kind::number_integer:
        return Json{from.get<std::int64_t>()};
    case Kind::number_unsigned:
        return Json{from.get<std::uint64_t>()};
    case Kind::number_float:
        return Json{from.get<double>()};
    case Kind::string:
        return Json{from.get<std::string>()};
    case Kind::array: {
        Json::Array items;
        for (const auto& item : from) items.push_back(convert(item));
        return Json{std::move(items)};
    }
    case Kind::object: {
        Json::Object members;
        for (const auto& [key, value] : from.items()) members.emplace_back(key, convert(value));
        return Json{std::move(members)};
    }
    default:
        return Json{};
    }
}

/// A limit, because everything here recurses. Our own JSON nests at most five deep.
bool is_too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size() && depth <= 64; ++i) {
        const char c = text[i];
        if (in_string && c == '\\')
            ++i;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string)
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    }
    return depth > 64;
}

/// Bytes that are not UTF-8 (a file's name may hold any) become U+FFFD: the output is always valid JSON.
std::string json_literal(const std::string& text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

} // namespace

std::expected<Json, std::string> Json::parse(std::string_view text) {
    if (is_too_deep(text)) return std::unexpected(std::string{"nested too deeply"});
    try {
        return convert(nlohmann::ordered_json::parse(text));
    } catch (const nlohmann::ordered_json::parse_error& error) {
        const std::string_view before = text.substr(0, std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1));
        const std::size_t line_begin = before.rfind('\n') + 1; // npos + 1 is 0
        return std::unexpected(fmt::format("not valid JSON at {}:{}", std::ranges::count(before, '\n') + 1, before.size() - line_begin + 1));
    } catch (const nlohmann::ordered_json::exception&) {
        return std::unexpected(std::string{"not valid JSON: a number that is too large"});
    }
}

std::string Json::dump() const {
    std::string out;
    dump_to(out);
    return out;
}

void Json::dump_to(std::string& out) const {
    const auto each = [&](const auto& list, char open, char close, const auto& one) {
        out += open;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i != 0) out += ',';
            one(list[i]);
        }
        out += close;
    };
    if (const auto* b = std::get_if<bool>(&value_))
        out += *b ? "true" : "false";
    else if (const auto* i = std::get_if<std::int64_t>(&value_))
        out += fmt::format("{}", *i);
    else if (const auto* u = std::get_if<std::uint64_t>(&value_))
        out += fmt::format("{}", *u);
    else if (const auto* d = std::get_if<double>(&value_))
        out += std::isfinite(*d) ? fmt::format("{}", *d) : "null";
    else if (const auto* s = std::get_if<std::string>(&value_))
        out += json_literal(*s);
    else if (const auto* a = std::get_if<Array>(&value_))
        each(*a, '[', ']', [&](const Json& item) { item.dump_to(out); });
    else if (const auto* o = std::get_if<Object>(&value_))
        each(*o, '{', '}', [&](const Member& member) {
            out += json_literal(member.first) + ":";
            member.second.dump_to(out);
        });
    else
        out += "null";
}

bool Json::is_number() const {
    return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_) || std::holds_alternative<double>(value_);
}

const Json::Object& Json::members() const {
    static const Object none;
    const auto* o = std::get_if<Object>(&value_);
    return o != nullptr ? *o : none;
}

const Json::Array& Json::items() const {
    static const Array none;
    const auto* a = std::get_if<Array>(&value_);
    return a != nullptr ? *a : none;
}

const Json& Json::operator[](std::string_view key) const {
    for (const auto& [name, value] : members())
        if (name == key) return value;
    return null_json();
}

std::string Json::text(std::string_view otherwise) const {
    const auto* s = std::get_if<std::string>(&value_);
    return s != nullptr ? *s : std::string{otherwise};
}

std::uint64_t Json::number(std::uint64_t otherwise) const {
    if (const auto* u = std::get_if<std::uint64_t>(&value_)) return *u;
    if (const auto* i = std::get_if<std::int64_t>(&value_)) return *i < 0 ? otherwise : static_cast<std::uint64_t>(*i);
    if (const auto* d = std::get_if<double>(&value_)) return *d < 0 || *d >= 0x1p64 ? otherwise : static_cast<std::uint64_t>(*d);
    return otherwise;
}

double Json::real(double otherwise) const {
    if (const auto* d = std::get_if<double>(&value_)) return *d;
    if (const auto* i = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*i);
    return std::holds_alternative<std::uint64_t>(value_) ? static_cast<double>(std::get<std::uint64_t>(value_)) : otherwise;
}

bool Json::truth() const {
    const auto* b = std::get_if<bool>(&value_);
    return b != nullptr && *b;
}

void Json::add(std::string key, Json value) {
    if (is_null()) value_ = Object{};
    if (auto* o = std::get_if<Object>(&value_)) o->emplace_back(std::move(key), std::move(value));
}

void Json::push(Json value) {
    if (is_null()) value_ = Array{};
    if (auto* a = std::get_if<Array>(&value_)) a->push_back(std::move(value));
}

} // namespace flashlab

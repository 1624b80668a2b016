/// JSON values for `--json`, the control socket and the counters file.
///
/// Idea       A small value type that keeps the order of its keys. The parser is nlohmann's. Only json.cpp includes it, because it is slow to
///            compile.
/// Invariant  parse(dump()) gives the same value. Whole numbers stay whole.
/// Cost       Allocates; never on a hot path.
#pragma once

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace flashlab {

class Json {
public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    Json() = default;
    Json(bool value) : value_{value} {}
    Json(double value) : value_{value} {}
    Json(int value) : value_{std::int64_t{value}} {}
    Json(std::int64_t value) : value_{value} {}
    Json(std::uint64_t value) : value_{value} {}
    Json(std::uint32_t value) : value_{std::uint64_t{value}} {}
    Json(std::string value) : value_{std::move(value)} {}
    Json(std::string_view value) : value_{std::string{value}} {}
    Json(const char* value) : value_{std::string{value}} {}
    Json(Array value) : value_{std::move(value)} {}
    Json(Object value) : value_{std::move(value)} {}
    [[nodiscard]] static Json object(std::initializer_list<Member> members) { return Json{Object(members)}; }

    [[nodiscard]] static std::expected<Json, std::string> parse(std::string_view text);
    /// The value as one line without blanks.
    [[nodiscard]] std::string dump() const;

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }
    [[nodiscard]] bool is_number() const;
    /// The members of an object. Any other value has none.
    [[nodiscard]] const Object& members() const;
    [[nodiscard]] const Array& items() const;
    /// The member, or null.
    [[nodiscard]] const Json& operator[](std::string_view key) const;
    [[nodiscard]] std::string text(std::string_view otherwise = {}) const; ///< a string's content
    [[nodiscard]] std::uint64_t number(std::uint64_t otherwise = 0) const;
    [[nodiscard]] double real(double otherwise = 0) const;
    [[nodiscard]] bool truth() const;
    void add(std::string key, Json value); ///< to an object; a null becomes one
    void push(Json value);                 ///< to an array; a null becomes one

private:
    void dump_to(std::string& out) const;
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

} // namespace flashlab

/// Rows of text in aligned columns: the form in which every command prints for people.
///
/// Idea       Columns of numbers are aligned right, others left. Widths follow the content. There are no colours, and the header is the only line
///            that a script has to skip.
/// Cost       Keeps all rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

/// How a command prints its results: as aligned columns for people, or as JSON or CSV for programs.
enum class OutputFormat : std::uint8_t { table, json, csv };

class Table {
public:
    explicit Table(std::vector<std::string> header) : header_{std::move(header)} {}
    void add(std::vector<std::string> row);
    [[nodiscard]] bool is_empty() const { return rows_.empty(); }
    [[nodiscard]] std::string to_text() const;
    /// CSV as in RFC 4180, with quotes only where they are needed.
    [[nodiscard]] std::string to_csv() const;

private:
    std::vector<std::string> header_;
    std::vector<std::vector<std::string>> rows_;
};

/// The text to print in one of the three formats, for results whose rows are the same in all three.
[[nodiscard]] std::string shown(OutputFormat format, const Json& json, const Table& table);
/// The same for one object: one line for each key, nested keys joined by a dot. As CSV it has the header "key,value" and one line for each item of a
/// list.
[[nodiscard]] std::string shown(OutputFormat format, const Json& object);

/// What a report's numbers under such a key count: "pages", "%", "us"; empty where the key says it itself. Known by the end of the key.
[[nodiscard]] std::string_view unit_of_key(std::string_view key);

/// An object as lines "key  value unit". Nested keys are joined by a dot. A list of numbers is one line, any other list has a line for each item.
/// Fractions are rounded to six digits; JSON and CSV have all of them.
[[nodiscard]] std::string to_key_value_text(const Json& object);

} // namespace flashlab

/// Rows of text in aligned columns: how every command prints to people.
///
/// Idea       Columns of numbers align right, others left; widths follow the content; no colours, no lines that a script must skip but the header.
/// Cost       Keeps all rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

/// What a command prints: aligned columns for people, or the same for programs.
enum class OutputFormat : std::uint8_t { table, json, csv };

class Table {
public:
    explicit Table(std::vector<std::string> header) : header_{std::move(header)} {}
    void add(std::vector<std::string> row);
    [[nodiscard]] std::string to_text() const;
    /// RFC 4180: quotes only where needed.
    [[nodiscard]] std::string to_csv() const;

private:
    std::vector<std::string> header_;
    std::vector<std::vector<std::string>> rows_;
};

/// What `--json`, `--csv` and neither print of rows that are the same in all three.
[[nodiscard]] std::string shown(OutputFormat format, const Json& json, const Table& table);
/// The same of one object: a line a key, nested keys joined by a dot; as CSV below the header "key,value", an item of a list a line.
[[nodiscard]] std::string shown(OutputFormat format, const Json& object);

/// "key  value" lines of a flat or nested object; nested keys are joined by a dot.
[[nodiscard]] std::string to_key_value_text(const Json& object);

} // namespace flashlab

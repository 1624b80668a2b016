#include "tools/text/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/text/printable.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

bool is_numeric(const std::string& cell) {
    return cell.empty() || (cell.find_first_not_of("0123456789.-+e%x") == std::string::npos && cell.find_first_of("0123456789") != std::string::npos);
}

/// Columns, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& cell) {
    return static_cast<std::size_t>(std::ranges::count_if(cell, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string csv_cell(const std::string& cell) {
    if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
    std::string out = "\"";
    for (const char c : cell) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

/// People get rounded fractions, and a list of numbers in one cell. Programs get all digits, and a row for each item.
enum class Reader : std::uint8_t { person, program };

std::string cell_of(const Json& value) {
    const std::string text = value.text();
    return text.empty() ? value.dump() : text;
}

/// Six digits of a fraction are enough for people; whole numbers keep all of theirs.
std::string rounded_cell_of(const Json& number) {
    constexpr double six_digits = 1e5;
    std::string all = number.dump();
    if (all.find_first_of(".e") == std::string::npos) return all;
    return std::abs(number.real()) < six_digits ? fmt::format("{:.6g}", number.real()) : fmt::format("{:.0f}", number.real());
}

std::string cell_for_people(const Json& value) {
    if (value.is_number()) return rounded_cell_of(value);
    if (value.items().empty()) return cell_of(value);
    std::vector<std::string> numbers;
    std::ranges::transform(value.items(), std::back_inserter(numbers), rounded_cell_of);
    return fmt::format("[{}]", fmt::join(numbers, ","));
}

void flatten(const Json& value, const std::string& prefix, Reader reader, Table& table) {
    const auto inner = [&](const std::string& key) { return prefix.empty() ? key : prefix + "." + key; };
    if (value.is_object()) {
        for (const auto& [key, member] : value.members()) flatten(member, inner(key), reader, table);
        return;
    }
    const auto& items = value.items();
    const bool fits_a_cell = reader == Reader::person && std::ranges::all_of(items, &Json::is_number);
    if (!items.empty() && !fits_a_cell) {
        for (std::size_t i = 0; i < items.size(); ++i) flatten(items[i], inner(fmt::format("{}", i)), reader, table);
        return;
    }
    if (reader == Reader::program) {
        table.add({prefix, cell_of(value)});
        return;
    }
    std::string cell = cell_for_people(value);
    if (const std::string_view unit = unit_of_key(prefix); value.is_number() && !unit.empty()) cell += fmt::format(" {}", unit);
    if (prefix.ends_with("bytes") && value.number() >= 1024) cell += fmt::format(" ({})", human_size(value.number()));
    table.add({prefix, std::move(cell)});
}

} // namespace

void Table::add(std::vector<std::string> row) {
    ensure(row.size() == header_.size(), "Table: a cell for each column");
    rows_.push_back(std::move(row));
}

std::string Table::to_text() const {
    std::vector<std::size_t> widths;
    std::vector<bool> right;
    for (std::size_t c = 0; c < header_.size(); ++c) {
        std::size_t width = width_of(header_[c]);
        for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
        widths.push_back(width);
        right.push_back(!rows_.empty() && std::ranges::all_of(rows_, [&](const auto& row) { return is_numeric(row[c]); }));
    }
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::string pad(widths[c] - width_of(cells[c]), ' ');
            text += c == 0 ? "" : "  ";
            text += right[c] ? pad + cells[c] : cells[c] + pad;
        }
        out += printable(text.substr(0, text.find_last_not_of(' ') + 1)) + "\n";
    };
    if (std::ranges::any_of(header_, [](const std::string& h) { return !h.empty(); })) line(header_);
    for (const auto& row : rows_) line(row);
    return out;
}

std::string Table::to_csv() const {
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells) {
        for (std::size_t c = 0; c < cells.size(); ++c) out += (c == 0 ? "" : ",") + csv_cell(cells[c]);
        out += "\n";
    };
    line(header_);
    for (const auto& row : rows_) line(row);
    return out;
}

std::string shown(OutputFormat format, const Json& json, const Table& table) {
    return format == OutputFormat::json ? json.dump() + "\n" : format == OutputFormat::csv ? table.to_csv() : table.to_text();
}

std::string shown(OutputFormat format, const Json& object) {
    if (format != OutputFormat::csv) return format == OutputFormat::json ? object.dump() + "\n" : to_key_value_text(object);
    Table table{{"key", "value"}};
    flatten(object, "", Reader::program, table);
    return table.to_csv();
}

std::string_view unit_of_key(std::string_view key) {
    // unit, then the ends of keys
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> units{
        {{"%", "_spare _thresh percent_used percent_free_blocks _percent _normalized"},
         {"bytes", "bytes"},
         {"times 512,000 bytes", "data_units_read data_units_written"},
         {"GB", "endurance_estimate"},
         {"pages", "_pages _copies unmapped_reads page_reads"},
         {"blocks", "_blocks _factory _grown"},
         {"words", "words_written"},
         {"requests", "_commands host_reads host_writes host_trims host_flushes"},
         {"erases", "erase_count wear_min wear_mean wear_max wear_stddev endurance_cycles"},
         {"us", "_us"},
         {"s", "_seconds"},
         {"h", "_hours"},
         {"K", "temperature"},
         {"MB/s", "_mb_s"},
         {"a second", "iops"}}};
    for (const auto& [unit, ends] : units)
        for (const auto end : std::views::split(ends, ' '))
            if (key.ends_with(std::string_view{end.begin(), end.end()})) return unit;
    const std::size_t dot = key.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : unit_of_key(key.substr(0, dot));
}

std::string to_key_value_text(const Json& object) {
    Table table{{"", ""}};
    flatten(object, "", Reader::person, table);
    return table.to_text();
}

} // namespace flashlab

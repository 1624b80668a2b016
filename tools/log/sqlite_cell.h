/// A row of integers as SQLite keeps it in a leaf of a table: the bytes of a cell.
///
/// Idea       The cell says how long its record is, then the rowid, then the record: the types of the columns and behind them their values. The first
///            column is the rowid's name and is NULL in the record, as SQLite writes it.
/// Invariant  The bytes are those that SQLite's own INSERT makes: each number takes the fewest bytes it can, 0 and 1 take none.
/// Cost       Some ten instructions a column, no allocation.
/// Source     https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format".
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>

namespace flashlab {

/// Where it begins, if it ends at `end`. Seven bits a byte, the most significant first; a ninth byte has eight.
inline std::uint8_t* put_sqlite_varint_before(std::uint8_t* end, std::uint64_t value) {
    if (value >> 56 != 0) {
        *--end = static_cast<std::uint8_t>(value);
        value >>= 8;
        for (int i = 0; i < 8; ++i, value >>= 7) *--end = static_cast<std::uint8_t>(0x80 | (value & 0x7f));
        return end;
    }
    *--end = static_cast<std::uint8_t>(value & 0x7f);
    while (value >>= 7) *--end = static_cast<std::uint8_t>(0x80 | (value & 0x7f));
    return end;
}

/// `columns`: beside the rowid.
template <std::size_t columns>
class SqliteCell {
    static constexpr std::size_t header_bytes = 1 + 1 + columns, most_prefix = 9 + 9, word = sizeof(std::uint64_t);
    static_assert(header_bytes < 128, "the length of the header is one byte");

public:
    static constexpr std::size_t most_bytes = most_prefix + header_bytes + columns * word;

    template <class... Values>
    SqliteCell(std::int64_t rowid, const std::tuple<Values...>& values) {
        static_assert(sizeof...(Values) == columns);
        *type_++ = header_bytes;
        *type_++ = type_of_null;
        std::apply([&](const auto&... value) { (put(value), ...); }, values);
        const auto record_bytes = static_cast<std::uint64_t>(body_ - first_);
        first_ = put_sqlite_varint_before(first_, static_cast<std::uint64_t>(rowid));
        first_ = put_sqlite_varint_before(first_, record_bytes);
    }
    [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {first_, body_}; }

private:
    static constexpr std::uint8_t type_of_null = 0, type_of_zero = 8;
    struct Width {
        std::uint8_t bytes, type;
    };
    /// By the significant bits beside the sign, in eights.
    static constexpr std::array<Width, 8> widths{{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 5}, {6, 5}, {8, 6}, {8, 6}}};

    void put(std::integral auto value) {
        const auto number = static_cast<std::int64_t>(value);
        const auto bits = static_cast<std::uint64_t>(number);
        if (bits <= 1) { // most columns of most rows: flags, first ones, and what a row does not have
            *type_++ = static_cast<std::uint8_t>(type_of_zero + bits);
            return;
        }
        const auto significant = static_cast<std::size_t>(std::bit_width(bits ^ static_cast<std::uint64_t>(number >> 63)));
        const Width width = widths[significant / 8];
        const std::uint64_t first = std::byteswap(bits << (64 - 8 * width.bytes));
        static_assert(std::endian::native == std::endian::little);
        *type_++ = width.type;
        std::memcpy(body_, &first, word); // what it writes too much the next value takes, or nobody
        body_ += width.bytes;
    }
    template <class Value>
    void put(const std::optional<Value>& value) {
        if (value)
            put(*value);
        else
            *type_++ = type_of_null;
    }

    std::array<std::uint8_t, most_bytes + word> bytes_; // not initialised: what counts is written
    std::uint8_t* first_ = bytes_.data() + most_prefix;
    std::uint8_t* type_ = first_;
    std::uint8_t* body_ = first_ + header_bytes;
};

} // namespace flashlab

/// What each page of a drive of pages of 4 KiB has to show.
///
/// Idea       Each write bears the page's number, and which write of it this is. What is read is compared with what was written last, or, after power
///            cuts, with what may be there.
/// Invariant  A page that was trimmed, or never written, shows zeros.
/// Cost       16 bytes a page.
/// Power cut  cut() is told of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/little_endian.h"

namespace flashlab {

/// What each page of a drive holds: its number, and which write of it was the last. A scheme that loses some programs less, and would be praised.
class StampedPages {
public:
    static constexpr std::uint32_t most_pages = 32; ///< of a request
    static constexpr std::uint32_t page_bytes = 4096;
    enum class After : std::uint8_t { loads, power_cuts }; ///< after cuts any write since the last flush may be the one that is there

    explicit StampedPages(std::uint32_t pages) : newest_(pages), durable_(pages) {}

    /// The bytes of one more write of each.
    std::span<const std::byte> write(std::uint32_t page, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            store_le<std::uint64_t>(at(i), page + i);
            store_le<std::uint64_t>(at(i).subspan<8>(), ++newest_[page + i]);
            unflushed_.push_back(page + i);
        }
        return std::span{data_}.first(count * std::size_t{page_bytes});
    }
    [[nodiscard]] std::span<std::byte> to_read(std::uint32_t count) { return std::span{read_}.first(count * std::size_t{page_bytes}); }
    void flushed() {
        for (const std::uint32_t page : std::exchange(unflushed_, {})) durable_[page] = newest_[page];
    }
    void trimmed(std::uint32_t page, std::uint32_t count) { std::fill_n(newest_.begin() + page, count, 0); }
    [[nodiscard]] std::uint64_t mapped() const { return newest_.size() - static_cast<std::size_t>(std::ranges::count(newest_, 0)); }
    /// From now on each page that was not flushed has one of its writes since its last flush, and nobody knows which.
    void cut() { unflushed_.clear(); }
    /// What is wrong with what was read; empty: nothing.
    [[nodiscard]] std::string wrong(std::uint32_t page, std::uint32_t count, After after) const {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto bytes = std::span{read_}.subspan(i * std::size_t{page_bytes}, page_bytes);
            const std::uint64_t number = load_le<std::uint64_t>(bytes.first<8>()), version = load_le<std::uint64_t>(bytes.subspan<8, 8>());
            const std::uint64_t newest = newest_[page + i], oldest = after == After::loads ? newest : durable_[page + i];
            const bool is_empty = std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
            if (newest == 0 && !is_empty) return fmt::format("page {} was trimmed, or never written, and shows data", page + i);
            if (is_empty && oldest == 0) continue;
            if (number != page + i) return fmt::format("page {} shows what was written to page {}, or nothing", page + i, number);
            if (version < oldest || version > newest || bytes.back() != data_.back())
                return fmt::format("page {} shows write {} of it; {} of it is the last", page + i, version, newest);
        }
        return "";
    }

private:
    [[nodiscard]] std::span<std::byte, 16> at(std::uint32_t i) { return std::span{data_}.subspan(i * std::size_t{page_bytes}).first<16>(); }
    std::vector<std::uint64_t> newest_, durable_;
    std::vector<std::uint32_t> unflushed_;
    std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{most_pages} * page_bytes, std::byte{0x5a}), read_ = data_;
};

} // namespace flashlab

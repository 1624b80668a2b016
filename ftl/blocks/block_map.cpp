#include "ftl/blocks/block_map.h"

#include <algorithm>
#include <cstring>

#include "base/little_endian.h"

namespace flashlab {

BlockMap::BlockMap(const Geometry& geometry, std::uint32_t logical_blocks, std::uint32_t interleaving)
    : pages_per_block_{geometry.pages_per_block()}, interleaving_{interleaving},
      interleaved_pages_{interleaving == 1 ? 0 : logical_blocks / interleaving * interleaving * geometry.pages_per_block()},
      words_{(geometry.pages_per_block() + 63) / 64}, data_(logical_blocks, none), mapped_(std::size_t{logical_blocks} * words_),
      logged_(std::size_t{logical_blocks} * words_) {}

BlockMap::Offsets BlockMap::offsets_in(LogicalBlock block, std::uint32_t first, std::uint32_t end) const {
    const std::uint32_t base = page_of(block, 0).value();
    const std::uint32_t step = base < interleaved_pages_ ? interleaving_ : 1;
    const auto offset = [&](std::uint32_t page) { return page <= base ? 0 : std::min(pages_per_block(), (page - base + step - 1) / step); };
    return {offset(first), offset(end)};
}

BlockMap::Homes BlockMap::homes_of(std::uint32_t first, std::uint32_t end) const {
    const LogicalBlock from = block_of(Lpn{first}), last = block_of(Lpn{end - 1});
    if (first >= interleaved_pages_) return {from, LogicalBlock{last.value() + 1}};
    const std::uint32_t behind = end > interleaved_pages_ ? last.value() + 1 : (team_of(Lpn{end - 1}) + 1) * interleaving_;
    return {LogicalBlock{team_of(Lpn{first}) * interleaving_}, LogicalBlock{behind}};
}

void BlockMap::map(Lpn lpn) {
    std::uint64_t& row = word(mapped_, lpn);
    if ((row & bit(lpn)) == 0) ++mapped_pages_;
    row |= bit(lpn);
}

void BlockMap::unmap(Lpn lpn) {
    ensure(is_mapped(lpn) && !is_logged(lpn), "a page is unmapped once, and after its log page was dropped");
    word(mapped_, lpn) &= ~bit(lpn);
    --mapped_pages_;
}

std::uint32_t BlockMap::mapped_in(LogicalBlock block, std::uint32_t from, std::uint32_t to) const {
    std::uint32_t count = 0;
    for (std::uint32_t w = from / 64; w < words_ && w * 64 < to; ++w) {
        std::uint64_t row = mapped_[std::size_t{block.value()} * words_ + w];
        if (w == from / 64) row &= ~std::uint64_t{0} << (from % 64);
        if (to - w * 64 < 64) row &= (std::uint64_t{1} << (to - w * 64)) - 1;
        count += static_cast<std::uint32_t>(std::popcount(row));
    }
    return count;
}

std::uint32_t BlockMap::next(const std::vector<std::uint64_t>& bits, LogicalBlock block, std::uint32_t from) const {
    if (from >= pages_per_block()) return pages_per_block();
    const std::size_t base = std::size_t{block.value()} * words_;
    std::uint32_t w = from / 64;
    std::uint64_t row = bits[base + w] & (~std::uint64_t{0} << (from % 64));
    while (row == 0) {
        if (++w == words_) return pages_per_block();
        row = bits[base + w];
    }
    return w * 64 + static_cast<std::uint32_t>(std::countr_zero(row));
}

std::uint32_t BlockMap::end_of_data(LogicalBlock block, std::uint32_t from) const {
    if (from >= pages_per_block()) return pages_per_block();
    const std::size_t base = std::size_t{block.value()} * words_;
    const auto others = [&](std::uint32_t w) { return ~mapped_[base + w] | logged_[base + w]; };
    std::uint32_t w = from / 64;
    std::uint64_t row = others(w) & (~std::uint64_t{0} << (from % 64));
    while (row == 0) {
        if (++w == words_) return pages_per_block();
        row = others(w);
    }
    return std::min(pages_per_block(), w * 64 + static_cast<std::uint32_t>(std::countr_zero(row)));
}

void BlockMap::store_row(LogicalBlock block, std::span<std::byte> to) const {
    ensure(to.size() == row_bytes(), "a row is as long as every row");
    std::memcpy(to.data(), mapped_.data() + std::size_t{block.value()} * words_, to.size()); // little-endian host (base/little_endian.h)
}

void BlockMap::load_row(LogicalBlock block, std::span<const std::byte> from) {
    ensure(from.size() == row_bytes(), "a row is as long as every row");
    ensure(next_logged(block, 0) == pages_per_block(), "a row is loaded before log pages are");
    mapped_pages_ -= mapped_in(block, 0, pages_per_block());
    const std::size_t base = std::size_t{block.value()} * words_;
    std::fill_n(mapped_.begin() + static_cast<std::ptrdiff_t>(base), words_, 0);
    for (std::uint32_t b = 0; b < from.size(); ++b) mapped_[base + b / 8] |= std::uint64_t{std::to_integer<std::uint8_t>(from[b])} << (b % 8 * 8);
    mapped_pages_ += mapped_in(block, 0, pages_per_block());
}

} // namespace flashlab

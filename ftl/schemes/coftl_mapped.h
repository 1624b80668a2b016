/// Which virtual pages have their content on flash: a bit each.
///
/// Idea       The bits of a virtual block are words of their own, as a statement in the log has them. After a power cut they are not known before the
///            first touch of their virtual block, or the first question.
/// Invariant  total() is the number of bits that are set.
/// Cost       A bit a virtual page and a byte a virtual block; O(1) a page, O(words) a count.
/// Power cut  RAM only: rebuilt from page tables, and from statements where something was trimmed.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "ftl/schemes/coftl_shape.h"

namespace flashlab {

class CoftlMapped {
public:
    explicit CoftlMapped(const CoftlShape& shape)
        : words_{(shape.page_count() + 63) / 64}, bits_(std::size_t{shape.virtual_block_count()} * words_), known_(shape.virtual_block_count(), 1) {}
    [[nodiscard]] static bool test(std::span<const std::uint64_t> words, VirtualPage page) {
        return (words[page.value() / 64] >> page.value() % 64 & 1) != 0;
    }
    [[nodiscard]] std::uint32_t words_per_block() const { return words_; }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] bool is_known(VirtualBlockId vb) const { return known_[vb.value()] != 0; }
    void set_known(VirtualBlockId vb, bool known) { known_[vb.value()] = known ? 1 : 0; }
    [[nodiscard]] std::span<const std::uint64_t> words(VirtualBlockId vb) const { return std::span{bits_}.subspan(first_word(vb), words_); }
    [[nodiscard]] bool has(VirtualBlockId vb, VirtualPage page) const {
        return (bits_[first_word(vb) + page.value() / 64] >> page.value() % 64 & 1) != 0;
    }
    void set(VirtualBlockId vb, VirtualPage page, bool on) {
        std::uint64_t& word = bits_[first_word(vb) + page.value() / 64];
        const std::uint64_t mask = std::uint64_t{1} << page.value() % 64;
        total_ = total_ + (on ? 1 : 0) - ((word & mask) != 0 ? 1 : 0);
        word = on ? word | mask : word & ~mask;
    }
    [[nodiscard]] std::uint32_t count(VirtualBlockId vb) const {
        std::uint32_t n = 0;
        for (const std::uint64_t word : words(vb)) n += static_cast<std::uint32_t>(std::popcount(word));
        return n;
    }

private:
    [[nodiscard]] std::size_t first_word(VirtualBlockId vb) const { return std::size_t{vb.value()} * words_; }
    std::uint32_t words_; ///< of a virtual block
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint8_t> known_; ///< by virtual block
    std::uint64_t total_ = 0;
};

} // namespace flashlab

/// Copies of the page records of a few blocks, so that reading a page costs one call of the host and not two.
///
/// Idea       Direct-mapped by block number, some MiB in all; a block's records come in together.
/// Invariant  What it holds is what the image holds: every write of a record goes through note(), an erase through forget().
/// Cost       A multiplication and a compare to find; memory for `bytes_at_most`, taken as blocks are read.
/// Power cut  Nothing is kept here that the image does not have.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/id.h"

namespace flashlab {

class RecordCache {
public:
    /// Blocks with very many pages would push each other out: they are not kept at all.
    RecordCache(std::size_t bytes_per_block, std::size_t bytes_at_most) : bytes_{bytes_per_block} {
        const std::size_t fitting = bytes_at_most / std::max<std::size_t>(1, bytes_per_block);
        if (fitting >= fewest) slots_.resize(std::bit_floor(fitting));
    }
    /// All records of the block, or empty when they are not here.
    [[nodiscard]] std::span<const std::byte> find(BlockId block) const {
        if (slots_.empty()) return {};
        const Slot& slot = slots_[index(block)];
        if (slot.block != block.value()) return {};
        return {slot.records.get(), bytes_};
    }
    /// Room for the block's records, taken from another block; empty when the cache keeps none. find() does not see the block until keep().
    [[nodiscard]] std::span<std::byte> room_for(BlockId block) {
        if (slots_.empty()) return {};
        Slot& slot = slots_[index(block)];
        slot.block = nobody;
        if (!slot.records) slot.records = std::make_unique_for_overwrite<std::byte[]>(bytes_);
        return {slot.records.get(), bytes_};
    }
    void keep(BlockId block) { slots_[index(block)].block = block.value(); }
    void note(BlockId block, std::size_t at, std::span<const std::byte> record) {
        if (slots_.empty()) return;
        const Slot& slot = slots_[index(block)];
        if (slot.block == block.value()) std::memcpy(slot.records.get() + at, record.data(), record.size());
    }
    void forget(BlockId block) {
        if (slots_.empty()) return;
        Slot& slot = slots_[index(block)];
        if (slot.block == block.value()) slot.block = nobody;
    }

private:
    static constexpr std::size_t fewest = 16;
    static constexpr std::uint64_t nobody = ~std::uint64_t{0}; ///< no block's number
    struct Slot {
        std::uint64_t block = nobody;
        std::unique_ptr<std::byte[]> records;
    };
    /// Blocks used together have the same number on each plane: the high bits of a product spread them.
    [[nodiscard]] std::size_t index(BlockId block) const {
        const auto spread = static_cast<std::uint64_t>(block.value()) * 0x9e3779b97f4a7c15ull;
        return static_cast<std::size_t>(spread >> 32) & (slots_.size() - 1);
    }

    std::size_t bytes_;
    std::vector<Slot> slots_;
};

} // namespace flashlab

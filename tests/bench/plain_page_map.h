/// The floor: what a page map costs that keeps no time, no bytes, no power cut and no statistics.
///
/// Idea       One array each way, a valid count a block, greedy victims from lists by count; random overwrites of one page.
/// Invariant  Same geometry, same spare and same stream of writes as the device it is compared with.
/// Cost       Two random memory accesses a write: what is left is cache misses.
/// Power cut  Loses everything.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::bench {

class PlainPageMap {
public:
    PlainPageMap(std::uint32_t blocks, std::uint32_t pages_per_block, std::uint32_t logical_pages)
        : pages_per_block_{pages_per_block}, map_(logical_pages, none), owner_(std::size_t{blocks} * pages_per_block, none), valid_(blocks),
          next_(blocks, none), previous_(blocks, none), heads_(pages_per_block + 1, none) {
        for (std::uint32_t b = 0; b < blocks; ++b) free_.push_back(blocks - 1 - b);
    }
    std::uint64_t programs = 0;
    std::uint64_t copies = 0;
    std::uint64_t erases = 0;

    void write(std::uint32_t lpn) {
        if (map_[lpn] != none) invalidate(map_[lpn]);
        place(lpn);
        while (free_.size() < 2) collect();
    }

    /// What a read costs: a look-up.
    [[nodiscard]] std::uint32_t read(std::uint32_t lpn) const { return map_[lpn]; }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;

    void place(std::uint32_t lpn) {
        if (used_ == pages_per_block_) {
            if (open_ != none) link(open_);
            open_ = free_.back();
            free_.pop_back();
            used_ = 0;
        }
        const std::uint32_t page = open_ * pages_per_block_ + used_++;
        owner_[page] = lpn;
        map_[lpn] = page;
        ++valid_[open_];
        ++programs;
    }
    void invalidate(std::uint32_t page) {
        const std::uint32_t block = page / pages_per_block_;
        owner_[page] = none;
        if (block == open_ || block == victim_) {
            --valid_[block];
            return;
        }
        unlink(block);
        --valid_[block];
        link(block);
    }
    void collect() {
        while (heads_[fewest_] == none) ++fewest_;
        victim_ = heads_[fewest_];
        unlink(victim_);
        for (std::uint32_t i = 0; i < pages_per_block_; ++i) {
            const std::uint32_t page = victim_ * pages_per_block_ + i;
            if (owner_[page] == none) continue;
            place(owner_[page]);
            owner_[page] = none;
            ++copies;
        }
        valid_[victim_] = 0;
        free_.push_back(victim_);
        victim_ = none;
        ++erases;
    }
    void link(std::uint32_t block) {
        std::uint32_t& head = heads_[valid_[block]];
        next_[block] = head;
        previous_[block] = none;
        if (head != none) previous_[head] = block;
        head = block;
        if (valid_[block] < fewest_) fewest_ = valid_[block];
    }
    void unlink(std::uint32_t block) {
        if (previous_[block] == none)
            heads_[valid_[block]] = next_[block];
        else
            next_[previous_[block]] = next_[block];
        if (next_[block] != none) previous_[next_[block]] = previous_[block];
    }

    std::uint32_t pages_per_block_;
    std::vector<std::uint32_t> map_;
    std::vector<std::uint32_t> owner_;
    std::vector<std::uint32_t> valid_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> previous_;
    std::vector<std::uint32_t> heads_;
    std::vector<std::uint32_t> free_;
    std::uint32_t open_ = none;
    std::uint32_t victim_ = none;
    std::uint32_t used_ = pages_per_block_;
    std::uint32_t fewest_ = 0;
};

} // namespace flashlab::bench

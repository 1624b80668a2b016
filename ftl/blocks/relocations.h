/// Blocks whose data are to move, one at a time, the next when the last is done.
///
/// Idea       Wear levelling and scrubbing each name blocks; how they are emptied beside the host is the same.
/// Invariant  A block that was erased meanwhile is left alone, and so is one without data.
/// Cost       A vector; a relocation copies a block.
/// Power cut  Keeps nothing.
#pragma once

#include <vector>

#include "ftl/ftl.h"
#include "nand/nand_array.h"

namespace flashlab {

class Relocations {
public:
    Relocations(Ftl& ftl, const NandArray& array, Cause cause) : ftl_{ftl}, array_{array}, cause_{cause} {}

    /// It is moved before those that were pushed earlier. One that is being filled is left alone, but for `even_open`: it is closed then.
    void push(BlockId block, bool even_open = false) { waiting_.push_back({block, array_.erase_count(block), even_open}); }
    [[nodiscard]] static bool holds_data(BlockUse use) { return use == BlockUse::data || use == BlockUse::translation; }
    [[nodiscard]] BlockUse use_of(BlockId block) const { return ftl_.status_of(block).use; }
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    [[nodiscard]] bool is_under_way(SimTime now) const { return now < busy_until_; }
    /// One relocation at most; the next wake-up time, sim_never when nothing waits, or nothing can be moved.
    SimTime step(SimTime now) {
        if (is_under_way(now)) return busy_until_;
        while (!waiting_.empty()) {
            const Waiting next = waiting_.back();
            waiting_.pop_back();
            if (array_.erase_count(next.block) != next.erases) continue; // collected meanwhile
            const BlockUse use = ftl_.status_of(next.block).use;
            if (!holds_data(use) && !(use == BlockUse::open && next.even_open)) continue;
            const auto done = ftl_.relocate(next.block, now, cause_);
            if (!done) return sim_never;
            ++relocated_;
            busy_until_ = std::max(now, *done);
            return waiting_.empty() ? sim_never : busy_until_;
        }
        return sim_never;
    }
    [[nodiscard]] std::uint64_t relocated_blocks() const { return relocated_; }

private:
    struct Waiting {
        BlockId block{0};
        std::uint32_t erases = 0;
        bool even_open = false;
    };
    Ftl& ftl_;
    const NandArray& array_;
    Cause cause_;
    std::vector<Waiting> waiting_; ///< the next one last
    SimTime busy_until_ = sim_start;
    std::uint64_t relocated_ = 0;
};

} // namespace flashlab

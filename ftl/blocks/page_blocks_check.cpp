/// B1 and B2 of a page-mapping scheme's blocks, checked in full.
#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

void PageBlocks::check(std::vector<CheckProblem>& out) const {
    const auto report = [&out](const char* invariant, std::uint32_t block, std::string detail) {
        if (out.size() < 1000) out.push_back({invariant, fmt::format("block {}", block), std::move(detail)});
    };
    enum class Set : std::uint8_t { none, free, open, collectable, victim, pinned };
    std::vector<Set> set(state_.size(), Set::none);
    const auto put = [&](BlockId block, Set which) {
        if (set[block.value()] != Set::none) report("B2", block.value(), "in two sets");
        set[block.value()] = which;
    };
    for (std::uint32_t p = 0; p < planes_in_use(); ++p) {
        for (const BlockId b : free_.erased_of(PlaneId{p})) put(b, Set::free);
        for (const BlockId b : free_.garbage_of(PlaneId{p})) put(b, Set::free);
    }
    for (const Group& group : groups_) {
        for (const Frontier& f : group.frontiers)
            for (const auto* superblock : {&f.open, &f.closing})
                for (const OpenColumn& c : superblock->columns) put(c.block, Set::open);
        for (const Job* job : {&group.job, &group.inner})
            if (job->victim) put(*job->victim, Set::victim);
    }
    std::vector<std::uint64_t> good(groups_.size()), valid(groups_.size());
    for (std::uint32_t b = 0; b < blocks_in_use(); ++b) {
        const BlockId block{b};
        for (const FullBlocks& full : full_) {
            if (!full.contains(block)) continue;
            put(block, Set::collectable);
            if (full.valid_of(block) != listed_under(block)) report("B1", b, "listed under another number of valid units");
            if (&full != &full_[frontier_of_[b]]) report("B2", b, "listed with the blocks of another frontier");
        }
        if (pinned_[b] != 0 && set[b] == Set::none) put(block, Set::pinned);
        std::uint32_t bits = 0;
        for (const std::uint64_t w : valid_.row(block)) bits += static_cast<std::uint32_t>(std::popcount(w));
        if (bits != valid_.count(block)) report("B1", b, fmt::format("{} valid bits, counted {}", bits, valid_.count(block)));
        valid[group_of(block)] += bits;
        const BlockState state = state_[b];
        const bool unused = state == BlockState::bad || state == BlockState::outside;
        if (unused && set[b] != Set::none) report("B2", b, "bad or not the scheme's, and yet in a set");
        if (bits != 0 && (unused || state == BlockState::free)) report("B2", b, "free, bad or not the scheme's, with valid units");
        if (unused) continue;
        good[group_of(block)] += units_.units_per_block();
        const Set expected = state == BlockState::free ? Set::free : state == BlockState::open ? Set::open : Set::collectable;
        const bool is_data = set[b] == Set::collectable || set[b] == Set::victim || set[b] == Set::pinned;
        if (set[b] == Set::none) report("B2", b, "leaked: in no set");
        else if (state == BlockState::data ? !is_data : set[b] != expected) report("B2", b, fmt::format("in set {}, state {}", static_cast<int>(set[b]), static_cast<int>(state)));
    }
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
        if (good[g] != groups_[g].units.good) report("B1", g, fmt::format("group {}: {} good units, counted {}", g, good[g], groups_[g].units.good));
        if (valid[g] != groups_[g].units.valid) report("B1", g, fmt::format("group {}: {} valid units, counted {}", g, valid[g], groups_[g].units.valid));
        std::uint32_t free = 0;
        for (std::uint32_t p = 0; p < units_.geometry().planes_per_die(); ++p) free += free_.count(units_.geometry().plane_at(groups_[g].die, p));
        if (free != free_in(groups_[g])) report("B2", g, fmt::format("group {}: {} free blocks, counted {}", g, free, free_in(groups_[g])));
    }
    const auto sum = [](const std::vector<std::uint64_t>& of) { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); };
    if (sum(good) != all_.good || sum(valid) != all_.valid) report("B1", 0, fmt::format("{} good and {} valid units in all, counted {} and {}", sum(good), sum(valid), all_.good, all_.valid));
}

} // namespace flashlab

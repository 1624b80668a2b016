/// B1 and B2 of a page-mapping scheme's blocks, checked in full.
#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "ftl/blocks/block_ledger.h"

namespace flashlab {

namespace {

void report(std::vector<CheckProblem>& out, const char* invariant, std::uint32_t block, std::string detail) {
    if (out.size() < 1000) out.push_back({invariant, fmt::format("block {}", block), std::move(detail)});
}

std::uint32_t bits_of(const ValidMap& valid, BlockId block) {
    std::uint32_t bits = 0;
    for (const std::uint64_t w : valid.row(block)) bits += static_cast<std::uint32_t>(std::popcount(w));
    return bits;
}

} // namespace

void BlockLedger::check(std::span<const BlockId> open, std::span<const BlockId> victims, std::vector<CheckProblem>& out) const {
    std::vector<Set> sets(state_.size(), Set::none);
    const auto put = [&](BlockId block, Set which) {
        if (sets[block.value()] != Set::none) report(out, "B2", block.value(), "in two sets");
        sets[block.value()] = which;
    };
    const auto put_free = [&](const FreeBlocks& free, bool of_cache) {
        for (std::uint32_t p = 0; p < planes_in_use(); ++p)
            free.visit(PlaneId{p}, [&](BlockId b) {
                if (is_cache(b) != of_cache) report(out, "B7", b.value(), "free in another region");
                put(b, Set::free);
                return true;
            });
    };
    put_free(free_, false);
    if (cache_free_) put_free(*cache_free_, true);
    for (const BlockId b : open) put(b, Set::open);
    for (const BlockId b : victims) put(b, Set::victim);
    for (std::uint32_t b = 0; b < blocks_in_use(); ++b) check_block(BlockId{b}, sets, out);
    check_counts(out);
}

void BlockLedger::check_block(BlockId block, std::span<Set> sets, std::vector<CheckProblem>& out) const {
    const std::uint32_t b = block.value();
    Set& set = sets[b];
    for (const FullBlocks& full : full_) {
        if (!full.contains(block)) continue;
        if (set != Set::none) report(out, "B2", b, "in two sets");
        set = Set::collectable;
        if (full.valid_of(block) != listed_under(block)) report(out, "B1", b, "listed under another number of valid units");
        if (&full != &full_[kind_of(block)]) report(out, "B2", b, "listed with blocks of another kind");
    }
    if (pinned_[b] != 0 && set == Set::none) set = Set::pinned;
    const std::uint32_t bits = bits_of(valid_, block);
    if (bits != valid_.count(block)) report(out, "B1", b, fmt::format("{} valid bits, counted {}", bits, valid_.count(block)));
    const State state = state_[b];
    const bool unused = state == State::bad || state == State::outside;
    if (unused && set != Set::none) report(out, "B2", b, "bad or not the scheme's, and yet in a set");
    if (bits != 0 && (unused || state == State::free)) report(out, "B2", b, "free, bad or not the scheme's, with valid units");
    if (unused) return;
    check_mode(block, out);
    const Set expected = state == State::free ? Set::free : state == State::open ? Set::open : Set::collectable;
    const bool is_data = set == Set::collectable || set == Set::victim || set == Set::pinned;
    if (set == Set::none)
        report(out, "B2", b, "leaked: in no set");
    else if (state == State::data ? !is_data : set != expected)
        report(out, "B2", b, fmt::format("in set {}, state {}", static_cast<int>(set), static_cast<int>(state)));
}

void BlockLedger::check_mode(BlockId block, std::vector<CheckProblem>& out) const {
    const std::uint32_t b = block.value();
    if (state_[b] == State::free) return;
    if (array_.mode_of(block) != mode_for(block)) report(out, "B7", b, "in another mode than its region");
    if (is_cache(block) != (config_.has_static_cache() && frontier_of(block) == config_.cache_frontier()))
        report(out, "B7", b, "opened for a frontier of another region");
    if (const std::uint32_t beyond = valid_.next_set(block, units_in(block)); beyond < units_.units_per_block())
        report(out, "B7", b, fmt::format("unit {} is valid, of the {} that the block has in its mode", beyond, units_in(block)));
}

void BlockLedger::check_counts(std::vector<CheckProblem>& out) const {
    std::vector<std::uint64_t> good(groups_.size()), valid(groups_.size()), lent(groups_.size());
    for (std::uint32_t b = 0; b < blocks_in_use(); ++b) {
        valid[group_of(BlockId{b}).value()] += bits_of(valid_, BlockId{b});
        lent[group_of(BlockId{b}).value()] += is_lent(BlockId{b}) && (state_[b] == State::open || state_[b] == State::data) ? 1 : 0;
        if (state_[b] != State::bad && state_[b] != State::outside) good[group_of(BlockId{b}).value()] += good_units(BlockId{b});
    }
    for (std::uint32_t g = 0; g < groups(); ++g) {
        if (const Group& group = groups_[g]; group.lent != lent[g] || group.lent > config_.cache.dynamic_blocks_a_group)
            report(out, "B7", g, fmt::format("group {}: {} blocks lent, counted {}", g, lent[g], group.lent));
        if (good[g] != groups_[g].units.good)
            report(out, "B1", g, fmt::format("group {}: {} good units, counted {}", g, good[g], groups_[g].units.good));
        if (valid[g] != groups_[g].units.valid)
            report(out, "B1", g, fmt::format("group {}: {} valid units, counted {}", g, valid[g], groups_[g].units.valid));
        std::uint32_t free = 0;
        for (std::uint32_t p = 0; p < units_.geometry().planes_per_die(); ++p) free += free_.count(units_.geometry().plane_at(die_of(GroupId{g}), p));
        if (free != free_in(GroupId{g})) report(out, "B2", g, fmt::format("group {}: {} free blocks, counted {}", g, free, free_in(GroupId{g})));
    }
    const auto sum = [](const std::vector<std::uint64_t>& of) { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); };
    if (sum(good) != all_.good || sum(valid) != all_.valid)
        report(out, "B1", 0, fmt::format("{} good and {} valid units in all, counted {} and {}", sum(good), sum(valid), all_.good, all_.valid));
}

} // namespace flashlab

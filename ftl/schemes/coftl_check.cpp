/// COFTL's invariants, in full, at no simulated cost.
#include <algorithm>

#include <fmt/format.h>

#include "ftl/schemes/coftl.h"

namespace flashlab {

std::vector<CheckProblem> Coftl::check() {
    std::vector<CheckProblem> out = log_.check();
    check_sets(out);
    check_tables(out);
    std::vector<CoftlPlace> scratch(pages_);
    for (std::uint32_t vb = 0; vb < config_.virtual_blocks; ++vb) check_block(vb, scratch, out);
    return out;
}

void Coftl::check_sets(std::vector<CheckProblem>& out) const {
    const auto at_block = [](std::uint32_t vb) { return fmt::format("virtual block {}", vb); };
    std::vector<std::uint32_t> seen(info_.count(), 0);
    for (std::uint32_t i = 0; i < info_.free(); ++i) {
        const std::uint32_t set = info_.free_at(i);
        ++seen[set];
        if (info_.of(set).use != CoftlSets::Use::free) out.push_back({"S1", fmt::format("set {}", set), "in the free ring, but not free"});
    }
    for (std::uint32_t vb = 0; vb < config_.virtual_blocks; ++vb) {
        const VirtualBlock& b = blocks_[vb];
        std::uint32_t set = b.last;
        for (std::uint32_t i = b.length; i > 0; --i) {
            const CoftlSets::Info& s = info_.of(set);
            ++seen[set];
            if (s.use != CoftlSets::Use::used || s.vb != vb || s.index != i - 1)
                out.push_back({"X4", at_block(vb), fmt::format("set {} is not set {} of its chain", set, i - 1)});
            if (i == 1 && b.primary != set) out.push_back({"X4", at_block(vb), "its chain does not begin with its primary set"});
            set = s.previous;
        }
        if (b.length > config_.width + 1) out.push_back({"X1", at_block(vb), fmt::format("{} sets", b.length)});
        if (((chained_[vb / 64] >> vb % 64 & 1) != 0) != (b.length > 1)) out.push_back({"X1", at_block(vb), "the cleaner's bit is wrong"});
    }
    std::uint32_t lost = 0;
    for (std::uint32_t set = 0; set < info_.count(); ++set) {
        const std::uint32_t is_lost = info_.of(set).use == CoftlSets::Use::lost ? 1 : 0;
        lost += is_lost;
        if (seen[set] + is_lost != 1) out.push_back({"S1", fmt::format("set {}", set), fmt::format("found in {} places", seen[set] + is_lost)});
    }
    if (lost != info_.lost()) out.push_back({"S1", "sets", "the number of lost sets is wrong"});
    if (!read_only_ && good_sets() < config_.virtual_blocks + least_spare_sets) out.push_back({"X6", "sets", "too few are left to write"});
}

void Coftl::check_tables(std::vector<CheckProblem>& out) const {
    if (!cache_.is_sound()) out.push_back({"K1", "cache", "a slot is not where its heap says"});
    std::uint32_t named = 0;
    for (std::uint32_t vb = 0; vb < config_.virtual_blocks; ++vb) {
        const std::uint32_t table = blocks_[vb].table;
        if (table == none) continue;
        if (tables_.vb(table) != vb) out.push_back({"L1", fmt::format("virtual block {}", vb), "its table belongs to another"});
        std::uint32_t slots = 0;
        for (std::uint32_t p = 0; p < pages_; ++p) {
            const std::uint32_t slot = tables_.slot(table, p);
            if (slot == CoftlCache::none) continue;
            ++slots;
            if (cache_.lpn(slot) != lpn_of(vb, p))
                out.push_back({"X5", fmt::format("virtual page {}", lpn_of(vb, p).value()), "its slot holds another page"});
        }
        if (slots != tables_.slots(table)) out.push_back({"L2", fmt::format("virtual block {}", vb), "its table counts its slots wrongly"});
        named += slots;
    }
    if (named != cache_.used()) out.push_back({"X5", "cache", fmt::format("{} slots are used, {} are named", cache_.used(), named)});
}

/// X3: RAM and flash say the same of each page.
void Coftl::check_block(std::uint32_t vb, std::vector<CoftlPlace>& scratch, std::vector<CheckProblem>& out) const {
    const VirtualBlock& b = blocks_[vb];
    if (b.length == 0) {
        if (mapped_count(vb) != 0) out.push_back({"X3", fmt::format("virtual block {}", vb), "mapped without a chain"});
        return;
    }
    if (!b.settled) return; // nothing is claimed of it yet
    peek(vb, scratch);
    for (std::uint32_t p = 0; p < pages_; ++p) {
        if (!bit(vb, p)) {
            if (b.table != none && tables_.place(b.table, p).mapped())
                out.push_back({"X3", fmt::format("virtual page {}", lpn_of(vb, p).value()), "its table maps what is not mapped"});
            continue;
        }
        if (!scratch[p].mapped()) out.push_back({"X3", fmt::format("virtual page {}", lpn_of(vb, p).value()), "no page set of its chain holds it"});
        else if (b.table != none && tables_.place(b.table, p) != scratch[p])
            out.push_back({"X3", fmt::format("virtual page {}", lpn_of(vb, p).value()), "its table names another page set than its newest"});
    }
    const std::uint32_t pointer = array_.write_pointer(sets_.block(SetId{b.last}, 0));
    if (pointer < b.next_row && !b.closed)
        out.push_back({"X1", fmt::format("virtual block {}", vb), "its last set is shorter than its next page set"});
}

BlockStatus Coftl::status_of(BlockId block) const {
    const auto set = sets_.set_of(block);
    if (!set) {
        if (array_.is_bad(block)) return {BlockUse::bad, 0};
        return {log_.area().contains(block) || swap_.contains(block) ? BlockUse::other : BlockUse::free, 0};
    }
    const CoftlSets::Info& s = info_.of(set->value());
    if (s.use == CoftlSets::Use::lost) return {array_.is_bad(block) ? BlockUse::bad : BlockUse::other, 0};
    if (s.use != CoftlSets::Use::used) return {BlockUse::free, 0};
    const VirtualBlock& b = blocks_[s.vb];
    std::vector<CoftlPlace> places(pages_);
    peek(s.vb, places);
    if (!b.settled) apply_statement(s.vb, places);
    std::uint32_t valid = 0;
    for (std::uint32_t p = 0; p < pages_; ++p)
        if (places[p].mapped() && places[p].index() == s.index && (!b.settled || bit(s.vb, p))) ++valid;
    if (set->value() == b.last && !b.closed && b.next_row < rows_of(s.index)) return {BlockUse::open, valid};
    return {s.index == 0 ? BlockUse::data : BlockUse::log, valid};
}

} // namespace flashlab

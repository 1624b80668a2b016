/// COFTL's invariants, in full, at no simulated cost.
#include <algorithm>

#include <fmt/format.h>

#include "ftl/schemes/coftl.h"

namespace flashlab {

std::vector<CheckProblem> Coftl::do_check() {
    std::vector<CheckProblem> out = log_.check();
    check_sets(out);
    check_tables(out);
    std::vector<CoftlPlace> scratch(shape_.page_count());
    for (const VirtualBlockId vb : shape_.virtual_blocks()) check_block(vb, scratch, out);
    return out;
}

void Coftl::check_sets(std::vector<CheckProblem>& out) const {
    const auto at_block = [](VirtualBlockId vb) { return fmt::format("virtual block {}", vb.value()); };
    std::vector<std::uint32_t> seen(info_.count(), 0);
    for (std::uint32_t i = 0; i < info_.free(); ++i) {
        const SetId set = info_.free_at(i);
        ++seen[set.value()];
        if (info_.of(set).use != CoftlSets::Use::free) out.push_back({"S1", fmt::format("set {}", set.value()), "in the free ring, but not free"});
    }
    for (const VirtualBlockId vb : shape_.virtual_blocks()) {
        const VirtualBlock& b = block(vb);
        SetId set = b.last;
        for (std::uint32_t i = b.length; i > 0; --i) {
            const CoftlSets::Info& s = info_.of(set);
            ++seen[set.value()];
            if (s.use != CoftlSets::Use::used || s.vb != vb || s.index != ChainIndex{i - 1})
                out.push_back({"X4", at_block(vb), fmt::format("set {} is not set {} of its chain", set.value(), i - 1)});
            if (i == 1 && b.primary != set) out.push_back({"X4", at_block(vb), "its chain does not begin with its primary set"});
            set = s.previous;
        }
        if (b.length > config_.width + 1) out.push_back({"X1", at_block(vb), fmt::format("{} sets", b.length)});
        if (chained_.has(vb) != (b.length > 1)) out.push_back({"X1", at_block(vb), "the cleaner's bit is wrong"});
    }
    std::uint32_t lost = 0;
    for (const SetId set : FirstIds<SetId>{info_.count()}) {
        const std::uint32_t is_lost = info_.of(set).use == CoftlSets::Use::lost ? 1 : 0;
        lost += is_lost;
        const std::uint32_t places = seen[set.value()] + is_lost;
        if (places != 1) out.push_back({"S1", fmt::format("set {}", set.value()), fmt::format("found in {} places", places)});
    }
    if (lost != info_.lost()) out.push_back({"S1", "sets", "the number of lost sets is wrong"});
    if (!read_only_ && good_sets() < config_.virtual_blocks + least_spare_sets) out.push_back({"X6", "sets", "too few are left to write"});
}

void Coftl::check_tables(std::vector<CheckProblem>& out) const {
    if (!cache_.is_sound()) out.push_back({"K1", "cache", "a slot is not where its heap says"});
    std::uint32_t named = 0;
    for (const VirtualBlockId vb : shape_.virtual_blocks()) {
        const TableId table = block(vb).table;
        if (table == no_table) continue;
        if (tables_.vb(table) != vb) out.push_back({"L1", fmt::format("virtual block {}", vb.value()), "its table belongs to another"});
        std::uint32_t slots = 0;
        for (const VirtualPage p : shape_.pages()) {
            const auto slot = tables_.slot(table, p);
            if (!slot) continue;
            ++slots;
            if (cache_.lpn(*slot) != shape_.lpn(vb, p))
                out.push_back({"X5", fmt::format("virtual page {}", shape_.lpn(vb, p).value()), "its slot holds another page"});
        }
        if (slots != tables_.slots(table)) out.push_back({"L2", fmt::format("virtual block {}", vb.value()), "its table counts its slots wrongly"});
        named += slots;
    }
    if (named != cache_.used()) out.push_back({"X5", "cache", fmt::format("{} slots are used, {} are named", cache_.used(), named)});
}

/// X3: RAM and flash say the same of each page.
void Coftl::check_block(VirtualBlockId vb, std::vector<CoftlPlace>& scratch, std::vector<CheckProblem>& out) const {
    const VirtualBlock& b = block(vb);
    if (b.length == 0) {
        if (mapped_count(vb) != 0) out.push_back({"X3", fmt::format("virtual block {}", vb.value()), "mapped without a chain"});
        return;
    }
    if (!b.settled) return; // nothing is claimed of it yet
    if (!peek(vb, scratch)) {
        out.push_back({"X3", fmt::format("virtual block {}", vb.value()), "a page record of its chain cannot be read"});
        return;
    }
    for (const VirtualPage p : shape_.pages()) {
        if (!mapped_.has(vb, p)) {
            if (b.has_table() && tables_.place(b.table, p).mapped())
                out.push_back({"X3", fmt::format("virtual page {}", shape_.lpn(vb, p).value()), "its table maps what is not mapped"});
            continue;
        }
        if (!scratch[p.value()].mapped())
            out.push_back({"X3", fmt::format("virtual page {}", shape_.lpn(vb, p).value()), "no page set of its chain holds it"});
        else if (b.has_table() && tables_.place(b.table, p) != scratch[p.value()])
            out.push_back({"X3", fmt::format("virtual page {}", shape_.lpn(vb, p).value()), "its table names another page set than its newest"});
    }
    const std::uint32_t pointer = array_.write_pointer(sets_.block(b.last, 0));
    if (pointer < b.next_row.value() && !b.closed)
        out.push_back({"X1", fmt::format("virtual block {}", vb.value()), "its last set is shorter than its next page set"});
}

BlockStatus Coftl::do_status_of(BlockId block) const {
    const auto set = sets_.set_of(block);
    if (!set) return {array_.is_bad(block) && !has_records(block) ? BlockUse::bad : BlockUse::other, 0}; // or without a partner
    const CoftlSets::Info& s = info_.of(*set);
    if (s.use == CoftlSets::Use::lost) return {array_.is_bad(block) ? BlockUse::bad : BlockUse::other, 0};
    if (s.use != CoftlSets::Use::used) return {BlockUse::free, 0};
    const VirtualBlock& b = blocks_[s.vb.value()];
    std::vector<CoftlPlace> places(shape_.page_count());
    static_cast<void>(peek(s.vb, places)); // up to a damaged record
    if (!b.settled) apply_statement(s.vb, places);
    std::uint32_t valid = 0;
    for (const VirtualPage p : shape_.pages())
        if (places[p.value()].mapped() && places[p.value()].index() == s.index && (!b.settled || mapped_.has(s.vb, p))) ++valid;
    if (*set == b.last && !b.closed && !shape_.is_end(s.index, b.next_row)) return {BlockUse::open, valid};
    return {s.index == primary_index ? BlockUse::data : BlockUse::log, valid};
}

} // namespace flashlab

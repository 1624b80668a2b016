/// hFTL's invariants H1..H5, checked in full; B1 and B2 are checked by its blocks.
#include <fmt/format.h>

#include "ftl/check_report.h"
#include "ftl/maps/pram_table.h"

namespace flashlab {

std::vector<CheckProblem> PramTable::check() {
    std::vector<CheckProblem> out;
    check_map(out);
    check_blocks(out);
    return out;
}

void PramTable::check_map(std::vector<CheckProblem>& out) {
    std::uint64_t mapped = 0;
    std::uint64_t committed_pages = 0;
    std::uint64_t stale = 0;
    std::vector<bool> named(units_.units());
    const std::vector<Lpn> in_open = overlay_.current_pages();
    auto next_open = in_open.begin();
    // Of most pages of a drive that holds little neither table nor overlay says anything.
    for (std::uint32_t l = 0;; ++l) {
        while (next_open != in_open.end() && next_open->value() < l) ++next_open;
        l = tables_.next_entry(l, next_open == in_open.end() ? layout_.logical_pages : next_open->value());
        if (l == layout_.logical_pages) break;
        const Lpn lpn{l};
        const auto where = [l] { return fmt::format("logical page {}", l); }; // only for what is wrong
        const auto committed = tables_.committed(lpn);
        const auto open = overlay_.current(lpn);
        const auto unit = open ? open : committed; // current(lpn)
        if (tables_.is_damaged(lpn)) {
            report(out, "H1", where(), fmt::format("the mapping table names a unit beyond the {} of this device", units_.units()));
            continue;
        }
        if (committed) {
            ++committed_pages;
            if (named[committed->value()]) report(out, "H1", where(), fmt::format("unit {} is named twice", committed->value()));
            named[committed->value()] = true;
            if (!tables_.bits().test(*committed)) report(out, "H1", where(), fmt::format("the bit of unit {} is clear", committed->value()));
            const HftlBlockState state = tables_.state(units_.block_of(*committed));
            if (state != HftlBlockState::data && state != HftlBlockState::open)
                report(out, "H1", where(), fmt::format("unit {} lies in a block of state {}", committed->value(), static_cast<int>(state)));
            if (unit != committed) {
                ++stale;
                if (overlay_.stale_lpn(*committed) != lpn) report(out, "H5", where(), "its committed unit is superseded and not known to be stale");
            }
        }
        if (!unit) continue;
        ++mapped;
        if (!parts_.blocks.valid().test(*unit)) report(out, "H2", where(), fmt::format("its current unit {} is not valid", unit->value()));
        if (open && tables_.state(units_.block_of(*unit)) != HftlBlockState::open)
            report(out, "H2", where(), "the overlay names a unit outside the open blocks");
        check_pages(lpn, *unit, out);
    }
    if (mapped != parts_.blocks.valid().total())
        report(out, "H2", "valid bits", fmt::format("{} valid units, {} mapped pages", parts_.blocks.valid().total(), mapped));
    if (committed_pages != tables_.bits().total())
        report(out, "H1", "bitmap", fmt::format("{} bits, {} committed pages", tables_.bits().total(), committed_pages));
    if (stale != overlay_.stale_count())
        report(out, "H5", "stale", fmt::format("{} stale entries, {} superseded pages", overlay_.stale_count(), stale));
}

void PramTable::check_pages(Lpn lpn, UnitId unit, std::vector<CheckProblem>& out) {
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        const Ppn page = units_.page_of(unit, p);
        const auto where = [=] { return fmt::format("page {} of logical page {}", page.value(), lpn.value()); };
        const auto record = parts_.array.inspect_oob(page);
        if (!record) {
            report(out, "H3", where(), "the image cannot be read");
            continue;
        }
        if (record->state != CellState::programmed) report(out, "H3", where(), fmt::format("cell state {}", static_cast<int>(record->state)));
        const auto& oob = record->oob;
        if (!oob) {
            report(out, "H3", where(), "its OOB does not parse");
            continue;
        }
        if (oob->lpn != lpn) report(out, "H3", where(), fmt::format("its OOB names logical page {}", oob->lpn.value()));
        if (oob->sequence.value() >= std::max(sequence_ceiling_, tables_.sequence_ceiling()))
            report(out, "H3", where(), fmt::format("sequence {} is not below the ceiling {}", oob->sequence.value(), tables_.sequence_ceiling()));
    }
}

void PramTable::check_blocks(std::vector<CheckProblem>& out) {
    parts_.blocks.check(out);
    for (const GroupId group : ids<GroupId>(parts_.blocks.groups()))
        for (const FrontierId frontier : ids<FrontierId>(parts_.blocks.frontiers()))
            for (const auto* superblock : {&parts_.blocks.open(group, frontier), &parts_.blocks.closing(group, frontier)})
                for (const OpenColumn& c : superblock->columns)
                    if (tables_.slot(c.slot).block != c.block)
                        report(out, "H4", fmt::format("block {}", c.block.value()), "open, but its slot names another");
    for (std::uint32_t b = 0; b < parts_.blocks.blocks_in_use(); ++b) {
        const BlockId block{b};
        const HftlBlockState state = tables_.state(block);
        const PageBlocks::BlockState here = parts_.blocks.state(block);
        const bool is_free = state == HftlBlockState::free_erased || state == HftlBlockState::garbage;
        const auto expected = is_lost(block)                  ? PageBlocks::BlockState::bad
                              : is_free                       ? PageBlocks::BlockState::free
                              : state == HftlBlockState::open ? PageBlocks::BlockState::open
                                                              : PageBlocks::BlockState::data;
        if (here != expected)
            report(out, "H4", fmt::format("block {}", b), fmt::format("state {} here, {} in PRAM", static_cast<int>(here), static_cast<int>(state)));
        if (is_free && tables_.bits().count(block) != 0) report(out, "H4", fmt::format("block {}", b), "free, with committed units");
    }
}

} // namespace flashlab

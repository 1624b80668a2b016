/// hFTL's invariants H1..H6, checked in full.
#include <fmt/format.h>

#include <bit>

#include "ftl/schemes/hftl.h"

namespace flashlab {

namespace {

void report(std::vector<CheckProblem>& out, const char* invariant, std::string where, std::string detail) {
    if (out.size() < 1000) out.push_back({invariant, std::move(where), std::move(detail)});
}

} // namespace

std::vector<CheckProblem> Hftl::check() {
    std::vector<CheckProblem> out;
    check_map(out);
    check_blocks(out);
    return out;
}

void Hftl::check_map(std::vector<CheckProblem>& out) {
    std::uint64_t mapped = 0;
    std::uint64_t committed_pages = 0;
    std::uint64_t stale = 0;
    std::vector<bool> named(units_.units());
    for (std::uint32_t l = 0; l < config_.logical_pages; ++l) {
        const Lpn lpn{l};
        const std::string where = fmt::format("logical page {}", l);
        const auto committed = tables_.committed(lpn);
        const auto unit = current(lpn);
        if (committed && committed->value() >= units_.units()) {
            report(out, "H1", where, fmt::format("the mapping table names unit {} of {}", committed->value(), units_.units()));
            continue;
        }
        if (committed) {
            ++committed_pages;
            if (named[committed->value()]) report(out, "H1", where, fmt::format("unit {} is named twice", committed->value()));
            named[committed->value()] = true;
            if (!tables_.bits().test(*committed)) report(out, "H1", where, fmt::format("the bit of unit {} is clear", committed->value()));
            const HftlBlockState state = tables_.state(units_.block_of(*committed));
            if (state != HftlBlockState::data && state != HftlBlockState::open)
                report(out, "H1", where, fmt::format("unit {} lies in a block of state {}", committed->value(), static_cast<int>(state)));
            if (unit != committed) {
                ++stale;
                if (overlay_.stale_lpn(*committed) != lpn) report(out, "H5", where, "its committed unit is superseded and not known to be stale");
            }
        }
        if (!unit) continue;
        ++mapped;
        if (!valid_.test(*unit)) report(out, "H2", where, fmt::format("its current unit {} is not valid", unit->value()));
        if (overlay_.current(lpn) && tables_.state(units_.block_of(*unit)) != HftlBlockState::open)
            report(out, "H2", where, "the overlay names a unit outside the open blocks");
        check_pages(lpn, *unit, out);
    }
    if (mapped != valid_.total()) report(out, "H2", "valid bits", fmt::format("{} valid units, {} mapped pages", valid_.total(), mapped));
    if (committed_pages != tables_.bits().total())
        report(out, "H1", "bitmap", fmt::format("{} bits, {} committed pages", tables_.bits().total(), committed_pages));
    if (stale != overlay_.stale_count()) report(out, "H5", "stale", fmt::format("{} stale entries, {} superseded pages", overlay_.stale_count(), stale));
}

void Hftl::check_pages(Lpn lpn, UnitId unit, std::vector<CheckProblem>& out) {
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        const Ppn page = units_.page_of(unit, p);
        const std::string where = fmt::format("page {} of logical page {}", page.value(), lpn.value());
        const auto record = array_.inspect(page);
        if (!record) {
            report(out, "H3", where, "the image cannot be read");
            continue;
        }
        if (record->state != CellState::programmed) report(out, "H3", where, fmt::format("cell state {}", static_cast<int>(record->state)));
        const auto oob = PageOob::decode(record->oob);
        if (!oob) {
            report(out, "H3", where, "its OOB does not parse");
            continue;
        }
        if (oob->lpn != lpn) report(out, "H3", where, fmt::format("its OOB names logical page {}", oob->lpn.value()));
        if (oob->sequence.value() >= std::max(sequence_ceiling_, tables_.sequence_ceiling()))
            report(out, "H3", where, fmt::format("sequence {} is not below the ceiling {}", oob->sequence.value(), tables_.sequence_ceiling()));
    }
}

void Hftl::check_blocks(std::vector<CheckProblem>& out) {
    const Geometry& g = array_.geometry();
    enum class Set : std::uint8_t { none, free, open, collectable, victim, pinned, bad };
    std::vector<Set> set(g.blocks(), Set::none);
    const auto put = [&](BlockId block, Set which) {
        if (set[block.value()] != Set::none) report(out, "H4", fmt::format("block {}", block.value()), "in two sets");
        set[block.value()] = which;
    };
    const std::uint32_t used_planes = static_cast<std::uint32_t>(groups_.size()) * g.planes_per_die();
    for (std::uint32_t p = 0; p < used_planes; ++p) {
        for (const BlockId b : free_.erased_of(PlaneId{p})) put(b, Set::free);
        for (const BlockId b : free_.garbage_of(PlaneId{p})) put(b, Set::free);
    }
    for (const Group& group : groups_) {
        for (const auto* superblock : {&group.open, &group.closing})
            for (const OpenColumn& c : superblock->columns) {
                put(c.block, Set::open);
                if (recovered_ && tables_.slot(c.slot).block != c.block) report(out, "H4", fmt::format("block {}", c.block.value()), "open, but its slot names another");
            }
        if (group.job.victim) put(*group.job.victim, Set::victim);
    }
    std::uint64_t good = 0;
    for (std::uint32_t b = 0; b < used_planes * g.blocks_per_plane(); ++b) {
        const BlockId block{b};
        const std::string where = fmt::format("block {}", b);
        if (full_.contains(block)) {
            put(block, Set::collectable);
            if (full_.valid_of(block) != valid_.count(block)) report(out, "H2", where, "listed under another number of valid units");
        }
        if (pinned_[b] != 0 && !full_.contains(block)) put(block, Set::pinned);
        const HftlBlockState state = tables_.state(block);
        if (is_lost(block)) {
            put(block, Set::bad);
            if (valid_.count(block) != 0) report(out, "H4", where, "bad, with valid units");
            continue;
        }
        good += units_.units_per_block();
        const bool is_free = state == HftlBlockState::free_erased || state == HftlBlockState::garbage;
        const bool is_data = set[b] == Set::collectable || set[b] == Set::victim || set[b] == Set::pinned;
        if (set[b] == Set::none) report(out, "H4", where, "leaked: in no set");
        if (is_free != (set[b] == Set::free)) report(out, "H4", where, fmt::format("free here or in PRAM (state {}), not in both", static_cast<int>(state)));
        if ((state == HftlBlockState::open) != (set[b] == Set::open)) report(out, "H4", where, "open here or in PRAM, not in both");
        if ((state == HftlBlockState::data) != is_data) report(out, "H4", where, "data here or in PRAM, not in both");
        std::uint32_t bits = 0;
        for (const std::uint64_t w : valid_.row(block)) bits += static_cast<std::uint32_t>(std::popcount(w));
        if (bits != valid_.count(block)) report(out, "H2", where, fmt::format("{} valid bits, counted {}", bits, valid_.count(block)));
        if (is_free && (bits != 0 || tables_.bits().count(block) != 0)) report(out, "H4", where, "free, with valid or committed units");
    }
    std::uint64_t counted = 0;
    for (const Group& group : groups_) counted += group.good_units;
    if (counted != good) report(out, "H6", "groups", fmt::format("{} good units, counted {}", good, counted));
    if (!read_only_ && good < config_.logical_pages + std::uint64_t{spare_blocks_a_group} * units_.units_per_block() * groups_.size())
        report(out, "H6", "groups", "fewer than three spare blocks a group");
}

} // namespace flashlab

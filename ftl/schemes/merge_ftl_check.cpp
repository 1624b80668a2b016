/// The invariants G1, G2, G4 of block mapping and L1, L2 of its log blocks, checked in full.
#include <fmt/format.h>

#include "ftl/check_report.h"
#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

std::vector<CheckProblem> MergeFtl::do_check() {
    std::vector<CheckProblem> out = meta_.check();
    check_pages(out);
    check_logs(out);
    check_blocks(out);
    return out;
}

void MergeFtl::check_pages(std::vector<CheckProblem>& out) {
    std::uint64_t mapped = 0;
    const auto next = [&](LogicalBlock block, std::uint32_t from) { return std::min(map_.next_mapped(block, from), map_.next_logged(block, from)); };
    for (const LogicalBlock block : ids<LogicalBlock>(map_.logical_blocks()))
        for (std::uint32_t offset = next(block, 0); offset < map_.pages_per_block(); offset = next(block, offset + 1)) {
            const Lpn lpn = map_.page_of(block, offset);
            mapped += map_.is_mapped(lpn) ? 1 : 0;
            check_page(lpn, out);
        }
    if (mapped != map_.mapped_pages()) report(out, "G1", "map", fmt::format("{} mapped pages, counted {}", map_.mapped_pages(), mapped));
}

void MergeFtl::check_page(Lpn lpn, std::vector<CheckProblem>& out) {
    const auto wrong = [&](const char* invariant, std::string what) {
        report(out, invariant, fmt::format("logical page {}", lpn.value()), std::move(what));
    };
    if (!map_.is_mapped(lpn)) return wrong("G1", "logged, but not mapped");
    if (map_.is_logged(lpn) != logs_.find(lpn).has_value()) return wrong("L1", "its bit and the log blocks disagree");
    if (!map_.is_logged(lpn) && !map_.data_block(map_.block_of(lpn))) return wrong("G1", "mapped without a data block");
    const Ppn at = *locate(lpn);
    const auto record = array_.inspect_oob(at);
    if (!record) return wrong("G1", "the image cannot be read");
    if (const auto lost = lost_.find(lpn); lost != lost_.end() && lost->second == at && record->state == CellState::erased) return;
    if (record->state != CellState::programmed) wrong("G1", fmt::format("cell state {}", static_cast<int>(record->state)));
    const auto& oob = record->oob;
    if (!oob)
        wrong("G1", "its OOB does not parse");
    else if (oob->lpn != lpn)
        wrong("G1", fmt::format("its OOB names logical page {}", oob->lpn.value()));
    else if (oob->sequence.value() >= next_sequence_)
        wrong("G1", "its sequence lies in the future");
}

void MergeFtl::check_logs(std::vector<CheckProblem>& out) {
    std::uint32_t open = 0;
    for (LogSlot slot = 0; slot < logs_.slots(); ++slot) {
        const LogBlock& log = logs_.at(slot);
        if (!log.is_open) continue;
        ++open;
        const auto where = [&] { return fmt::format("log block {}", log.block.value()); };
        std::uint32_t live = 0;
        bool in_place = log.home.has_value();
        for (std::uint32_t page = 0; page < map_.pages_per_block(); ++page) {
            const auto lpn = logs_.live_page(slot, page);
            if (!lpn) continue;
            ++live;
            const auto found = logs_.find(*lpn);
            if (!found || found->slot != slot || found->page != page) report(out, "L1", where(), fmt::format("page {} is not what is found", page));
            if (!map_.is_mapped(*lpn)) report(out, "G1", where(), fmt::format("page {} is live, and its logical page not mapped", page));
            if (page >= log.next) report(out, "L1", where(), fmt::format("page {} is live and was not written", page));
            if (log.home && map_.block_of(*lpn) != *log.home) report(out, "L1", where(), fmt::format("page {} is of another logical block", page));
            if (map_.offset_of(*lpn) != page) in_place = false;
        }
        if (live != log.live) report(out, "L1", where(), fmt::format("{} live pages, counted {}", log.live, live));
        if (log.in_place && !in_place) report(out, "L2", where(), "called in place, and is not");
        if (!log.sealed && array_.write_pointer(log.block) > log.next) report(out, "L3", where(), "written beyond its next page");
    }
    if (open != logs_.count()) report(out, "L1", "log blocks", fmt::format("{} open, counted {}", logs_.count(), open));
}

void MergeFtl::check_blocks(std::vector<CheckProblem>& out) {
    const Geometry& g = array_.geometry();
    std::vector<Role> role(g.blocks(), Role::unused);
    const auto put = [&](BlockId block, Role which) {
        if (role[block.value()] != Role::unused) report(out, "G2", fmt::format("block {}", block.value()), "in two sets");
        role[block.value()] = which;
    };
    for (std::uint32_t b = 0; b < map_.logical_blocks(); ++b)
        if (const auto block = map_.data_block(LogicalBlock{b})) {
            put(*block, Role::data);
            if (owner_[block->value()] != b) report(out, "G2", fmt::format("block {}", block->value()), "its owner is another logical block");
        }
    for (LogSlot slot = 0; slot < logs_.slots(); ++slot)
        if (logs_.at(slot).is_open) put(logs_.at(slot).block, Role::log);
    for (const BlockId block : leaving_blocks_) put(block, Role::leaving);
    for (const BlockId block : meta_.area().all()) put(block, Role::journal);
    for (const BlockId block : pool_.erased_blocks()) {
        put(block, Role::free);
        if (array_.write_pointer(block) != 0) report(out, "G3", fmt::format("block {}", block.value()), "free as erased, and is not");
    }
    for (const BlockId block : pool_.garbage_blocks()) put(block, Role::free);
    std::uint32_t good = 0;
    for (std::uint32_t b = 0; b < pool_.planes() * g.blocks_per_plane(); ++b) {
        const auto where = [&] { return fmt::format("block {}", b); };
        if (role[b] == Role::unused && !array_.is_bad(BlockId{b})) report(out, "G2", where(), "leaked: in no set");
        if (role[b] == Role::unused) role[b] = Role::lost;
        if (role[b] != role_[b])
            report(out, "G2", where(), fmt::format("is {}, and called {}", static_cast<int>(role[b]), static_cast<int>(role_[b])));
        good += role[b] == Role::lost || role[b] == Role::journal ? 0 : 1;
    }
    if (good != pool_.good_blocks()) report(out, "G4", "pool", fmt::format("{} good blocks, counted {}", pool_.good_blocks(), good));
    if (!read_only_ && max_logs() < config_.least_logs) report(out, "G4", "pool", "no room for a log block, and not read-only");
}

} // namespace flashlab

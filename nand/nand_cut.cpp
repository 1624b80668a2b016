#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "base/little_endian.h"
#include "nand/nand_array_impl.h"

namespace flashlab {

namespace {

void fill_at_random(std::span<std::byte> bytes, CutOutcomes& outcomes) {
    while (!bytes.empty()) {
        const std::uint64_t draw = outcomes.random();
        const std::size_t n = std::min(bytes.size(), sizeof draw);
        std::memcpy(bytes.data(), &draw, n);
        bytes = bytes.subspan(n);
    }
}

/// Changes an OOB so that it no longer parses, whatever was drawn.
void scramble(std::array<std::byte, PageOob::encoded_size>& oob, CutOutcomes& outcomes) {
    fill_at_random(oob, outcomes);
    if (PageOob::decode(oob)) oob.front() ^= std::byte{1};
}

} // namespace

std::expected<NandCutReport, NandError> NandArray::Impl::cut(SimTime at, CutOutcomes& outcomes) {
    ensure(!cut_, "one power cut a power-on");
    ensure(at >= scheduler.settled(), "a power cut does not lie before what has settled");
    const auto undone = rewind(at);
    if (!undone) return std::unexpected(undone.error());
    auto report = tear(at, outcomes, store);
    if (report) report->undone = *undone;
    return report;
}

/// Walks the log from the last operation issued to the first, so that each operation finds the cells as it left them. An operation in flight may have
/// been issued later than one that is undone. It is then on another block, since the operations of one block follow each other in time (N2).
std::expected<std::uint64_t, NandError> NandArray::Impl::rewind(SimTime at) {
    ensure(undo_policy == UndoPolicy::keep, "a power cut needs undo records");
    cut_ = true;
    std::uint64_t count = 0;
    for (std::uint64_t i = log_.end_index(); i-- > log_.front_index();) {
        UndoRecord& record = log_.at(i);
        if (record.undone || record.cells < at) continue;
        if (auto changed = undo(record, store); !changed) return std::unexpected(host_error(changed.error(), record.page, at));
        record.undone = true;
        const auto cause = static_cast<std::size_t>(record.cause);
        if (record.kind == UndoRecord::Kind::program) --counters.programs[cause];
        if (record.kind == UndoRecord::Kind::erase) --counters.erases[cause];
        ++count;
    }
    while (!log_.empty() && log_.back().undone) log_.drop_back();
    return count;
}

std::expected<NandCutReport, NandError> NandArray::Impl::tear(SimTime at, CutOutcomes& outcomes, PageStore& target) {
    NandCutReport report;
    std::optional<ProgramOutcome> of_line; ///< the pages of a word line that are programmed together share their cells, and their outcome
    for (std::uint64_t i = log_.end_index(); i-- > log_.front_index();) {
        const UndoRecord& record = log_.at(i);
        if (record.undone || record.end <= at) continue;
        ensure(record.cells < at, "what begins later was undone before");
        std::expected<void, HostIoError> changed;
        if (record.kind == UndoRecord::Kind::program) {
            if (!of_line) of_line = outcomes.of_program(record.page);
            changed = tear_program(record, *of_line, outcomes, target);
            ++report.torn_programs;
            if (!record.shares_line) of_line.reset();
        } else {
            changed = tear_erase(record, outcomes.of_erase(geometry.block_of(record.page)), outcomes, target);
            ++report.torn_erases;
        }
        if (!changed) return std::unexpected(host_error(changed.error(), record.page, at));
    }
    return report;
}

void NandArray::Impl::append_moments(std::vector<SimTime>& to) const {
    for (std::uint64_t i = log_.front_index(); i != log_.end_index(); ++i) {
        to.push_back(log_.at(i).cells);
        to.push_back(log_.at(i).end);
    }
}

void NandArray::Impl::append_flights(std::vector<NandFlight>& to) const {
    for (std::uint64_t i = log_.front_index(); i != log_.end_index(); ++i) {
        const UndoRecord& record = log_.at(i);
        if (record.kind == UndoRecord::Kind::bad_mark) continue; // it takes no time
        if (record.shares_line) continue;                        // the operation stands in the list already
        to.push_back({record.kind == UndoRecord::Kind::erase ? NandOp::erase : NandOp::program, record.cause, record.cells, record.end});
    }
}

std::expected<void, HostIoError> NandArray::Impl::undo(const UndoRecord& record, PageStore& cells) {
    if (record.kind == UndoRecord::Kind::program) {
        // The record first: while it says "erased", nobody relies on the payload.
        if (auto wrote = cells.write_record(record.page, PageRecord{.state = record.old_state}); !wrote) return wrote;
        return record.old_payload.empty() ? std::expected<void, HostIoError>{} : cells.write_data(record.page, record.old_payload);
    }
    const BlockId block = geometry.block_of(record.page);
    if (record.kind == UndoRecord::Kind::bad_mark) {
        blocks.take_back_mark(block);
        return cells.write_block(block, blocks.record_of(block));
    }
    for (std::uint32_t page = 0; page < record.old_records.size(); ++page) {
        if (auto wrote = cells.write_record(geometry.page_of(block, page), record.old_records[page]); !wrote) return wrote;
    }
    BlockRecord own = blocks.record_of(block);
    own.erase_count = record.old_erase_count;
    own.mode = record.old_mode == media.own() ? std::nullopt : std::optional{record.old_mode};
    own.age = record.old_age;
    return cells.write_block(block, own);
}

std::expected<void, HostIoError> NandArray::Impl::tear_program(const UndoRecord& record, ProgramOutcome outcome, CutOutcomes& outcomes,
                                                               PageStore& cells) {
    if (outcome == ProgramOutcome::complete) return {};
    if (outcome == ProgramOutcome::not_started) return undo(record, cells);
    if (outcome == ProgramOutcome::looks_erased) return cells.write_record(record.page, PageRecord{.state = CellState::weak});
    if (outcome == ProgramOutcome::pair_damaged) {
        const BlockId block = geometry.block_of(record.page);
        for (const std::uint32_t earlier : pairs.endangered_by(geometry.page_in_block(record.page))) {
            if (auto damaged = damage(geometry.page_of(block, earlier), outcomes, cells); !damaged) return damaged;
        }
        return damage(record.page, outcomes, cells);
    }
    if (outcome == ProgramOutcome::garbage) return damage(record.page, outcomes, cells);
    auto torn = cells.read_record(record.page);
    if (!torn) return std::unexpected(torn.error());
    if (outcome == ProgramOutcome::unstable) {
        if (torn->state == CellState::programmed) torn->state = CellState::unstable; // over weak cells, or failed: it is garbage already
        return cells.write_record(record.page, *torn);
    }
    torn->state = CellState::torn;
    if ((outcomes.random() & 1) == 0) scramble(torn->oob, outcomes); // T2: the OOB may parse over data that do not
    if (cells.keeps_payload()) {
        if (auto read = cells.read_data(record.page, 0, page_); !read) return read;
        const std::size_t kept = outcomes.random() % page_.size();
        fill_at_random(std::span{page_}.subspan(kept), outcomes);
        if (auto wrote = cells.write_data(record.page, page_); !wrote) return wrote;
    }
    return cells.write_record(record.page, *torn);
}

/// T3: neither data nor OOB can be read. A page that is erased, because it was skipped, stays erased.
std::expected<void, HostIoError> NandArray::Impl::damage(Ppn page, CutOutcomes& outcomes, PageStore& cells) {
    auto record = cells.read_record(page);
    if (!record) return std::unexpected(record.error());
    if (as_read(record->state) == CellState::erased) return {};
    record->state = CellState::garbage;
    scramble(record->oob, outcomes);
    if (cells.keeps_payload()) {
        fill_at_random(page_, outcomes);
        if (auto wrote = cells.write_data(page, page_); !wrote) return wrote;
    }
    return cells.write_record(page, *record);
}

/// Of a block that an erase left torn: the old mode or the new one.
std::expected<void, HostIoError> NandArray::Impl::draw_mode(const UndoRecord& record, CutOutcomes& outcomes, PageStore& cells) {
    if (record.old_mode == record.new_mode || (outcomes.random() & 1) == 0) return {};
    const BlockId block = geometry.block_of(record.page);
    BlockRecord own = blocks.record_of(block);
    own.erase_count = record.old_erase_count + 1;
    own.mode = record.old_mode == media.own() ? std::nullopt : std::optional{record.old_mode};
    return cells.write_block(block, own);
}

/// E2 leaves the old payload in the store. No record promises it any more, and no read returns it.
std::expected<void, HostIoError> NandArray::Impl::tear_erase(const UndoRecord& record, EraseOutcome outcome, CutOutcomes& outcomes,
                                                             PageStore& cells) {
    if (outcome == EraseOutcome::complete) return {};
    if (outcome == EraseOutcome::not_started) return undo(record, cells);
    if (outcome == EraseOutcome::mixed) {
        if (auto undone = undo(record, cells); !undone) return undone;
    } else if (auto drawn = draw_mode(record, outcomes, cells); !drawn) {
        return drawn;
    }
    for (std::uint32_t page = 0; page < geometry.pages_per_block(); ++page) {
        PageRecord left{.state = outcome == EraseOutcome::weak ? CellState::weak : CellState::garbage};
        if (outcome == EraseOutcome::mixed) {
            const std::uint64_t draw = outcomes.random() % 3;
            if (draw == 0) continue; // survives
            if (draw == 1) left.state = CellState::weak;
        }
        if (left.state == CellState::garbage) scramble(left.oob, outcomes);
        if (auto wrote = cells.write_record(geometry.page_of(geometry.block_of(record.page), page), left); !wrote) return wrote;
    }
    return {};
}

} // namespace flashlab

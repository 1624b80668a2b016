/// Runs of copies: merges of block-mapping schemes and of COFTL consist of them.
#include <algorithm>
#include <array>

#include "nand/copy_fields.h"
#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

CopiedRun NandArray::Impl::copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io) {
    CopiedRun run{.pages = 0, .done = io.when, .failed = std::nullopt};
    while (run.pages < pages) {
        const Ppn source{from.value() + run.pages}, target{to.value() + run.pages};
        const CopiedRun at_once = copy_at_once(source, target, pages - run.pages, io.at(run.done));
        run.pages += at_once.pages;
        run.done = at_once.done;
        if (at_once.failed) {
            run.failed = at_once.failed;
            break;
        }
        if (at_once.pages != 0) continue;
        const auto copied = copy(source, target, nullptr, io.at(run.done));
        if (!copied) {
            run.failed = copied.error();
            break;
        }
        run.done = copied->done;
        ++run.pages;
    }
    return run;
}

/// A copy whose calls would only reserve bus and cells and copy a record, where no cut can come and no payload is kept. None: it takes the calls.
std::optional<CopiedPage> NandArray::Impl::copy_plainly(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) {
    if (!copies_plainly_ || faults != nullptr || events.wants(EventLevel::all) || io.transfer != nullptr || io.origin.cause == Cause::user)
        return std::nullopt;
    const PageAddress source = address_of(from), target = address_of(to);
    for (const BlockId block : {source.block, target.block})
        if (!blocks.write_pointer(block)) return std::nullopt;
    if (blocks.has_weak(target.block) || !blocks.all_programmed(source.block) || source.page >= *blocks.write_pointer(source.block))
        return std::nullopt;
    std::optional<CopiedPage> told{CopiedPage{io.when, PageOob{}}};
    CopiedPage& copied = *told;
    const auto known = store.read_oob(from);
    if (!known || !known->oob) return std::nullopt;
    copy_fields(*known->oob, copied.oob);
    ensure(!cut_, "no operation after a power cut");
    blocks.check_program(target.block, target.page);
    if (marks != nullptr) {
        copied.oob.scheme_word = marks->scheme_word;
        copied.oob.stream = marks->stream;
    }
    const auto run = scheduler.copy(geometry.plane_of(source.block), geometry.plane_of(target.block),
                                    blocks.read_ready(source.block, source.page, io.when), blocks.program_ready(target.block, io.when));
    ensure(store.write_programmed(to, copied.oob, 0).has_value(), "records that no host file holds can be written");
    blocks.note_read(source.block, run.read_end);
    blocks.note_program(target.block, target.page, run.end, false);
    ++counters.reads[static_cast<std::size_t>(io.origin.cause)];
    ++counters.programs[static_cast<std::size_t>(io.origin.cause)];
    copied.done = run.end;
    return told;
}

/// A run is reserved in one go, and its records are copied unchanged, where no cut can come, no faults are set,
/// no sink wants events and no payload is kept.
CopiedRun NandArray::Impl::copy_at_once(Ppn from, Ppn to, std::uint32_t pages, const Io& io) {
    const SimTime now = io.when;
    const CopiedRun none{0, now, std::nullopt};
    const auto failed = [&](HostIoError error, Ppn page) { return CopiedRun{0, now, host_error(error, page, now)}; };
    if (undo_policy != UndoPolicy::none || store.keeps_payload() || faults != nullptr || guard || bit_errors || events.wants(EventLevel::all))
        return none;
    const PageAddress source = address_of(from), target = address_of(to);
    pages = std::min({pages, geometry.pages_per_block() - source.page, geometry.pages_per_block() - target.page});
    if (source.block == target.block || !scheduler.copies_runs()) return none;
    for (const BlockId block : {source.block, target.block}) {
        if (const auto pointer = blocks.write_pointer(block); !pointer) return failed(pointer.error(), geometry.page_of(block, 0));
    }
    const std::uint32_t written = *blocks.write_pointer(source.block);
    if (blocks.has_weak(target.block) || source.page >= written) return none;
    pages = std::min(pages, written - source.page);
    if (!blocks.all_programmed(source.block)) pages = store.programmed_run(from, pages);
    if (pages == 0) return none;
    blocks.check_program(target.block, target.page);
    // Programs of the source pages have not ended. copy() waits for them, page by page.
    if (blocks.read_ready(source.block, source.page, now) != now || blocks.read_ready(source.block, source.page + pages - 1, now) != now) return none;
    std::array<SimTime, BlockTable::recent_programs> ends;
    const auto run = scheduler.copy_run(geometry.plane_of(source.block), geometry.plane_of(target.block), pages, now,
                                        blocks.program_ready(target.block, now), ends);
    if (auto copied = store.copy_programmed(from, to, pages); !copied) return failed(copied.error(), to);
    blocks.note_read(source.block, run.read_end);
    blocks.note_programs(target.block, target.page, pages, ends);
    counters.reads[static_cast<std::size_t>(io.origin.cause)] += pages;
    counters.programs[static_cast<std::size_t>(io.origin.cause)] += pages;
    return {pages, run.end, std::nullopt};
}

std::uint32_t NandArray::Impl::take_columns(const RewriteRun& run, SimTime now) {
    std::uint32_t sets = run.sets;
    columns_.clear();
    for (std::size_t c = 0; c < run.from.size(); ++c) {
        const PageAddress source = address_of(run.from[c]), target = address_of(run.to[c]);
        for (const BlockId block : {source.block, target.block})
            if (!blocks.write_pointer(block)) return 0;
        const std::uint32_t written = *blocks.write_pointer(source.block);
        if (blocks.has_weak(target.block) || !blocks.all_programmed(source.block) || source.page >= written) return 0;
        sets = std::min(
            {sets, blocks.pages_ready_alike(source.block, source.page, now, written - source.page), geometry.pages_per_block() - target.page});
        blocks.check_program(target.block, target.page);
        const Scheduler::Way in = scheduler.way_to(geometry.plane_of(target.block));
        ensure(std::ranges::none_of(columns_, [&](const Column& other) { return other.in.cells == in.cells; }), "page sets are written side by side");
        columns_.push_back({source, target, scheduler.way_to(geometry.plane_of(source.block)), in, blocks.read_ready(source.block, source.page, now),
                            now, blocks.program_ready(target.block, now)});
    }
    return sets;
}

/// As copy_plainly(), for sets of pages.
CopiedRun NandArray::Impl::rewrite_run(const RewriteRun& run, const Io& io) {
    CopiedRun copied{.pages = 0, .done = io.when, .failed = std::nullopt};
    if (!copies_plainly_ || faults != nullptr || events.wants(EventLevel::all) || io.transfer != nullptr || io.origin.cause == Cause::user)
        return copied;
    ensure(!cut_, "no operation after a power cut");
    copied.pages = take_columns(run, io.when);
    for (std::uint32_t set = 0; set < copied.pages; ++set) {
        SimTime read = io.when;
        for (Column& column : columns_) read = std::max(read, column.read_end = scheduler.read_plainly(column.out, column.ready));
        for (Column& column : columns_) {
            column.end = scheduler.program_plainly(column.in, read, std::max(read, column.end));
            column.ends[set % column.ends.size()] = column.end;
            copied.done = std::max(copied.done, column.end);
        }
    }
    if (copied.pages == 0) return copied;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const Column& column = columns_[c];
        ensure(store.write_programmed_run(run.to[c], run.oob, copied.pages).has_value(), "records that no host file holds can be written");
        blocks.note_read(column.source.block, column.read_end);
        blocks.note_programs(column.target.block, column.target.page, copied.pages, column.ends);
    }
    counters.reads[static_cast<std::size_t>(io.origin.cause)] += columns_.size() * copied.pages;
    counters.programs[static_cast<std::size_t>(io.origin.cause)] += columns_.size() * copied.pages;
    return copied;
}

} // namespace flashlab

/// Runs of copies: merges of block-mapping schemes consist of them.
#include <algorithm>
#include <array>

#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

CopiedRun NandArray::Impl::copy_run(Ppn from, Ppn to, std::uint32_t pages, SimTime now, Origin origin) {
    CopiedRun run{.pages = 0, .done = now, .failed = std::nullopt};
    while (run.pages < pages) {
        const Ppn source{from.value() + run.pages}, target{to.value() + run.pages};
        const auto at_once = copy_at_once(source, target, pages - run.pages, run.done, origin);
        if (!at_once) {
            run.failed = at_once.error();
            break;
        }
        run.pages += *at_once;
        if (*at_once != 0) continue;
        const auto copied = copy(source, target, std::nullopt, run.done, origin);
        if (!copied) {
            run.failed = copied.error();
            break;
        }
        run.done = copied->done;
        ++run.pages;
    }
    return run;
}

/// A run is reserved in one go, and its records are copied unchanged, where no cut can come, no faults are set,
/// no sink wants events and no payload is kept.
std::expected<std::uint32_t, NandError> NandArray::Impl::copy_at_once(Ppn from, Ppn to, std::uint32_t pages, SimTime& now, Origin origin) {
    if (undo_policy != UndoPolicy::none || store.keeps_payload() || faults != nullptr || guard || events.wants(EventLevel::all)) return 0;
    const PageAddress source = address_of(from), target = address_of(to);
    pages = std::min({pages, geometry.pages_per_block() - source.page, geometry.pages_per_block() - target.page});
    if (source.block == target.block || !scheduler.copies_runs()) return 0;
    for (const BlockId block : {source.block, target.block}) {
        if (const auto pointer = blocks.write_pointer(block); !pointer)
            return std::unexpected(host_error(pointer.error(), geometry.page_of(block, 0), now));
    }
    const std::uint32_t written = *blocks.write_pointer(source.block);
    if (blocks.has_weak(target.block) || source.page >= written) return 0;
    pages = std::min(pages, written - source.page);
    if (!blocks.all_programmed(source.block)) pages = store.programmed_run(from, pages);
    if (pages == 0) return 0;
    blocks.check_program(target.block, target.page);
    // Programs of the source pages have not ended. copy() waits for them, page by page.
    if (blocks.read_ready(source.block, source.page, now) != now || blocks.read_ready(source.block, source.page + pages - 1, now) != now) return 0;
    std::array<SimTime, BlockTable::recent_programs> ends;
    const auto run = scheduler.copy_run(geometry.plane_of(source.block), geometry.plane_of(target.block), pages, now,
                                        blocks.program_ready(target.block, now), ends);
    if (auto copied = store.copy_programmed(from, to, pages); !copied) return std::unexpected(host_error(copied.error(), to, now));
    blocks.note_read(source.block, run.read_end);
    blocks.note_programs(target.block, target.page, pages, ends);
    counters.reads[static_cast<std::size_t>(origin.cause)] += pages;
    counters.programs[static_cast<std::size_t>(origin.cause)] += pages;
    now = run.end;
    return pages;
}

} // namespace flashlab

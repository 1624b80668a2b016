/// Runs of copies: what merges of block-mapping schemes are made of.
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

/// Where no cut can come, nothing fails, nobody listens and no payload is kept, a run is reserved in one go and its records are copied as they lie.
std::expected<std::uint32_t, NandError> NandArray::Impl::copy_at_once(Ppn from, Ppn to, std::uint32_t pages, SimTime& now, Origin origin) {
    if (undo_policy != UndoPolicy::none || store.keeps_payload() || faults != nullptr || guard || events.wants(EventLevel::all)) return 0;
    const PageAddress source = address_of(from), target = address_of(to);
    pages = std::min({pages, geometry.pages_per_block() - source.page, geometry.pages_per_block() - target.page});
    if (pages < 2 || source.block == target.block) return 0;
    for (const BlockId block : {source.block, target.block}) {
        if (const auto pointer = blocks.write_pointer(block); !pointer) return std::unexpected(host_error(pointer.error(), geometry.page_of(block, 0), now));
    }
    if (!blocks.all_programmed(source.block) || source.page + pages > *blocks.write_pointer(source.block) || blocks.has_weak(target.block)) return 0;
    blocks.check_program(target.block, target.page);
    // Programs of the source's own, or an erase of the target, that have not ended: their order is the single copy's business.
    if (blocks.read_ready(source.block, source.page, now) != now || blocks.read_ready(source.block, source.page + pages - 1, now) != now ||
        blocks.program_ready(target.block, now) != now)
        return 0;
    const auto run = scheduler.copy_run(geometry.plane_of(source.block), geometry.plane_of(target.block), pages, now);
    if (run.pages == 0) return 0;
    if (auto copied = store.copy_programmed(from, to, run.pages); !copied) return std::unexpected(host_error(copied.error(), to, now));
    blocks.note_read(source.block, now + (run.pages - 1) * run.step + run.read);
    blocks.note_programs(target.block, target.page, run.pages, now + run.step, run.step);
    counters.reads[static_cast<std::size_t>(origin.cause)] += run.pages;
    counters.programs[static_cast<std::size_t>(origin.cause)] += run.pages;
    now += run.pages * run.step;
    return run.pages;
}

} // namespace flashlab

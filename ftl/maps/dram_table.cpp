#include "ftl/maps/dram_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ftl/blocks/map_check.h"

namespace flashlab {

FtlResult<void> DramTable::load(PageJournal::Start& start, FtlRecovery&) {
    const auto foreign = [&](std::uint32_t l) { return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{l}, start.done}); };
    if (start.scheme_part.size() % 4 != 0 || start.scheme_part.size() / 4 > map_.size()) return foreign(0);
    std::ranges::copy(start.scheme_part, std::as_writable_bytes(std::span{map_}).begin());
    if (!start.was_clean) rebuild_map(map_, PageKind::data, parts_.blocks.units(), start.census, &start.trims, start.checkpoint.next_sequence);
    for (std::uint32_t l = 0; l < map_.size(); ++l) {
        if (map_[l] == map_entry::unmapped) continue;
        touched_.touch(l);
        if (!take(map_[l])) return foreign(l);
    }
    return {};
}

std::span<const std::byte> DramTable::recorded() {
    std::size_t entries = std::min(map_.size(), touched_.end());
    while (entries > 0 && map_[entries - 1] == map_entry::unmapped) --entries;
    return std::as_bytes(std::span{map_}.first(entries));
}

FtlResult<SimTime> DramTable::trim(Lpn first, std::uint32_t pages, const Io& io) {
    std::uint32_t mapped = 0;
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const auto old = current(Lpn{l});
        if (!old) continue;
        ++mapped;
        map_[l] = map_entry::unmapped;
        drop(*old, io.when);
    }
    parts_.counters.host_pages_trimmed += mapped;
    // A page that is not mapped may have an older version on flash, and a trim of it that waits, but none that waits no more: the range counts once.
    if (mapped != 0) journal().trimmed(first, pages);
    if (const auto recorded = record_full_trims(io); !recorded) return std::unexpected(recorded.error());
    return io.when;
}

std::vector<CheckProblem> DramTable::check() {
    PageBlocks& blocks = parts_.blocks;
    std::vector<CheckProblem> out = journal().check();
    blocks.check(out);
    MapCheck map{"P1", "P2", blocks.units(), parts_.array};
    const std::uint32_t pages = parts_.logical_pages;
    for (std::uint32_t l = 0; (l = touched_.next(l, pages)) < pages; ++l)
        if (const auto unit = current(Lpn{l})) map.check({Lpn{l}, PageKind::data, *unit}, blocks.valid().test(*unit), blocks.next_sequence(), out);
    if (map.units_named() != blocks.valid().total())
        out.push_back({"P1", "valid bits", fmt::format("{} valid units, {} mapped pages", blocks.valid().total(), map.units_named())});
    return out;
}

} // namespace flashlab

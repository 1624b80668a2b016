/// Checkpoint (its bytes: ftl/FORMAT.md) and recovery of a learned table.
#include <algorithm>
#include <utility>

#include "ftl/maps/learned_table.h"

namespace flashlab {

namespace {

constexpr std::uint32_t is_whole_group = 1u << 31;
constexpr std::uint32_t lost_entry = 0xffff'ffff; ///< an approximate prediction near which nothing names the page

} // namespace

std::span<const std::byte> LearnedTable::recorded() {
    std::uint32_t count = 0;
    std::size_t bytes = 12 + pages_.directory_bytes() + 8 * waiting_.size();
    for (Group& group : groups_) {
        if (!group.has_news()) continue;
        group.newest().compact(group.is_here);
        charge(group);
        ++count;
        bytes += 4 + group.newest().encoded_bytes();
    }
    checkpoint_.resize(bytes);
    if (!parts_.array.keeps_payload()) return checkpoint_;
    LittleEndianWriter out{checkpoint_};
    out.u32(pages_.count());
    out.u32(count);
    out.u32(static_cast<std::uint32_t>(waiting_.size()));
    pages_.encode(out);
    for (Group& group : groups_) {
        if (!group.has_news()) continue;
        out.u32(number_of(group) | (group.is_here ? is_whole_group : 0));
        group.newest().encode(out);
    }
    std::vector<std::pair<std::uint32_t, Waiting>> sorted(waiting_.begin(), waiting_.end()); // the hash's order is its library's
    std::ranges::sort(sorted, {}, [](const auto& page) { return page.first; });
    for (const auto& [lpn, where] : sorted) {
        out.u32(lpn);
        out.u32(where.unit);
    }
    ensure(out.full(), "directory, news and waiting pages fill their part");
    return checkpoint_;
}

/// First the directory, then, once the translation pages are read, what was new.
bool LearnedTable::decode(std::span<const std::byte> scheme_part, bool directory) {
    if (scheme_part.empty()) return true; // no checkpoint yet
    LittleEndianReader in{scheme_part};
    const std::uint32_t pages = in.u32(), groups = in.u32(), waiting = in.u32();
    if (in.failed() || pages != pages_.count() || in.left() < 4ull * pages) return false;
    if (directory) {
        pages_.decode(in);
        return true;
    }
    (void)in.bytes(4ull * pages);
    for (std::uint32_t i = 0; i < groups; ++i) {
        const std::uint32_t head = in.u32(), number = head & ~is_whole_group;
        auto found = SegmentLevels::decode(in);
        if (in.failed() || number >= groups_.size() || !found) return false;
        Group& group = groups_[number];
        group.is_here = group.is_dirty = (head & is_whole_group) != 0;
        group.newest() = std::move(*found);
    }
    for (std::uint32_t i = 0; i < waiting; ++i) {
        const Lpn lpn{in.u32()};
        const std::uint32_t unit = in.u32();
        if (in.failed() || lpn.value() >= parts_.logical_pages) return false;
        insert(groups_[group_of(lpn)], {.start = in_group(lpn), .intercept = unit});
    }
    return in.left() == 0;
}

FtlResult<void> LearnedTable::load(PageJournal::Start& start, FtlRecovery& report) {
    const auto foreign = [&] { return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, start.done}); };
    if (!decode(start.scheme_part, true)) return foreign();
    bool is_ours = true;
    const auto loaded = pages_.load(start, report, [&](std::uint32_t page, std::span<const std::byte> bytes) {
        LittleEndianReader in{bytes};
        for (Group& group : groups_of(page)) {
            auto found = SegmentLevels::decode(in);
            is_ours = is_ours && found;
            if (found) group.all = std::move(*found);
        }
    });
    if (!loaded) return loaded;
    // Of a page written since, what was new may be older than what it holds: then what outdated that is found, or is a trim.
    if (!is_ours || !decode(start.scheme_part, false)) return foreign();
    const auto before = resolved(start, report);
    if (!before) return std::unexpected(before.error());
    std::vector<std::uint32_t> map = *before;
    std::ranges::replace(map, lost_entry, map_entry::unmapped);
    if (!start.was_clean) rebuild_map(map, PageKind::data, parts_.blocks.units(), start.census, &start.trims, start.checkpoint.next_sequence);
    learn_differences(*before, map);
    for (const std::uint32_t entry : map)
        if (entry != map_entry::unmapped && !take(entry)) return foreign();
    for (std::uint32_t page = 0; page < pages_.count(); ++page) {
        const std::size_t first = std::size_t{page} * pages_.entries_per_page();
        const auto entries = std::span{map}.subspan(first, std::min<std::size_t>(pages_.entries_per_page(), map.size() - first));
        if (std::ranges::all_of(entries, [](std::uint32_t e) { return e == map_entry::unmapped; })) { // trimmed as a whole
            forget_page(page);
            (void)pages_.forget(page);
        } else if (pages_.exists(page) && !take(pages_.unit_entry(page))) {
            return foreign();
        }
    }
    for (Group& group : groups_) charge(group);
    return {};
}

/// Where the segments say that each page is.
FtlResult<std::vector<std::uint32_t>> LearnedTable::resolved(PageJournal::Start& start, FtlRecovery& report) {
    std::vector<std::uint32_t> map(parts_.logical_pages, map_entry::unmapped);
    SimTime done = start.done;
    for (std::uint32_t l = 0; l < map.size(); ++l) {
        const auto found = prediction(Lpn{l});
        if (!found) continue;
        if (found->unit >= parts_.blocks.units().units()) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{l}, done});
        map[l] = map_entry::of(UnitId{found->unit});
        if (found->is_exact) continue;
        const auto entry = resolve(Lpn{l}, found->unit, start, done, report);
        if (!entry) return std::unexpected(entry.error());
        map[l] = *entry;
    }
    start.done = done;
    return map;
}

/// One read of an OOB, which names the neighbours. Of two versions of the page the later one; what the checkpoint does not know is found anyway.
FtlResult<std::uint32_t> LearnedTable::resolve(Lpn lpn, std::uint32_t predicted, PageJournal::Start& start, SimTime& done, FtlRecovery& report) {
    const UnitGeometry& units = parts_.blocks.units();
    const auto read = parts_.array.read_oob(units.page_of(UnitId{predicted}, 0), {start.done, {Cause::recovery, no_event}});
    if (!read) return std::unexpected(parts_.blocks.fail(read.error(), lpn));
    done = std::max(done, read->done);
    ++report.pages_scanned;
    std::uint32_t entry = lost_entry;
    std::uint64_t newest = 0;
    const std::uint32_t first = predicted - std::min(config_.gamma, predicted);
    for (std::uint32_t unit = first; unit <= predicted + config_.gamma && unit < units.units(); ++unit) {
        if (units.block_of(UnitId{unit}) != units.block_of(UnitId{predicted})) continue;
        if (!start.was_clean && !start.census.is_known(units, UnitId{unit})) continue;
        const auto stored = parts_.array.inspect_oob(units.page_of(UnitId{unit}, 0));
        if (!stored) return std::unexpected(parts_.blocks.fail(stored.error(), lpn));
        if (!stored->oob || stored->oob->lpn != lpn || stored->oob->kind != PageKind::data || stored->oob->sequence.value() < newest) continue;
        newest = stored->oob->sequence.value();
        entry = map_entry::of(UnitId{unit});
    }
    return entry;
}

/// Exact segments and holes for what was found otherwise than the segments say.
void LearnedTable::learn_differences(std::span<const std::uint32_t> before, std::span<const std::uint32_t> now) {
    const UnitGeometry& units = parts_.blocks.units();
    for (std::uint32_t first = 0; first < now.size(); first += shape_.pages) {
        const std::uint32_t group = group_of(Lpn{first});
        const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(first + shape_.pages, now.size()));
        run_.clear();
        for (std::uint32_t l = first; l < end; ++l) {
            if (now[l] == before[l]) continue;
            if (now[l] != map_entry::unmapped)
                run_.push_back({in_group(Lpn{l}), map_entry::unit(now[l])->value()});
            else
                insert(groups_[group], Segment::hole(l - first, l - first));
        }
        const auto block_of = [&](const PlacedPage& p) { return units.block_of(UnitId{p.unit}); };
        std::ranges::stable_sort(run_, {}, block_of);
        for (std::span<const PlacedPage> left = run_; !left.empty();) {
            std::size_t n = 1;
            while (n < left.size() && block_of(left[n]) == block_of(left[0])) ++n;
            learn_run(group, left.first(n), 0);
            left = left.subspan(n);
        }
    }
}

} // namespace flashlab

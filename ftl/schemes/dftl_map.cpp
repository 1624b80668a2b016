/// DFTL's traffic between the mapping cache and the translation pages.
#include <algorithm>
#include <cstring>
#include <utility>

#include "ftl/schemes/dftl.h"

namespace flashlab {

FtlResult<SimTime> Dftl::look_up(Lpn first, std::uint32_t pages, const Io& io) {
    SimTime at = io.when;
    std::optional<std::uint32_t> just_read;
    GhostBitmap::Together of_one_read;
    if (curve_) count_reads(first, pages);
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const Lpn lpn{l};
        if (cache_.use(lpn)) {
            ++counted_.map_read_hits;
            continue;
        }
        ++counted_.map_read_misses;
        const std::uint32_t page = page_of(lpn);
        if (gtd_[page] == unmapped) continue; // the directory itself says that nothing is there
        if (ghost_) {
            if (just_read && just_read != page) ghost_->missed_read(std::exchange(of_one_read, {}));
            ghost_->join(of_one_read, l);
        }
        const auto room = make_room(1, io.at(at));
        if (!room) return room;
        at = std::max(at, *room);
        if (just_read != page) { // one read serves the pages of one request
            const auto read = read_translation_page(page, io.at(at));
            if (!read) return read;
            at = *read;
            just_read = page;
            ++looked_up_pages_;
        }
        const bool has_room = cache_.in_order() < cache_.capacity() || !blocks_.is_read_only();
        if (has_room && !cache_.peek(lpn)) cache_.insert(lpn, on_flash_[l], false); // making room may have moved the page, and its entry here
    }
    if (ghost_ && just_read) ghost_->missed_read(of_one_read);
    return at;
}

FtlResult<SimTime> Dftl::fetch_missing(Lpn first, std::uint32_t pages, std::optional<std::uint32_t>& just_read, const Io& io) {
    SimTime at = io.when;
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const std::uint32_t page = page_of(Lpn{l});
        if (cache_.peek(Lpn{l}) || gtd_[page] == unmapped || just_read == page) continue;
        const auto read = read_translation_page(page, io.at(at));
        if (!read) return read;
        at = *read;
        just_read = page;
    }
    return at;
}

FtlResult<SimTime> Dftl::make_room(std::uint32_t entries, const Io& io) {
    SimTime at = io.when;
    while (cache_.in_order() != 0 && cache_.in_order() + entries > cache_.capacity()) {
        const auto victim = *cache_.coldest();
        if (!victim.is_dirty) {
            evict_entry(victim.lpn);
            ++counted_.map_evictions;
            continue;
        }
        if (blocks_.is_read_only()) break;
        ++counted_.map_dirty_evictions;
        const auto written = batch_update(page_of(victim.lpn), io.at(at));
        if (!written && written.error().kind == FtlErrorKind::no_free_block) break; // above the capacity until a collection has made room
        if (!written) return written;
        at = std::max(at, *written);
    }
    return at;
}

FtlResult<SimTime> Dftl::read_translation_page(std::uint32_t page, const Io& io) {
    const UnitGeometry& units = blocks_.units();
    const UnitId unit{gtd_[page] - 1};
    SimTime done = io.when;
    for (std::uint32_t p = 0; p < units.pages_per_unit(); ++p) {
        const auto read = array_.read(PageRead{units.page_of(unit, p), 0, units.geometry().page_bytes(), {}}, io.as(Cause::map));
        if (!read) return std::unexpected(blocks_.fail(read.error(), Lpn{page * entries_per_page_}));
        done = std::max(done, *read);
    }
    ++counted_.translation_reads;
    return done;
}

/// As it is to lie on flash; nothing where no payload is kept.
std::span<const std::byte> Dftl::translation_page(std::uint32_t page) {
    if (!array_.keeps_payload()) return {};
    std::memcpy(page_.data(), on_flash_.data() + std::size_t{page} * entries_per_page_, page_.size());
    cache_.for_each_dirty_of(
        page, [this](Lpn lpn, std::uint32_t entry) { std::memcpy(page_.data() + std::size_t{to_page_.remainder(lpn.value())} * 4, &entry, 4); });
    return page_;
}

FtlResult<SimTime> Dftl::batch_update(std::uint32_t page, const Io& io) {
    const GroupId group{page % blocks_.groups()}; // a home for each, so that every group's share of translation pages is known
    for (;;) {
        if (const auto room = blocks_.make_room(group, map_frontier, io.when); !room) return room;
        if (cache_.dirty_of(page) == 0) return io.when; // a collection that made the room has written them
        SimTime at = io.when;
        if (gtd_[page] != unmapped) {
            const auto read = read_translation_page(page, io);
            if (!read) return read;
            at = *read;
        }
        cache_.for_each_dirty_of(page, [&](Lpn, std::uint32_t entry) {
            if (const auto unit = unit_of(entry)) at = std::max(at, blocks_.programmed_by(blocks_.units().block_of(*unit))); // F3
        });
        const auto placed = blocks_.write_row({.first = Lpn{page},
                                               .pages = 1,
                                               .from = translation_page(page),
                                               .kind = PageKind::translation,
                                               .frontier = map_frontier,
                                               .group = group,
                                               .can_wait = true},
                                              io.at(at).as(Cause::map));
        if (!placed) return std::unexpected(placed.error());
        if (placed->count == 0) continue;
        const UnitId unit = blocks_.unit_of(*placed, 0);
        if (const auto old = unit_of(gtd_[page])) blocks_.invalidate(*old, placed->end);
        blocks_.validate(unit);
        gtd_[page] = unit.value() + 1;
        cache_.for_each_dirty_of(page, [this](Lpn lpn, std::uint32_t entry) { on_flash_[lpn.value()] = entry; });
        ++counted_.batch_updates;
        counted_.batch_entries += cache_.dirty_of(page);
        batch_.add(cache_.dirty_of(page));
        ++counted_.translation_writes;
        cache_.clean(page);
        programmed_at_ = std::max(programmed_at_, placed->end);
        return placed->end;
    }
}

/// Half of what may be set aside is let be: the longer entries wait, the more go with one page. The other half is for collections that are made in
/// one go.
FtlResult<void> Dftl::keep_pace(std::uint32_t pages, const Io& io) {
    constexpr std::uint64_t most_a_page = 8; // translation pages with a page of the host, when nothing more finds room aside
    const std::uint32_t let_be = most_aside() / 2;
    const std::uint64_t more = cache_.aside() - std::min(cache_.aside(), let_be);
    const std::uint64_t due = (more * pages * 2 * most_a_page + most_aside() - 1) / most_aside();
    for (std::uint64_t i = 0; i < due && cache_.aside() > let_be && !blocks_.is_read_only(); ++i) {
        const auto written = batch_update(page_of(*cache_.oldest_aside()), io);
        if (!written && written.error().kind == FtlErrorKind::no_free_block) break; // they stay dirty until there is room
        if (!written) return std::unexpected(written.error());
    }
    drop_clean_excess();
    return {};
}

/// After a batch update of what collections brought: those entries are clean and were never asked for.
void Dftl::drop_clean_excess() {
    while (cache_.in_order() > cache_.capacity()) {
        const auto victim = *cache_.coldest();
        if (victim.is_dirty) return;
        evict_entry(victim.lpn);
    }
}

void Dftl::evict_entry(Lpn lpn) {
    cache_.remove(lpn);
    if (ghost_) ghost_->evicted(lpn.value());
}

/// A host's write: the entry is dirty and in use.
void Dftl::set_entry(Lpn lpn, std::uint32_t entry) {
    if (curve_) curve_->write(lpn.value());
    if (cache_.use(lpn)) {
        ++counted_.map_write_hits;
        cache_.update(lpn, entry);
    } else {
        ++counted_.map_write_misses;
        if (ghost_) {
            GhostBitmap::Together alone;
            ghost_->join(alone, lpn.value());
            ghost_->missed_write(alone);
        }
        cache_.insert(lpn, entry, true);
    }
}

FtlResult<SimTime> Dftl::trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io) {
    if (gtd_[page] == unmapped && cache_.dirty_of(page) == 0) return io.when;
    const std::uint32_t end = first.value() + pages;
    const bool is_whole = to_page_.remainder(first.value()) == 0 && (pages == entries_per_page_ || end == logical_pages_);
    SimTime at = io.when;
    bool reads_page = false;
    for (std::uint32_t l = first.value(); l < end && !reads_page; ++l) reads_page = on_flash_[l] != unmapped && !cache_.peek(Lpn{l});
    if (reads_page) { // to learn which pages are invalid now
        const auto read = read_translation_page(page, io);
        if (!read) return read;
        at = *read;
    }
    bool brought = false;
    for (std::uint32_t l = first.value(); l < end; ++l) {
        const Lpn lpn{l};
        const auto unit = unit_of(entry_of(lpn));
        const bool is_cached = cache_.peek(lpn).has_value();
        if (is_whole && is_cached) cache_.remove(lpn);
        if (!unit) continue;
        ++counters_.host_pages_trimmed;
        journal_.keep_until_flushed(blocks_.units().block_of(*unit));
        blocks_.invalidate(*unit, io.when);
        if (is_whole) continue;
        if (is_cached) {
            cache_.update(lpn, unmapped);
        } else {
            cache_.insert_cold(lpn, unmapped);
            brought = true;
        }
    }
    if (is_whole) forget_page(page, io.when);
    if (!brought) return at;
    const auto written = batch_update(page, io.at(at));
    if (!written && written.error().kind != FtlErrorKind::no_free_block) return written;
    drop_clean_excess();
    return at;
}

/// Nothing is mapped there any more. While the trim waits, an older version of the page may be on flash that only this one outdates.
void Dftl::forget_page(std::uint32_t page, SimTime now) {
    const auto unit = unit_of(gtd_[page]);
    if (!unit) return;
    journal_.keep_until_flushed(blocks_.units().block_of(*unit));
    blocks_.invalidate(*unit, now);
    gtd_[page] = unmapped;
    std::ranges::fill(std::span{on_flash_}.subspan(std::size_t{page} * entries_per_page_, entries_per_page_), unmapped);
}

FtlResult<void> Dftl::pace_checkpoint(const Io& io) {
    if (!journal_.begins_checkpoint()) return journal_.pace({}, io);
    if (const auto room = make_room(0, io); !room) return std::unexpected(room.error());
    return journal_.pace(map_bytes(), io.at(std::max(io.when, programmed_at_)));
}

FtlResult<SimTime> Dftl::flush_trims(const Io& io) {
    if (!journal_.needs_map_to_flush()) return journal_.flush_trims({}, io);
    if (const auto room = make_room(0, io); !room) return room;
    return journal_.flush_trims(map_bytes(), io.at(std::max(io.when, programmed_at_)));
}

} // namespace flashlab

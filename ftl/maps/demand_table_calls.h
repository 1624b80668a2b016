/// demand_table.h's requests, and their traffic between entries and translation pages.
#pragma once

#include "ftl/maps/demand_table.h"

namespace flashlab {

// Requests

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::look_up(Lpn first, std::uint32_t pages, const Io& io) {
    SimTime at = io.when;
    std::optional<std::uint32_t> just_read;
    GhostBitmap::Together of_one_read;
    if (curve_) count_reads(first, pages);
    const std::uint32_t end = first.value() + pages;
    for (std::uint32_t l = first.value(); l < end; ++l) {
        const Lpn lpn{l};
        if (entries_.use(lpn)) {
            ++counted_.map_read_hits;
            continue;
        }
        if (models_.knows(lpn)) {
            ++counted_.map_read_hits;
            models_.read(lpn);
            continue;
        }
        ++counted_.map_read_misses;
        const std::uint32_t page = pages_.page_of(lpn);
        if (!pages_.exists(page)) continue; // the directory itself says that nothing is there
        if (ghost_) {
            if (just_read && just_read != page) ghost_->missed_read(std::exchange(of_one_read, {}));
            if (!CachesPages<Entries> || just_read != page) ghost_->join(of_one_read, ghost_key(lpn));
        }
        const auto room = make_room(1, io.at(at));
        if (!room) return room;
        at = std::max(at, *room);
        const auto read = pages_.read_for_host(page, just_read, io.at(at));
        if (!read) return read;
        at = *read;
        const bool has_room = entries_.has_room(1) || !parts_.blocks.is_read_only();
        if (!has_room || entries_.peek(lpn)) continue; // making room may have moved the page, and its entry here
        if constexpr (CachesPages<Entries>) {
            entries_.insert_page(page);
            const auto fits = make_room(0, io.at(at));
            if (!fits) return fits;
            at = std::max(at, *fits);
        } else {
            entries_.insert(lpn, pages_.stored(lpn), false);
            take_neighbours(lpn, end);
        }
    }
    if (ghost_ && just_read) ghost_->missed_read(of_one_read);
    return at;
}

/// What the cache wants beside a missed entry lies in the page that was read for it, and costs no flash operation: neither does its place.
template <class Entries, class Models>
void DemandTable<Entries, Models>::take_neighbours(Lpn missed, std::uint32_t end) {
    const std::uint64_t stop = std::min<std::uint64_t>(pages_.end_of(pages_.page_of(missed)), parts_.logical_pages);
    const std::uint32_t wanted =
        entries_.neighbours_of(missed, static_cast<std::uint32_t>(std::min<std::uint64_t>(end, stop)), static_cast<std::uint32_t>(stop));
    for (std::uint32_t l = missed.value() + 1; l <= missed.value() + wanted; ++l) {
        if (entries_.peek(Lpn{l})) continue;
        while (!entries_.has_room(1)) {
            const auto victim = entries_.victim_for_neighbour(missed);
            if (!victim) return;
            evict(*victim);
            ++counted_.map_evictions;
        }
        entries_.insert(Lpn{l}, pages_.stored(Lpn{l}), false);
        ++counted_.map_prefetches;
    }
}

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::before_row(const PagesToWrite& what, std::uint32_t first, std::uint32_t pages, const Io& io) {
    std::uint32_t new_entries = 0;
    for (std::uint32_t i = first; i < first + pages; ++i) new_entries += entries_.peek(what.lpn(i)) ? 0 : 1;
    const auto room = make_room(new_entries, io);
    if (!room || !most_.fetched_for_writes) return room;
    SimTime at = *room;
    for (std::uint32_t i = first; i < first + pages; ++i) {
        const std::uint32_t page = pages_.page_of(what.lpn(i));
        if (entries_.peek(what.lpn(i)) || !pages_.exists(page)) continue;
        const auto read = pages_.read_once(page, fetched_, io.at(at));
        if (!read) return read;
        at = *read;
    }
    return at;
}

/// A host's write: the entry is dirty and in use.
template <class Entries, class Models>
void DemandTable<Entries, Models>::adopt(Lpn lpn, UnitId unit, const OpenColumn&, SimTime end) {
    if constexpr (CachesPages<Entries>)
        count_write(pages_.page_of(lpn));
    else if (curve_)
        curve_->write(lpn.value());
    if (entries_.use(lpn)) {
        ++counted_.map_write_hits;
        entries_.update(lpn, map_entry::of(unit));
    } else {
        ++counted_.map_write_misses;
        if (ghost_) {
            GhostBitmap::Together alone;
            ghost_->join(alone, ghost_key(lpn));
            ghost_->missed_write(alone);
        }
        entries_.insert(lpn, map_entry::of(unit), true);
    }
    models_.forget(lpn);
    models_.placed(lpn, unit);
    programmed(end);
}

template <class Entries, class Models>
FtlResult<void> DemandTable<Entries, Models>::after_row(std::uint32_t pages, const Io& io) {
    if constexpr (Models::are_there) divide();
    return keep_pace(pages, io);
}

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::trim(Lpn first, std::uint32_t pages, const Io& io) {
    const auto room = make_room(0, io); // a checkpoint holds the dirty entries of a cache within its capacity
    if (!room) return room;
    const auto done =
        trim_by_page(pages_, first, pages, io, [&](std::uint32_t page, Lpn l, std::uint32_t n) { return trim_in_page(page, l, n, io); });
    if (!done) return done;
    return std::max(*room, *done);
}

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io) {
    if (!pages_.exists(page) && entries_.dirty_of(page) == 0) return io.when;
    const std::uint32_t end = first.value() + pages;
    const bool is_whole = pages_.is_whole(first, pages);
    SimTime at = io.when;
    bool reads_page = false;
    for (std::uint32_t l = first.value(); l < end && !reads_page; ++l)
        reads_page = pages_.stored(Lpn{l}) != map_entry::unmapped && !entries_.peek(Lpn{l});
    if (reads_page) { // to learn which pages are invalid now
        const auto read = pages_.read(page, io);
        if (!read) return read;
        at = *read;
    }
    bool brought = false;
    for (std::uint32_t l = first.value(); l < end; ++l) {
        const Lpn lpn{l};
        const auto unit = current(lpn);
        const bool is_cached = entries_.peek(lpn).has_value();
        if (is_whole && is_cached) entries_.remove(lpn);
        if (!unit) continue;
        models_.forget(lpn);
        ++parts_.counters.host_pages_trimmed;
        drop(*unit, io.when);
        if (is_whole) continue;
        if (is_cached) {
            entries_.update(lpn, map_entry::unmapped);
        } else {
            entries_.insert_cold(lpn, map_entry::unmapped);
            brought = true;
        }
    }
    // While the trim waits, an older version of the page may be on flash that only this one outdates.
    if (is_whole)
        if (const auto unit = pages_.forget(page)) drop(*unit, io.when);
    if (!brought) return at;
    const auto written = batch_update(page, io.at(at));
    if (!written && written.error().kind != FtlErrorKind::no_free_block) return written;
    drop_clean_excess();
    return at;
}

// Pages that are put in order for the models

/// The translation pages that say where the stripe lies, but for what DRAM knows.
template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::look_up_to_rewrite(const PageRun& stripe, const Io& io) {
    SimTime at = io.when;
    std::optional<std::uint32_t> just_read;
    for (std::uint32_t l = stripe.first.value(); l < stripe.first.value() + stripe.pages; ++l) {
        const std::uint32_t page = pages_.page_of(Lpn{l});
        if (entries_.peek(Lpn{l}) || models_.knows(Lpn{l}) || !pages_.exists(page)) continue;
        const auto read = pages_.read_once(page, just_read, io.at(at));
        if (!read) return read;
        at = *read;
    }
    return at;
}

/// Nobody asked for it, so the cache's order does not change.
template <class Entries, class Models>
void DemandTable<Entries, Models>::rewritten(Lpn lpn, UnitId unit, SimTime end) {
    programmed(end);
    models_.forget(lpn);
    models_.rewritten(lpn, unit);
    place_copy(lpn, unit);
}

// Entries and translation pages

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::make_room(std::uint32_t entries, const Io& io) {
    SimTime at = io.when;
    // What collections brought above the capacity goes a page's entries at once: alone, each could bring more than it cleans, without an end.
    std::uint32_t parted_at_most = entries;
    while (entries_.in_order() != 0 && !entries_.has_room(entries)) {
        const auto victim = *entries_.victim();
        if (!victim.is_dirty) {
            evict(victim.lpn);
            ++counted_.map_evictions;
            continue;
        }
        if (parts_.blocks.is_read_only()) break;
        ++counted_.map_dirty_evictions;
        const Batch batch = parted_at_most == 0 ? Batch::whole : most_.written_alone ? Batch::alone : Batch::ready;
        if (batch != Batch::whole) --parted_at_most;
        const auto written = batch_update(pages_.page_of(victim.lpn), io.at(at), batch, victim.lpn);
        if (!written && written.error().kind == FtlErrorKind::no_free_block) break; // above the capacity until a collection has made room
        if (!written) return written;
        at = std::max(at, *written);
    }
    return at;
}

template <class Entries, class Models>
void DemandTable<Entries, Models>::gather(std::uint32_t page, Batch batch, Lpn asked, SimTime now) {
    dirty_.clear();
    entries_.for_each_dirty_of(page, [&](Lpn lpn, std::uint32_t entry) {
        if (batch != Batch::alone || lpn == asked) dirty_.push_back({lpn, entry});
    });
    if (batch != Batch::ready) return;
    SimTime by = std::max(now, pages_.last_end(page));
    for (const NewEntry& e : dirty_)
        if (e.lpn == asked) by = std::max(by, pages_.programmed_by(e));
    std::erase_if(dirty_, [&](const NewEntry& e) { return pages_.programmed_by(e) > by; });
}

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::batch_update(std::uint32_t page, const Io& io, Batch batch, Lpn asked) {
    for (;;) {
        if (const auto room = pages_.make_room(page, io.when); !room) return room;
        gather(page, batch, asked, io.when);
        if (dirty_.empty()) return io.when; // a collection that made the room has written them
        bool is_held = false;
        if constexpr (CachesPages<Entries>) is_held = entries_.holds(page);
        const auto written = pages_.write(page, dirty_, io, is_held);
        if (!written) return std::unexpected(written.error());
        if (!*written) continue;
        ++counted_.batch_updates;
        counted_.batch_entries += dirty_.size();
        costs_.batch_update(static_cast<std::uint32_t>(dirty_.size()));
        if (dirty_.size() == entries_.dirty_of(page))
            entries_.clean(page);
        else
            for (const NewEntry& e : dirty_) entries_.clean(e.lpn);
        programmed(**written);
        return **written;
    }
}

/// A share of the translation pages whose entries are deferred, with so many pages of the host. Nobody waits for it. Half of what may be deferred is
/// let be: the longer entries wait, the more go with one page. The other half is for collections that are made in one go.
template <class Entries, class Models>
FtlResult<void> DemandTable<Entries, Models>::keep_pace(std::uint32_t pages, const Io& io) {
    constexpr std::uint64_t most_a_page = 8; // translation pages with a page of the host, when nothing more can be deferred
    const std::uint32_t let_be = most_deferred_ / 2;
    if (entries_.deferred() > let_be) {
        const std::uint64_t due = (std::uint64_t{entries_.deferred() - let_be} * pages * 2 * most_a_page + most_deferred_ - 1) / most_deferred_;
        for (std::uint64_t i = 0; i < due && entries_.deferred() > let_be && !parts_.blocks.is_read_only(); ++i) {
            const Lpn oldest = *entries_.oldest_deferred();
            const auto written = batch_update(pages_.page_of(oldest), io, Batch::ready, oldest);
            if (!written && written.error().kind == FtlErrorKind::no_free_block) break; // they stay dirty until there is room
            if (!written) return std::unexpected(written.error());
        }
    }
    drop_clean_excess();
    return {};
}

/// After a batch update of what collections brought: those entries are clean and were never asked for.
template <class Entries, class Models>
void DemandTable<Entries, Models>::drop_clean_excess() {
    while (!entries_.has_room(0)) {
        const auto victim = *entries_.victim();
        if (victim.is_dirty) return;
        evict(victim.lpn);
    }
}

template <class Entries, class Models>
void DemandTable<Entries, Models>::evict(Lpn lpn) {
    if constexpr (CachesPages<Entries>)
        entries_.evict_page(pages_.page_of(lpn));
    else
        entries_.remove(lpn);
    if (ghost_) ghost_->evicted(ghost_key(lpn));
}

// Collections

template <class Entries, class Models>
void DemandTable<Entries, Models>::moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn&, SimTime end) {
    programmed(end);
    if (oob.kind == PageKind::translation) {
        costs_.copied(TranslationPages::frontier);
        return pages_.moved(oob.lpn.value(), from, to);
    }
    costs_.copied(host_frontier);
    ensure(entry_of(oob.lpn) == map_entry::of(from), "a valid unit is its page's newest version");
    models_.forget(oob.lpn);
    models_.moved(oob.lpn, to);
    place_copy(oob.lpn, to);
}

/// A cached entry changes where it is (lazy copying). What can be deferred no more goes when the victim, or the row, is done.
template <class Entries, class Models>
void DemandTable<Entries, Models>::place_copy(Lpn lpn, UnitId to) {
    if (entries_.peek(lpn)) return entries_.update(lpn, map_entry::of(to));
    if (entries_.deferred() < most_deferred_)
        entries_.defer(lpn, map_entry::of(to));
    else
        entries_.insert_cold(lpn, map_entry::of(to));
}

template <class Entries, class Models>
FtlResult<SimTime> DemandTable<Entries, Models>::forget(BlockId victim, BlockFate fate, SimTime at, EventId job) {
    const bool holds_data = use_of(victim) == BlockUse::data;
    costs_.collected(holds_data ? host_frontier : TranslationPages::frontier);
    if (holds_data)
        if (const auto room = make_room(0, {at, {Cause::map, job}}); !room) return room;
    models_.collected(parts_.blocks.group_of(victim), victim);
    return JournaledTable::forget(victim, fate, at, job);
}

} // namespace flashlab

/// The pages of a map that lies on flash, and the global translation directory (GTD) that says where each is.
///
/// Idea       Translation page p holds the entries of logical pages [p n, (p + 1) n). Each has a home group, p mod groups, so that every group's
///            share is known. Written with all its new entries at once (batch update).
/// Invariant  The directory names the newest version of each page; stored() is what that version holds.
///            A page is programmed after every data page that its new entries name has ended: it never names what a cut may take back.
/// Cost       DRAM of the device: 4 bytes a page. (The simulator keeps stored(), 4 bytes a logical page, so that a run needs no payload.)
/// Power cut  The directory is part of a checkpoint; pages written since are found by a census; recovery reads each page once.
/// Source     Gupta, Kim and Urgaonkar, "DFTL", ASPLOS 2009.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/divider.h"
#include "base/little_endian.h"
#include "base/zeroed_allocator.h"
#include "ftl/blocks/map_check.h"
#include "ftl/maps/page_table.h"
#include "ftl/recovery/page_journal.h"

namespace flashlab {

struct DemandCounters {
    std::uint64_t map_read_hits = 0; ///< logical pages looked up
    std::uint64_t map_read_misses = 0;
    std::uint64_t map_write_hits = 0;
    std::uint64_t map_write_misses = 0;
    std::uint64_t map_evictions = 0;       ///< entries that left the cache for another
    std::uint64_t map_dirty_evictions = 0; ///< of these: had to be written first
    std::uint64_t map_prefetches = 0;      ///< entries that came with a missed one and were not asked for
    std::uint64_t batch_updates = 0;       ///< translation pages written for dirty entries
    std::uint64_t batch_entries = 0;       ///< dirty entries written by them
    std::uint64_t translation_reads = 0;
    std::uint64_t translation_writes = 0; ///< without copies by collections
    std::uint64_t read_for_host = 0;      ///< translation pages that the host's reads waited for
};

struct NewEntry {
    Lpn lpn{0};
    std::uint32_t entry = 0;
};

/// The directory, and the traffic of the pages that it names; what they hold is the table's.
class TranslationDirectory {
public:
    static constexpr FrontierId frontier{1};

    TranslationDirectory(const TableParts& parts, DemandCounters& counted, std::uint32_t entries_per_page);

    [[nodiscard]] std::uint32_t entries_per_page() const { return entries_per_page_; }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(gtd_.size()); }
    [[nodiscard]] std::uint64_t directory_bytes() const { return gtd_.size() * 4; }
    [[nodiscard]] std::uint32_t page_of(Lpn lpn) const { return to_page_.divide(lpn.value()); }
    [[nodiscard]] std::uint32_t index_in_page(Lpn lpn) const { return to_page_.remainder(lpn.value()); }
    /// The first logical page behind the translation page's; of the last one a whole page's worth.
    [[nodiscard]] std::uint64_t end_of(std::uint32_t page) const { return (page + std::uint64_t{1}) * entries_per_page_; }
    /// False: nothing of it is mapped on flash, and that is known without a read.
    [[nodiscard]] bool exists(std::uint32_t page) const { return gtd_[page] != map_entry::unmapped; }
    [[nodiscard]] std::uint32_t existing() const { return static_cast<std::uint32_t>(count() - std::ranges::count(gtd_, map_entry::unmapped)); }
    /// Pages [first, first + pages) are all that a page maps.
    [[nodiscard]] bool is_whole(Lpn first, std::uint32_t pages) const {
        return index_in_page(first) == 0 && (pages == entries_per_page_ || first.value() + pages == parts_.logical_pages);
    }

    [[nodiscard]] FtlResult<SimTime> read(std::uint32_t page, const Io& io);
    /// Unless it is the one that the request under way read last: one read serves the pages of one request.
    [[nodiscard]] FtlResult<SimTime> read_once(std::uint32_t page, std::optional<std::uint32_t>& last, const Io& io) {
        if (last == page) return io.when;
        const auto done = read(page, io);
        if (done) last = page;
        return done;
    }
    /// The same for the host's read of a logical page, which waits for it.
    [[nodiscard]] FtlResult<SimTime> read_for_host(std::uint32_t page, std::optional<std::uint32_t>& last, const Io& io) {
        if (last != page) ++counted_.read_for_host;
        return read_once(page, last, io);
    }
    /// When it may be written; may collect. What it will hold may have changed by then.
    [[nodiscard]] FtlResult<SimTime> make_room(std::uint32_t page, SimTime now) { return parts_.blocks.make_room(home_of(page), frontier, now); }
    /// When what its group has programmed of such pages has ended: it comes behind them.
    [[nodiscard]] SimTime last_end(std::uint32_t page) const { return parts_.blocks.open(home_of(page), frontier).last_end; }
    /// With this content, empty where no payload is kept. None: a program failed; make room and come again.
    [[nodiscard]] FtlResult<std::optional<SimTime>> program(std::uint32_t page, std::span<const std::byte> content, const Io& io);
    void moved(std::uint32_t page, UnitId from, UnitId to) {
        ensure(gtd_[page] == map_entry::of(from), "a valid translation page is the newest of its entries");
        gtd_[page] = map_entry::of(to);
    }
    /// Nothing is mapped there any more. The unit that held it is the caller's to drop.
    std::optional<UnitId> forget(std::uint32_t page) { return map_entry::unit(std::exchange(gtd_[page], map_entry::unmapped)); }

    // Checkpoint and recovery. The directory:
    void encode(LittleEndianWriter& out) const {
        for (const std::uint32_t entry : gtd_) out.u32(entry);
    }
    void decode(LittleEndianReader& in) {
        for (std::uint32_t& entry : gtd_) entry = in.u32();
    }
    /// After an unclean end the newest versions, then what they all hold, which `holds(page, bytes)` hears; moves `start.done` on.
    template <class Holds>
    [[nodiscard]] FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report, const Holds& holds) {
        if (!start.was_clean) rebuild_map(gtd_, PageKind::translation, units_, start.census, nullptr, start.checkpoint.next_sequence);
        SimTime done = start.done;
        for (std::uint32_t page = 0; page < count(); ++page) {
            if (!exists(page)) continue;
            if (const auto read = load_page(page, start.done, report); !read)
                return std::unexpected(read.error());
            else
                done = std::max(done, *read);
            holds(page, std::span<const std::byte>{page_});
        }
        start.done = done;
        return {};
    }
    [[nodiscard]] std::uint32_t unit_entry(std::uint32_t page) const { return gtd_[page]; }
    void check(MapCheck& map, std::vector<CheckProblem>& out) const;

protected:
    const TableParts parts_;
    const UnitGeometry units_;
    DemandCounters& counted_;
    std::vector<std::byte> page_; ///< one, for program and recovery

private:
    [[nodiscard]] GroupId home_of(std::uint32_t page) const { return GroupId{page % parts_.blocks.groups()}; }
    [[nodiscard]] FtlResult<SimTime> load_page(std::uint32_t page, SimTime now, FtlRecovery& report);

    std::uint32_t entries_per_page_;
    Divider to_page_;
    std::vector<std::uint32_t> gtd_;
};

/// Pages of plain entries, 4 bytes each.
class TranslationPages : public TranslationDirectory {
public:
    TranslationPages(const TableParts& parts, DemandCounters& counted);

    [[nodiscard]] static std::uint32_t entries_in(const UnitGeometry& units) { return units.bytes_per_unit() / 4; }
    /// Of the table's part of a checkpoint, whose directory names so many pages.
    [[nodiscard]] static std::uint64_t checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t pages,
                                                                std::uint32_t cached_entries) {
        // Dirty entries: the cache's, the deferred ones (F6), and above both those of a collection made in one go or given up in each group.
        const std::uint64_t dirty = std::uint64_t{cached_entries} + 2ull * groups * units.units_per_block();
        return 8 + 4ull * pages + 8 * dirty;
    }
    [[nodiscard]] std::uint32_t stored(Lpn lpn) const { return stored_[lpn.value()]; }
    /// The simulator will ask for it soon.
    void prefetch(Lpn lpn) const {
        if (lpn.value() < stored_.size()) __builtin_prefetch(stored_.data() + lpn.value());
    }
    /// When the data that the entry names is on flash.
    [[nodiscard]] SimTime programmed_by(const NewEntry& e) const {
        const auto unit = map_entry::unit(e.entry);
        return unit ? parts_.blocks.programmed_by(*unit) : sim_start;
    }
    /// Of all translation pages.
    [[nodiscard]] std::span<const std::uint32_t> stored() const { return stored_; }
    /// With these entries changed: the old version is read, where there is one and DRAM does not hold it. None: a program failed; make room and come
    /// again.
    [[nodiscard]] FtlResult<std::optional<SimTime>> write(std::uint32_t page, std::span<const NewEntry> changed, const Io& io, bool is_held = false);
    std::optional<UnitId> forget(std::uint32_t page);
    [[nodiscard]] FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report);
    /// Of all logical pages.
    [[nodiscard]] std::vector<std::uint32_t> stored_entries() const { return {stored_.begin(), stored_.begin() + parts_.logical_pages}; }

private:
    [[nodiscard]] std::span<std::uint32_t> entries_of(std::uint32_t page) {
        return std::span{stored_}.subspan(std::size_t{page} * entries_per_page(), entries_per_page());
    }
    [[nodiscard]] std::span<const std::byte> content(std::uint32_t page, std::span<const NewEntry> changed);

    ZeroedVector<std::uint32_t> stored_; ///< by logical page
};

} // namespace flashlab

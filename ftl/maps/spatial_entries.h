/// The entry cache of `sftl`: whole translation pages, each in as many bytes as runs lie in it, and a buffer of dirty entries of other pages.
///
/// Idea       What was written in order has entries that follow from those before. Of a cached page DRAM holds where runs begin (a bit an entry) and
///            the first entry of each. Runs of pages that are striped over planes and dies interleave; a page says how. A read miss brings the page.
///            A write to a page that is not cached goes to the buffer; so do, when a page leaves, its dirty entries if they are few. Where room is
///            needed and the buffer has more than its share, it writes the page of which it has most. A cached page is written without being read.
/// Invariant  K1 to K3 of entry_slots.h, where every slot is dirty. S1 a page is cached as a whole; none of its slots is deferred. S2 the bytes
///            of a cached page are those of its runs as they are now. S3 the buffer's count of a page that is not cached is its dirty slots that are
///            not deferred.
/// Cost       Of the device: a cached page: 16 bytes, a bit an entry, 4 bytes a run, but no more than 4 bytes an entry; a second bit an entry while
///            any is dirty. An entry in the buffer: 8 bytes. O(1) a call, O(entries of a page) a miss.
/// Power cut  Lost; the owner's recovery finds what was dirty. No more entries are dirty than the buffer would hold if it were all.
/// Source     Jiang, Zhang, Yuan, Hu and Chen, "S-FTL: an efficient address translation for flash memory by exploiting spatial locality", MSST 2011.
///            What we read into it: ftl/DESIGN-dftl.md, "sftl".
#pragma once

#include <array>
#include <span>

#include "ftl/maps/entry_slots.h"

namespace flashlab {

/// Of every `apart`-th entry, each is the one before it plus `step`.
struct RunShape {
    std::uint32_t apart = 1, step = 1;
};

struct SpatialShape {
    static constexpr std::size_t most_runs = 3;
    std::array<RunShape, most_runs> runs{}; ///< a page takes the one that needs least
    std::uint32_t buffer_permille = 100;    ///< of the cache
    std::uint32_t sparse_entries = 4;       ///< a page with so many dirty entries leaves without being written
};

class SpatialEntries : public EntrySlots {
public:
    SpatialEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages, const SpatialShape& shape);
    /// What the translation pages hold, by logical page; as long as the cache lives.
    void attend(std::span<const std::uint32_t> stored) { stored_ = stored; }

    // As LruEntries', a cached page for an entry.
    [[nodiscard]] std::uint32_t capacity() const { return capacity_; } ///< entries of the buffer, if it were all
    void set_capacity(std::uint32_t capacity) { capacity_ = capacity; }
    [[nodiscard]] std::uint32_t in_order() const { return buffered_ + cached_pages_; }
    [[nodiscard]] bool has_room(std::uint32_t more) const {
        return bytes_in_order() + std::uint64_t{more} * bytes_each_ <= std::uint64_t{capacity_} * bytes_each_ && !is_too_dirty();
    }
    [[nodiscard]] std::uint64_t bytes_in_order() const { return page_bytes_ + std::uint64_t{buffered_} * bytes_each_; }
    [[nodiscard]] std::uint64_t bytes_used() const { return bytes_in_order() + std::uint64_t{deferred()} * bytes_each_; }
    [[nodiscard]] std::optional<std::uint32_t> peek(Lpn lpn) const {
        const std::uint32_t s = slot_of(lpn);
        return s != none ? std::optional{slots_[s].entry} : holds(lpn) ? std::optional{stored_[lpn.value()]} : std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint32_t> use(Lpn lpn);
    /// A dirty one of a page that is not cached.
    void insert(Lpn lpn, std::uint32_t entry, bool is_dirty);
    void insert_cold(Lpn lpn, std::uint32_t entry) { insert(lpn, entry, true); }
    void defer(Lpn lpn, std::uint32_t entry) { defer_slot(lpn, entry); }
    void update(Lpn lpn, std::uint32_t entry);
    /// Its page is trimmed as a whole, and is cached no longer.
    void remove(Lpn lpn);
    [[nodiscard]] std::optional<Victim> victim() const;
    void clean(std::uint32_t page);
    void clean(Lpn lpn);
    template <class F>
    void for_each_dirty(F&& visit) const {
        for_each_in(waiting_, [&](const Slot& slot) { visit(Lpn{slot.lpn}, slot.entry); });
        for (std::uint32_t page = 0; page < frames_.size(); ++page)
            for (std::uint32_t s = dirty_head(page); s != none; s = slots_[s].dirty_next)
                if (!slots_[s].is_deferred) visit(Lpn{slots_[s].lpn}, slots_[s].entry);
    }

    // Pages
    [[nodiscard]] bool holds(std::uint32_t page) const { return frames_[page].is_cached; }
    [[nodiscard]] bool holds(Lpn lpn) const { return holds(page_of(lpn)); }
    [[nodiscard]] std::uint32_t cached_pages() const { return cached_pages_; }
    // What a page takes: this one if it were cached; of all pages the least and the most.
    [[nodiscard]] std::uint32_t page_bytes(std::uint32_t page);
    [[nodiscard]] std::uint32_t least_page_bytes() const;
    [[nodiscard]] std::uint32_t most_page_bytes() const;
    [[nodiscard]] std::uint32_t buffered() const { return buffered_; }
    /// It was read, and is used last now.
    void insert_page(std::uint32_t page);
    /// Its dirty entries go to the buffer.
    void evict_page(std::uint32_t page);
    /// The number of the first broken invariant of S1 to S3; 0: all hold. O(entries).
    [[nodiscard]] int broken_invariant();

private:
    using Runs = std::array<std::uint32_t, SpatialShape::most_runs>;
    /// A cached page; of another one, what the buffer has of it.
    struct Frame {
        std::uint32_t hotter = none, colder = none;
        Runs runs{};
        std::uint32_t buffered = 0, more = none, fewer = none; ///< pages with as many buffered entries
        bool is_cached = false;
    };
    [[nodiscard]] std::uint32_t page_of(Lpn lpn) const { return lpn.value() / entries_per_page(); }
    [[nodiscard]] bool has_buffer_more() const { return std::uint64_t{buffered_} * 1000 > std::uint64_t{capacity_} * shape_.buffer_permille; }
    [[nodiscard]] bool is_too_dirty() const { return dirty() - deferred() > dirty_at_most_; }
    [[nodiscard]] std::uint32_t bits() const { return (entries_per_page() + 7) / 8; }
    [[nodiscard]] std::uint32_t bytes_of(std::uint32_t page, std::uint32_t runs) const;
    [[nodiscard]] std::uint32_t bytes_of(std::uint32_t page) const;
    [[nodiscard]] bool begins_run(Lpn lpn, const RunShape& shape) const;
    template <class Change>
    void change_runs(Lpn lpn, const Change& change);
    [[nodiscard]] Runs runs_of(std::uint32_t page);
    void link_page(std::uint32_t page);
    void unlink_page(std::uint32_t page);
    void set_buffered(std::uint32_t page, std::uint32_t count);
    void drop(std::uint32_t s);

    std::uint32_t capacity_, bytes_each_, dirty_at_most_;
    SpatialShape shape_;
    std::span<const std::uint32_t> stored_;
    std::vector<Frame> frames_;       ///< by translation page
    Order pages_;                     ///< cached
    std::vector<std::uint32_t> most_; ///< by count, the page buffered last
    std::uint32_t most_buffered_ = 0; ///< no page has more
    std::uint32_t cached_pages_ = 0, buffered_ = 0;
    std::uint64_t page_bytes_ = 0;
    std::vector<std::uint32_t> entries_; ///< of a page
};

} // namespace flashlab

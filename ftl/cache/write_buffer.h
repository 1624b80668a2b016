/// Pages that the host has written and the flash has not: which, in which order, and who goes first.
///
/// Idea       A slot a page, on two lists: by use (reads that hit count) and by writing. The least recently used page makes room, a flush goes in the
///            order of writing.
/// Invariant  B1 a logical page has at most one slot. B2 every slot in use is on both lists once. B3 at most capacity() slots are in use.
/// Cost       O(1) a call; page_bytes and about 56 bytes a slot. Memory for the data appears with the first write that has any.
/// Power cut  DRAM: gone. What protects it lies with the drive (ftl/ssd.h).
/// Source     Shim et al. (AP1): page-level LRU buffer of writes; reads are not inserted, reads that hit are served.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/io.h"

namespace flashlab {

class WriteBuffer {
public:
    using Slot = std::uint32_t;
    /// Room for so many pages; the capacity may be set to less.
    WriteBuffer(std::uint32_t most, std::uint32_t page_bytes);

    [[nodiscard]] std::uint32_t most() const { return static_cast<std::uint32_t>(slots_.size()); }
    [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
    /// Not below size(), not above most().
    void set_capacity(std::uint32_t capacity);
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(slot_of_.size()); }
    [[nodiscard]] bool is_full() const { return size() >= capacity(); }
    [[nodiscard]] std::optional<Slot> find(Lpn lpn) const;
    [[nodiscard]] Lpn lpn_of(Slot slot) const { return slots_[slot].lpn; }
    /// The slot's page is in DRAM from here on.
    [[nodiscard]] SimTime ready(Slot slot) const { return slots_[slot].ready; }
    /// Whose write the page holds: its stream and queue go with it.
    [[nodiscard]] const Origin& written_by(Slot slot) const { return slots_[slot].by; }
    void set_written(Slot slot, SimTime ready, const Origin& by) {
        slots_[slot].ready = ready;
        slots_[slot].by = by;
    }

    /// A slot for a page that has none, newest on both lists. Not when full.
    Slot insert(Lpn lpn);
    void rewritten(Slot slot); ///< newest on both lists
    void used(Slot slot);      ///< most recently used
    void remove(Slot slot);

    [[nodiscard]] std::optional<Slot> least_recently_used() const { return front(by_use); }
    [[nodiscard]] std::optional<Slot> first_written() const { return front(by_writing); }
    /// The slot written after this one.
    [[nodiscard]] std::optional<Slot> written_next(Slot slot) const { return next(by_writing, slot); }
    /// The slot used after this one.
    [[nodiscard]] std::optional<Slot> used_next(Slot slot) const { return next(by_use, slot); }

    /// The page's bytes; empty as long as nobody has written any.
    [[nodiscard]] std::span<std::byte> data(Slot slot);
    /// The page's bytes, made if there are none yet.
    [[nodiscard]] std::span<std::byte> data_for_writing(Slot slot);

    /// The number of the first broken invariant; 0 when all hold.
    [[nodiscard]] int broken_invariant() const;

private:
    static constexpr Slot none = 0xffff'ffff;
    enum Order : std::size_t { by_use, by_writing };
    struct Links {
        Slot previous = none;
        Slot next = none;
    };
    struct Entry {
        Lpn lpn{0};
        SimTime ready = sim_start;
        Origin by;
        std::array<Links, 2> links;
    };
    [[nodiscard]] std::optional<Slot> front(Order order) const {
        return heads_[order].next == none ? std::nullopt : std::optional{heads_[order].next};
    }
    [[nodiscard]] std::optional<Slot> next(Order order, Slot slot) const;
    void append(Order order, Slot slot);
    void unlink(Order order, Slot slot);

    std::uint32_t page_bytes_;
    std::uint32_t capacity_;
    std::vector<Entry> slots_;
    std::vector<Slot> free_;
    std::array<Links, 2> heads_; ///< next: oldest, previous: newest
    boost::unordered_flat_map<std::uint32_t, Slot> slot_of_;
    std::vector<std::byte> data_;
};

} // namespace flashlab

/// The places in PRAM of the pages that the write buffer holds: what is answered from there survives a power cut.
///
/// Idea       A page goes to a free slot, never over its older version: first the data, then a head whose checksum makes them count. The older
///            head is wiped after that. A page that leaves for the flash keeps its slot, as retired, until the scheme promises the flash copy.
/// Invariant  K1 at every instant the valid head of highest sequence of a page names its newest version, or one that the flash has as well.
///            K2 heads are wiped in the order in which their pages retired, so that no older version outlives a newer one.
///            K3 a slot is free, held or retired, and a free one has no valid head.
/// Cost       A page's words and two for the head (of 8 bytes), one to wipe it. A ninth more slots than pages, so that the scheme is flushed once
///            for many pages that leave. No allocation in steady state.
/// Power cut  The word in flight is in data without a head, in a head whose checksum fails, or in a head that was being wiped: each is "not there".
/// Source     Shim et al. (AP) II-D: PRAM in place of the volatile cache (AP7). Slots, heads and their order are ours: ftl/FORMAT.md, part E.
#pragma once

#include <span>
#include <vector>

#include "pram/pram.h"
#include "pram/redo_log.h"

namespace flashlab {

class PramSlots {
public:
    using Slot = std::uint32_t;
    static constexpr std::size_t head_bytes = 16;

    /// How many pages a buffer of so many bytes holds; at least one.
    [[nodiscard]] static std::uint32_t pages_in(std::uint64_t bytes, std::uint32_t page_bytes, std::uint32_t logical_pages);
    /// What they take of the PRAM, in whole 4 KiB.
    [[nodiscard]] static std::uint64_t bytes_for(std::uint32_t pages, std::uint32_t page_bytes);

    /// `range` is bytes_for(pages, page_bytes) long; all-zero means empty.
    PramSlots(Pram& pram, PramRange range, std::uint32_t pages, std::uint32_t page_bytes);

    struct Found {
        Lpn lpn{0};
        Slot slot = 0;
    };
    struct Recovery {
        std::vector<Found> pages; ///< the newest version of each, in the order of writing
        SimTime done;
    };
    /// Once, before anything else. It may be cut anywhere: it wipes nothing but versions that a newer one covers.
    [[nodiscard]] Recovery recover(std::uint32_t logical_pages, SimTime now);

    struct Kept {
        Slot slot = 0;
        SimTime done; ///< the page survives a cut from here on
    };
    /// Not without a free slot. `data` is a page, or empty in runs without payload: the words are written all the same.
    [[nodiscard]] Kept keep(Lpn lpn, std::span<const std::byte> data, SimTime now);
    /// A newer version of the page is held.
    SimTime forget(Slot slot, SimTime now);
    /// The page is on its way to the flash, or worthless, `from` then on: once the scheme has flushed. Its head stays until forget_retired().
    void retire(Slot slot, SimTime from);
    [[nodiscard]] SimTime retired_from() const { return retired_from_; } ///< of the last of them
    SimTime forget_retired(SimTime now);

    [[nodiscard]] bool has_free() const { return free_count_ != 0; }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint32_t retired() const { return static_cast<std::uint32_t>(retired_.size()); }
    [[nodiscard]] std::uint32_t free() const { return free_count_; }
    [[nodiscard]] std::span<const std::byte> data(Slot slot) const { return pram_.view(data_at(slot), page_bytes_); }
    /// When the words of a read are there.
    [[nodiscard]] SimTime read(std::uint64_t bytes, SimTime now) { return pram_.read(bytes, now); }
    [[nodiscard]] bool names(Slot slot, Lpn lpn) const;
    /// The number of the first broken invariant; 0 when all hold. Costs no simulated time.
    [[nodiscard]] int broken_invariant() const;

private:
    struct Head {
        std::uint64_t sequence = 0; ///< 0: no valid head
        Lpn lpn{0};
    };
    [[nodiscard]] PramAddress head_at(Slot slot) const { return PramAddress{at_ + std::uint64_t{slot} * head_bytes}; }
    [[nodiscard]] PramAddress data_at(Slot slot) const { return PramAddress{data_at_ + std::uint64_t{slot} * page_bytes_}; }
    [[nodiscard]] Head head_of(Slot slot) const;
    [[nodiscard]] std::uint32_t check_of(std::span<const std::byte> fields, Slot slot) const;
    [[nodiscard]] Slot take_free();
    void give_back(Slot slot);

    Pram& pram_;
    std::uint64_t at_;
    std::uint64_t data_at_;
    std::uint32_t page_bytes_;
    std::uint32_t count_;
    std::uint32_t seed_; ///< of the heads' checksums: a head is believed only in the slots that it was written to
    std::uint64_t next_sequence_ = 1;
    std::vector<Slot> free_; ///< a ring, so that all slots wear alike: free_count_ of them from free_begin_ on
    std::uint32_t free_begin_ = 0;
    std::uint32_t free_count_ = 0;
    std::vector<Slot> retired_; ///< in the order in which they retired
    SimTime retired_from_ = sim_start;
    std::vector<std::byte> no_payload_; ///< a page of zeros
};

} // namespace flashlab

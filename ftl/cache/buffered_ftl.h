/// A translation layer with a write buffer in front: the drive's DRAM between splitter and scheme.
///
/// Idea       A write is done when its page has a slot. A full buffer programs its least recently used page first, and the newcomer waits for that
///            slot. Where the scheme programs several pages at once (nand.one_shot), so many go together, and the next newcomers find slots. With a
///            DestagePolicy lines of pages go before the buffer is full (destage_ahead.h), and can be read here until they are programmed.
///            Reads that hit are served from DRAM and take nothing from the flash.
/// Invariant  What read() gives is the newest version, here or below. A page leaves the buffer only when the scheme has taken it, or when something
///            newer (FUA, trim) made it worthless. B1..B3 of write_buffer.h.
/// Cost       One lookup a page. Runs of consecutive pages are destaged by one call.
/// Power cut  Buffered pages are lost, as unflushed writes may be (C3); flush() destages in order of writing, then flushes the scheme (C1).
///            In PRAM (pram_slots.h) they are found again, and flush() leaves them where they are.
/// Source     Shim et al., section II B (AP1); ftl/cache/DESIGN.md, "Write buffer".
#pragma once

#include <memory>

#include "ftl/cache/destage_ahead.h"
#include "ftl/cache/ghost_buffer.h"
#include "ftl/cache/pages_under_way.h"
#include "ftl/cache/pram_slots.h"
#include "ftl/cache/reuse_curve.h"
#include "ftl/cache/write_buffer.h"
#include "ftl/forwarding_ftl.h"

namespace flashlab {

struct WriteBufferCounters {
    std::uint64_t read_hits = 0; ///< pages
    std::uint64_t read_misses = 0;
    std::uint64_t write_hits = 0; ///< pages that were here and were overwritten: never programmed
    std::uint64_t write_misses = 0;
    std::uint64_t evicted_pages = 0; ///< programmed to make room
    std::uint64_t flushed_pages = 0;
    std::uint64_t dropped_pages = 0; ///< worthless by FUA or trim
};

class BufferedFtl final : public ForwardingFtl {
public:
    BufferedFtl(Ftl& below, std::uint64_t bytes, const DestagePolicy& policy = {});
    /// The pages lie in `slots`, which has room for so many bytes or more.
    BufferedFtl(Ftl& below, std::uint64_t bytes, std::unique_ptr<PramSlots> slots);

    [[nodiscard]] bool durable_when_answered() const override { return survives_cuts() && below().durable_when_answered(); }
    [[nodiscard]] bool survives_cuts() const { return slots_ != nullptr; }
    /// A write past the buffer; what it held of these pages is dropped once the scheme has taken the new version.
    [[nodiscard]] FtlResult<SimTime> write_through(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io);

    // What a drive that lies does (ftl/broken_promises.h); in DRAM only.
    /// A flush that leaves one page, the first that none before it left, for the next flush.
    [[nodiscard]] FtlResult<SimTime> flush_but_the_first(const Io& io);
    /// Programs half of each page, up to the middle of a sector; the rest is what the scheme has. The buffer is of no use afterwards.
    [[nodiscard]] FtlResult<SimTime> tear_all(const Io& io);

    [[nodiscard]] const WriteBufferCounters& buffer_counters() const { return counted_; }
    [[nodiscard]] std::uint32_t buffered_pages() const { return buffer_.size(); }
    [[nodiscard]] std::uint32_t capacity() const { return buffer_.capacity(); }
    [[nodiscard]] std::uint32_t most() const { return most_; }
    /// What is too much is programmed, least recently used first. Not above most().
    [[nodiscard]] FtlResult<SimTime> set_capacity(std::uint32_t pages, SimTime now);
    /// From now on `ghost`, which outlives the requests, hears of evictions and misses.
    void watch(GhostBuffer& ghost) { ghost_ = &ghost; }
    /// From now on `curve`, which outlives the requests, hears of every page that is read or written.
    void watch(ReuseCurve& curve) { curve_ = &curve; }

private:
    // Ftl
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;
    SimTime do_idle(SimTime now) override;
    FtlResult<SimTime> do_shut_down(SimTime now) override;
    bool do_is_mapped(Lpn lpn) const override { return buffer_.find(lpn).has_value() || below().is_mapped(lpn); }
    std::vector<CheckProblem> do_check() override;

    [[nodiscard]] FtlResult<SimTime> put(Lpn lpn, std::span<const std::byte> from, const Io& io);
    /// The least recently used pages of one stream and queue, at most so many.
    [[nodiscard]] FtlResult<SimTime> evict(std::uint32_t most, const Io& io);
    /// A slot for a new page; when it is free.
    [[nodiscard]] FtlResult<SimTime> make_room(const Io& io);
    [[nodiscard]] FtlResult<SimTime> take_slot_ahead(const Io& io);
    /// Begins the lines that may begin by then. When the next one may, if enough pages are here for it.
    [[nodiscard]] FtlResult<SimTime> destage_ahead(const Io& io);
    [[nodiscard]] bool has_line_to_destage() const { return buffer_.size() >= destage_from_ + below().pages_a_line() || buffer_.is_full(); }
    void begin_taking() {
        leaving_.clear();
        pages_.clear();
        run_.clear();
    }
    void take(WriteBuffer::Slot slot, SimTime& ready);
    [[nodiscard]] bool goes_with(WriteBuffer::Slot slot, const Origin& by) const {
        return buffer_.written_by(slot).stream == by.stream && buffer_.written_by(slot).queue == by.queue;
    }
    /// What was taken goes to the scheme and leaves; with a policy as much of it as one program takes.
    [[nodiscard]] FtlResult<SimTime> write_taken(const Io& io);
    [[nodiscard]] FtlResult<SimTime> write_line(const Io& io);
    void miss_reads(Lpn first, std::uint32_t pages);
    [[nodiscard]] FtlResult<SimTime> destage(const Io& io, std::optional<WriteBuffer::Slot> but = std::nullopt);
    void drop(Lpn first, std::uint32_t pages, SimTime gone);
    /// What was taken, or dropped, has left the buffer; its slots are free then.
    void leave_all(SimTime gone);
    [[nodiscard]] std::span<const std::byte> data_of(WriteBuffer::Slot slot);
    [[nodiscard]] SimTime hit(WriteBuffer::Slot slot, std::uint64_t bytes, SimTime now);
    /// The page's bytes, and when they are there, if it is here or under way to the flash.
    struct Held {
        std::span<const std::byte> data;
        SimTime ready;
    };
    [[nodiscard]] std::optional<Held> take_hit(Lpn lpn, std::uint64_t bytes, SimTime now);
    // In PRAM.
    [[nodiscard]] SimTime keep(WriteBuffer::Slot slot, bool is_new, std::span<const std::byte> from, SimTime ready);
    [[nodiscard]] FtlResult<SimTime> release(const Io& io);
    [[nodiscard]] FtlResult<SimTime> promise(const Io& io);

    WriteBuffer buffer_;
    std::optional<DestageAhead> ahead_; ///< none: pages stay until the buffer is full
    PagesUnderWay under_way_;           ///< with a policy
    std::uint32_t destage_from_ = 0;
    SimTime destaged_at_ = sim_start;   ///< no line has begun later
    std::uint32_t most_;                ///< pages that the capacity may be set to
    std::unique_ptr<PramSlots> slots_;  ///< null: in DRAM
    std::vector<PramSlots::Slot> home_; ///< of each page in PRAM, by its slot in the buffer
    bool has_payload_ = false;          ///< somebody has written data to PRAM
    // What was answered that PRAM does not hold: trims, writes past the buffer. The scheme owes them a flush.
    bool owes_flush_ = false;
    SimTime owed_from_ = sim_start; ///< the last of them was answered then
    SimTime promised_ = sim_start;  ///< all before that flush are durable then
    WriteBufferCounters counted_;
    std::optional<Lpn> left_behind_; ///< by the last flush that lied about the order
    GhostBuffer* ghost_ = nullptr;
    ReuseCurve* curve_ = nullptr;
    std::uint32_t freed_ = 0;      ///< slots of the last eviction that no newcomer has
    SimTime freed_at_ = sim_start; ///< its pages are programmed then
    std::vector<std::byte> run_;   ///< data of pages on their way down
    std::vector<Lpn> pages_;
    std::vector<WriteBuffer::Slot> leaving_;
};

} // namespace flashlab

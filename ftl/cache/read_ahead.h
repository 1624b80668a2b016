/// What a drive reads before it is asked for, of hosts that read in order.
///
/// Idea       A read that begins where one of the last ended makes a run of both. From then on pieces of pages behind it are read into DRAM: the
///            flash works while the host handles what it has, and small reads have a page of the chip sensed once. A run has one piece at first,
///            and twice as many each time the host waits all the same: a short run wastes little. Reads at random make no runs, and end none.
/// Invariant  A1 a page that is here is what the layer below would read: a write and a trim take it away. A2 the pieces of a run follow each other.
/// Cost       `bytes` of DRAM a run, beside dram.size, for most_runs of them. A read and a write look at each run; a read that makes none, at the
///            ends of the last few.
/// Power cut  Gone with the DRAM; nothing here is the only copy.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ftl/ftl.h"

namespace flashlab {

struct ReadAheadCounters {
    std::uint64_t pages = 0; ///< logical pages that were read before they were asked for
    std::uint64_t hits = 0;  ///< logical pages that a request found here
};

class ReadAhead {
public:
    static constexpr std::uint32_t most_runs = 8;
    static constexpr std::uint32_t pieces_a_run = 8;

    /// `below` outlives it. A run has `bytes`, at least a logical page a piece. `keeps_data`: the pages' bytes are kept, not their times alone.
    ReadAhead(Ftl& below, std::uint64_t bytes, bool keeps_data);

    /// As Ftl::read() and Ftl::read_part() of the layer below.
    [[nodiscard]] FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io);
    [[nodiscard]] FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io);
    /// These pages change.
    void forget(Lpn first, std::uint32_t pages);

    [[nodiscard]] const ReadAheadCounters& counters() const { return counted_; }
    /// A2.
    void check(std::vector<CheckProblem>& problems) const;

private:
    struct Piece {
        std::uint32_t first = 0, pages = 0;
        SimTime ready = sim_start;
        std::vector<std::byte> data;
        [[nodiscard]] std::uint32_t end() const { return first + pages; }
    };
    /// The pieces cover [begin, end) in order, from pieces[oldest] on; the host's next read is expected at `next`.
    struct Run {
        std::uint32_t next = no_page, begin = 0, end = 0;
        std::uint32_t oldest = 0, count = 0;
        std::uint32_t reach = 0; ///< pieces that may be here
        std::uint64_t used = 0;
        std::array<Piece, pieces_a_run> pieces;
        [[nodiscard]] const Piece& piece(std::uint32_t i) const { return pieces[(oldest + i) % pieces_a_run]; }
        [[nodiscard]] const Piece* piece_with(std::uint32_t lpn) const;
        [[nodiscard]] bool continues_at(std::uint32_t lpn) const { return lpn == next || (lpn >= begin && lpn < end); }
    };
    static constexpr std::uint32_t no_page = ~std::uint32_t{0};

    struct Hit {
        const Piece& piece;
        std::uint32_t lpn, offset, bytes;
    };

    /// The run that a read from this page on belongs to, a new one perhaps. Null: its end has to be noted.
    [[nodiscard]] Run* run_at(std::uint32_t lpn);
    [[nodiscard]] Run* begin_run(std::uint32_t lpn);
    [[nodiscard]] FtlResult<SimTime> take(const Run& run, std::uint32_t first, std::uint32_t pages, std::span<std::byte> to, const Io& io);
    [[nodiscard]] SimTime hit(const Hit& what, std::span<std::byte> to, const Io& io);
    void note_end(std::uint32_t end) { ends_[ends_noted_++ % ends_.size()] = end; }
    /// The host has read up to `next`: what lies before it leaves, and pieces behind are read.
    void follow(Run& run, std::uint32_t next, bool waited, const Io& io);
    [[nodiscard]] bool read_piece(Run& run, const Io& io);
    static void stop(Run& run);

    Ftl& below_;
    std::uint32_t piece_pages_;
    bool keeps_data_;
    std::uint64_t clock_ = 0; ///< counts uses of runs
    std::array<Run, most_runs> runs_;
    std::array<std::uint32_t, 2 * most_runs> ends_; ///< of the last reads that belong to no run
    std::size_t ends_noted_ = 0;
    std::uint64_t last_hit_ = no_page; ///< a page that is read part by part counts once
    ReadAheadCounters counted_;
};

} // namespace flashlab

/// What a shorter log would have merged: the ghost of FAST's log blocks, inside of them.
///
/// Idea       Log blocks are a queue, and a page's age is the log pages written since. A log shorter by a part would have reclaimed each block when
///            it came to that part of the queue, and merged every logical block with a newest version in it. All pages of those blocks are still
///            here, and so is who has overwritten them: a time for each logical block says which of its pages the shorter log would have merged
///            already. When the real log merges a logical block some of its pages may be too young for that: then the time is that of the oldest of
///            them, and the shorter log merges it when that page has come to its end.
///            That is too much by what would have been overwritten in the meantime: nobody remembers pages that were merged.
///            Logical blocks are a sample, by hash, once their records no longer fit; each counts for those that it stands for.
/// Invariant  S1 a logical block has at most one record, and is of the sample. S2 at most three of four records are in use.
/// Cost       8 bytes a record. One look-up for each newest version that comes to the shorter log's end, one a merge, a pass over the records a
///            decision. No allocation after the start.
/// Power cut  Lost; it is a statistic.
/// Source     Ours. The paper (AP5) remembers pages that were migrated and takes them for what a longer log would have held; ftl/cache/DESIGN.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ftl/blocks/block_map.h"

namespace flashlab {

class ShorterLog {
public:
    /// Log pages written; wraps, and is compared by difference.
    using Clock = std::uint32_t;

    /// `bytes` is a power of two, at least 8.
    explicit ShorterLog(std::uint64_t bytes);

    /// The shorter log has so many pages from now on.
    void set_pages(std::uint32_t pages) { pages_ = pages; }
    [[nodiscard]] std::uint32_t pages() const { return pages_; }
    /// A log block comes to the shorter log's end now, with a newest version of `home` that was written at `written`.
    void page_at_end(LogicalBlock home, Clock written, Clock now);
    /// What was written until then the shorter log has merged; nothing: it has merged none of what the real log holds.
    [[nodiscard]] std::optional<Clock> merged_until(LogicalBlock home) const;
    /// The real log has merged `home` for a block that it reclaimed; `oldest` of its pages that the shorter log had not merged, if there is one.
    void merged(LogicalBlock home, std::optional<Clock> oldest);
    /// ... for another reason, which both logs have.
    void merged_for_both(LogicalBlock home);
    /// What waits and has come to the shorter log's end is merged there. The real log holds nothing older than `longest`.
    void settle(Clock now, std::uint32_t longest);

    /// Merges that the shorter log needed beyond those of the real one, since clear(); may be less than nothing.
    [[nodiscard]] double more_merges() const { return more_; }
    void clear() { more_ = 0; }
    [[nodiscard]] std::uint32_t records() const { return used_; }
    /// The number of the first broken invariant; 0 when all hold. O(records).
    [[nodiscard]] int broken_invariant() const;

private:
    struct Record {
        std::uint32_t home = none;
        Clock at = 0; ///< waiting: the oldest page was written then; else: what was written until then is merged
    };
    static constexpr std::uint32_t none = 0xffff'ffff;
    static constexpr std::uint32_t waiting = 0x8000'0000; ///< with the home: the real log has merged it, the shorter one not yet

    [[nodiscard]] static std::uint64_t hash(std::uint32_t home) { return (home + 1) * 0x9e3779b97f4a7c15u; }
    [[nodiscard]] bool is_sampled(std::uint32_t home) const { return (hash(home) >> 20 & (weight_ - 1)) == 0; }
    [[nodiscard]] std::size_t start(std::uint32_t home) const { return static_cast<std::size_t>(hash(home) >> shift_); }
    [[nodiscard]] std::size_t place(std::uint32_t home) const;
    void remove(std::size_t at);
    void settle(Record& record, Clock now);
    void sample_fewer();
    static bool is_after(Clock a, Clock b) { return static_cast<std::int32_t>(a - b) > 0; }

    std::vector<Record> records_;
    int shift_;
    std::uint32_t used_ = 0;
    std::uint64_t weight_ = 1; ///< logical blocks that one of the sample stands for; a power of two
    std::uint32_t pages_ = 0;
    double more_ = 0;
};

} // namespace flashlab

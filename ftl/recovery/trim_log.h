/// Trims of a scheme without PRAM: which are not yet durable, and which a recovery must respect.
///
/// Idea       A trim takes a write sequence of its own and waits in RAM until the next flush writes all of them as one journal record. Recovery
///            keeps, for each page, the last trim since the checkpoint, and believes only pages written after it.
/// Invariant  L1 a page of the trimmed range counts iff its sequence is greater than the range's. L2 ranges of TrimHistory do not overlap.
/// Cost       16 bytes a range, one range a call at most; consecutive calls grow one range. TrimHistory: O(log ranges) a lookup.
/// Power cut  Ranges that were not flushed are gone: their pages may show their last version again, or zeros if its block was reused.
/// Source     docs/crash-model.md, C4. Bytes: ftl/FORMAT.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/id.h"

namespace flashlab {

struct TrimRange {
    static constexpr std::size_t encoded_size = 16;
    Lpn first{0};
    std::uint32_t pages = 0;
    WriteSequence sequence{0};
    friend bool operator==(const TrimRange&, const TrimRange&) = default;
};

/// Those that wait for a flush.
class PendingTrims {
public:
    void add(const TrimRange& range);
    [[nodiscard]] std::size_t count() const { return ranges_.size(); }
    [[nodiscard]] std::size_t encoded_bytes() const { return ranges_.size() * TrimRange::encoded_size; }
    void encode(std::vector<std::byte>& out) const;
    void clear() { ranges_.clear(); }

private:
    std::vector<TrimRange> ranges_;
};

class TrimHistory {
public:
    /// In the order in which they were made.
    void add(const TrimRange& range);
    /// Adds every range of a record; false when it is not whole ranges.
    [[nodiscard]] bool add_record(std::span<const std::byte> payload);
    [[nodiscard]] std::optional<WriteSequence> last_trim(Lpn lpn) const;
    template <class F>
    void for_each(F&& visit) const {
        for (const auto& [first, range] : ranges_) visit(range);
    }

private:
    std::map<std::uint32_t, TrimRange> ranges_; ///< by first page
};

} // namespace flashlab

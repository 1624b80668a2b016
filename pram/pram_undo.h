/// The old values of words whose writes a power cut may still undo.
///
/// Idea       Each run of consecutive words has one record with the start time of its first word; the others follow at the word time. The old bytes
///            lie in one arena in the order of issue, so that walking backwards needs no offsets.
/// Invariant  Records are in order of issue. Undoing them from the last to the first restores any earlier state.
/// Cost       24 bytes and the old words for each run. Memory is reused: no allocation in steady state.
/// Power cut  A cut is made with these records; nothing of them survives it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

struct PramUndoRecord {
    PramAddress at{0};
    SimTime first_start;
    std::uint32_t bytes = 0; ///< of old words
    std::uint32_t live = 0;  ///< of these, counted from the first, not yet rewound
};

class PramUndoRecords {
public:
    PramUndoRecords(std::uint32_t word_bytes, Duration word_write) : word_bytes_{word_bytes}, word_write_{word_write} {}
    void remember(PramAddress at, std::span<const std::byte> old, SimTime first_start);
    /// Forgets the oldest records as long as they ended at or before `now`. A later record that ended sooner stays until its turn.
    void settle(SimTime now);
    /// Calls visit(record, old bytes) from the last issued to the first.
    template <class Visit>
    void for_each_backwards(Visit&& visit) const {
        std::size_t old_end = old_.size();
        for (std::size_t i = records_.size(); i != head_; --i) {
            const PramUndoRecord& record = records_[i - 1];
            old_end -= record.bytes;
            visit(record, std::span{old_}.subspan(old_end, record.bytes));
        }
    }
    template <class Visit>
    void for_each_backwards(Visit&& visit) {
        std::as_const(*this).for_each_backwards(
            [&](const PramUndoRecord& record, std::span<const std::byte> old) { visit(const_cast<PramUndoRecord&>(record), old); });
    }
    /// Forgets the latest records, as long as they have no live word.
    void drop_rewound();
    [[nodiscard]] std::size_t size() const { return records_.size() - head_; }
    void clear();

private:
    [[nodiscard]] SimTime end_of(const PramUndoRecord& record) const {
        return record.first_start + word_write_ * static_cast<std::int64_t>(record.bytes / word_bytes_);
    }
    void give_back();

    std::uint32_t word_bytes_;
    Duration word_write_;
    std::vector<PramUndoRecord> records_; ///< records_[head_..] are live
    std::vector<std::byte> old_;          ///< old_[old_head_..] are live
    std::size_t head_ = 0;
    std::size_t old_head_ = 0;
};

} // namespace flashlab

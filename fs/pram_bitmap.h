/// A bitmap on PRAM with a copy in RAM. Changes are seen at once; they are logged at commit, or taken back.
///
/// Idea       Searches use the copy, with a free count for each chunk of 4096 bits. Cells are compared only where a transaction changed something.
/// Invariant  Outside a transaction copy and cells are equal. The counts agree with the copy.
///            set() flips every bit in its run, so that a second flip undoes it.
/// Cost       open: one pass over the cells. Search: a compare per full chunk, a word per 64 bits in the others. No allocation in steady state.
/// Power cut  Only what the caller's transaction commits reaches the cells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "pram/redo_log.h"

namespace flashlab {

class PramBitmap {
public:
    struct Run {
        std::uint64_t first = 0;
        std::uint64_t bits = 0;
    };

    /// `cells` are the bitmap's bytes in the PRAM, at `home`; bits past `bits` are never looked at.
    PramBitmap(std::span<const std::byte> cells, PramAddress home, std::uint64_t bits);

    [[nodiscard]] std::uint64_t bits() const { return bits_; }
    [[nodiscard]] std::uint64_t clear_bits() const { return clear_bits_; }
    [[nodiscard]] bool test(std::uint64_t bit) const;
    /// First run of clear bits at or after `hint`, wrapping once, at most `wanted` long; 0 bits when none.
    [[nodiscard]] Run find_clear(std::uint64_t hint, std::uint64_t wanted) const;
    /// ContractViolation when a bit of the run already has that value.
    void set(Run run, bool value);

    /// Adds the changed words to a redo-log transaction.
    void append_changes(PramTransaction& to) const;
    /// Upper bound of the bytes that append_changes() adds to a log record.
    /// The worst case is every second word of the touched part, each as a write of its own.
    [[nodiscard]] std::uint64_t changed_bytes_bound() const {
        return touched_words_ * (8 + RedoLog::write_overhead) / 2 + changes_.size() * (8 + RedoLog::write_overhead);
    }
    void forget_changes();
    void undo_changes();
    /// Says what differs between copy, counts and cells; empty when nothing does. Must be called outside a transaction.
    [[nodiscard]] std::string problem() const;

private:
    struct Change {
        Run run;
        bool value;
    };
    static constexpr std::uint64_t chunk_bits = 4096;
    void flip(Run run, bool value);
    [[nodiscard]] std::uint64_t cell_word(std::uint64_t word) const;
    [[nodiscard]] std::uint64_t first_clear(std::uint64_t from, std::uint64_t end) const;

    std::span<const std::byte> cells_;
    PramAddress home_;
    std::uint64_t bits_;
    std::uint64_t clear_bits_ = 0;
    std::uint64_t touched_words_ = 0;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> clear_in_chunk_;
    std::vector<Change> changes_;
};

} // namespace flashlab

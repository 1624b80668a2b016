/// Atomic multi-word updates of PRAM: first a log record of the changed words, closed by a CRC, then the words in their place (their home).
///
/// Idea       commit() writes one log record (sequence, changed words, CRC), then the words at home. The CRC alone commits:
///            no head pointer wears out.
/// Invariant  L1 after recovery a record whose CRC holds is applied as a whole, and any other record not at all.
///            L2 replaying the whole ring in order of sequence is idempotent: the ring holds a gapless run of the newest records (FORMAT.md).
///            Where others than the newest differ from their home, damage is what the ring shows, and nothing is written.
///            L3 from mkfs on, words that a log covers are changed through that log alone: a replay would take back any other change.
/// Cost       The changed words twice, plus two words for each record and one for each run of changed words (8-byte words).
///            No allocation in steady state.
/// Power cut  Before the record's last word is written, nothing has happened. After it, recovery finishes the words at home.
/// Source     Kim et al. (HY) 4.1, "writes logs into the PRAM at every PRAM update" (HY5).
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "pram/pram.h"

namespace flashlab {

struct PramRange {
    PramAddress at{0};
    std::uint64_t bytes = 0;
};

enum class PramLogError : std::uint8_t {
    record_too_large, ///< more changed words than max_record_bytes(); nothing was written
};

/// The writes of one transaction, in order. The data are copied. clear() keeps the memory, so that the object can be reused.
class PramTransaction {
public:
    void write(PramAddress at, std::span<const std::byte> data);
    void write_u32(PramAddress at, std::uint32_t value);
    void write_u64(PramAddress at, std::uint64_t value);
    [[nodiscard]] bool empty() const { return writes_.empty(); }
    void clear();

    struct Write {
        PramAddress at;
        std::uint32_t offset; ///< into data()
        std::uint32_t bytes;
    };
    [[nodiscard]] std::span<const Write> writes() const { return writes_; }
    [[nodiscard]] std::span<const std::byte> data(const Write& w) const { return std::span{data_}.subspan(w.offset, w.bytes); }

private:
    std::byte* room_for(PramAddress at, std::size_t bytes);

    std::vector<Write> writes_;
    std::vector<std::byte> data_; ///< the first used_ bytes
    std::size_t used_ = 0;
};

struct LogRecovery {
    std::uint64_t records_replayed = 0;
    std::uint64_t words_written = 0;
    bool torn_tail = false; ///< a record was begun and not finished
    SimTime done;
};

class RedoLog {
public:
    /// `ring` belongs to this log alone; at least 8 KiB, a multiple of 4096. All-zero means empty.
    RedoLog(Pram& pram, PramUser user, PramRange ring);
    ~RedoLog();

    /// Must run before the first commit. It is idempotent, and a power cut may hit it.
    LogRecovery recover(SimTime now);
    /// The transaction is durable when the clock has passed the time returned. view() shows the new words at once.
    [[nodiscard]] std::expected<SimTime, PramLogError> commit(const PramTransaction& transaction, SimTime now, EventId parent = no_event);
    /// Largest encoded size of one record. Callers split a transaction that may be larger.
    [[nodiscard]] std::uint64_t max_record_bytes() const;
    /// The record of a transaction is at most record_overhead bytes long, plus write_overhead and the data's length for each write.
    static constexpr std::uint64_t record_overhead = 64;
    static constexpr std::uint64_t write_overhead = 24;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace flashlab

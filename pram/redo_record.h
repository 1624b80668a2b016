/// One record of the redo log, as bytes. FORMAT.md, "Record".
///
/// Idea       Head (length, sequence), entries (address, words), tail (number of entries, CRC). The CRC lies in the last word that is written.
/// Invariant  decode accepts exactly what finish() made for the same ring: the CRC is seeded with the ring's place.
/// Cost       8 bytes each for head and tail, and 8 bytes an entry. Unchanged words in a gap no longer than an entry's head are carried along, which
///            saves a second entry.
/// Power cut  A record that lacks any word fails its CRC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pram/pram.h"

namespace flashlab {

struct RedoRecordFormat {
    static constexpr std::uint64_t head_bytes = 8;
    static constexpr std::uint64_t entry_bytes = 8; ///< before the words
    static constexpr std::uint64_t tail_bytes = 8;
    static constexpr std::uint64_t unit = 8; ///< lengths and places are multiples of it
    static constexpr std::uint64_t max_bytes = 0xffffu * unit;
    static constexpr std::uint64_t max_sequence = (std::uint64_t{1} << 48) - 1;
};

class RedoRecordBuilder {
public:
    RedoRecordBuilder(std::uint64_t capacity, std::uint32_t word_bytes, std::uint32_t crc_seed);
    void begin();
    /// Adds the words in which `wanted` differs from `present`; both are the words from `at` on. False: the record would outgrow its capacity;
    /// begin() again.
    [[nodiscard]] bool add_changes(PramAddress at, std::span<const std::byte> wanted, std::span<const std::byte> present);
    [[nodiscard]] bool empty() const { return entries_ == 0; }
    /// Closes the record. Returns one list: first the record, to be written at `place`, then the changed words at home. Valid until the next begin().
    [[nodiscard]] std::span<const PramRun> finish(std::uint64_t sequence, PramAddress place);
    [[nodiscard]] std::uint64_t encoded_bytes() const; ///< of the record as it stands

private:
    [[nodiscard]] bool has_room(std::uint64_t bytes) const;
    void open_entry(PramAddress at);
    std::span<const std::byte> append(std::span<const std::byte> words);

    std::unique_ptr<std::byte[]> bytes_; ///< stays put: runs_ point into it
    std::uint64_t capacity_;
    std::uint32_t word_bytes_;
    std::uint32_t crc_seed_;
    std::uint64_t used_ = 0;
    std::uint64_t entry_at_ = 0; ///< where the head of the open entry lies
    PramAddress entry_home_{0};
    std::uint64_t entry_words_ = 0;
    std::uint32_t entries_ = 0;
    std::vector<PramRun> runs_; ///< runs_[0] is kept for the record
};

/// A record found in a ring. `body` points into the ring.
struct RedoRecord {
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
    std::uint32_t entries = 0;
    std::span<const std::byte> body; ///< the entries
};

struct RedoRecordHead {
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0; ///< as the head says; not verified
};

/// Reads the first word of `ring_part` as a record's head, whatever it is. nullopt when `ring_part` is too short.
[[nodiscard]] std::optional<RedoRecordHead> peek_redo_record(std::span<const std::byte> ring_part);
/// The record at the start of `ring_part`, if a whole record is there.
[[nodiscard]] std::optional<RedoRecord> decode_redo_record(std::span<const std::byte> ring_part, std::uint32_t crc_seed);
/// Appends the words of the record, entry by entry; false when the entries do not add up to the body.
[[nodiscard]] bool append_runs(const RedoRecord& record, std::uint32_t word_bytes, std::vector<PramRun>& runs);

} // namespace flashlab

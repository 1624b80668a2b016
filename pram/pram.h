/// Phase-change RAM: words are written in place, one at a time, in order and in simulated time. Recent writes can be undone, for power cuts.
///
/// Idea       The content is one span of bytes that anyone may look at. A change costs time, wear and an undo record.
/// Invariant  P1 words of one PramUser complete in the order issued and never overtake one another. Words of two users may interleave.
///            P2 write() writes only words whose value changes (HY2); write_words() trusts a caller that has compared.
/// Cost       A compare and a copy; an undo record of the old words until settle() passes it. No allocation in steady state.
/// Power cut  Words that were complete before T stay. The word in flight is old, new or a mix of bits (PramCutOutcomes). Later words are old.
/// Source     Kim et al. (HY) 3.2, "PRAM filter"; docs/crash-model.md, "What happens to the media".
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/events.h"
#include "base/host_io_error.h"
#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

class PramLineChecks;

struct PramConfig {
    std::uint64_t bytes = 64u << 20; ///< a multiple of 4096
    std::uint32_t word_bytes = 8;    ///< 2, 4 or 8 (HY: 2)
    Duration word_read{100};
    Duration word_write{500};

    [[nodiscard]] std::expected<void, std::string> validate() const;
};

/// Where the cells are kept: a span whose address never changes. A file is allocated before it is mapped, so that a full host disk is an error at
/// mkfs and never SIGBUS.
class PramStore {
public:
    virtual ~PramStore() = default;
    [[nodiscard]] virtual std::span<std::byte> cells() = 0;
    /// Words written since mkfs, one counter per 64 KiB of cells (the last region may be short).
    /// The counters are kept beside the cells and survive with them.
    [[nodiscard]] virtual std::span<std::uint64_t> wear() = 0;
    /// The line checks, which must be told of every change of cells; null: the store keeps none.
    [[nodiscard]] virtual PramLineChecks* checks() { return nullptr; }
};
inline constexpr std::uint64_t pram_wear_region_bytes = 64u << 10;
[[nodiscard]] constexpr std::uint64_t pram_wear_regions(std::uint64_t bytes) { return (bytes + pram_wear_region_bytes - 1) / pram_wear_region_bytes; }

/// Consecutive words to be written: address and size are multiples of the word size.
struct PramRun {
    PramAddress at{0};
    std::span<const std::byte> data;
};

struct PramWritten {
    SimTime start; ///< of the reservation: the compares come first, then the words
    SimTime end;
    std::uint32_t words = 0;    ///< written
    std::uint32_t compared = 0; ///< looked at
};

enum class WordOutcome : std::uint8_t { old_value, new_value, mixed_bits };
class PramCutOutcomes {
public:
    virtual ~PramCutOutcomes() = default;
    virtual WordOutcome of_word(PramAddress at) = 0;
    virtual std::uint64_t random() = 0; ///< which bits of a mixed word are new
};

struct PramCutReport {
    std::uint64_t words_undone = 0;
    std::uint64_t words_torn = 0;
};

struct PramCounters {
    std::uint64_t words_written[2] = {}; ///< by PramUser
    std::uint64_t words_compared[2] = {};
    std::uint64_t transactions[2] = {}; ///< as noted by note_commit()
};

enum class PramUndo : std::uint8_t { keep, none };

class Pram {
public:
    Pram(const PramConfig& config, PramStore& store, EventSink& events, PramUndo undo);
    ~Pram();
    Pram(const Pram&) = delete;
    Pram& operator=(const Pram&) = delete;

    [[nodiscard]] const PramConfig& config() const;
    [[nodiscard]] std::span<const std::byte> cells() const;
    [[nodiscard]] std::span<const std::byte> view(PramAddress at, std::uint64_t bytes) const;

    /// Writes those words of [at, at + data.size()) that differ, in address order. They begin after everything `user` wrote before, and not before
    /// `now`. `at` and the size need not be word-aligned; a partly covered word keeps its other bytes.
    PramWritten write(PramUser user, PramAddress at, std::span<const std::byte> data, SimTime now);
    /// Writes every word of `runs`, in order, for a caller that has compared the words itself. All is one reservation, which begins with the time of
    /// reading `compared` words. The data of the runs must not lie in cells().
    PramWritten write_words(PramUser user, std::span<const PramRun> runs, std::uint64_t compared, SimTime now);
    /// Counts one transaction and emits its event.
    void note_commit(const PramWriteEvent& commit);
    /// For seeded bugs: from now on writes no longer wait for their `now`, only for one another.
    void forget_order();
    /// Reserves the device's port for a read of `bytes` and returns its end. The bytes themselves are in view().
    [[nodiscard]] SimTime read(std::uint64_t bytes, SimTime now);

    [[nodiscard]] SimTime last_reserved_end() const;
    void settle(SimTime now);
    [[nodiscard]] PramCutReport cut(SimTime at, PramCutOutcomes& outcomes);

    /// cut() in two steps, for a caller that tries many cuts of one run, the latest first. rewind() undoes for good the words that had not begun at
    /// `at`, and returns how many they were. tear() then applies to `target`, a copy of this PRAM's store, what the cut does to the word in flight.
    std::uint64_t rewind(SimTime at);
    [[nodiscard]] PramCutReport tear(SimTime at, PramCutOutcomes& outcomes, PramStore& target);
    /// Appends the times at which each word that may still be undone begins and ends.
    void append_moments(std::vector<SimTime>& to) const;

    [[nodiscard]] const PramCounters& counters() const;
    /// Words written since mkfs to each 64 KiB region, for the wear histogram.
    [[nodiscard]] std::span<const std::uint64_t> wear_by_region() const;
    [[nodiscard]] EventSink& events() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace flashlab

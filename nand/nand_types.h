/// What goes into calls of a NandArray and comes out of them.
///
/// Idea       Plain data: requests, answers, errors, and the outcomes of operations that a power cut finds in flight.
/// Invariant  An error names the page and the time at which it is known.
/// Cost       None.
/// Power cut  ProgramOutcome and EraseOutcome are docs/crash-model.md's T0 to T6 and E0 to E4.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "base/io.h"
#include "nand/page_store.h"

namespace flashlab {

/// What a failed operation means, and what its caller does next.
enum class NandErrorKind : std::uint8_t {
    erased_page,    ///< of a read: nothing was programmed here since the erase
    uncorrectable,  ///< of a read or copy: ECC fails, the data are lost for good; the OOB may still parse
    program_failed, ///< the page reads as uncorrectable; the block's other pages are intact. Copy what is valid, then mark_bad()
    erase_failed,   ///< nothing of the block can be read; it was erased because nothing was wanted. mark_bad()
    host_io,        ///< the image could not be read or written: no fault of the flash. The operation may have happened or not: write no more
};
struct NandError {
    NandErrorKind kind;
    Ppn page;
    SimTime done; ///< the attempt took time, too: when its outcome is known
    int host_errno = 0;
};

struct PageProgram {
    Ppn page;
    std::span<const std::byte> data; ///< a whole page, or empty in runs without payload
    PageOob oob;
    std::uint32_t bytes = 0;    ///< bytes that cross the bus; a partial program pays command and tPROG in full (MC3, CO12); 0: all
    const Origin* by = nullptr; ///< in whose name it is counted and logged; null: the operation's
};

struct PageRead {
    Ppn page;
    std::uint32_t offset = 0; ///< in bytes from the page's start; only the part that is read crosses the bus (MC3)
    std::uint32_t bytes = 0;
    std::span<std::byte> to; ///< `bytes` long; empty: the payload is not wanted, and no data checksum is verified
};

struct OobRead {
    std::expected<PageOob, OobError> oob;
    /// What the chip's ECC says of the data: erased, programmed, torn, garbage or unstable.
    /// Unstable data are right, but needed too many corrections to last.
    CellState state;
    SimTime done;
};

/// What a copy has in place of its original's.
struct CopyMarks {
    std::uint32_t scheme_word = 0;
    StreamId stream{no_stream};
};

struct CopiedPage {
    SimTime done;
    PageOob oob;
};

struct CopiedRun {
    std::uint32_t pages = 0; ///< how many were copied, counted from the first one
    SimTime done;
    std::optional<NandError> failed; ///< the error of the page behind them; none: all were copied
};

/// Page sets that are copied under other OOBs: page from[c] + i of the i-th set goes to page to[c] + i. The pages of a set get the same OOB, those of
/// the i-th one `oob` with the LPN that is i further. All their blocks are different ones; those written to lie on different dies.
struct RewriteRun {
    std::span<const Ppn> from;
    std::span<const Ppn> to;
    std::uint32_t sets = 0;
    PageOob oob;
};

/// A block with a page that took so many retries, or one more than there are, and would take fewer if it were written anew.
struct TiredBlock {
    BlockId block{0};
    std::uint32_t retries = 0;
    std::uint32_t erases = 0; ///< of the block then: one that was erased since holds other data
};

/// What becomes of an operation that is in flight at a cut. Outcomes are drawn from a seed, or enumerated by the explorer.
enum class ProgramOutcome : std::uint8_t {
    not_started,  ///< T0
    complete,     ///< T1
    prefix_torn,  ///< T2
    garbage,      ///< T3
    unstable,     ///< T4: reads right once, then no longer
    looks_erased, ///< T5: reads erased, but programming over it gives garbage
    pair_damaged, ///< T6: garbage, and so are the earlier pages that share its cells (paired_pages.h)
};
enum class EraseOutcome : std::uint8_t {
    not_started, ///< E0
    complete,    ///< E1
    garbage,     ///< E2
    weak,        ///< E3: reads erased, but has to be erased again before a program
    mixed,       ///< E4: some pages are as before, others are garbage or look erased
};
class CutOutcomes {
public:
    virtual ~CutOutcomes() = default;
    virtual ProgramOutcome of_program(Ppn page) = 0;
    virtual EraseOutcome of_erase(BlockId block) = 0;
    virtual std::uint64_t random() = 0; ///< for the bytes of a torn page
};

struct NandCutReport {
    std::uint64_t undone = 0;
    std::uint64_t torn_programs = 0;
    std::uint64_t torn_erases = 0;
};

enum class UndoPolicy : std::uint8_t { keep, none };

struct NandCounters {
    std::uint64_t reads[cause_count] = {};
    std::uint64_t programs[cause_count] = {};
    std::uint64_t erases[cause_count] = {};
    std::uint64_t multi_plane_programs = 0; ///< two-plane programs are among them
    std::uint64_t programs_along = 0;       ///< pages that another page of their word line took along: they took no tPROG of their own
    std::uint64_t reads_along = 0;          ///< subpages that the read of another one brought along: they took no tR of their own
    std::uint64_t read_retries = 0;         ///< of the reads: a page was sensed again, since the ECC had not corrected it
    std::uint64_t uncorrected_reads = 0;    ///< pages that no retry corrected
    std::uint64_t rebuilt_pages = 0;        ///< pages, or their OOB, that came from the others of their row (NandConfig::rain)
    std::uint64_t two_plane_programs = 0;   ///< commands, as the next two; each also counts as two programs, reads or erases
    std::uint64_t two_plane_reads = 0;
    std::uint64_t two_plane_erases = 0;
};

} // namespace flashlab

/// The flash as its controller sees it: channels of chips that obey the data sheet, in simulated time, with a past that can be undone.
///
/// Idea       Every call names when it may start and returns when it is done. State changes at the call; an undo record keeps the old state until
///            settle() passes the operation's end, so that cut(T) can put the flash into the state that a power loss at T leaves.
/// Invariant  N1 pages of a block are programmed in increasing order, each once since the erase.
///            N2 a read never starts before the program of its page ends; a program not before the block's previous program or erase ends;
///               an erase not before every reserved program and read of the block ends.
///            N3 no resource (bus, page buffer, plane, controller) serves two operations at one instant.
///            Breaking N1 knowingly is a ContractViolation; N2 and N3 hold by construction and are checked.
/// Cost       O(1) amortised an operation: calendars drop what is past. No allocation in steady state.
/// Power cut  cut(T): what starts after T is undone in reverse order of issue, what spans T is torn as CutOutcomes says, the rest stays.
///            kill -9 leaves a prefix of the issue order in the page store.
/// Source     Kang et al. (DUMBO) 3.3 and 3.4 for the phases (MC2); docs/crash-model.md for the outcomes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/events.h"
#include "base/id.h"
#include "base/random.h"
#include "base/sim_time.h"
#include "nand/geometry.h"
#include "nand/nand_config.h"
#include "nand/nand_faults.h"
#include "nand/page_oob.h"
#include "nand/page_store.h"

namespace flashlab {

enum class NandErrorKind : std::uint8_t {
    erased_page,     ///< nothing was programmed here since the erase
    uncorrectable,   ///< ECC fails: the data are lost, the OOB may still parse
    program_failed,  ///< the block must be retired; the page's content is undefined
    erase_failed,    ///< the block must be retired
    host_io,         ///< the image could not be read or written; not a fault of the flash
};
struct NandError {
    NandErrorKind kind;
    Ppn page;
    SimTime done;         ///< the attempt took time, too
    int host_errno = 0;
};

struct PageProgram {
    Ppn page;
    std::span<const std::byte> data; ///< a whole page, or empty in runs without payload
    PageOob oob;
    std::uint32_t bytes = 0;         ///< that cross the bus: a partial program pays command and tPROG in full (MC3, CO12); 0: all
};

struct PageRead {
    Ppn page;
    std::uint32_t offset = 0;        ///< bytes into the page; only the part crosses the bus (MC3)
    std::uint32_t bytes = 0;
    std::span<std::byte> to;         ///< `bytes` long, or empty: nobody wants the payload (and no data checksum is verified)
};

struct OobRead {
    std::expected<PageOob, OobError> oob;
    CellState state;   ///< what the chip's ECC says of the data: erased, programmed, torn, garbage, or unstable: right, with too many corrections to last
    SimTime done;
};

struct CopiedPage {
    SimTime done;
    PageOob oob;
};

struct CopiedRun {
    std::uint32_t pages = 0;         ///< copied, from the first on
    SimTime done;
    std::optional<NandError> failed; ///< of the page behind them; none: all were copied
};

/// What becomes of an operation in flight at a cut; seeded or enumerated by the explorer.
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
    not_started,  ///< E0
    complete,     ///< E1
    garbage,      ///< E2
    weak,         ///< E3: reads erased, but has to be erased again before a program
    mixed,        ///< E4: some pages are as before, others are garbage or look erased
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

/// The host request at hand, where a page's data cross the drive's link by themselves.
struct LinkedRequest {
    struct Out {
        SimTime end;
        std::uint32_t bytes = 0;
    };
    Origin origin;                   ///< operations of this origin are its own
    std::vector<Out> out{};          ///< of a read: pages that left the flash
    Lpn first{0};                    ///< of a write: this logical page's data have arrived by `first_in`,
    SimTime first_in = sim_start;
    Duration each_in{0};             ///< those of each page after it so much later
    SimTime all_in = sim_start;      ///< and the last ones by then
    [[nodiscard]] SimTime arrival_of(Lpn lpn) const {
        if (lpn < first) return sim_start;
        return std::min(all_in, first_in + static_cast<std::int64_t>(lpn.value() - first.value()) * each_in);
    }
};

enum class UndoPolicy : std::uint8_t { keep, none };

struct NandCounters {
    std::uint64_t reads[cause_count] = {};
    std::uint64_t programs[cause_count] = {};
    std::uint64_t erases[cause_count] = {};
    std::uint64_t multi_plane_programs = 0;
};

class NandArray {
public:
    using Result = std::expected<SimTime, NandError>;

    /// `geometry` is that of the chips and the store; config.striping makes geometry() and every address a striped one.
    NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo);
    ~NandArray();
    NandArray(const NandArray&) = delete;
    NandArray& operator=(const NandArray&) = delete;

    [[nodiscard]] const Geometry& geometry() const;
    /// Of the chips themselves: what channel_busy(), plane_busy() and events count in.
    [[nodiscard]] const Geometry& chip_geometry() const;
    [[nodiscard]] const NandConfig& config() const;
    /// False: pages have a state and an OOB only; who keeps records of its own on flash must remember what they say.
    [[nodiscard]] bool keeps_payload() const;

    /// The request whose pages are told, and are programmed once they have arrived; null: none.
    void set_linked(LinkedRequest* request);

    /// Which operations fail; null: none. The object outlives the array or is taken back with null.
    void set_faults(NandFaults* faults);

    /// Reads the chip's own state of every block (erase counts, bad marks, write pointers) from the store; call once before use. O(blocks) records
    /// in one sequential pass; write pointers are found lazily.
    [[nodiscard]] std::expected<void, NandError> open();

    /// Fails with erased_page or uncorrectable as the cells say; a torn page fails. Returns when the data are out of the chip.
    [[nodiscard]] std::expected<SimTime, NandError> read(const PageRead& page, SimTime now, Origin origin);
    /// Independent reads issued together, each a command of its own. The first failure is returned after all were issued.
    [[nodiscard]] std::expected<SimTime, NandError> read(std::span<const PageRead> pages, SimTime now, Origin origin);
    /// Reads the OOB only: command, tR, transfer of the spare bytes.
    [[nodiscard]] std::expected<OobRead, NandError> read_oob(Ppn page, SimTime now, Origin origin);
    /// One page, or one page on each of several planes of one die with the same page-in-block (a multi-plane command). All end together.
    [[nodiscard]] std::expected<SimTime, NandError> program(std::span<const PageProgram> pages, SimTime now, Origin origin);
    /// Read through the controller and programmed again with the same LPN, sequence and kind (no copy-back).
    [[nodiscard]] std::expected<SimTime, NandError> copy(Ppn from, Ppn to, SimTime now, Origin origin);
    /// The same with another word for the scheme; tells what is written there now.
    [[nodiscard]] std::expected<CopiedPage, NandError> copy_as(Ppn from, Ppn to, std::uint32_t scheme_word, SimTime now, Origin origin);
    /// copy() of that many pages in a row to pages in a row, each after the one before: the same times, records and failures, in one go.
    [[nodiscard]] CopiedRun copy_run(Ppn from, Ppn to, std::uint32_t pages, SimTime now, Origin origin);
    [[nodiscard]] std::expected<SimTime, NandError> erase(BlockId block, SimTime now, Origin origin);

    [[nodiscard]] bool is_bad(BlockId block) const;           ///< factory or grown
    [[nodiscard]] bool is_factory_bad(BlockId block) const;
    /// Marks a grown bad block; survives.
    [[nodiscard]] std::expected<void, NandError> mark_bad(BlockId block);
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const;
    /// The next page that may be programmed; pages_per_block when full. For check() and recovery, costs no simulated time.
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) const;
    /// State and OOB of a page as the cells hold them, at no simulated cost: for check(), fsck and tests only.
    [[nodiscard]] std::expected<PageRecord, NandError> inspect(Ppn page) const;
    /// The same with the OOB parsed: what a scheme may ask about a page it has just read or programmed.
    [[nodiscard]] std::expected<StoredOob, NandError> inspect_oob(Ppn page) const;
    /// The same of a whole block in one go; `to` has pages_per_block elements.
    [[nodiscard]] std::expected<void, NandError> inspect(BlockId block, std::span<PageRecord> to) const;

    /// What was programmed until now must survive, also the cut of a program that shares cells with it (C5): a flush is to be answered, or a record that
    /// relies on it to be written, not before the time returned. Costs nothing by itself; `now` where nothing is in danger.
    [[nodiscard]] SimTime note_durable(SimTime now);
    /// Cells share several bits, and the array keeps what is noted as durable: everything else may be lost although its write was answered.
    [[nodiscard]] bool guards_pairs() const;
    /// After open(), before anything is read: the time that finding backups takes.
    [[nodiscard]] std::expected<SimTime, NandError> scan_backups(SimTime now);

    /// When the group of planes of this die is free of all reservations: for "least busy" choices.
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const;
    /// The end of the last reservation anywhere.
    [[nodiscard]] SimTime last_reserved_end() const;
    /// The clock passed `now`: undo records that ended are dropped, erased payload is given back, past reservations forgotten.
    void settle(SimTime now);
    /// The power fails at `at` (not before the last settle()). Afterwards no operation may be issued on this object: reopen the store.
    [[nodiscard]] std::expected<NandCutReport, NandError> cut(SimTime at, CutOutcomes& outcomes);

    /// cut() in two steps, for whoever tries many cuts of one run, the latest first. rewind() undoes for good what had not begun at `at` and returns how
    /// many operations that were; tear() then does to `target`, which holds what this array's store holds, what the cut does to those in flight.
    [[nodiscard]] std::expected<std::uint64_t, NandError> rewind(SimTime at);
    [[nodiscard]] std::expected<NandCutReport, NandError> tear(SimTime at, CutOutcomes& outcomes, PageStore& target);
    /// The times at which what a cut leaves changes: where cells begin to change, and where they are done.
    void append_moments(std::vector<SimTime>& to) const;

    [[nodiscard]] const NandCounters& counters() const;
    /// Busy nanoseconds since open() of each channel's bus and of each plane, for utilisation.
    [[nodiscard]] Duration channel_busy(ChannelId channel) const;
    [[nodiscard]] Duration plane_busy(PlaneId plane) const;
    /// The same of the controller and the serial host interface.
    [[nodiscard]] Duration front_busy() const;
    /// Reads that suspended an erase or a program since open().
    [[nodiscard]] std::uint64_t suspensions() const;

private:
    class Impl;
    class Striped;
    class PairGuard;
    std::unique_ptr<Impl> impl_;
    std::unique_ptr<Striped> striped_; ///< null: S = 1
};

} // namespace flashlab

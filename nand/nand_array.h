/// The flash as its controller sees it: channels of chips that obey the data sheet, in simulated time, with a past that can be undone.
///
/// Idea       Every call names when it may start and returns when it is done. State changes at the call; an undo record keeps the old state until
///            settle() passes the operation's end, so that cut(T) can put the flash into the state that a power loss at T leaves.
///            Its functions are in three parts: what schemes do, what looks and cuts (for who owns a drive, for checks and tests), statistics.
/// Order      open() comes first, then operations, settle() and questions in any order; after cut(), or rewind(), only questions and tear().
///            Operations take effect in the order of the calls. `now` may lie before that of an earlier call, but not before the last settle().
///            What an operation's result depends on is its caller's business: the array knows the order on a block (N2), not what a mapping needs.
/// Invariant  N1 pages of a block are programmed in increasing order, each once since the erase, as many as its mode has.
///            N2 a read never starts before the program of its page ends; a program not before the block's previous program or erase ends;
///               an erase not before every reserved program and read of the block ends.
///            N3 no resource (bus, page buffer, plane, controller) serves two operations at one instant.
///            N4 a mark of a bad block stands from a time on, and not before every operation of the block that was issued has ended.
///            Breaking N1 knowingly, or an operation after a cut, is a ContractViolation; N2, N3 and N4 hold by construction and are checked.
/// Cost       O(1) amortised an operation: calendars drop what is past. No allocation in steady state.
/// Power cut  cut(T): what starts after T is undone in reverse order of issue, what spans T is torn as CutOutcomes says, the rest stays.
///            kill -9 leaves a prefix of the issue order in the page store.
/// Source     Kang et al. (DUMBO) 3.3 and 3.4 for the phases (MC2); docs/crash-model.md for the outcomes.
#pragma once

#include <memory>

#include "nand/medium.h"
#include "nand/nand_faults.h"
#include "nand/nand_flight.h"
#include "nand/nand_types.h"
#include "nand/page_store.h"

namespace flashlab {

class NandArray final {
public:
    using Result = std::expected<SimTime, NandError>;

    /// `geometry` is the geometry of the chips and of the store. With config.striping > 1, geometry() and all addresses are striped ones; with
    /// config.rain they are those of W dies as one, without the parity.
    NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo);
    ~NandArray();
    NandArray(const NandArray&) = delete;
    NandArray& operator=(const NandArray&) = delete;

    // What schemes do

    [[nodiscard]] const Geometry& geometry() const;
    [[nodiscard]] const NandConfig& config() const;
    /// False: pages have a state and an OOB, but no data. A scheme that keeps records of its own on flash must then remember their content itself.
    [[nodiscard]] bool keeps_payload() const;

    // Operations. Each reserves its time and changes the state at the call. A page whose data are on the link (Io::transfer) is programmed once they
    // have arrived, and one that is read for the host is noted there.
    // It is durable at the time returned: a cut from then on leaves it (cut()).

    /// Returns the time at which the data are out of the chip.
    /// Fails with erased_page on an erased page, and with uncorrectable on a torn or garbage page.
    /// A page that a cut left unstable can be read once more (T4): who wants to keep it writes it anew.
    [[nodiscard]] std::expected<SimTime, NandError> read(const PageRead& page, const Io& io);
    /// Issues independent reads together, each as a command of its own. All are issued, then the first failure is returned.
    [[nodiscard]] std::expected<SimTime, NandError> read(std::span<const PageRead> pages, const Io& io);
    /// Reads the OOB only: command, tR, transfer of the spare bytes. An erased or torn page is no error here: OobRead says it.
    [[nodiscard]] std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io);
    /// Programs one page, or, as a multi-plane command, one page on each of several planes of one die, all with the same number in their block.
    /// With NandOptions::one_shot these may be several pages of one word line on each plane, the pages of a plane one after the other: tPROG is paid
    /// once, and pages of a word line fail, and are torn, together.
    /// All end together. Each page lies at or past its block's write pointer, and its block is not bad (N1).
    /// All pages are programmed, then the first failure is returned: the other pages hold their data.
    /// A cut in the middle leaves each page as T0 to T6 of docs/crash-model.md say.
    [[nodiscard]] std::expected<SimTime, NandError> program(std::span<const PageProgram> pages, const Io& io);
    /// Reads a page through the controller and programs it again with the same LPN, sequence and kind (no copy-back command).
    [[nodiscard]] std::expected<SimTime, NandError> copy(Ppn from, Ppn to, const Io& io);
    /// copy() with other marks. Returns the OOB that was written.
    [[nodiscard]] std::expected<CopiedPage, NandError> copy_as(Ppn from, Ppn to, const CopyMarks& marks, const Io& io);
    /// Copies `pages` consecutive pages to consecutive pages, one after another. Times, records and failures are those of single calls of copy().
    [[nodiscard]] CopiedRun copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io);
    /// Copies page sets: the reads of each are issued at io.when, its programs when the last of them has ended. Times and records are those of single
    /// calls of read() and program(), set after set. It copies as many as need no more than bus, cells and a record, from the first on; the next one,
    /// often the first, takes the calls. CopiedRun::pages counts sets; none fails.
    [[nodiscard]] CopiedRun rewrite_run(const RewriteRun& run, const Io& io);
    /// By `now` what must survive of the block is durable elsewhere: the caller sees to that. The array waits for the block's own operations only.
    /// The block is not bad (N1). A cut in the middle leaves E0 to E4.
    /// The block is in the cells' own mode from then on.
    [[nodiscard]] std::expected<SimTime, NandError> erase(BlockId block, const Io& io);
    /// erase() that chooses the block's mode, which the chips have (media()). A cut in the middle that leaves neither E0 nor E1 leaves either mode.
    [[nodiscard]] std::expected<SimTime, NandError> erase_as(BlockId block, CellType mode, const Io& io);
    [[nodiscard]] CellType mode_of(BlockId block) const;
    /// How many pages the block has in its mode: pages_per_block in the cells' own.
    [[nodiscard]] std::uint32_t pages_in(BlockId block) const;
    [[nodiscard]] const Media& media() const;

    // Two-plane commands, on chips that have them (NandOptions::two_plane): one command does the same to a pair of planes, 2k and 2k + 1 of one
    // die, in the same block of its plane and, of a page, the same page of its block. Another pair, or chips without them, is a ContractViolation.
    // Each page and block keeps its own state: a cut, a bad block or a failure strikes each by itself. All is done, then the first failure is
    // returned.

    /// program() of two pages.
    [[nodiscard]] std::expected<SimTime, NandError> program_two_plane(std::span<const PageProgram, 2> pages, const Io& io);
    /// Both planes sense at once; then the data of one page after the other cross the bus.
    [[nodiscard]] std::expected<SimTime, NandError> read_two_plane(std::span<const PageRead, 2> pages, const Io& io);
    [[nodiscard]] std::expected<SimTime, NandError> erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io);

    [[nodiscard]] bool is_bad(BlockId block) const; ///< factory or grown
    [[nodiscard]] bool is_factory_bad(BlockId block) const;
    /// Marks a block as grown bad. From the call on this array refuses to program or erase it (N1); it can still be read.
    /// `now` is when the mark's cause has ended: the failed operation is over, and what was valid in the block is durable elsewhere.
    /// Returns when the mark stands: `now`, or later when an operation of the block ends later (N4). It takes no time on bus or chip.
    /// A cut before that takes the mark back, with the copies that were made before it. From then on it survives everything.
    /// Marking a block that is marked changes nothing.
    [[nodiscard]] std::expected<SimTime, NandError> mark_bad(BlockId block, SimTime now);
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const;
    /// The next page that may be programmed; pages_in() when the block is full. Costs no simulated time: for check() and recovery.
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) const;
    /// inspect() with the OOB parsed. A scheme may ask it about a page that it has just read or programmed.
    [[nodiscard]] std::expected<StoredOob, NandError> inspect_oob(Ppn page) const;

    /// All pages programmed until now must survive, even when a later program that shares their cells is cut (C5). Returns the earliest time at which
    /// a flush may be answered, or a record that relies on these pages may be written: `now` if no page is in danger. Costs nothing by itself.
    [[nodiscard]] SimTime note_durable(SimTime now);
    /// True: pages share cells, and the array protects the pages that note_durable() covers.
    /// Any other page may be lost, although its write was answered.
    [[nodiscard]] bool guards_pairs() const;
    /// Charges the time that finding backups takes. Call it after open(), before anything is read.
    [[nodiscard]] std::expected<SimTime, NandError> scan_backups(SimTime now);

    /// With bit errors (NandErrors), and without striping: a block of which a read took retries that new data would not; the latest first.
    [[nodiscard]] std::optional<TiredBlock> take_tired();
    /// With parity over dies (NandConfig::rain): a block with data on a die that is dead, each once. New data would lie on the others.
    [[nodiscard]] std::optional<BlockId> take_degraded();
    /// With parity over dies: a die is dead, or some blocks go on without one. Asks all blocks.
    [[nodiscard]] bool has_lost_parity() const;
    /// How long the block's data have been there; 0 where cells have no bit errors.
    [[nodiscard]] double days_since_program(BlockId block, SimTime now) const;

    /// When the last reservation of this plane's cells ends: for "least busy" choices.
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const;
    /// The end of the last reservation anywhere.
    [[nodiscard]] SimTime last_reserved_end() const;

    // What looks into the flash, holds its clock and cuts its power. A scheme that runs does none of this; its check() may look. Looking takes no
    // simulated time and changes nothing.

    /// Reads the state of every block (erase count, bad mark) from the store, in one sequential pass over O(blocks) records. Call it once, before
    /// anything else. Write pointers are read later, when they are first needed.
    [[nodiscard]] std::expected<void, NandError> open();

    /// All data become older by so much, as on a shelf without power: no clock passes. Rewrites each block's record where cells have bit errors.
    [[nodiscard]] std::expected<void, NandError> grow_older(Duration time);

    /// Decides which operations fail; null: none. The object must outlive the array, or be taken back with set_faults(nullptr).
    void set_faults(NandFaults* faults);

    /// State and OOB of a page as the cells hold them. Costs no simulated time: for check(), fsck and tests only.
    [[nodiscard]] std::expected<PageRecord, NandError> inspect(Ppn page) const;
    /// inspect() for all pages of a block. `to` has pages_per_block elements.
    [[nodiscard]] std::expected<void, NandError> inspect(BlockId block, std::span<PageRecord> to) const;

    /// The clock has passed `now`: undo records of ended operations are dropped, erased payload is given back to the host,
    /// past reservations are forgotten.
    void settle(SimTime now);
    /// The power fails at `at`, which must not lie before the last settle(). What has ended by then stands, also what ends at that very instant.
    /// What has not begun never happens. What is under way becomes what `outcomes` say.
    /// Afterwards no operation may be issued on this object: reopen the store.
    [[nodiscard]] std::expected<NandCutReport, NandError> cut(SimTime at, CutOutcomes& outcomes);

    /// cut() in two steps, for a caller that tries many cuts of one run, the latest first. rewind() undoes for good the operations that had not begun
    /// at `at`, and returns how many they were. tear() then applies to `target`, a copy of this array's store,
    /// what the cut does to the operations in flight.
    [[nodiscard]] std::expected<std::uint64_t, NandError> rewind(SimTime at);
    [[nodiscard]] std::expected<NandCutReport, NandError> tear(SimTime at, CutOutcomes& outcomes, PageStore& target);
    /// Appends the times at which the result of a cut changes: the times at which cells begin to change, and those at which they are done.
    void append_moments(std::vector<SimTime>& to) const;
    /// Appends the programs and erases that a cut may still tear, those that have not begun among them, in the order of their issue.
    void append_flights(std::vector<NandFlight>& to) const;

    // Statistics: what the flash has done since it was opened. Programs and erases that a cut undoes are taken back; the time of buses and planes,
    // and what the translation layer counts, are not.

    /// The geometry of the chips themselves. channel_busy(), plane_busy() and events use its ids.
    [[nodiscard]] const Geometry& chip_geometry() const;
    [[nodiscard]] const NandCounters& counters() const;
    /// Busy nanoseconds since open() of each channel's bus and of each plane, for utilisation.
    [[nodiscard]] Duration channel_busy(ChannelId channel) const;
    [[nodiscard]] Duration channel_busy_before(ChannelId channel, SimTime at) const; ///< what of it lies before `at`
    [[nodiscard]] Duration plane_busy(PlaneId plane) const;
    /// Busy time of the controller and the serial host interface.
    [[nodiscard]] Duration front_busy() const;
    /// How many reads have suspended an erase or a program since open().
    [[nodiscard]] std::uint64_t suspensions() const;

private:
    class Addressing;
    class Impl;
    class Striped;
    class Rain;
    class PairGuard;
    std::unique_ptr<Impl> impl_;
    std::unique_ptr<Striped> striped_; ///< null: S = 1
    std::unique_ptr<Rain> rain_;       ///< null: no parity
    Addressing& addressing_;           ///< one of the three
};

} // namespace flashlab

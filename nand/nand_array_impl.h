/// The parts of a NandArray, and how a call goes through them. Internal to nand/.
///
/// Idea       BlockTable decides whether an operation is allowed and from when (N1, N2). Scheduler decides when it runs (N3). The store keeps the
///            bytes; UndoLog keeps what was there before.
/// Invariant  Times are reserved before the state changes; a record follows its data into the store, and an undo record follows every change.
/// Cost       Without payload and undo: one virtual call of the store a program, none a read of a regular block.
/// Power cut  nand_cut.cpp.
#pragma once

#include <array>
#include <cerrno>

#include "nand/bit_errors.h"
#include "nand/block_table.h"
#include "nand/nand_addressing.h"
#include "nand/pair_backup.h"
#include "nand/paired_pages.h"
#include "nand/scheduler.h"
#include "nand/undo_log.h"

namespace flashlab {

class NandArray::Impl final : public NandArray::Addressing {
public:
    Impl(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo);
    ~Impl() override;

    // Addressing: an address is the chips' own
    [[nodiscard]] const Geometry& wide_geometry() const override { return geometry; }
    Done read(const PageRead& page, const Io& io) override;
    Done read(std::span<const PageRead> pages, const Io& io) override;
    std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io) override;
    Done program(std::span<const PageProgram> pages, const Io& io) override;
    std::expected<CopiedPage, NandError> copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) override;
    CopiedRun copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io) override;
    CopiedRun rewrite_run(const RewriteRun& run, const Io& io);
    Done erase(BlockId block, CellType mode, const Io& io) override;
    Done read_two_plane(std::span<const PageRead, 2> pages, const Io& io) override;
    Done erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) override;
    Done mark_bad(BlockId block, SimTime now) override;
    [[nodiscard]] bool is_bad(BlockId block) const override { return blocks.is_bad(block) || is_backup_block(config, block); }
    [[nodiscard]] bool is_factory_bad(BlockId block) const override { return blocks.is_factory_bad(block) || is_backup_block(config, block); }
    [[nodiscard]] CellType mode_of(BlockId block) const override { return blocks.mode(block); }
    [[nodiscard]] std::uint32_t pages_in(BlockId block) const override { return media.of(blocks.mode(block)).pages; }
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const override { return blocks.erase_count(block); }
    /// Records that cannot be read leave nothing to program.
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) override { return blocks.write_pointer(block).value_or(geometry.pages_per_block()); }
    std::expected<StoredOob, NandError> inspect_oob(Ppn page) override;
    std::expected<PageRecord, NandError> inspect(Ppn page) override;
    std::expected<void, NandError> inspect(BlockId block, std::span<PageRecord> to) override;
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const override { return scheduler.plane_free_at(plane); }

    /// State and OOB of a page, taken from its backup where the page is read from there.
    std::expected<StoredOob, HostIoError> oob_of(Ppn page);
    std::expected<PageRecord, HostIoError> record_of(Ppn page);
    std::expected<void, HostIoError> records_of(BlockId block, std::span<PageRecord> to);
    /// For PairGuard: the erase of one of its backup blocks, and the program of a page in one.
    Done erase_block(BlockId block, CellType mode, const Io& io);
    Done program_backup(Ppn page, const BackupOob& oob, std::span<const std::byte> data, SimTime now);
    [[nodiscard]] NandError host_error(HostIoError error, Ppn page, SimTime at) const {
        return {NandErrorKind::host_io, page, at, error.error_number};
    }
    /// The error of a page that could not be read. A page whose record is damaged is uncorrectable; the rest of the image stays readable.
    [[nodiscard]] NandError read_error(HostIoError error, Ppn page, SimTime at) const {
        return error.error_number == EBADMSG ? NandError{NandErrorKind::uncorrectable, page, at} : host_error(error, page, at);
    }
    /// The end of everything that was issued to the block, `now` at least.
    [[nodiscard]] SimTime busy_until(BlockId block, SimTime now) const { return blocks.erase_ready(block, now); }
    void settle(SimTime now);
    std::expected<void, HostIoError> grow_older(Duration time);
    std::expected<NandCutReport, NandError> cut(SimTime at, CutOutcomes& outcomes);
    std::expected<std::uint64_t, NandError> rewind(SimTime at);
    std::expected<NandCutReport, NandError> tear(SimTime at, CutOutcomes& outcomes, PageStore& target);
    void append_moments(std::vector<SimTime>& to) const;
    void append_flights(std::vector<NandFlight>& to) const;

    const Geometry geometry;
    const NandConfig config;
    PageStore& store;
    EventSink& events;
    const UndoPolicy undo_policy;
    const Media media;
    BlockTable blocks;
    Scheduler scheduler;
    const PairedPages pairs;
    const std::uint32_t pages_a_program;
    NandCounters counters;
    NandFaults* faults = nullptr;
    std::unique_ptr<BitErrors> bit_errors; ///< null: there are none
    std::vector<TiredBlock> tired;         ///< whose pages took retries; what is asked next is last
    std::unique_ptr<PairGuard> guard;      ///< null: cells of one bit, or not asked for

private:
    struct PageAddress {
        BlockId block;
        std::uint32_t page; ///< in the block
    };
    [[nodiscard]] PageAddress address_of(Ppn page) const { return {geometry.block_of(page), geometry.page_in_block(page)}; }

    /// Reserves the time of a page read and notes it for the block. It does not look at the data.
    [[nodiscard]] Scheduler::Reservation reserve_read(PageAddress page, std::uint32_t bytes, const Io& io, PagePart part);
    /// A page of the chip that was sensed, until the ECC corrected it.
    struct Sensed {
        Scheduler::Reservation when;
        bool is_corrected = true;
        std::size_t along = 0; ///< reads behind it that it serves
    };
    [[nodiscard]] Sensed sense(Ppn page, PageAddress at, std::uint32_t bytes, const Io& io);
    /// The same again, as often as the page's bit errors want it; `sensed` is the first time.
    void sense_again(Sensed& sensed, Ppn page, PageAddress at, std::uint32_t bytes, const Io& io);
    void note_tired(Ppn page, BlockId block, std::uint32_t retries);
    /// What the read of a page gives that was sensed.
    Done finish_read(const PageRead& page, PageAddress at, const Sensed& sensed, const Io& io);
    /// `rest`: of the reads, from this one on.
    Done read_subpage(const PageRead& page, std::span<const PageRead> rest, Sensed& sensed, const Io& io);
    /// What an erase makes of a block whose time is reserved.
    Done finish_erase(BlockId block, CellType mode, const Scheduler::Reservation& when, Origin origin);
    [[nodiscard]] std::expected<CellState, HostIoError> state_of(Ppn page, PageAddress at);
    /// What was read of the block brought it nearer to errors: read disturb.
    void note_sensed(BlockId block);
    /// Gets the payload. The whole page is verified even where only a part is wanted.
    [[nodiscard]] std::expected<void, NandError> fetch(const PageRead& page, SimTime done);
    /// Uses up the one read that an unstable page had left.
    [[nodiscard]] std::expected<void, HostIoError> use_up(Ppn page);
    [[nodiscard]] std::expected<bool, HostIoError> is_weak(Ppn page, BlockId block);
    [[nodiscard]] std::expected<void, HostIoError> put(std::span<const PageProgram> line, std::span<const PageAddress> at,
                                                       const Scheduler::Reservation& when, bool fails);
    [[nodiscard]] std::expected<void, HostIoError> put_record(const PageProgram& page, PageAddress at, SimTime end, bool fails);
    /// Gets the payload of the whole pages in fetches_ in one go. Returns the error of the first page that fails.
    [[nodiscard]] std::expected<void, NandError> fetch_all(SimTime done);
    /// `shares_line`: the same operation programmed a page of the same word line just before.
    [[nodiscard]] std::expected<void, HostIoError> log_program(Ppn page, const Scheduler::Reservation& when, CellState old_state, bool shares_line,
                                                               Cause cause);
    /// One of the columns of the run of page sets at hand.
    struct Column {
        PageAddress source;
        PageAddress target;
        Scheduler::Way out;
        Scheduler::Way in;
        SimTime ready; ///< the first page may be read
        SimTime read_end;
        SimTime end; ///< of the last program or erase of the target
        std::array<SimTime, BlockTable::recent_programs> ends{};
    };
    /// How many of the sets one call takes, at most `sets`; it fills columns_.
    [[nodiscard]] std::uint32_t take_columns(const RewriteRun& run, SimTime now);
    /// Copies as many pages of a run at once as is allowed. None: the first page has to be copied by itself.
    [[nodiscard]] std::optional<CopiedPage> copy_plainly(Ppn from, Ppn to, const CopyMarks* marks, const Io& io);
    [[nodiscard]] CopiedRun copy_at_once(Ppn from, Ppn to, std::uint32_t pages, const Io& io);
    [[nodiscard]] std::expected<void, HostIoError> log_erase(BlockId block, CellType mode, const Scheduler::Reservation& when);
    [[nodiscard]] const Medium& medium_of(BlockId block) const { return media.of(blocks.mode(block)); }
    [[nodiscard]] bool erase_may_need_payload(Ppn page) const;
    void check_read_call(const PageRead& page) const {
        ensure(page.offset <= geometry.page_bytes() && page.bytes <= geometry.page_bytes() - page.offset, "a read stays within its page");
        ensure(page.to.empty() || page.to.size() == page.bytes, "a read's target has the read's length");
    }
    std::size_t take_call(std::span<const PageProgram> pages);
    void check_places(std::size_t pages, std::size_t each) const;
    [[nodiscard]] bool any_fails(std::span<const PageProgram> pages) const;
    void emit(NandOp op, const Scheduler::Reservation& when, Origin origin, BlockId block, std::uint32_t page, const PageOob* oob);
    void emit_read(const Scheduler::Reservation& when, Origin origin, Ppn page);

    // nand_cut.cpp; these work on any store that holds the same cells
    [[nodiscard]] std::expected<void, HostIoError> undo(const UndoRecord& record, PageStore& cells);
    [[nodiscard]] std::expected<void, HostIoError> tear_program(const UndoRecord& record, ProgramOutcome outcome, CutOutcomes& outcomes,
                                                                PageStore& cells);
    [[nodiscard]] std::expected<void, HostIoError> draw_mode(const UndoRecord& record, CutOutcomes& outcomes, PageStore& cells);
    [[nodiscard]] std::expected<void, HostIoError> damage(Ppn page, CutOutcomes& outcomes, PageStore& cells);
    [[nodiscard]] std::expected<void, HostIoError> tear_erase(const UndoRecord& record, EraseOutcome outcome, CutOutcomes& outcomes,
                                                              PageStore& cells);

    UndoLog log_;
    std::vector<std::uint64_t> last_erase_;        ///< by block: number of its last erase's undo record; empty when none are kept
    std::vector<std::byte> page_;                  ///< one page, for verification and copies
    std::vector<PageFetch> fetches_;               ///< of the reads at hand
    std::vector<PlaneId> planes_;                  ///< of the program at hand, as the next two; as long as a call can be
    std::span<const PlaneId> planes_taken_;        ///< of these, each once
    std::vector<PageAddress> addresses_;           ///< of the program at hand
    std::vector<std::span<const std::byte>> data_; ///< of the word line at hand
    std::vector<Column> columns_;                  ///< of the run of page sets at hand
    const bool copies_plainly_;                    ///< as long as no faults are set and no sink wants all events
    Cause cause_ = Cause::user;                    ///< of the program or erase at hand, for its undo record
    bool cut_ = false;
};

} // namespace flashlab

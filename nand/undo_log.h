/// What the cells held before each operation that a power cut may still undo or tear.
///
/// Idea       A queue in issue order: settle() drops its front, cut() walks it from the back.
/// Invariant  A record is kept at least until its operation's end has passed.
/// Cost       An erase keeps its block's page records. A program keeps a payload only where an erase in this log may bring it back.
///            Buffers are reused.
/// Power cut  The log belongs to the simulator: it makes the cut and does not survive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/events.h"
#include "base/sim_time.h"
#include "nand/page_store.h"

namespace flashlab {

struct UndoRecord {
    enum class Kind : std::uint8_t { program, erase, bad_mark };
    static constexpr std::uint64_t no_index = ~std::uint64_t{0};

    Kind kind;
    Ppn page;                                ///< the page programmed, or the first page of the block that was erased or marked
    SimTime cells;                           ///< when the cells, or the mark, begin to change
    SimTime end;                             ///< when they are done
    bool undone = false;                     ///< rewound: it never happened
    bool shares_line = false;                ///< program: of one operation, and one word line, with the record before this one
    Cause cause = Cause::user;               ///< why it was done
    CellState old_state = CellState::erased; ///< program: erased or weak
    std::uint64_t previous_erase = no_index; ///< erase: the block's erase before this one
    std::uint32_t old_erase_count = 0;       ///< erase
    CellType old_mode = CellType::slc;       ///< erase
    CellType new_mode = CellType::slc;       ///< erase
    BlockAge old_age{};                      ///< erase
    std::vector<PageRecord> old_records{};   ///< erase
    std::vector<std::byte> old_payload{};    ///< program: the payload that an undone erase needs back; empty when none does
};

class UndoLog {
public:
    /// Returns the record's number. Numbers count up from 0; a number stays valid until its record is dropped.
    std::uint64_t push(UndoRecord record);
    [[nodiscard]] bool empty() const { return records_.empty(); }
    [[nodiscard]] bool holds(std::uint64_t index) const { return index != UndoRecord::no_index && index >= first_; }
    [[nodiscard]] const UndoRecord& at(std::uint64_t index) const;
    [[nodiscard]] UndoRecord& at(std::uint64_t index) { return const_cast<UndoRecord&>(std::as_const(*this).at(index)); }
    [[nodiscard]] const UndoRecord& front() const { return records_.front(); }
    [[nodiscard]] const UndoRecord& back() const { return records_.back(); }
    [[nodiscard]] std::uint64_t front_index() const { return first_; }
    [[nodiscard]] std::uint64_t end_index() const { return first_ + records_.size(); }
    void drop_front();
    void drop_back();

    /// Empty buffers that once belonged to dropped records.
    [[nodiscard]] std::vector<PageRecord> records_buffer();
    [[nodiscard]] std::vector<std::byte> payload_buffer();

private:
    std::deque<UndoRecord> records_;
    std::uint64_t first_ = 0;
    std::vector<std::vector<PageRecord>> spare_records_;
    std::vector<std::vector<std::byte>> spare_payloads_;
};

} // namespace flashlab

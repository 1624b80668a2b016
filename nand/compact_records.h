/// The page records of one block in a store without payload.
///
/// Idea       The logical page and the low half of the write sequence are stored for each page. State, kind, stream, scheme word and the upper bits
///            of the sequence stay the same over long runs of pages, mostly over the whole block. They are stored once for each run.
/// Invariant  Pages behind the last page that was set are erased.
/// Cost       8 bytes a page and 32 a block, and 12 for each further run. An erase touches no page. Changing the last page is O(1); changing an
///            earlier one is linear in the pages of the block.
/// Power cut  A store without payload does not outlive a power cut.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/id.h"
#include "nand/page_store.h"

namespace flashlab {

class CompactRecords {
public:
    explicit CompactRecords(std::uint32_t pages_per_block) : pages_per_block_{pages_per_block} {}

    /// `oob` is null when the page's OOB does not parse.
    void set(std::uint32_t page, CellState state, const PageOob* oob);
    /// The same for `count` programmed pages, whose LPNs go up one by one.
    void set_run(std::uint32_t page, const PageOob& oob, std::uint32_t count) { set_alike(page, CellState::programmed, oob, count); }
    [[nodiscard]] StoredOob get(std::uint32_t page) const;
    /// True: the page is programmed and its OOB parses.
    [[nodiscard]] bool is_programmed(std::uint32_t page) const;
    /// Copies `count` records of another block, from page `first` on, to this block from page `to` on. All of them must be set.
    void copy(const CompactRecords& from, std::uint32_t first, std::uint32_t to, std::uint32_t count);
    void erase();
    [[nodiscard]] bool is_blank() const { return set_ == 0; }

private:
    struct Own {
        std::uint32_t lpn;
        std::uint32_t sequence; ///< its low half
    };
    struct Shared {
        std::uint32_t scheme_word = 0;
        std::uint8_t sequence_high = 0;
        std::uint8_t kind = 0; ///< 0: the OOB does not parse
        CellState state = CellState::erased;
        std::uint8_t stream = 0;
        /// Each page asks; the fields fill eight bytes.
        friend bool operator==(const Shared& a, const Shared& b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
    };
    struct Run {
        std::uint32_t first;
        Shared shared;
    };

    [[nodiscard]] const Shared& shared(std::uint32_t page) const;
    void set_alike(std::uint32_t page, CellState state, const PageOob& oob, std::uint32_t count);
    /// From now on all pages before `page` count as set. Those that were not set are set to erased.
    void reach(std::uint32_t page);
    void share(std::uint32_t first, std::uint32_t count, const Shared& value);
    void share_again(std::uint32_t first, std::uint32_t count, const Shared& value);

    std::unique_ptr<Own[]> own_;
    std::unique_ptr<std::vector<Run>> later_; ///< runs behind the first; null until there was one
    Shared first_;                            ///< from page 0 on
    std::uint32_t set_ = 0;
    std::uint32_t pages_per_block_;
};

} // namespace flashlab

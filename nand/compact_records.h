/// The page records of one block whose payload nobody keeps.
///
/// Idea       Logical page and the low half of the write sequence are each page's own. State, kind, scheme word and the upper bits of the sequence stay the same over long runs
///            of pages, mostly over the whole block: they are kept once a run.
/// Invariant  Pages behind the last one set are erased.
/// Cost       8 bytes a page and 32 a block, 12 more for each further run. An erase touches no page. Changing a page that is not the last one takes as long as the block has pages.
/// Power cut  No store without payload outlives one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/id.h"
#include "nand/page_store.h"

namespace flashlab {

class CompactRecords {
public:
    explicit CompactRecords(std::uint32_t pages_per_block) : pages_per_block_{pages_per_block} {}

    /// `oob` is null where none parses.
    void set(std::uint32_t page, CellState state, const PageOob* oob);
    [[nodiscard]] StoredOob get(std::uint32_t page) const;
    /// With an OOB that parses.
    [[nodiscard]] bool is_programmed(std::uint32_t page) const;
    /// `count` pages of `from`, which is another block, all set; to pages of this one from `to` on.
    void copy(const CompactRecords& from, std::uint32_t first, std::uint32_t to, std::uint32_t count);
    void erase();

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
        friend bool operator==(const Shared&, const Shared&) = default;
    };
    struct Run {
        std::uint32_t first;
        Shared shared;
    };

    [[nodiscard]] const Shared& shared(std::uint32_t page) const;
    /// Pages before `page` are set from now on, erased where nobody did it.
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

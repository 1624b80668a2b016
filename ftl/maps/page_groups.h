/// Groups of neighbouring logical pages, so that collections put pages in order and a learned map knows where they are.
///
/// Idea       What the host writes out of order goes to a log of its group, a superblock on one die after the other. For each page that a collection
///            of blocks has to copy, some are due to be put in order: of the group in which most was written, the next stripe of pages is read and
///            written again, one page behind the other, die by die, into superblocks that hold nothing else. Behind the last stripe the group's log
///            and what was in order before are empty, and are erased without a copy.
/// Invariant  Each log is written on one die at a time, no die has more than its share of them. No more is due than a superblock of each die.
/// Cost       A read and a program for each page in order, 1 + 1 / (2 s) programs for a page of the host, written at random, where s is the spare.
///            Of the device: bytes_a_group each. The host does not wait for it, but for the dies that work on it.
/// Power cut  RAM only: a group is begun anew, logs go on where their superblocks do. A stripe that is cut is as a copy that is cut.
/// Source     Wang et al., "LearnedFTL", HPCA 2024: group allocation. Differences: ftl/DESIGN-learnedftl.md.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "ftl/blocks/row_writer.h"
#include "ftl/maps/virtual_units.h"

namespace flashlab {

struct PageRun {
    Lpn first{0};
    std::uint32_t pages = 0;
};

class PageGroups {
public:
    static constexpr std::uint32_t bytes_a_group = 12; ///< which die has its log; what was written
    /// `groups`: 0: none. `blocks` and `numbers` live as long.
    PageGroups(const PageBlocks& blocks, const VirtualUnits& numbers, std::uint32_t groups, std::uint32_t logical_pages);

    [[nodiscard]] bool are_there() const { return groups_ != 0; }
    [[nodiscard]] std::uint64_t device_bytes() const { return std::uint64_t{bytes_a_group} * groups_; }
    [[nodiscard]] std::uint32_t of(Lpn lpn) const { return static_cast<std::uint32_t>(std::uint64_t{lpn.value()} * groups_ / logical_pages_); }
    /// So many pages of the group, out of order.
    [[nodiscard]] RowPlace place_in(std::uint32_t group, std::uint32_t pages);
    /// The next row of what is put in order: the dies in turn, each until its row is whole.
    [[nodiscard]] RowPlace place_in_order(std::uint32_t pages);

    /// A collection of a block had to copy a page.
    void copied() { due_ = std::min(due_ + ordered_a_copy, most_due_); }
    /// The host wrote a page: some of what is due may go on.
    void written(Lpn lpn) {
        if (!are_there()) return;
        ++written_[of(lpn)];
        allowed_ = std::min<std::uint64_t>(allowed_, stripe_) + ordered_a_write;
    }
    /// The next stripe in which anything is mapped; none when none is due or allowed. `is_mapped(run)`: any of it.
    template <class IsMapped>
    [[nodiscard]] std::optional<PageRun> next_in_order(const IsMapped& is_mapped) {
        if (!are_there()) return std::nullopt;
        for (int looked_at = 0; looked_at < 8 && std::min(due_, allowed_) >= stripe_; ++looked_at) {
            if (next_ == end_) begin_group();
            const PageRun run{Lpn{next_}, std::min(stripe_, end_ - next_)};
            next_ += run.pages;
            if (!is_mapped(run)) continue;
            due_ -= run.pages;
            allowed_ -= run.pages;
            return run;
        }
        return std::nullopt;
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    static constexpr std::uint64_t ordered_a_copy = 16;  ///< fewer, and blocks are copied that would have been emptied; more is as good
    static constexpr std::uint32_t ordered_a_write = 16; ///< at most
    static constexpr std::uint32_t least_stripe = 64;    ///< that one read of a translation page serves

    [[nodiscard]] const OpenSuperblock& open(std::uint32_t turn, FrontierId frontier) const {
        return blocks_.open(numbers_.group_at(turn), frontier);
    }
    [[nodiscard]] std::uint32_t turn_for_log(FrontierId log);
    void begin_group();

    const PageBlocks& blocks_;
    const VirtualUnits& numbers_;
    std::uint32_t groups_, logical_pages_;
    std::vector<std::uint32_t> log_turn_; ///< by group: the die that has its log; none: not looked for since the mount
    std::vector<std::uint32_t> logs_on_;  ///< by die, while one is chosen
    std::uint32_t next_turn_ = 0;         ///< where the next log goes that has to leave a die
    std::uint32_t order_turn_ = 0;
    std::uint32_t next_ = 0, end_ = 0;   ///< logical pages of the group that is put in order
    std::vector<std::uint64_t> written_; ///< by group: pages since it was begun
    std::uint32_t stripe_;               ///< pages that are put in order together
    std::uint64_t most_due_;             ///< a superblock of each die, or two stripes
    std::uint64_t due_ = 0, allowed_ = 0;
};

} // namespace flashlab

/// The log blocks: which blocks take overwrites, for whom, and what their pages hold.
///
/// Idea       A log block belongs to one logical block (its home) or to all of them (FAST's RW log blocks). Each kind is kept in an order of its own:
///            least recently touched first.
/// Invariant  L1 find(lpn) names page p of log block s iff page p of s is lpn's newest version; live(s) is the number of such pages.
///            L2 a log block is in place iff page i of it holds page i of its home, for every page written.
///            L3 nothing is written to a sealed log block.
/// Cost       4 bytes a log page and the hash of LogPages; O(1) each.
/// Power cut  RAM only; comes back from checkpoint, journal and OOB.
/// Source     BAST: a log block for one data block; Lee et al., "A log buffer-based FTL using fully-associative sector translation", 2007 (FAST).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/sim_time.h"
#include "ftl/blocks/block_map.h"
#include "ftl/blocks/log_pages.h"

namespace flashlab {

using LogSlot = std::uint32_t;

struct LogBlock {
    BlockId block{0};
    std::optional<LogicalBlock> home;
    std::uint32_t next = 0;  ///< page that is written next
    std::uint32_t began = 0; ///< room in log blocks without a home that were opened before; wraps
    std::uint32_t live = 0;
    bool in_place = true;
    bool sealed = false;
    bool is_open = false;         ///< false: this slot is free
    SimTime ready = sim_start;    ///< nothing is programmed here before
    SimTime named = sim_start;    ///< recovery knows the block from then on: nothing in it is answered before
    SimTime last_end = sim_start; ///< of its programs
    LogSlot older = 0, newer = 0; ///< in the order of its kind
};

enum class LogKind : std::uint8_t { own, shared }; ///< with a home; without

class LogBlocks {
public:
    explicit LogBlocks(const BlockMap& map);

    LogSlot open(BlockId block, std::optional<LogicalBlock> home);
    /// Nothing in it may be live.
    void close(LogSlot slot);
    [[nodiscard]] LogBlock& at(LogSlot slot) { return logs_[slot]; }
    [[nodiscard]] const LogBlock& at(LogSlot slot) const { return logs_[slot]; }
    [[nodiscard]] std::uint32_t count(LogKind kind) const { return order_[index(kind)].count; }
    [[nodiscard]] std::uint32_t count() const { return count(LogKind::own) + count(LogKind::shared); }
    [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(logs_.size()); } ///< free ones included
    [[nodiscard]] bool has_room(LogSlot slot) const { return !logs_[slot].sealed && logs_[slot].next < map_.pages_per_block(); }

    /// The log block that was opened last for this logical block, of those that are open.
    [[nodiscard]] std::optional<LogSlot> of_home(LogicalBlock home) const;
    [[nodiscard]] std::optional<LogSlot> oldest(LogKind kind) const;
    [[nodiscard]] std::optional<LogSlot> newest(LogKind kind) const;
    /// The next one of its kind, older to newer.
    [[nodiscard]] std::optional<LogSlot> after(LogSlot slot) const;
    void touch(LogSlot slot);

    struct Page {
        LogSlot slot = 0;
        std::uint32_t page = 0;
    };
    [[nodiscard]] std::optional<Page> find(Lpn lpn) const;
    /// Page `page` is now the newest version of lpn, which must not be logged.
    void put(Lpn lpn, LogSlot slot, std::uint32_t page);
    void drop(Lpn lpn);
    /// What page `page` of the log block is the newest version of.
    [[nodiscard]] std::optional<Lpn> live_page(LogSlot slot, std::uint32_t page) const;

    /// The same of all its pages at once; no_lpn where there is nothing.
    static constexpr std::uint32_t no_lpn = 0xffff'ffff;
    [[nodiscard]] std::span<const std::uint32_t> live_pages(LogSlot slot) const {
        return std::span{lpns_}.subspan(std::size_t{slot} * map_.pages_per_block(), map_.pages_per_block());
    }

private:
    static constexpr std::uint32_t none = no_lpn;
    struct Order {
        LogSlot oldest = none;
        LogSlot newest = none;
        std::uint32_t count = 0;
    };
    static std::size_t index(LogKind kind) { return static_cast<std::size_t>(kind); }
    [[nodiscard]] Order& order_of(LogSlot slot) { return order_[index(logs_[slot].home ? LogKind::own : LogKind::shared)]; }
    void link(LogSlot slot);
    void unlink(LogSlot slot);
    [[nodiscard]] std::uint32_t another_of(LogicalBlock home, LogSlot but);

    const BlockMap& map_;
    std::vector<LogBlock> logs_;
    std::vector<LogSlot> free_slots_;
    std::vector<std::uint32_t> lpns_; ///< by slot and page
    std::vector<LogSlot> of_home_;    ///< by logical block
    LogPages pages_;
    Order order_[2];
    std::uint32_t began_ = 0;
    std::uint32_t strays_ = 0; ///< own log blocks that of_home_ does not name: after a power cut a logical block may have several
};

} // namespace flashlab

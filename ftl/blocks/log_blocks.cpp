#include "ftl/blocks/log_blocks.h"

#include <algorithm>

namespace flashlab {

LogBlocks::LogBlocks(const BlockMap& map) : map_{map}, of_home_(map.logical_blocks(), none) {}

LogSlot LogBlocks::open(BlockId block, std::optional<LogicalBlock> home) {
    if (free_slots_.empty()) {
        free_slots_.push_back(slots());
        logs_.emplace_back();
        lpns_.resize(logs_.size() * map_.pages_per_block());
    }
    const LogSlot slot = free_slots_.back();
    free_slots_.pop_back();
    logs_[slot] = LogBlock{.block = block, .home = home, .in_place = home.has_value(), .is_open = true};
    std::fill_n(lpns_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * map_.pages_per_block()), map_.pages_per_block(), none);
    if (home) {
        strays_ += of_home_[home->value()] != none ? 1 : 0;
        of_home_[home->value()] = slot;
    } else {
        logs_[slot].began = began_;
        began_ += map_.pages_per_block();
    }
    link(slot);
    return slot;
}

void LogBlocks::close(LogSlot slot) {
    LogBlock& log = logs_[slot];
    ensure(log.is_open && log.live == 0, "a log block is closed once, when nothing in it is live");
    unlink(slot);
    if (log.home && of_home_[log.home->value()] != slot)
        --strays_;
    else if (log.home)
        of_home_[log.home->value()] = strays_ == 0 ? none : another_of(*log.home, slot);
    log.is_open = false;
    free_slots_.push_back(slot);
}

/// It is a stray no longer.
std::uint32_t LogBlocks::another_of(LogicalBlock home, LogSlot but) {
    for (auto slot = newest(LogKind::own); slot; slot = logs_[*slot].older == none ? std::nullopt : std::optional{logs_[*slot].older}) {
        if (*slot == but || logs_[*slot].home != home) continue;
        --strays_;
        return *slot;
    }
    return none;
}

std::optional<LogSlot> LogBlocks::of_home(LogicalBlock home) const {
    const LogSlot slot = of_home_[home.value()];
    return slot == none ? std::nullopt : std::optional{slot};
}

std::optional<LogSlot> LogBlocks::oldest(LogKind kind) const {
    const LogSlot slot = order_[index(kind)].oldest;
    return slot == none ? std::nullopt : std::optional{slot};
}

std::optional<LogSlot> LogBlocks::newest(LogKind kind) const {
    const LogSlot slot = order_[index(kind)].newest;
    return slot == none ? std::nullopt : std::optional{slot};
}

std::optional<LogSlot> LogBlocks::after(LogSlot slot) const { return logs_[slot].newer == none ? std::nullopt : std::optional{logs_[slot].newer}; }

void LogBlocks::touch(LogSlot slot) {
    if (order_of(slot).newest == slot) return;
    unlink(slot);
    link(slot);
}

void LogBlocks::link(LogSlot slot) {
    Order& order = order_of(slot);
    logs_[slot].older = order.newest;
    logs_[slot].newer = none;
    if (order.newest == none)
        order.oldest = slot;
    else
        logs_[order.newest].newer = slot;
    order.newest = slot;
    ++order.count;
}

void LogBlocks::unlink(LogSlot slot) {
    Order& order = order_of(slot);
    const LogBlock& log = logs_[slot];
    if (log.older == none)
        order.oldest = log.newer;
    else
        logs_[log.older].newer = log.newer;
    if (log.newer == none)
        order.newest = log.older;
    else
        logs_[log.newer].older = log.older;
    --order.count;
}

std::optional<LogBlocks::Page> LogBlocks::find(Lpn lpn) const {
    const auto found = pages_.find(lpn);
    if (!found) return std::nullopt;
    return Page{map_.by_blocks().divide(*found), map_.by_blocks().remainder(*found)}; // slots are as long as blocks
}

void LogBlocks::put(Lpn lpn, LogSlot slot, std::uint32_t page) {
    const std::uint32_t at = slot * map_.pages_per_block() + page;
    LogBlock& log = logs_[slot];
    pages_.put(lpn, at);
    lpns_[at] = lpn.value();
    ++log.live;
    if (log.in_place && (map_.block_of(lpn) != *log.home || map_.offset_of(lpn) != page)) log.in_place = false;
}

void LogBlocks::drop(Lpn lpn) {
    const std::uint32_t at = pages_.remove(lpn);
    lpns_[at] = none;
    --logs_[map_.by_blocks().divide(at)].live;
}

std::optional<Lpn> LogBlocks::live_page(LogSlot slot, std::uint32_t page) const {
    const std::uint32_t lpn = lpns_[std::size_t{slot} * map_.pages_per_block() + page];
    return lpn == none ? std::nullopt : std::optional{Lpn{lpn}};
}

} // namespace flashlab

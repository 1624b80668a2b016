#include "ftl/blocks/block_ledger.h"

#include <algorithm>

#include "ftl/blocks/less_worn.h"

namespace flashlab {

BlockLedger::BlockLedger(const PageBlocksConfig& config, NandArray& array)
    : config_{config}, kinds_{config.kinds()},
      least_stale_{std::min((array.config().options.subpages - 1) * config.streams + 1, array.geometry().pages_per_block() / config.pages_per_unit)},
      array_{array}, units_{array.geometry(), config.pages_per_unit}, valid_{units_}, free_{array.geometry()}, groups_(config.groups),
      state_(array.geometry().blocks(), State::outside), frontier_of_(array.geometry().blocks(), 0),
      settled_at_(array.geometry().blocks(), sim_start), closed_by_(array.geometry().blocks(), sim_start),
      forgotten_at_(array.geometry().blocks(), sim_start), rest_(array.geometry().blocks(), 0), pinned_(array.geometry().blocks(), 0) {
    ensure(config.groups >= 1 && config.groups <= array.geometry().dies(), "a group is a die");
    if (config.has_cache()) cache_free_.emplace(array.geometry());
    full_.reserve(config.kinds());
    for (std::uint32_t kind = 0; kind < config.kinds(); ++kind)
        full_.emplace_back(units_); // each in its place: a copy would touch the memory of blocks that it never has
}

std::uint64_t BlockLedger::spare_units() const { return all_.good > config_.valid_units_at_most ? all_.good - config_.valid_units_at_most : 0; }

void BlockLedger::count(Group& group, std::int64_t good, std::int64_t valid) {
    for (Units* units : {&group.units, &all_}) {
        units->good += static_cast<std::uint64_t>(good);
        units->valid += static_cast<std::uint64_t>(valid);
    }
}

void BlockLedger::validate(UnitId unit) {
    valid_.set(unit);
    count(groups_[group_of(units_.block_of(unit)).value()], 0, 1);
}

void BlockLedger::invalidate(UnitId unit, SimTime end) {
    const BlockId block = units_.block_of(unit);
    const std::uint32_t b = block.value();
    valid_.clear(unit);
    count(groups_[group_of(block).value()], 0, -1);
    settled_at_[b] = std::max(settled_at_[b], end);
    full_of(block).update(block, listed_under(block));
    if (pinned_[b] != 0 && valid_.count(block) == 0) {
        pinned_[b] = 0;
        list_full(block);
    }
}

void BlockLedger::load(BlockId block, LoadAs as, FrontierId frontier) {
    Group& group = groups_[group_of(block).value()];
    const std::uint32_t b = block.value();
    if (is_cache(block))
        frontier = config_.cache_frontier();
    else if (config_.has_dynamic_cache() && as == LoadAs::data && array_.mode_of(block) == config_.cache.mode)
        frontier = config_.dynamic_frontier();
    frontier_of_[b] = static_cast<std::uint8_t>(frontier.value());
    if (as == LoadAs::bad) {
        state_[b] = State::bad;
        ++bad_blocks_;
        return;
    }
    count(group, good_units(block), valid_.count(block));
    if (as == LoadAs::data) lend_to_cache(block);
    if (!is_cache(block)) group.erases += array_.erase_count(block);
    switch (as) {
    case LoadAs::erased:
        if (!is_cache(block)) {
            free_.add_erased(block);
            break;
        }
        [[fallthrough]]; // what the factory erased is not in its mode
    case LoadAs::garbage:
        free_of(block).add_garbage(block);
        break;
    case LoadAs::data:
        list_full(block);
        break;
    case LoadAs::open:
    case LoadAs::bad:
        break;
    }
    state_[b] = as == LoadAs::data ? State::data : as == LoadAs::open ? State::open : State::free;
}

FreeBlock BlockLedger::take_free(PlaneId plane, CellType mode) {
    if (config_.wear_threshold != 0) free_.bring_forward(plane, LessWorn{array_});
    if (config_.has_dynamic_cache())
        free_.bring_forward(plane, [&](BlockId a, BlockId b) { return array_.mode_of(a) == mode && array_.mode_of(b) != mode; });
    return *free_.take(plane);
}

void BlockLedger::lend_to_cache(BlockId block) {
    if (!is_lent(block)) return;
    ++groups_[group_of(block).value()].lent;
    ++lent_;
}

void BlockLedger::take_back_lent(BlockId block) {
    if (!is_lent(block)) return;
    --groups_[group_of(block).value()].lent;
    --lent_;
    frontier_of_[block.value()] = static_cast<std::uint8_t>(host_frontier.value());
}

void BlockLedger::set_open(BlockId block, FrontierId frontier) {
    state_[block.value()] = State::open;
    frontier_of_[block.value()] = static_cast<std::uint8_t>(frontier.value());
    settled_at_[block.value()] = sim_start;
    lend_to_cache(block);
}

void BlockLedger::set_data(BlockId block, SimTime end) {
    state_[block.value()] = State::data;
    closed_by_[block.value()] = end;
    list_full(block);
}

std::uint32_t BlockLedger::listed_under(BlockId block) const {
    const std::uint32_t valid = valid_.count(block), all = units_.units_per_block();
    return all - valid < least_stale_ ? all : std::min(valid + rest_[block.value()], all - 1);
}

void BlockLedger::list_full(BlockId block) {
    weigh_wear(block);
    full_of(block).add(block, listed_under(block));
}

void BlockLedger::relist(BlockId block) {
    weigh_wear(block);
    full_of(block).add_again(block, listed_under(block));
}

/// How much fuller it is to look than it is.
void BlockLedger::weigh_wear(BlockId block) {
    std::uint32_t& rest = rest_[block.value()];
    rest = 0;
    if (const Group& group = groups_[group_of(block).value()]; config_.wear_threshold != 0 && group.units.good != 0 && !is_cache(block)) {
        const std::uint64_t units = units_.units_per_block();
        const std::uint64_t mean = std::max<std::uint64_t>(1, group.erases * units / group.units.good);
        const std::uint64_t let_be = mean + std::max<std::uint64_t>(config_.wear_threshold, mean / 16); // what chance makes
        // Twice as steep as the excess: a block an eighth above what is let be looks a quarter fuller.
        if (const std::uint64_t worn = array_.erase_count(block); worn > let_be)
            rest = static_cast<std::uint32_t>(std::min(units / 4, 2 * units * (worn - let_be) / mean));
    }
}

void BlockLedger::unlist(BlockId block) {
    FullBlocks& full = full_of(block);
    if (full.contains(block)) full.remove(block);
}

void BlockLedger::set_free(BlockId block, SimTime forgotten, const std::expected<SimTime, NandError>& erased) {
    state_[block.value()] = State::free;
    take_back_lent(block);
    forgotten_at_[block.value()] = forgotten;
    if (!erased) return free_of(block).add_garbage(block);
    settled_at_[block.value()] = *erased;
    free_of(block).add_erased(block);
}

void BlockLedger::lose(BlockId block) {
    state_[block.value()] = State::bad;
    take_back_lent(block);
    Group& group = groups_[group_of(block).value()];
    count(group, -std::int64_t{good_units(block)}, 0);
    if (!is_cache(block)) group.erases -= array_.erase_count(block);
    ++bad_blocks_;
    ++retired_blocks_;
    check_reserve();
}

void BlockLedger::check_reserve() {
    if (spare_units() < std::uint64_t{config_.spare_blocks_a_group} * units_.units_per_block() * groups_.size()) read_only_ = true;
}

FtlError BlockLedger::fail(const NandError& error, Lpn lpn) {
    if (error.kind == NandErrorKind::host_io) {
        read_only_ = image_failed_ = true;
        return {FtlErrorKind::host_io, lpn, error.done, error.host_errno};
    }
    return {FtlErrorKind::lost_page, lpn, error.done};
}

std::optional<BlockExchange::Lent> BlockLedger::offer(PlaneId plane) {
    if (plane.value() >= planes_in_use() || free_.count(plane) == 0) return std::nullopt;
    free_.bring_forward(plane, LessWorn{array_});
    const BlockId block = *free_.next_of(plane);
    return Lent{block, std::max(settled_at_[block.value()], forgotten_at_[block.value()])};
}

void BlockLedger::lend(BlockId offered) {
    const BlockId block = free_.take(units_.geometry().plane_of(offered))->block;
    ensure(block == offered, "what was offered is lent");
    Group& group = groups_[group_of(block).value()];
    count(group, -std::int64_t{units_.units_per_block()}, 0);
    group.erases -= array_.erase_count(block);
    state_[block.value()] = State::outside;
}

void BlockLedger::give(BlockId block, SimTime ready) {
    settled_at_[block.value()] = forgotten_at_[block.value()] = ready;
    load(block, LoadAs::garbage, host_frontier);
}

FtlSpace BlockLedger::space() const {
    FtlSpace s;
    s.free_blocks = free_.total();
    s.spare_blocks = static_cast<std::uint32_t>(spare_units() / units_.units_per_block());
    s.bad_blocks = bad_blocks_;
    s.mapped_pages = valid_.total();
    s.spare_at_end = config_.spare_blocks_a_group * static_cast<std::uint32_t>(groups_.size());
    s.is_read_only = read_only_;
    return s;
}

BlockStatus BlockLedger::status_of(BlockId block, BlockUse data_use) const {
    const std::uint32_t valid_pages = valid_.count(block) * units_.pages_per_unit();
    switch (state_[block.value()]) {
    case State::open:
        return {BlockUse::open, valid_pages};
    case State::data:
        return {data_use, valid_pages};
    case State::bad:
        return {BlockUse::bad, 0};
    case State::outside:
        return {BlockUse::other, 0};
    case State::free:
        break;
    }
    return {BlockUse::free, 0};
}

} // namespace flashlab

#include "ftl/blocks/page_blocks.h"

#include <algorithm>

#include "ftl/blocks/less_worn.h"

namespace flashlab {

PageBlocks::PageBlocks(PageBlocksConfig config, NandArray& array, EventSink& events, PageOwner& owner, std::unique_ptr<VictimPolicy> policy)
    : config_{std::move(config)},
      array_{array},
      events_{events},
      owner_{owner},
      units_{array.geometry(), config_.pages_per_unit},
      policy_{std::move(policy)},
      valid_{units_},
      free_{array.geometry()},
      groups_(config_.groups),
      state_(array.geometry().blocks(), BlockState::outside),
      frontier_of_(array.geometry().blocks(), 0),
      settled_at_(array.geometry().blocks(), sim_start),
      closed_by_(array.geometry().blocks(), sim_start),
      forgotten_at_(array.geometry().blocks(), sim_start),
      rest_(array.geometry().blocks(), 0),
      pinned_(array.geometry().blocks(), 0),
      turns_{config_.allocation.turns(array.geometry(), config_.groups, !array.config().options.independent_planes)},
      spread_over_{config_.allocation.dies_before_planes(array.geometry(), config_.groups)} {
    ensure(config_.groups >= 1 && config_.groups <= array.geometry().dies(), "a group is a die");
    ensure(policy_ != nullptr && !config_.frontiers.empty(), "a policy and a frontier");
    full_.reserve(config_.frontiers.size());
    for (std::size_t f = 0; f < config_.frontiers.size(); ++f) full_.emplace_back(units_); // each in its place: a copy would touch the memory of blocks that it never has
    const std::uint32_t planes = array.geometry().planes_per_die();
    for (std::uint32_t g = 0; g < config_.groups; ++g) {
        groups_[g].die = DieId{g};
        groups_[g].frontiers.resize(config_.frontiers.size());
        for (Frontier& f : groups_[g].frontiers) {
            f.open.columns.reserve(planes);
            f.closing.columns.reserve(planes);
        }
    }
    programs_.reserve(planes);
}

std::uint32_t PageBlocks::group_of(BlockId block) const {
    const Geometry& g = units_.geometry();
    return g.die_of(g.plane_of(block)).value();
}

std::uint32_t PageBlocks::blocks_in_use() const { return planes_in_use() * units_.geometry().blocks_per_plane(); }

std::uint64_t PageBlocks::open_room() const {
    std::uint64_t room = 0;
    for (const Group& g : groups_)
        for (const Frontier& f : g.frontiers) room += f.open.units - f.open.next;
    return room;
}

std::uint64_t PageBlocks::spare_units() const { return all_.good > config_.valid_units_at_most ? all_.good - config_.valid_units_at_most : 0; }

void PageBlocks::count(Group& group, std::int64_t good, std::int64_t valid) {
    for (Units* units : {&group.units, &all_}) {
        units->good += static_cast<std::uint64_t>(good);
        units->valid += static_cast<std::uint64_t>(valid);
    }
}

void PageBlocks::lose_block(BlockId block) {
    state_[block.value()] = BlockState::bad;
    count(groups_[group_of(block)], -std::int64_t{units_.units_per_block()}, 0);
    groups_[group_of(block)].erases -= array_.erase_count(block);
    ++bad_blocks_;
    ++retired_blocks_;
    if (spare_units() < std::uint64_t{config_.spare_blocks_a_group} * units_.units_per_block() * groups_.size()) read_only_ = true; // B4
}

FtlError PageBlocks::fail(const NandError& error, Lpn lpn) {
    if (error.kind == NandErrorKind::host_io) {
        read_only_ = image_failed_ = true;
        return {FtlErrorKind::host_io, lpn, error.done, error.host_errno};
    }
    return {FtlErrorKind::lost_page, lpn, error.done};
}

/// The first group in turn whose next plane is idle; where none is, the one that is free first.
PageBlocks::Chosen PageBlocks::choose_group(SimTime now) {
    const auto count = static_cast<std::uint32_t>(turns_.size());
    std::uint32_t best = count;
    SimTime best_at = sim_never;
    for (std::uint32_t i = 0, turn = next_turn_; i < count; ++i, turn = turn + 1 == count ? 0 : turn + 1) {
        const Group& g = groups_[turns_[turn].value()];
        // A group with less than half of the average room would collect almost full blocks while others have plenty.
        if (g.room() * groups_.size() * 2 < all_.room()) continue;
        const OpenSuperblock& open = g.frontiers[0].open;
        const PlaneId plane = open.has_room() ? units_.geometry().plane_of(open.columns[open.column()].block) : units_.geometry().plane_at(g.die, 0);
        const SimTime at = std::max(now, array_.plane_free_at(plane));
        if (at < best_at) {
            best = turn;
            best_at = at;
            if (at == now) break;
        }
    }
    ensure(best < count, "one group has at least the average room");
    next_turn_ = best + 1 == count ? 0 : best + 1;
    return {turns_[best].value(), best_at == now};
}

/// Neighbours fill the planes of a die by one command once every die that comes before has a page of the request, or, where a die works on one command at a
/// time, is busy: waiting for it, two pages take no longer than one.
std::uint32_t PageBlocks::row_width(const RowWrite& write, bool is_idle) const {
    const std::uint32_t planes = units_.geometry().planes_per_die();
    if (write.of == 0 || planes == 1) return write.pages;
    if (!is_idle && !array_.config().options.independent_planes) return std::min(write.pages, planes);
    const std::uint32_t least = write.of / spread_over_, one_more = write.of % spread_over_;
    const std::uint32_t width = write.before < one_more * (least + 1) ? least + 1 : least;
    return std::min(write.pages, std::clamp(width, 1u, planes));
}

FtlResult<PlacedRow> PageBlocks::write_row(const RowWrite& asked, SimTime now, Origin origin) {
    const Chosen chosen = asked.group ? Chosen{*asked.group, true} : choose_group(now);
    Group* group = &groups_[chosen.group];
    RowWrite write = asked;
    write.pages = row_width(asked, chosen.is_idle);
    if (write.frontier == 0)
        if (const auto paced = keep_pace(*group, write.pages, now); !paced) return std::unexpected(paced.error());
    auto ready = room(*group, write.frontier, now);
    if (!ready && ready.error().kind == FtlErrorKind::no_free_block && !write.group) { // another group has the room
        group = &*std::ranges::max_element(groups_, {}, &Group::room);
        ready = room(*group, write.frontier, now);
    }
    if (!ready) {
        // By B4 there is room unless blocks failed while they were collected: nothing more can be reclaimed, the device is at its end.
        if (ready.error().kind == FtlErrorKind::no_free_block && !write.can_wait) {
            read_only_ = true;
            ready.error().kind = FtlErrorKind::read_only;
        }
        ready.error().lpn = write.first;
        return std::unexpected(ready.error());
    }
    OpenSuperblock& set = group->frontiers[write.frontier].open;
    const std::uint32_t count = std::min(write.pages, set.left_in_row());
    const auto end = program(set, write, count, *ready, origin);
    next_sequence_ += count; // a row that failed may be on flash in part: its sequences are spent, its units never valid
    if (!end && end.error().kind == NandErrorKind::program_failed) {
        failed_.push_back(units_.geometry().block_of(end.error().page));
        retire_open(*group, write.frontier);
        if (const auto retired = retire_failed(now); !retired) return std::unexpected(retired.error());
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, write.first, end.error().done});
        return PlacedRow{.end = end.error().done};
    }
    if (!end) return std::unexpected(fail(end.error(), write.first));
    const PlacedRow placed{count, set.row(), std::span<const OpenColumn>{set.columns}.subspan(set.column(), count), *end};
    set.next += count;
    set.last_end = std::max(set.last_end, *end);
    return placed;
}

std::expected<SimTime, NandError> PageBlocks::program(const OpenSuperblock& set, const RowWrite& write, std::uint32_t count, SimTime ready, Origin origin) {
    const std::uint32_t page_bytes = units_.geometry().page_bytes();
    SimTime end = ready;
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        programs_.clear();
        for (std::uint32_t i = 0; i < count; ++i) {
            const UnitId unit = units_.unit_at(set.columns[set.column() + i].block, set.row());
            const auto data = write.from.empty() ? write.from
                                                 : write.from.subspan(std::size_t{i} * units_.bytes_per_unit() + std::size_t{p} * page_bytes, page_bytes);
            programs_.push_back({units_.page_of(unit, p), data,
                                 {Lpn{write.first.value() + i}, WriteSequence{next_sequence_ + i}, write.kind, config_.stamps_pages ? set.stamp : p}});
        }
        const auto programmed = array_.program(programs_, ready, origin);
        if (!programmed) return std::unexpected(programmed.error());
        end = std::max(end, *programmed);
    }
    return end;
}

void PageBlocks::validate(UnitId unit) {
    valid_.set(unit);
    count(groups_[group_of(units_.block_of(unit))], 0, 1);
}

void PageBlocks::invalidate(UnitId unit, SimTime end) {
    const BlockId block = units_.block_of(unit);
    const std::uint32_t b = block.value();
    valid_.clear(unit);
    count(groups_[group_of(block)], 0, -1);
    settled_at_[b] = std::max(settled_at_[b], end);
    full_of(block).update(block, listed_under(block));
    if (pinned_[b] != 0 && valid_.count(block) == 0) {
        pinned_[b] = 0;
        list_full(block);
    }
}

std::uint32_t PageBlocks::listed_under(BlockId block) const {
    const std::uint32_t valid = valid_.count(block), all = units_.units_per_block();
    return valid == all ? all : std::min(valid + rest_[block.value()], all - 1);
}

void PageBlocks::list_full(BlockId block) {
    std::uint32_t& rest = rest_[block.value()];
    rest = 0;
    if (const Group& group = groups_[group_of(block)]; config_.wear_threshold != 0 && group.units.good != 0) {
        const std::uint64_t units = units_.units_per_block();
        const std::uint64_t mean = std::max<std::uint64_t>(1, group.erases * units / group.units.good);
        const std::uint64_t let_be = mean + std::max<std::uint64_t>(config_.wear_threshold, mean / 16); // what chance makes
        // Twice as steep as the excess: a block an eighth above what is let be looks a quarter fuller.
        if (const std::uint64_t worn = array_.erase_count(block); worn > let_be)
            rest = static_cast<std::uint32_t>(std::min(units / 4, 2 * units * (worn - let_be) / mean));
    }
    full_of(block).add(block, listed_under(block));
}

void PageBlocks::load_block(BlockId block, LoadAs as, std::uint32_t frontier) {
    Group& group = groups_[group_of(block)];
    const std::uint32_t b = block.value();
    frontier_of_[b] = static_cast<std::uint8_t>(frontier);
    if (as == LoadAs::bad) {
        state_[b] = BlockState::bad;
        ++bad_blocks_;
        return;
    }
    count(group, units_.units_per_block(), valid_.count(block));
    group.erases += array_.erase_count(block);
    switch (as) {
    case LoadAs::erased: free_.add_erased(block); break;
    case LoadAs::garbage: free_.add_garbage(block); break;
    case LoadAs::data: list_full(block); break;
    case LoadAs::open:
    case LoadAs::bad: break;
    }
    state_[b] = as == LoadAs::data ? BlockState::data : as == LoadAs::open ? BlockState::open : BlockState::free;
}

std::optional<BlockExchange::Lent> PageBlocks::offer(PlaneId plane) {
    if (plane.value() >= planes_in_use() || free_.count(plane) == 0) return std::nullopt;
    free_.bring_forward(plane, LessWorn{array_});
    const BlockId block = *free_.next_of(plane);
    return Lent{block, std::max(settled_at_[block.value()], forgotten_at_[block.value()])};
}

void PageBlocks::lend(BlockId offered) {
    const BlockId block = free_.take(units_.geometry().plane_of(offered))->block;
    ensure(block == offered, "what was offered is lent");
    Group& group = groups_[group_of(block)];
    count(group, -std::int64_t{units_.units_per_block()}, 0);
    group.erases -= array_.erase_count(block);
    state_[block.value()] = BlockState::outside;
}

void PageBlocks::give(BlockId block, SimTime ready) {
    settled_at_[block.value()] = forgotten_at_[block.value()] = ready;
    load_block(block, LoadAs::garbage, 0);
}

void PageBlocks::resume(std::uint32_t group, std::uint32_t frontier, std::span<const OpenColumn> columns, std::uint32_t next, std::uint32_t stamp) {
    OpenSuperblock& set = groups_[group].frontiers[frontier].open;
    ensure(!set.is_active() && !columns.empty(), "a superblock is resumed once");
    set.columns.assign(columns.begin(), columns.end());
    set.next = next;
    set.units = static_cast<std::uint32_t>(columns.size()) * units_.units_per_block();
    set.stamp = stamp;
}

void PageBlocks::finish_loading(SimTime ready) {
    for (Group& g : groups_)
        for (Frontier& f : g.frontiers) f.open.ready = ready;
    if (spare_units() < std::uint64_t{config_.spare_blocks_a_group} * units_.units_per_block() * groups_.size()) read_only_ = true; // B4
}

void PageBlocks::set_next(std::uint64_t sequence, std::uint32_t stamp) {
    next_sequence_ = sequence;
    next_stamp_ = stamp;
}

FtlSpace PageBlocks::space() const {
    FtlSpace s;
    s.free_blocks = free_.total();
    s.spare_blocks = static_cast<std::uint32_t>(spare_units() / units_.units_per_block());
    s.bad_blocks = bad_blocks_;
    s.mapped_pages = valid_.total();
    return s;
}

WriteMemory PageBlocks::write_memory(std::uint64_t map_units) const {
    // What collection keeps free in each group, and its open superblocks.
    const std::uint64_t kept = std::uint64_t{config_.groups} * (units_.geometry().planes_per_die() + config_.frontiers.size() + 1);
    const std::uint64_t all = free_.total() - std::min<std::uint64_t>(free_.total(), kept);
    const std::uint64_t units = all * units_.units_per_block();
    return {WriteMemory::Kind::history, units - std::min(units, map_units)};
}

BlockStatus PageBlocks::status_of(BlockId block, BlockUse data_use) const {
    switch (state_[block.value()]) {
    case BlockState::open: return {BlockUse::open, valid_.count(block)};
    case BlockState::data: return {data_use, valid_.count(block)};
    case BlockState::bad: return {BlockUse::bad, 0};
    case BlockState::outside: return {BlockUse::other, 0};
    case BlockState::free: break;
    }
    return {BlockUse::free, 0};
}

void PageBlocks::count_into(FtlCounters& counters) const {
    counters.gc_jobs += gc_jobs_;
    counters.gc_page_copies += gc_page_copies_;
    counters.retired_blocks += retired_blocks_;
}

} // namespace flashlab

#include "ftl/blocks/page_blocks.h"

#include <algorithm>
#include <utility>

namespace flashlab {

PageBlocks::PageBlocks(PageBlocksConfig config, NandArray& array, EventSink& events, PageOwner& owner, BlockPolicies policies)
    : config_{std::move(config)}, array_{array}, separation_{std::move(policies.separation)}, ledger_{config_, array},
      frontiers_{config_, ledger_, array, owner}, rows_{config_, ledger_.units(), array},
      collector_{config_, ledger_, frontiers_, rows_, array, events, owner, std::move(policies.victim), separation_.get()},
      turns_{config_.allocation.turns(array.geometry(), config_.groups, !array.config().options.independent_planes)}, free_from_{turns_.size()},
      spread_over_{config_.allocation.dies_before_planes(array.geometry(), config_.groups)} {
    ensure(config_.streams - config_.own_streams == 1 || separation_ != nullptr, "streams of the host have a policy");
}

SimTime PageBlocks::least_free_at(DieId die) const {
    const Geometry& g = units().geometry();
    SimTime least = sim_never;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) least = std::min(least, array_.plane_free_at(g.plane_at(die, p)));
    return least;
}

/// The first group in turn whose next plane is idle; where none is, the one that is free first. A group that could open a superblock only by copying
/// what the host is about to overwrite is passed over while another can go on.
/// `has_room(group)`: false passes it over for good; where it does so for all, none is chosen. It changes nothing: not every group is asked.
template <class HasRoom>
PageBlocks::Chosen PageBlocks::choose_group(FrontierId frontier, SimTime now, const HasRoom& has_room) {
    const auto count = static_cast<std::uint32_t>(turns_.size());
    const Geometry& g = units().geometry();
    std::uint32_t best = count;
    SimTime best_at = sim_never;
    const auto look_at = [&](std::uint32_t turn, bool passes_over) {
        const DieId die = turns_[turn];
        const GroupId group{die.value()};
        const OpenSuperblock& open = frontiers_.open(group, frontier);
        const PlaneId plane = open.has_room() ? g.plane_of(open.columns[open.column()].block) : g.plane_at(die, 0);
        const SimTime at = std::max(now, array_.plane_free_at(plane));
        if (at != now) free_from_.raise(turn, least_free_at(die));
        if (at >= best_at || has_little_room(group) || !has_room(group)) return;
        if (passes_over && !open.has_room() && collector_.waits_for_host(group, frontier)) return;
        best = turn;
        best_at = at;
    };
    for (const bool passes_over : {true, false}) {
        for (const auto& [from, end] : {std::pair{next_turn_, count}, std::pair{0u, next_turn_}})
            for (std::uint32_t turn = from; best_at != now && (turn = free_from_.first_before(best_at, turn, end)) != end; ++turn)
                look_at(turn, passes_over);
        if (best < count) break;
    }
    if (best == count) return {.is_found = false};
    next_turn_ = best + 1 == count ? 0 : best + 1;
    return {GroupId{turns_[best].value()}, best_at == now};
}

GroupId PageBlocks::roomiest_group() const {
    GroupId best{0};
    for (const GroupId group : ids<GroupId>(groups()))
        if (ledger_.room_in(group) > ledger_.room_in(best)) best = group;
    return best;
}

/// Neighbours fill the planes of a die by one command once every die that comes before has a page of the request, or, where a die works on one
/// command at a time, is busy: waiting for it, two pages take no longer than one.
std::uint32_t PageBlocks::row_width(const RowWrite& write, bool is_idle) const {
    const std::uint32_t planes = units().geometry().planes_per_die();
    if (write.of == 0 || planes == 1 || rows_.takes_lines()) return write.pages; // a part of a word line takes as long as all of it
    if (!is_idle && !array_.config().options.independent_planes) return std::min(write.pages, planes);
    const std::uint32_t least = write.of / spread_over_, one_more = write.of % spread_over_;
    const std::uint32_t width = write.before < one_more * (least + 1) ? least + 1 : least;
    return std::min(write.pages, std::clamp(width, 1u, planes));
}

PageBlocks::StreamRun PageBlocks::stream_run(const PagesToWrite& what, std::uint32_t from, std::uint32_t pages, const Io& io) {
    const Origin& by = io.origin;
    const StreamId stream = separation_->stream_of_write(what.lpn(from), by);
    if (by.stream != no_stream && by.stream != stream) ledger_.note_placement({PlacementEvent::Kind::unknown_handle, io.when, by.stream});
    std::uint32_t same = 1;
    while (same < pages && separation_->stream_of_write(what.lpn(from + same), by) == stream) ++same;
    return {config_.frontier_of_stream(stream), same};
}

FtlResult<SimTime> PageBlocks::make_room(GroupId group, FrontierId frontier, SimTime now) {
    const auto made = room(group, frontier, now);
    if (!made) return std::unexpected(made.error());
    return made->ready;
}

FtlResult<PageBlocks::Room> PageBlocks::room(GroupId group, FrontierId frontier, SimTime now) {
    frontiers_.close_due(group, now);
    const OpenSuperblock& open = frontiers_.open(group, frontier);
    if (open.has_room()) return Room{frontier, std::max(now, open.ready)};
    frontiers_.retire_open(group, frontier);
    const std::uint32_t keep = frontiers_.writes_keep_free(frontier);
    const bool is_data = config_.kind_of(frontier) == 0;
    if (!is_data) {
        const std::uint32_t paced_for = units().geometry().planes_per_die() + frontiers_.writes_keep_free(host_frontier);
        while (!open.has_room() && (ledger_.free_in(group) <= keep || (ledger_.free_in(group) < paced_for && collector_.compacts_cheaply(group)))) {
            const auto compacted = collector_.compact(group, now);
            if (!compacted) return std::unexpected(compacted.error());
            if (!*compacted) break;
        }
    }
    if (is_data || (ledger_.free_in(group) <= keep && !open.has_room() && !collector_.is_under_way())) {
        const auto collected = collector_.collect_for_host(group, is_data ? frontier : host_frontier, now);
        if (!collected) return std::unexpected(collected.error());
    }
    if (open.has_room()) return Room{frontier, std::max(now, open.ready)};
    frontiers_.retire_open(group, frontier);
    SimTime failed_at = now;
    while (ledger_.free_in(group) > keep) {
        if (frontiers_.open_superblock(group, frontier, now, keep, failed_at)) return Room{frontier, std::max(now, open.ready)};
        if (is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
    }
    if (const auto other = frontiers_.other_with_room(group, frontier)) return Room{*other, std::max(now, frontiers_.open(group, *other).ready)};
    return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
}

/// The static part first.
FtlResult<PlacedRow> PageBlocks::write_to_cache(const RowWrite& asked, const Io& io) {
    collector_.note_written(io.when);
    for (std::uint32_t kind = config_.kinds(); kind-- > config_.own_kinds();) {
        const FrontierId part{kind};
        const auto has = [&](GroupId group) { return collector_.has_room_in(group, part) || collector_.can_fold_cheaply(group, part); };
        const auto has_room = [&](GroupId group) { return has(group) && !(config_.is_dynamic(part) && is_ahead(group, part)); };
        const Chosen chosen = choose_group(part, io.when, has_room);
        if (!chosen.is_found) continue;
        const auto lets_write = [&](GroupId group) { return has_little_room(group) || has(group); };
        if (config_.is_dynamic(part) && !chosen.is_idle && !std::ranges::all_of(ids<GroupId>(groups()), lets_write))
            continue; // dies whose share is full are not left idle
        const auto room = cache_room(chosen.group, part, io.when);
        if (!room && room.error().kind == FtlErrorKind::no_free_block) continue;
        if (!room) return std::unexpected(room.error());
        auto placed = write_in(chosen.group, *room, asked, row_width(asked, chosen.is_idle), io);
        if (placed) cached_pages_ += std::uint64_t{placed->count} * units().pages_per_unit();
        return placed;
    }
    return write_to_main(asked, io); // past a cache that is full
}

/// Groups lend evenly, so that the cache is full in all at about one time.
bool PageBlocks::is_ahead(GroupId group, FrontierId part) const {
    return !frontiers_.open(group, part).has_room() && ledger_.lent_in(group) > ledger_.lent() / groups() + 4 * units().geometry().planes_per_die();
}

FtlResult<PageBlocks::Room> PageBlocks::cache_room(GroupId group, FrontierId part, SimTime now) {
    const OpenSuperblock& open = frontiers_.open(group, part);
    if (open.has_room()) return Room{part, std::max(now, open.ready)};
    frontiers_.retire_open(group, part);
    if (!collector_.has_room_in(group, part))
        if (const auto folded = collector_.fold_cheaply(group, part, now); !folded) return std::unexpected(folded.error());
    SimTime failed_at = now;
    while (collector_.has_room_in(group, part)) {
        const std::uint32_t keep = config_.is_dynamic(part) ? frontiers_.writes_keep_free(host_frontier) : 0;
        if (frontiers_.open_superblock(group, part, now, keep, failed_at)) return Room{part, std::max(now, open.ready)};
        if (is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
    }
    return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
}

FtlResult<PlacedRow> PageBlocks::write_to_main(const RowWrite& asked, const Io& io) {
    const auto any = [](GroupId) { return true; };
    const Chosen chosen = asked.group ? Chosen{*asked.group} : choose_group(asked.frontier, io.when, any);
    ensure(chosen.is_found, "one group has at least the average room");
    GroupId group = chosen.group;
    const std::uint32_t pages = row_width(asked, chosen.is_idle);
    bool takes_copies = false;
    if (config_.kind_of(asked.frontier) == 0 && !asked.can_wait) {
        const auto paced = collector_.keep_pace(group, asked.frontier, pages, io.when);
        if (!paced) return std::unexpected(paced.error());
        takes_copies = *paced;
    }
    auto made = room(group, asked.frontier, io.when);
    if (!made && made.error().kind == FtlErrorKind::no_free_block && (!asked.group || asked.is_wish)) { // another group has the room
        group = roomiest_group();
        made = room(group, asked.is_wish ? host_frontier : asked.frontier, io.when);
    }
    if (made) return write_in(group, *made, asked, pages, io, takes_copies);
    // By B4 there is room unless blocks failed while they were collected: nothing more can be reclaimed, the device is at its end.
    if (made.error().kind == FtlErrorKind::no_free_block && !asked.can_wait) {
        set_read_only();
        made.error().kind = FtlErrorKind::read_only;
    }
    made.error().lpn = asked.first;
    return std::unexpected(made.error());
}

FtlResult<PlacedRow> PageBlocks::write_in(GroupId group, const Room& room, const RowWrite& write, std::uint32_t pages, const Io& io,
                                          bool takes_copies) {
    OpenSuperblock& set = frontiers_.open(group, room.frontier);
    const auto copies = takes_copies ? collector_.read_riders(group, set, pages, room.ready) : Collector::Riders{0, room.ready};
    const std::uint32_t count = rows_.placeable(set, copies.units == 0 ? pages : rows_.most_at_once()), bytes = units().bytes_per_unit();
    const auto content = [&](std::uint32_t at) {
        if (at < copies.units) return collector_.rider(at, config_.stream_of(write.frontier));
        const std::uint32_t i = at - copies.units;
        const auto data = write.from.empty() ? write.from : write.from.subspan(std::size_t{i} * bytes, bytes);
        return UnitContent{write.lpn(i), WriteSequence{next_sequence_ + i}, write.kind, data, config_.stream_of(write.frontier)};
    };
    const auto end = rows_.program(set, count, content, io.at(copies.ready));
    next_sequence_ += count - copies.units; // a row that failed may be on flash in part: its sequences are spent, its units never valid
    if (!end && end.error().kind == NandErrorKind::program_failed) {
        collector_.note_failed(units().geometry().block_of(end.error().page));
        frontiers_.retire_open(group, room.frontier);
        if (const auto retired = retire_failed(io.when); !retired) return std::unexpected(retired.error());
        if (is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, write.first, end.error().done});
        return PlacedRow{.end = end.error().done};
    }
    if (!end) return std::unexpected(fail(end.error(), write.first));
    const std::uint32_t columns = set.columns_of(std::min(set.whole(count), set.left_in_row()));
    const auto used = std::span<const OpenColumn>{set.columns}.subspan(set.column(), columns);
    const PlacedRow placed{count - copies.units, set.row(), set.depth, used, *end, copies.units};
    if (copies.units != 0) collector_.note_riders(set, count, *end);
    set.note_ends(set.next, count, *end);
    set.next += set.whole(count);
    set.last_end = std::max(set.last_end, *end);
    return placed;
}

void PageBlocks::finish_loading(SimTime ready) {
    frontiers_.set_ready(ready);
    ledger_.check_reserve();
}

void PageBlocks::settle_down(SimTime now) {
    for (const GroupId group : ids<GroupId>(groups())) {
        collector_.give_up(group);
        frontiers_.settle_down(group, now);
    }
}

void PageBlocks::set_next(std::uint64_t sequence, std::uint32_t stamp) {
    next_sequence_ = sequence;
    frontiers_.set_next_stamp(stamp);
}

std::uint64_t PageBlocks::room_of(StreamId stream) const {
    std::uint64_t room = 0;
    for (const GroupId group : ids<GroupId>(groups())) {
        const OpenSuperblock& set = open(group, config_.frontier_of_stream(stream));
        room += set.is_active() ? set.units - set.next : std::uint64_t{units().geometry().planes_per_die()} * units().units_per_block();
    }
    return room;
}

void PageBlocks::count_into(FtlCounters& counters) const {
    counters.gc_jobs += collector_.jobs();
    counters.gc_page_copies += collector_.page_copies();
    counters.retired_blocks += ledger_.retired_blocks();
}

} // namespace flashlab

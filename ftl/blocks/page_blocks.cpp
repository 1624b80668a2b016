#include "ftl/blocks/page_blocks.h"

#include <algorithm>

namespace flashlab {

PageBlocks::PageBlocks(PageBlocksConfig config, NandArray& array, EventSink& events, PageOwner& owner, BlockPolicies policies)
    : config_{std::move(config)}, array_{array}, separation_{std::move(policies.separation)}, ledger_{config_, array},
      frontiers_{config_, ledger_, array, owner},
      collector_{config_, ledger_, frontiers_, array, events, owner, std::move(policies.victim), separation_.get()},
      pages_a_program_{array.config().pages_a_program()}, most_at_once_{array.geometry().planes_per_die() * pages_a_program_},
      turns_{config_.allocation.turns(array.geometry(), config_.groups, !array.config().options.independent_planes)},
      spread_over_{config_.allocation.dies_before_planes(array.geometry(), config_.groups)} {
    ensure(config_.streams == 1 || separation_ != nullptr, "streams have a policy");
    programs_.reserve(most_at_once());
}

/// The first group in turn whose next plane is idle; where none is, the one that is free first. A group that could open a superblock only by copying
/// what the host is about to overwrite is passed over while another can go on.
PageBlocks::Chosen PageBlocks::choose_group(FrontierId frontier, SimTime now) {
    const auto count = static_cast<std::uint32_t>(turns_.size());
    const Geometry& g = units().geometry();
    // A group with less than half of the average room would collect almost full blocks while others have plenty.
    const std::uint64_t share = std::uint64_t{2} * groups(), room = ledger_.room();
    std::uint32_t best = count;
    SimTime best_at = sim_never;
    for (const bool passes_over : {true, false}) {
        for (std::uint32_t i = 0, turn = next_turn_; i < count; ++i, turn = turn + 1 == count ? 0 : turn + 1) {
            const DieId die = turns_[turn];
            const GroupId group{die.value()};
            if (ledger_.room_in(group) * share < room) continue;
            const OpenSuperblock& open = frontiers_.open(group, frontier);
            const PlaneId plane = open.has_room() ? g.plane_of(open.columns[open.column()].block) : g.plane_at(die, 0);
            const SimTime at = std::max(now, array_.plane_free_at(plane));
            if (at >= best_at || (passes_over && !open.has_room() && collector_.waits_for_host(group, frontier))) continue;
            best = turn;
            best_at = at;
            if (at == now) break;
        }
        if (best < count) break;
    }
    ensure(best < count, "one group has at least the average room");
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
    if (write.of == 0 || planes == 1 || pages_a_program_ > 1) return write.pages; // a part of a word line takes as long as all of it
    if (!is_idle && !array_.config().options.independent_planes) return std::min(write.pages, planes);
    const std::uint32_t least = write.of / spread_over_, one_more = write.of % spread_over_;
    const std::uint32_t width = write.before < one_more * (least + 1) ? least + 1 : least;
    return std::min(write.pages, std::clamp(width, 1u, planes));
}

/// What is left of the row; where a program takes several pages of a block, whole rows up to the end of the word line.
std::uint32_t PageBlocks::placeable(const OpenSuperblock& set, std::uint32_t pages) const {
    const std::uint32_t left = set.left_in_row();
    if (pages_a_program_ == 1 || set.column() != 0 || pages < 2 * left) return std::min(pages, left);
    const std::uint32_t most = std::min(pages, set.units - set.next) / left;
    std::uint32_t rows = 1;
    while (rows < most && (set.row() + rows) * units().pages_per_unit() % pages_a_program_ != 0) ++rows;
    return rows * left;
}

PageBlocks::StreamRun PageBlocks::stream_run(Lpn first, std::uint32_t pages) const {
    if (!separation_) return {host_frontier, pages};
    const std::uint32_t stream = separation_->stream_of_write(first);
    std::uint32_t same = 1;
    while (same < pages && separation_->stream_of_write(Lpn{first.value() + same}) == stream) ++same;
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
        while (ledger_.free_in(group) <= keep && !open.has_room()) {
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

FtlResult<PlacedRow> PageBlocks::write_row(const RowWrite& asked, const Io& io) {
    const Chosen chosen = asked.group ? Chosen{*asked.group, true} : choose_group(asked.frontier, io.when);
    GroupId group = chosen.group;
    RowWrite write = asked;
    write.pages = row_width(asked, chosen.is_idle);
    if (config_.kind_of(write.frontier) == 0)
        if (const auto paced = collector_.keep_pace(group, write.frontier, write.pages, io.when); !paced) return std::unexpected(paced.error());
    auto made = room(group, write.frontier, io.when);
    if (!made && made.error().kind == FtlErrorKind::no_free_block && !write.group) { // another group has the room
        group = roomiest_group();
        made = room(group, write.frontier, io.when);
    }
    if (!made) {
        // By B4 there is room unless blocks failed while they were collected: nothing more can be reclaimed, the device is at its end.
        if (made.error().kind == FtlErrorKind::no_free_block && !write.can_wait) {
            set_read_only();
            made.error().kind = FtlErrorKind::read_only;
        }
        made.error().lpn = write.first;
        return std::unexpected(made.error());
    }
    OpenSuperblock& set = frontiers_.open(group, made->frontier);
    const std::uint32_t count = placeable(set, write.pages);
    const auto end = program(set, write, count, io.at(made->ready));
    next_sequence_ += count; // a row that failed may be on flash in part: its sequences are spent, its units never valid
    if (!end && end.error().kind == NandErrorKind::program_failed) {
        collector_.note_failed(units().geometry().block_of(end.error().page));
        frontiers_.retire_open(group, made->frontier);
        if (const auto retired = retire_failed(io.when); !retired) return std::unexpected(retired.error());
        if (is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, write.first, end.error().done});
        return PlacedRow{.end = end.error().done};
    }
    if (!end) return std::unexpected(fail(end.error(), write.first));
    const PlacedRow placed{count, set.row(), std::span<const OpenColumn>{set.columns}.subspan(set.column(), std::min(count, set.left_in_row())),
                           *end};
    set.next += count;
    set.last_end = std::max(set.last_end, *end);
    return placed;
}

/// Page by page of its blocks, each on all planes at once.
std::expected<SimTime, NandError> PageBlocks::program(const OpenSuperblock& set, const RowWrite& write, std::uint32_t count, const Io& io) {
    if (pages_a_program_ > 1) return program_lines(set, write, count, io);
    SimTime end = io.when;
    for (std::uint32_t p = 0; p < units().pages_per_unit(); ++p) {
        programs_.clear();
        for (std::uint32_t c = 0; c < count; ++c) add_program(set, write, {0, p}, {c, count});
        const auto programmed = array_.program(programs_, io);
        if (!programmed) return std::unexpected(programmed.error());
        end = std::max(end, *programmed);
    }
    return end;
}

/// As many pages of each block at once as are of one word line.
std::expected<SimTime, NandError> PageBlocks::program_lines(const OpenSuperblock& set, const RowWrite& write, std::uint32_t count, const Io& io) {
    const std::uint32_t per_unit = units().pages_per_unit();
    const std::uint32_t width = std::min(count, set.left_in_row());
    std::uint32_t left = count / width * per_unit; ///< in each column
    SimTime end = io.when;
    for (PageInRows at; left > 0;) {
        const std::uint32_t page = (set.row() + at.row) * per_unit + at.part;
        const std::uint32_t pages = std::min(left, pages_a_program_ - page % pages_a_program_);
        PageInRows next;
        programs_.clear();
        for (std::uint32_t c = 0; c < width; ++c) {
            next = at;
            for (std::uint32_t k = 0; k < pages; ++k) {
                add_program(set, write, next, {c, width});
                if (++next.part == per_unit) next = {next.row + 1, 0};
            }
        }
        const auto programmed = array_.program(programs_, io);
        if (!programmed) return std::unexpected(programmed.error());
        end = std::max(end, *programmed);
        at = next;
        left -= pages;
    }
    return end;
}

void PageBlocks::add_program(const OpenSuperblock& set, const RowWrite& write, PageInRows at, Column column) {
    const UnitGeometry& u = units();
    const std::uint32_t i = at.row * column.of + column.index;
    const UnitId unit = u.unit_at(set.columns[set.column() + column.index].block, set.row() + at.row);
    const std::uint32_t page_bytes = u.geometry().page_bytes();
    const auto data =
        write.from.empty() ? write.from : write.from.subspan(std::size_t{i} * u.bytes_per_unit() + std::size_t{at.part} * page_bytes, page_bytes);
    programs_.push_back({u.page_of(unit, at.part),
                         data,
                         {Lpn{write.first.value() + i}, WriteSequence{next_sequence_ + i}, write.kind, config_.stamps_pages ? set.stamp : at.part}});
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

void PageBlocks::count_into(FtlCounters& counters) const {
    counters.gc_jobs += collector_.jobs();
    counters.gc_page_copies += collector_.page_copies();
    counters.retired_blocks += ledger_.retired_blocks();
}

} // namespace flashlab

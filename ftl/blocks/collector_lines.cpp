/// With nand.one_shot: victims of several planes beside each other, copied as whole word lines.
#include <algorithm>

#include "ftl/blocks/collector.h"

namespace flashlab {

/// While what is left would end in a line begun: the best victims of planes that have little left to copy, where they are about as cheap as those
/// before, and all copies find room.
void Collector::start_beside(GroupId group, SimTime now) {
    Jobs& jobs = jobs_[group.value()];
    const Geometry& g = array_.geometry();
    const ValidMap& valid = ledger_.valid();
    const std::uint32_t line = rows_.most_at_once(), planes = g.planes_per_die();
    std::uint64_t copies = left_of(group);
    if (jobs.job.retire || jobs.job.cause != Cause::gc || copies >= line) return;
    const std::uint32_t enough = planes + frontiers_.writes_keep_free(host_frontier);
    const std::uint64_t dearest = ledger_.units().units_per_block() / 16 + (jobs.job.made + copies) / jobs.job.victims;
    for (std::uint32_t seen = 0, i = 0; i != planes; ++i) {
        const std::uint32_t p = shortest_plane(group, seen);
        const PlaneId plane = g.plane_at(ledger_.die_of(group), p);
        seen |= 1u << p;
        std::uint32_t left = g.plane_of(*jobs.job.victim) == plane ? valid.count(*jobs.job.victim) : 0;
        for (const Job& job : jobs.beside) left += g.plane_of(*job.victim) == plane ? valid.count(*job.victim) : 0;
        if (left >= line / planes) continue;
        if (ledger_.free_in(group) + 1 + jobs.beside.size() >= enough + 2 * planes) break;
        const auto victim = policy_->choose(ledger_.full(0), plane);
        const bool is_dear = victim && policy_->minds_copies() && valid.count(victim->block) > dearest;
        if (!victim || is_dear || host_empties(victim->block) || ledger_.is_lent(victim->block)) continue;
        copies += valid.count(victim->block);
        if (copies + line > room_for_copies(group)) break;
        start(jobs.beside.emplace_back(), victim->block, false, now);
        ++jobs.job.victims;
    }
}

/// Of the die's planes but for these the one with the fewest blocks that are free or about to be: a plane that falls behind makes superblocks narrow.
std::uint32_t Collector::shortest_plane(GroupId group, std::uint32_t but_for) const {
    const Geometry& g = array_.geometry();
    const Jobs& jobs = jobs_[group.value()];
    std::uint32_t shortest = 0, fewest = ~0u;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        if ((but_for >> p & 1) != 0) continue;
        const PlaneId plane = g.plane_at(ledger_.die_of(group), p);
        const auto is_here = [&](const Job& job) { return g.plane_of(*job.victim) == plane; };
        const auto blocks = ledger_.free().count(plane) + (is_here(jobs.job) ? 1 : 0) + std::ranges::count_if(jobs.beside, is_here);
        if (blocks >= fewest) continue;
        shortest = p;
        fewest = static_cast<std::uint32_t>(blocks);
    }
    return shortest;
}

/// Of a group's job and those beside it.
std::uint64_t Collector::left_of(GroupId group) const {
    const Jobs& jobs = jobs_[group.value()];
    std::uint64_t left = ledger_.valid().count(*jobs.job.victim);
    for (const Job& one : jobs.beside) left += ledger_.valid().count(*one.victim);
    return left;
}

/// In the open superblocks and, where victims of all planes are emptied beside each other or `with_next`, in those that may be opened for their
/// copies.
std::uint64_t Collector::room_for_copies(GroupId group, bool with_next) const {
    const std::uint64_t open = frontiers_.open_room(group, 0);
    if (!rows_.takes_lines() && !with_next) return open;
    const std::uint32_t free = ledger_.free_in(group), kept = frontiers_.writes_keep_free(host_frontier);
    return open + std::uint64_t{free - std::min(free, kept)} * ledger_.units().units_per_block();
}

void Collector::drop_beside(GroupId group) {
    std::vector<Job>& beside = jobs_[group.value()].beside;
    for (Job& job : beside) drop(job);
    beside.clear();
}

void Collector::go_on_beside(Job& job, GroupId group) {
    Jobs& jobs = jobs_[group.value()];
    if (&job != &jobs.job || jobs.beside.empty()) return;
    const Job before = job;
    job = jobs.beside.back();
    jobs.beside.pop_back();
    job.victims = before.victims;
    job.made = before.made;
    job.ahead = before.ahead;
    job.last_end = std::max(job.last_end, before.last_end);
}

/// With nand.one_shot: the unit and those behind it, as many as one program takes.
FtlResult<Collector::JobEnd> Collector::copy_line(Job& job, UnitId first, SimTime now, std::uint32_t keep_free) {
    const BlockId victim = *job.victim;
    const GroupId group = ledger_.group_of(victim);
    const FrontierId wished = frontier_for_copy(victim, first);
    for (;;) {
        const auto frontier = room_for_copy(group, wished, now, keep_free);
        if (!frontier) return std::unexpected(frontier.error());
        if (!*frontier) return JobEnd::no_room;
        OpenSuperblock& set = frontiers_.open(group, **frontier);
        take_line(job, first, wished, rows_.most_at_once());
        line_.resize(rows_.placeable(set, static_cast<std::uint32_t>(line_.size())), {UnitId{0}, {}, nullptr});
        if (job.cause == Cause::fold && !folder_free_.empty()) now = fold_from(victim, line_.size(), now);
        const auto read = read_line({std::max(now, set.ready), {job.cause, job.id}});
        const auto placed = read ? place_line(job, set, config_.stream_of(wished), *read) : std::unexpected(read.error());
        if (placed) {
            if (&job != &jobs_[group.value()].job) return JobEnd::finished; // what ends a collection may ask for this one
            if (const auto ended = finish_emptied(group, now); !ended) return std::unexpected(ended.error());
            return JobEnd::finished;
        }
        const auto again = failed_copy(placed.error(), group, **frontier, victim);
        if (!again) return std::unexpected(again.error());
        if (!*again) return JobEnd::unreadable;
        if (!ledger_.valid().test(first)) return JobEnd::finished; // the others come again
    }
}

/// The last copies of a collection would have a line to themselves, which takes as long as a full one. Those of one that folds, or whose block is
/// bad, do not wait for the host. Leaves them in line_.
std::uint32_t Collector::take_riders(GroupId group, const OpenSuperblock& set, std::uint32_t host_units) {
    Job& job = jobs_[group.value()].job;
    if (!rows_.takes_lines() || !set.has_lines || !set.has_room() || set.column() != 0) return 0;
    if (!job.victim || job.retire || job.is_alone || job.cause != Cause::gc || ledger_.valid().count(*job.victim) == 0) return 0;
    const std::uint32_t line = rows_.placeable(set, rows_.most_at_once());
    if (left_of(group) >= line) return 0;
    const UnitGeometry& units = ledger_.units();
    const UnitId first = units.unit_at(*job.victim, ledger_.valid().next_set(*job.victim, 0));
    if (frontier_for_copy(*job.victim, first) != set.frontier) return 0;
    take_line(job, first, set.frontier, line);
    return line_.size() + host_units < line ? 0 : static_cast<std::uint32_t>(line_.size());
}

Collector::Riders Collector::read_riders(GroupId group, const OpenSuperblock& set, std::uint32_t host_units, SimTime now) {
    Job& job = jobs_[group.value()].job;
    if (take_riders(group, set, host_units) == 0) return {0, now};
    riders_by_ = {job.cause, job.id};
    const auto read = read_line({std::max(now, set.ready), riders_by_});
    const auto units = static_cast<std::uint32_t>(line_.size());
    if (read && units + host_units >= rows_.placeable(set, rows_.most_at_once())) return {units, *read};
    job.is_alone = true; // its next share finds what cannot be read
    return {0, now};
}

UnitContent Collector::rider(std::uint32_t i, StreamId stream) const {
    const std::size_t bytes = line_data_.empty() ? 0 : ledger_.units().bytes_per_unit();
    const PageOob& oob = line_[i].oob;
    return {oob.lpn, oob.sequence, oob.kind, std::span{line_data_}.subspan(i * bytes, bytes), stream, &riders_by_};
}

/// The first units of a line of `count`.
void Collector::note_line(std::span<const LineUnit> copies, OpenSuperblock& set, std::uint32_t count, SimTime end) {
    for (std::uint32_t i = 0; i < copies.size(); ++i) {
        const auto [column, row] = RowProgrammer::place(set, i, count);
        note_copy(*copies[i].job, set, copies[i].oob, copies[i].from, ledger_.units().unit_at(column.block, row), column, end);
    }
}

void Collector::note_riders(OpenSuperblock& set, std::uint32_t count, SimTime end) {
    note_line(line_, set, count, end);
    jobs_of(*line_.front().job->victim).job.made += static_cast<std::uint32_t>(line_.size());
}

/// The victims that a line of the host emptied. Not with that line: what ends a collection may look at the superblock before the host's units in it
/// are known.
FtlResult<void> Collector::finish_ridden(GroupId group, SimTime now) {
    if (!rows_.takes_lines()) return {};
    if (const auto ended = finish_emptied(group, now); !ended) return std::unexpected(ended.error());
    Job& job = jobs_[group.value()].job;
    while (job.victim && ledger_.valid().count(*job.victim) == 0)
        if (const auto ended = run(job, now, {.copies = 0}, frontiers_.slices_keep_free(*job.victim)); !ended) return std::unexpected(ended.error());
    return {};
}

/// What was read; where units are left out because they could not be, in rows as they come.
std::expected<void, NandError> Collector::place_line(Job& job, OpenSuperblock& set, StreamId stream, SimTime read) {
    const std::size_t bytes = line_data_.empty() ? 0 : ledger_.units().bytes_per_unit();
    for (std::span<const LineUnit> rest{line_}; !rest.empty();) {
        const std::uint32_t count = rows_.placeable(set, static_cast<std::uint32_t>(rest.size()));
        const std::size_t before = line_.size() - rest.size();
        const auto content = [&](std::uint32_t i) {
            return UnitContent{rest[i].oob.lpn, rest[i].oob.sequence, rest[i].oob.kind, std::span{line_data_}.subspan((before + i) * bytes, bytes),
                               stream};
        };
        const auto end = rows_.program(set, count, content, {read, {job.cause, job.id}});
        if (!end) return std::unexpected(end.error());
        note_line(rest.first(count), set, count, *end);
        job.made += count;
        job.last_end = std::max(job.last_end, *end);
        set.next += set.whole(count);
        rest = rest.subspan(count);
    }
    return {};
}

/// Valid units that wish the same frontier: of the victim from `first` on, and of those beside it, page by page in turn, so that all planes sense.
void Collector::take_line(Job& job, UnitId first, FrontierId wished, std::uint32_t most) {
    Jobs& jobs = jobs_of(*job.victim);
    line_.clear();
    cursors_.assign(1, {&job, ledger_.units().index_in_block(first)});
    if (&job == &jobs.job)
        for (Job& one : jobs.beside) cursors_.push_back({&one, 0});
    for (bool goes_on = true; goes_on && line_.size() < most;) {
        goes_on = false;
        for (Cursor& cursor : cursors_) {
            take_page(*cursor.job, cursor.at, wished, most);
            goes_on = goes_on || cursor.at != ledger_.units().units_per_block();
        }
    }
}

/// Of one page of the chip; `at`: where to look on, the block's end where nothing more goes into this line.
void Collector::take_page(Job& job, std::uint32_t& at, FrontierId wished, std::uint32_t most) {
    const UnitGeometry& units = ledger_.units();
    const std::uint32_t subpages = array_.config().options.subpages, all = units.units_per_block();
    at = ledger_.valid().next_set(*job.victim, at);
    for (const std::uint32_t page = at / subpages; at < all && at / subpages == page && line_.size() < most;
         at = ledger_.valid().next_set(*job.victim, at + 1)) {
        const UnitId unit = units.unit_at(*job.victim, at);
        if (separation_ == nullptr || frontier_for_copy(*job.victim, unit) == wished)
            line_.push_back({unit, {}, &job});
        else if (subpages == 1) { // with subpages a line that ended here would be padded
            at = all;
            return;
        }
    }
}

/// Of the victims beside the group's job those that the last line emptied.
FtlResult<void> Collector::finish_emptied(GroupId group, SimTime now) {
    std::vector<Job>& beside = jobs_[group.value()].beside;
    for (std::size_t i = beside.size(); i-- > 0;) {
        if (ledger_.valid().count(*beside[i].victim) != 0) continue;
        Job done = beside[i];
        beside.erase(beside.begin() + static_cast<std::ptrdiff_t>(i));
        if (const auto ended = finish(done, now); !ended) return std::unexpected(ended.error());
    }
    return {};
}

/// Their data and spare bytes, of a page of the chip together; those behind the first that cannot be read are left out. Fails when none can be.
std::expected<SimTime, NandError> Collector::read_line(const Io& io) {
    const UnitGeometry& units = ledger_.units();
    const std::uint32_t bytes = units.geometry().page_bytes(), subpages = array_.config().options.subpages;
    if (array_.keeps_payload()) line_data_.resize(line_.size() * units.bytes_per_unit());
    SimTime end = io.when;
    for (std::size_t i = 0, next = 0; i < line_.size(); i = next) {
        reads_.clear();
        bool are_known = true;
        const std::uint32_t page_of_chip = line_[i].from.value() / subpages;
        for (; next < line_.size() && (next == i || (subpages > 1 && line_[next].from.value() / subpages == page_of_chip)); ++next) {
            const auto known = array_.inspect_oob(units.page_of(line_[next].from, 0)); // before the read, which may be the last that succeeds
            are_known = are_known && known && known->oob;
            if (known && known->oob) {
                line_[next].oob = *known->oob;
                owner_.prefetch(line_[next].oob.lpn);
            }
            for (std::uint32_t p = 0; p < units.pages_per_unit(); ++p) {
                const auto to = line_data_.empty() ? std::span<std::byte>{}
                                                   : std::span{line_data_}.subspan(next * units.bytes_per_unit() + std::size_t{p} * bytes, bytes);
                reads_.push_back({units.page_of(line_[next].from, p), 0, bytes, to});
            }
        }
        auto read = array_.read(reads_, io);
        if (read && !are_known) read = std::unexpected(NandError{NandErrorKind::uncorrectable, reads_.front().page, *read});
        if (!read && i == 0) return read;
        if (!read) {
            line_.resize(i, {UnitId{0}, {}, nullptr});
            return end;
        }
        end = std::max(end, *read);
    }
    return end;
}

} // namespace flashlab

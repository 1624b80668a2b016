#include "ftl/maps/learned_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

namespace flashlab {

LearnedShape::LearnedShape(const UnitGeometry& units) {
    const auto bytes = [this] { return SegmentLevels::encoded_bytes_at_most(pages); };
    while (pages > 1 && bytes() > units.bytes_per_unit()) pages /= 2;
    groups = units.bytes_per_unit() / bytes();
}

std::uint64_t LearnedShape::checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups_of_blocks, std::uint64_t bytes) const {
    const std::uint64_t all = (units.units() + pages - 1) / pages, a_group = 8 + SegmentLevels::encoded_bytes_at_most(pages);
    // What a collection made in one go, or given up, brings in each group of blocks, and the same deferred: waiting, or a segment of a group.
    const std::uint64_t beside = bytes + 2 * a_group + 2ull * groups_of_blocks * units.units_per_block() * (8 + 10 + 8);
    return 12 + 4 * ((all + groups - 1) / groups) + std::min<std::uint64_t>(beside, 8ull * units.units() + all * a_group);
}

LearnedTable::LearnedTable(const TableParts& parts, const PageJournalConfig& journal, const LearnedConfig& config)
    : JournaledTable{parts, journal}, config_{config}, shape_{parts.blocks.units()}, pages_{parts_, counted_, shape_.pages_a_translation()},
      groups_((parts.logical_pages + shape_.pages - 1) / shape_.pages), compact_at_{config.compaction_pages},
      most_moved_{std::uint64_t{parts.blocks.groups()} * parts.blocks.units().units_per_block()} {
    give(config.bytes);
}

// Look-up

std::optional<SegmentLevels::Found> LearnedTable::prediction(Lpn lpn) const {
    if (const auto waits = waiting_.find(lpn.value()); waits != waiting_.end()) return SegmentLevels::Found{waits->second.unit};
    const Group& group = groups_[group_of(lpn)];
    auto found = group.news.is_empty() ? std::nullopt : group.news.find(in_group(lpn));
    if (!found) found = group.all.find(in_group(lpn));
    return found && found->is_hole ? std::nullopt : found;
}

std::optional<UnitId> LearnedTable::current(Lpn lpn) const {
    const auto found = prediction(lpn);
    if (!found) return std::nullopt;
    return found->is_exact ? UnitId{found->unit} : near(lpn, found->unit);
}

bool LearnedTable::is_known(Lpn lpn) const {
    const Group& group = groups_[group_of(lpn)];
    return group.is_here || waiting_.contains(lpn.value()) || (!group.news.is_empty() && group.news.find(in_group(lpn)));
}

std::optional<UnitId> LearnedTable::near(Lpn lpn, std::uint32_t predicted) const {
    const UnitGeometry& units = parts_.blocks.units();
    const BlockId block = units.block_of(UnitId{predicted});
    for (std::uint32_t away = 0; away <= config_.gamma; ++away) {
        for (const std::uint32_t unit : {predicted - std::min(away, predicted), predicted + away}) {
            if (unit >= units.units() || units.block_of(UnitId{unit}) != block || !parts_.blocks.valid().test(UnitId{unit})) continue;
            const auto stored = parts_.array.inspect_oob(units.page_of(UnitId{unit}, 0));
            if (!stored) return UnitId{predicted}; // the image fails: who reads there is told so
            if (stored->oob && stored->oob->lpn == lpn && stored->oob->kind == PageKind::data) return UnitId{unit};
        }
    }
    return std::nullopt;
}

FtlResult<SimTime> LearnedTable::correct(Lpn first, std::uint32_t pages, const Io& io) {
    SimTime done = io.when;
    const UnitGeometry& units = parts_.blocks.units();
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const auto found = prediction(Lpn{l});
        if (!found || found->is_exact || near(Lpn{l}, found->unit) == UnitId{found->unit}) continue;
        ++learned_.mispredictions;
        const auto read = parts_.array.read(PageRead{units.page_of(UnitId{found->unit}, 0), 0, units.geometry().page_bytes(), {}}, io.as(Cause::map));
        done = std::max(done, read ? *read : read.error().done); // its OOB names the neighbours, or theirs do
    }
    return done;
}

FtlResult<SimTime> LearnedTable::look_up(Lpn first, std::uint32_t pages, const Io& io) {
    SimTime at = io.when;
    std::optional<std::uint32_t> just_read;
    GhostBitmap::Together of_one_read;
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const Lpn lpn{l};
        Group& group = groups_[group_of(lpn)];
        if (is_known(lpn)) {
            ++counted_.map_read_hits;
            touch(group);
            continue;
        }
        ++counted_.map_read_misses;
        const std::uint32_t page = pages_.page_of(lpn);
        if (!pages_.exists(page)) continue; // the directory itself says that nothing is there
        if (ghost_) {
            if (just_read && just_read != page) ghost_->missed_read(std::exchange(of_one_read, {}));
            ghost_->join(of_one_read, group_of(lpn));
        }
        const auto room = make_room(group_bytes + group.all.bytes(), io.at(at));
        if (!room) return room;
        at = std::max(at, *room);
        if (is_known(lpn) || !pages_.exists(page)) continue; // making room may have moved the page
        const auto read = pages_.read_for_host(page, just_read, io.at(at));
        if (!read) return read;
        at = *read;
        if (!parts_.blocks.is_read_only()) bring(group);
    }
    if (ghost_ && just_read) ghost_->missed_read(of_one_read);
    if (curve_) count_reads(first, pages);
    return correct(first, pages, io.at(at));
}

void LearnedTable::take_in(Group& group) {
    group.is_here = true;
    group.is_dirty = !group.news.is_empty();
    group.all.put_on_top(group.news);
    group.news.clear();
    charge(group);
}

void LearnedTable::bring(Group& group) {
    take_in(group);
    touch(group);
}

// Writes

/// Sorted pages are dealt like cards: of the rows that follow each other on one plane of a die, each takes the next page of that plane's share.
PagesToWrite LearnedTable::arranged(const PagesToWrite& what) {
    const PageBlocks& blocks = parts_.blocks;
    const UnitGeometry& units = blocks.units();
    const std::uint32_t planes = units.geometry().planes_per_die(), row = std::max(planes, blocks.units_a_line());
    const std::uint32_t columns = planes * blocks.groups();
    if (what.pages < 2 || (what.each.empty() && what.pages < 2 * columns)) return what;
    from_.resize(what.pages);
    std::iota(from_.begin(), from_.end(), 0u);
    if (!what.each.empty()) std::ranges::sort(from_, {}, [&](std::uint32_t i) { return what.each[i]; });
    const auto column_of = [&](std::uint32_t i) { return i / row % blocks.groups() * planes + i % row % planes; };
    std::vector<std::uint32_t> next(columns + 1);
    for (std::uint32_t i = 0; i < what.pages; ++i) ++next[column_of(i) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    const std::size_t bytes = what.from.empty() ? 0 : units.bytes_per_unit();
    order_.clear();
    dealt_.resize(what.pages * bytes);
    for (std::uint32_t i = 0; i < what.pages; ++i) {
        const std::uint32_t from = from_[next[column_of(i)]++];
        order_.push_back(what.lpn(from));
        if (bytes != 0) std::memcpy(dealt_.data() + i * bytes, what.from.data() + from * bytes, bytes);
    }
    return {order_.front(), what.pages, dealt_, order_};
}

FtlResult<void> LearnedTable::begin_write(Lpn first, const Io& io) {
    prefetch(first);
    ++write_;
    if (const auto room = make_room(0, io); !room) return std::unexpected(room.error());
    return pace_checkpoint(io);
}

void LearnedTable::adopt(Lpn lpn, UnitId unit, const OpenColumn&, SimTime end) {
    ++(is_known(lpn) ? counted_.map_write_hits : counted_.map_write_misses);
    wait(lpn, unit, write_);
    programmed(end);
}

void LearnedTable::answered(SimTime at) {
    JournaledTable::answered(at);
    if (waiting_.size() >= batch_pages_) learn();
    if (config_.compaction_pages == 0 || parts_.counters.host_pages_written < compact_at_) return;
    compact_at_ = parts_.counters.host_pages_written + config_.compaction_pages;
    compact();
}

void LearnedTable::wait(Lpn lpn, UnitId unit, std::uint64_t write) {
    const auto [at, is_new] = waiting_.insert_or_assign(lpn.value(), Waiting{unit.value(), write});
    if (is_new) used_ += waiting_bytes;
    learned_.most_bytes = std::max(learned_.most_bytes, used_);
}

void LearnedTable::learn() {
    const UnitGeometry& units = parts_.blocks.units();
    points_.clear();
    for (const auto& [lpn, where] : waiting_) points_.push_back({units.block_of(UnitId{where.unit}).value(), lpn, where});
    std::ranges::sort(points_, {}, [](const Point& p) { return std::tuple{p.block, p.lpn}; });
    used_ -= waiting_bytes * waiting_.size();
    waiting_.clear();
    for (auto p = points_.begin(); p != points_.end();) {
        const std::uint32_t group = group_of(Lpn{p->lpn}), block = p->block;
        bool is_of_host = false;
        run_.clear();
        for (; p != points_.end() && p->block == block && group_of(Lpn{p->lpn}) == group; ++p) {
            run_.push_back({in_group(Lpn{p->lpn}), p->where.unit, p->where.write});
            is_of_host = is_of_host || p->where.write != 0;
        }
        const std::uint32_t charged_before = groups_[group].charged;
        learn_run(group, run_, config_.gamma);
        if (!is_of_host) continue;
        touch(groups_[group]);
        count_learned(group, run_.size(), charged_before);
    }
}

/// A page's OOB names its neighbours: those of the same write, and those programmed before.
void LearnedTable::learn_run(std::uint32_t group, std::span<const PlacedPage> run, std::uint32_t gamma) {
    const auto names = [&](const PlacedPage& page, std::uint32_t predicted) {
        const auto there = std::ranges::find(run, predicted, &PlacedPage::unit);
        return there != run.end() && (predicted >= page.unit || (page.write != 0 && there->write == page.write));
    };
    learn_segments(run, gamma, names, [&](Segment s) {
        ++learned_.learned;
        if (s.is_approximate()) ++learned_.learned_approximate;
        insert(groups_[group], std::move(s));
    });
}

void LearnedTable::insert(Group& group, Segment segment) {
    const bool is_new = !group.is_here && group.all.is_empty() && group.news.is_empty();
    if (is_new && !pages_.exists(number_of(group) / shape_.groups)) group.is_here = true; // nothing of it is elsewhere
    group.newest().insert(std::move(segment));
    group.is_dirty = group.is_here;
    charge(group);
}

void LearnedTable::compact() {
    for (Group& group : groups_) {
        if (group.charged == 0) continue;
        group.newest().compact(group.is_here);
        charge(group);
    }
}

// Trims

FtlResult<SimTime> LearnedTable::trim(Lpn first, std::uint32_t pages, const Io& io) {
    const auto room = make_room(0, io); // a checkpoint holds what is new in a table within its size
    if (!room) return room;
    const auto done =
        trim_by_page(pages_, first, pages, io, [&](std::uint32_t page, Lpn l, std::uint32_t n) { return trim_in_page(page, l, n, io); });
    if (!done) return done;
    return std::max(*room, *done);
}

FtlResult<SimTime> LearnedTable::trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io) {
    SimTime at = io.when;
    const std::uint32_t end = first.value() + pages;
    bool is_unknown = false;
    for (std::uint32_t l = first.value(); l < end && !is_unknown; ++l) is_unknown = !is_known(Lpn{l});
    if (is_unknown && pages_.exists(page)) { // to learn which pages are invalid now
        const auto read = pages_.read(page, io);
        if (!read) return read;
        at = *read;
    }
    const auto corrected = correct(first, pages, io.at(at));
    if (!corrected) return corrected;
    for (std::uint32_t l = first.value(); l < end;) {
        Group& group = groups_[group_of(Lpn{l})];
        const std::uint32_t begin = l, stop = std::min(end, (number_of(group) + 1) * shape_.pages);
        bool any = false;
        for (; l < stop; ++l) {
            const auto unit = current(Lpn{l});
            if (!unit) continue;
            any = true;
            ++parts_.counters.host_pages_trimmed;
            drop(*unit, io.when);
            if (waiting_.erase(l) != 0) used_ -= waiting_bytes;
        }
        if (any) insert(group, Segment::hole(begin % shape_.pages, (stop - 1) % shape_.pages));
    }
    if (pages_.is_whole(first, pages)) forget_page(page);
    // While the trim waits, an older version of the page may be on flash that only this one outdates.
    if (pages_.is_whole(first, pages))
        if (const auto unit = pages_.forget(page)) drop(*unit, io.when);
    return corrected;
}

void LearnedTable::forget_page(std::uint32_t page) {
    for (Group& group : groups_of(page)) {
        group.all.clear();
        group.news.clear();
        group.is_here = group.is_dirty = false;
        written(group);
    }
}

// Collections

void LearnedTable::moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn&, SimTime end) {
    programmed(end);
    costs_.copied(oob.kind == PageKind::translation ? TranslationDirectory::frontier : host_frontier);
    if (oob.kind == PageKind::translation) return pages_.moved(oob.lpn.value(), from, to);
    const auto found = prediction(oob.lpn);
    ensure(found && std::max(found->unit, from.value()) - std::min(found->unit, from.value()) <= (found->is_exact ? 0 : config_.gamma),
           "a valid unit is its page's newest version");
    wait(oob.lpn, to, 0);
    const std::uint32_t group = group_of(oob.lpn);
    if (groups_[group].moved++ == 0) moved_groups_.push_back(group);
    ++moved_;
}

FtlResult<SimTime> LearnedTable::forget(BlockId victim, BlockFate fate, SimTime at, EventId job) {
    const bool holds_data = use_of(victim) == BlockUse::data;
    costs_.collected(holds_data ? host_frontier : TranslationDirectory::frontier);
    if (holds_data)
        if (const auto room = make_room(0, {at, {Cause::map, job}}); !room) return room;
    return JournaledTable::forget(victim, fate, at, job);
}

std::uint64_t LearnedTable::table_bytes() const {
    std::uint64_t bytes = 0;
    for (const Group& group : groups_) bytes += std::uint64_t{group.all.bytes()} + group.news.bytes();
    return bytes;
}

std::vector<CheckProblem> LearnedTable::check() {
    PageBlocks& blocks = parts_.blocks;
    std::vector<CheckProblem> out = journal().check();
    blocks.check(out);
    MapCheck map{"L1", "L1", blocks.units(), parts_.array};
    std::vector<bool> waits(groups_.size());
    for (const auto& [lpn, where] : waiting_) waits[group_of(Lpn{lpn})] = true;
    for (std::uint32_t l = 0; l < parts_.logical_pages; ++l) {
        const Lpn lpn{l};
        if (const Group& group = groups_[group_of(lpn)]; group.all.is_empty() && group.news.is_empty() && !waits[group_of(lpn)]) {
            l += shape_.pages - 1; // nothing of it is mapped: a large drive that holds little is checked soon
            continue;
        }
        const auto unit = current(lpn);
        if (unit)
            map.check({lpn, PageKind::data, *unit}, blocks.valid().test(*unit), blocks.next_sequence(), out);
        else if (prediction(lpn))
            out.push_back({"G3", fmt::format("logical page {}", l), "no valid unit near its prediction names it"});
    }
    pages_.check(map, out);
    if (map.units_named() != blocks.valid().total())
        out.push_back({"L1", "valid bits", fmt::format("{} valid units, {} named", blocks.valid().total(), map.units_named())});
    std::uint64_t bytes = waiting_bytes * waiting_.size(), moved = 0;
    for (const Group& group : groups_) {
        bytes += bytes_of(group);
        moved += group.moved;
        if (!group.all.is_sound() || !group.news.is_sound()) out.push_back({"G1", fmt::format("group {}", number_of(group)), "segments overlap"});
        if (group.is_here && !group.news.is_empty()) out.push_back({"L2", fmt::format("group {}", number_of(group)), "news beside a group"});
    }
    if (bytes != used_ || moved != moved_)
        out.push_back({"L4", "learned table", fmt::format("{} bytes there, {} charged; {} pages moved, {} counted", bytes, used_, moved, moved_)});
    return out;
}

} // namespace flashlab

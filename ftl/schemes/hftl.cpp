#include "ftl/schemes/hftl.h"

#include <algorithm>
#include <cstring>

namespace flashlab {

Hftl::Hftl(const HftlConfig& config, NandArray& array, Pram& pram, const HftlLayout& layout, EventSink& events)
    : config_{config},
      array_{array},
      pram_{pram},
      events_{events},
      units_{array.geometry(), config.pages_per_unit},
      layout_{layout},
      tables_{pram, layout, units_},
      overlay_{units_, layout.slot_count},
      valid_{units_},
      full_{units_},
      free_{array.geometry()},
      groups_(config.groups),
      settled_at_(array.geometry().blocks(), sim_start),
      pinned_(array.geometry().blocks(), 0) {
    ensure(config.groups >= 1 && config.groups <= array.geometry().dies(), "a group is a die");
    for (std::uint32_t g = 0; g < config.groups; ++g) {
        groups_[g].die = DieId{g};
        groups_[g].open.columns.reserve(array.geometry().planes_per_die());
        groups_[g].closing.columns.reserve(array.geometry().planes_per_die());
    }
    programs_.reserve(array.geometry().planes_per_die());
}

std::optional<UnitId> Hftl::current(Lpn lpn) const {
    if (const auto open = overlay_.current(lpn)) return open;
    return tables_.committed(lpn);
}

FtlError Hftl::fail(const NandError& error, Lpn lpn) {
    if (error.kind == NandErrorKind::host_io) {
        read_only_ = true;
        return {FtlErrorKind::host_io, lpn, error.done, error.host_errno};
    }
    return {FtlErrorKind::lost_page, lpn, error.done};
}

FtlResult<SimTime> Hftl::read(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) {
    ensure(recovered_, "recover() comes first");
    ensure(first.value() + std::uint64_t{pages} <= config_.logical_pages, "a read lies in the logical space");
    ensure(to.empty() || to.size() == std::size_t{pages} * logical_page_bytes(), "a buffer of whole pages");
    const SimTime looked_up = pram_.read(HftlTables::entry_bytes(pages), now);
    return read_units(first, pages, to, looked_up, origin);
}

FtlResult<SimTime> Hftl::read_units(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) {
    const std::uint32_t page_bytes = array_.geometry().page_bytes();
    reads_.clear();
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto part = to.empty() ? to : to.subspan(std::size_t{i} * logical_page_bytes(), logical_page_bytes());
        const auto unit = current(Lpn{first.value() + i});
        if (!unit) {
            if (!part.empty()) std::memset(part.data(), 0, part.size());
            continue;
        }
        for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
            const auto target = part.empty() ? part : part.subspan(std::size_t{p} * page_bytes, page_bytes);
            reads_.push_back({units_.page_of(*unit, p), 0, page_bytes, target});
        }
    }
    counters_.host_pages_read += pages;
    if (reads_.empty()) return now;
    const auto done = array_.read(reads_, now, origin);
    if (done) return *done;
    const UnitId lost = units_.unit_of(done.error().page);
    Lpn lpn = first;
    for (std::uint32_t i = 0; i < pages; ++i)
        if (current(Lpn{first.value() + i}) == lost) lpn = Lpn{first.value() + i};
    return std::unexpected(fail(done.error(), lpn));
}

FtlResult<SimTime> Hftl::read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, SimTime now, Origin origin) {
    ensure(recovered_, "recover() comes first");
    ensure(lpn.value() < config_.logical_pages && offset + bytes <= logical_page_bytes(), "a part lies in its page");
    const SimTime looked_up = pram_.read(HftlTables::entry_bytes(1), now);
    ++counters_.host_pages_read;
    const auto unit = current(lpn);
    if (!unit) {
        if (!to.empty()) std::memset(to.data(), 0, to.size());
        return looked_up;
    }
    const std::uint32_t page_bytes = array_.geometry().page_bytes();
    reads_.clear();
    for (std::uint32_t at = offset; at < offset + bytes;) {
        const std::uint32_t in_page = at % page_bytes;
        const std::uint32_t n = std::min(page_bytes - in_page, offset + bytes - at);
        reads_.push_back({units_.page_of(*unit, at / page_bytes), in_page, n, to.empty() ? to : to.subspan(at - offset, n)});
        at += n;
    }
    const auto done = array_.read(reads_, looked_up, origin);
    if (!done) return std::unexpected(fail(done.error(), lpn));
    return *done;
}

std::uint32_t Hftl::choose_group(SimTime now) {
    const auto count = static_cast<std::uint32_t>(groups_.size());
    if (count == 1) return 0;
    std::uint64_t room = 0;
    for (const Group& g : groups_) room += g.good_units - g.valid_units;
    std::uint32_t best = count;
    SimTime best_at = sim_never;
    for (std::uint32_t i = 1; i <= count; ++i) {
        const std::uint32_t index = (last_group_ + i) % count;
        const Group& g = groups_[index];
        // A group with less than half of the average room would collect almost full blocks while others have plenty.
        if ((g.good_units - g.valid_units) * count * 2 < room) continue;
        const PlaneId plane = g.open.has_room() ? array_.geometry().plane_of(g.open.columns[g.open.column()].block) : array_.geometry().plane_at(g.die, 0);
        const SimTime at = std::max(now, array_.plane_free_at(plane));
        if (at < best_at) {
            best = index;
            best_at = at;
            if (at == now) break;
        }
    }
    ensure(best < count, "one group has at least the average room");
    last_group_ = best;
    return best;
}

FtlResult<SimTime> Hftl::write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) {
    ensure(recovered_, "recover() comes first");
    ensure(first.value() + std::uint64_t{pages} <= config_.logical_pages, "a write lies in the logical space");
    ensure(from.empty() || from.size() == std::size_t{pages} * logical_page_bytes(), "a buffer of whole pages");
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, now});
    SimTime done = now;
    for (std::uint32_t i = 0; i < pages;) {
        const Lpn lpn{first.value() + i};
        const auto part = from.empty() ? from : from.subspan(std::size_t{i} * logical_page_bytes());
        const auto written = write_row(lpn, pages - i, part, now, origin, done);
        if (!written) return std::unexpected(written.error());
        i += *written;
        if (failed_.empty()) continue;
        if (const auto retired = retire_failed(now); !retired) return std::unexpected(retired.error());
    }
    counters_.host_pages_written += pages;
    durable_at_ = std::max(durable_at_, done);
    return done;
}

FtlResult<std::uint32_t> Hftl::write_row(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin, SimTime& done) {
    const std::uint32_t page_bytes = array_.geometry().page_bytes();
    Group* group = &groups_[choose_group(now)];
    auto ready = room_for_host(*group, now);
    if (!ready && ready.error().kind == FtlErrorKind::no_free_block) { // another group has the room
        group = &*std::ranges::max_element(groups_, {}, [](const Group& g) { return g.good_units - g.valid_units; });
        ready = room_for_host(*group, now);
    }
    if (!ready) {
        // By H6 there is room unless blocks failed while they were collected: nothing more can be reclaimed, the device is at its end.
        if (ready.error().kind == FtlErrorKind::no_free_block) {
            read_only_ = true;
            ready.error().kind = FtlErrorKind::read_only;
        }
        ready.error().lpn = first;
        return std::unexpected(ready.error());
    }
    OpenSuperblock& set = group->open;
    const std::uint32_t count = std::min(pages, set.left_in_row());
    ensure(next_sequence_ + count <= sequence_ceiling_, "sequences stay below the ceiling kept in PRAM");
    SimTime end = *ready;
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        programs_.clear();
        for (std::uint32_t i = 0; i < count; ++i) {
            const UnitId unit = units_.unit_at(set.columns[set.column() + i].block, set.row());
            const auto data = from.empty() ? from : from.subspan(std::size_t{i} * logical_page_bytes() + std::size_t{p} * page_bytes, page_bytes);
            programs_.push_back({units_.page_of(unit, p), data, {Lpn{first.value() + i}, WriteSequence{next_sequence_ + i}, PageKind::data, p}});
        }
        const auto programmed = array_.program(programs_, *ready, origin);
        if (!programmed && programmed.error().kind == NandErrorKind::program_failed) {
            next_sequence_ += count; // part of the row may be on flash: its sequences are spent, its units never valid
            failed_.push_back(array_.geometry().block_of(programmed.error().page));
            retire_open(*group);
            if (const auto retired = retire_failed(now); !retired) return std::unexpected(retired.error());
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, programmed.error().done});
            return 0u; // nothing written: the caller comes again
        }
        if (!programmed) return std::unexpected(fail(programmed.error(), first));
        end = std::max(end, *programmed);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const OpenColumn& column = set.columns[set.column() + i];
        adopt(*group, Lpn{first.value() + i}, units_.unit_at(column.block, set.row()), column.slot, end);
    }
    next_sequence_ += count;
    set.next += count;
    set.last_end = std::max(set.last_end, end);
    done = std::max(done, end);
    return count;
}

void Hftl::adopt(Group& group, Lpn lpn, UnitId unit, std::uint32_t slot, SimTime end) {
    supersede(lpn, end);
    overlay_.set_current(lpn, unit);
    overlay_.set_version(slot, units_.index_in_block(unit), lpn);
    valid_.set(unit);
    ++group.valid_units;
}

void Hftl::supersede(Lpn lpn, SimTime end) {
    const auto committed = tables_.committed(lpn);
    const auto open = overlay_.current(lpn);
    const auto old = open ? open : committed;
    if (!old) return;
    if (old == committed) overlay_.add_stale(*old, lpn);
    invalidate(*old, end);
}

void Hftl::invalidate(UnitId unit, SimTime end) {
    const BlockId block = units_.block_of(unit);
    valid_.clear(unit);
    --group_of(block).valid_units;
    settled_at_[block.value()] = std::max(settled_at_[block.value()], end);
    full_.update(block, valid_.count(block));
    if (pinned_[block.value()] != 0 && valid_.count(block) == 0) {
        pinned_[block.value()] = 0;
        full_.add(block, 0);
    }
}

FtlResult<SimTime> Hftl::trim(Lpn first, std::uint32_t pages, SimTime now, Origin origin) {
    ensure(recovered_, "recover() comes first");
    ensure(first.value() + std::uint64_t{pages} <= config_.logical_pages, "a trim lies in the logical space");
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, now});
    SimTime done = pram_.read(HftlTables::entry_bytes(pages), now);
    for (std::uint32_t at = 0; at < pages; at += HftlTables::pages_per_unmap) {
        const std::uint32_t count = std::min(HftlTables::pages_per_unmap, pages - at);
        const Lpn begin{first.value() + at};
        std::uint32_t mapped = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const Lpn lpn{begin.value() + i};
            const auto old = current(lpn);
            if (!old) continue;
            ++mapped;
            if (const auto committed = tables_.committed(lpn)) overlay_.drop_stale(*committed);
            overlay_.drop_current(lpn);
            invalidate(*old, now);
        }
        if (mapped == 0) continue; // whatever versions open blocks held were marked dead when the page became unmapped
        counters_.host_pages_trimmed += mapped;
        dead_units_.clear();
        overlay_.take_versions(begin, count, dead_units_);
        tables_.begin(now, origin.parent);
        tables_.unmap(begin, count, dead_units_);
        done = std::max(done, tables_.commit());
    }
    durable_at_ = std::max(durable_at_, done);
    return done;
}

FtlResult<SimTime> Hftl::flush(SimTime now, Origin) {
    ensure(recovered_, "recover() comes first");
    return std::max(now, durable_at_);
}

FtlSpace Hftl::space() const {
    FtlSpace s;
    s.free_blocks = free_.total();
    std::uint64_t good = 0;
    for (const Group& g : groups_) good += g.good_units;
    s.spare_blocks = static_cast<std::uint32_t>((good - config_.logical_pages) / units_.units_per_block());
    s.bad_blocks = bad_blocks_;
    s.mapped_pages = valid_.total();
    return s;
}

BlockStatus Hftl::status_of(BlockId block) const {
    if (is_lost(block)) return {BlockUse::bad, 0};
    switch (tables_.state(block)) {
    case HftlBlockState::open: return {BlockUse::open, valid_.count(block)};
    case HftlBlockState::data: return {BlockUse::data, valid_.count(block)};
    case HftlBlockState::bad: return {BlockUse::bad, 0};
    case HftlBlockState::free_erased:
    case HftlBlockState::garbage: break;
    }
    return {BlockUse::free, 0};
}

} // namespace flashlab

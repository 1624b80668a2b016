#include "ftl/schemes/merge_ftl.h"

#include <algorithm>
#include <cstring>

namespace flashlab {

MergeFtl::MergeFtl(MergeFtlConfig config, NandArray& array, EventSink& events)
    : Ftl{{array.geometry().page_bytes(), config.logical_blocks * array.geometry().pages_per_block(), array.geometry().blocks()}}, array_{array},
      map_{array.geometry(), config.logical_blocks, config.interleaving}, logs_{map_}, config_{std::move(config)}, events_{events},
      pool_{array, config_.groups * array.geometry().planes_per_die()}, meta_{config_.meta, array},
      spread_{config_.allocation.planes(array.geometry(), config_.groups)}, role_(array.geometry().blocks(), Role::unused),
      owner_(array.geometry().blocks()) {
    if (config_.wear_threshold != 0) {
        pool_.set_order(TakeOrder::least_worn);
        meta_.move_by_wear(*this, std::max(1u, config_.wear_threshold / 2));
    }
}

FtlError MergeFtl::fail(FtlError error) {
    if (error.kind == FtlErrorKind::lost_page) return error;
    read_only_ = true;
    // Nothing more can be reclaimed: the device is at its end.
    if (error.kind == FtlErrorKind::no_free_block) error.kind = FtlErrorKind::read_only;
    return error;
}

FtlError MergeFtl::fail(const NandError& error, Lpn lpn) {
    if (error.kind == NandErrorKind::host_io) return fail(FtlError{FtlErrorKind::host_io, lpn, error.done, error.host_errno});
    return {FtlErrorKind::lost_page, lpn, error.done};
}

std::optional<Ppn> MergeFtl::locate(Lpn lpn) const {
    if (!map_.is_mapped(lpn)) return std::nullopt;
    const Geometry& g = array_.geometry();
    if (map_.is_logged(lpn)) {
        const auto page = logs_.find(lpn);
        ensure(page.has_value(), "G1: a logged page lies in a log block");
        return g.page_of(logs_.at(page->slot).block, page->page);
    }
    const auto block = map_.data_block(map_.block_of(lpn));
    ensure(block.has_value(), "G1: a mapped page that is not logged lies in a data block");
    return g.page_of(*block, map_.offset_of(lpn));
}

FtlResult<SimTime> MergeFtl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    reads_.clear();
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto part = to.empty() ? to : to.subspan(std::size_t{i} * logical_page_bytes(), logical_page_bytes());
        if (const auto page = locate(Lpn{first.value() + i}))
            reads_.push_back({*page, 0, logical_page_bytes(), part});
        else if (!part.empty())
            std::memset(part.data(), 0, part.size());
    }
    counters_.host_pages_read += pages;
    if (reads_.empty()) return io.when;
    const auto done = array_.read(reads_, io);
    if (done) return *done;
    Lpn lost = first;
    for (std::uint32_t i = 0; i < pages; ++i)
        if (locate(Lpn{first.value() + i}) == done.error().page) lost = Lpn{first.value() + i};
    return std::unexpected(fail(done.error(), lost));
}

FtlResult<SimTime> MergeFtl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    ++counters_.host_pages_read;
    const auto page = locate(lpn);
    if (!page) {
        if (!to.empty()) std::memset(to.data(), 0, to.size());
        return io.when;
    }
    const auto done = array_.read(PageRead{*page, offset, bytes, to}, io);
    if (!done) return std::unexpected(fail(done.error(), lpn));
    return *done;
}

FtlResult<SimTime> MergeFtl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    SimTime done = io.when;
    for (std::uint32_t i = 0; i < pages;) {
        const Lpn lpn{first.value() + i};
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, lpn, io.when});
        const auto where = place(lpn, std::min(pages - i, map_.run_from(lpn)), io.when);
        if (!where) return std::unexpected(fail(where.error()));
        const auto part = from.empty() ? from : from.subspan(std::size_t{i} * logical_page_bytes(), std::size_t{where->pages} * logical_page_bytes());
        const auto written = append(*where, lpn, part, io, done);
        if (!written) return std::unexpected(fail(written.error()));
        i += *written;
    }
    if (!opens_.empty()) { // one record for all of them; nothing in them is answered before it
        const auto named = commit(Commit::what_is_due, io.when);
        if (!named) return std::unexpected(named.error());
        done = std::max(done, *named);
    }
    counters_.host_pages_written += pages;
    durable_at_ = std::max(durable_at_, done);
    return done;
}

/// Pages programmed; fewer than asked when one failed, whose block is emptied at once.
FtlResult<std::uint32_t> MergeFtl::append(const Place& place, Lpn first, std::span<const std::byte> from, const Io& io, SimTime& done) {
    LogBlock& log = logs_.at(place.slot);
    ensure(place.pages != 0 && logs_.has_room(place.slot), "L3: a place has room");
    const SimTime start = std::max(io.when, log.ready);
    done = std::max(done, log.named);
    for (std::uint32_t i = 0; i < place.pages; ++i) {
        const Lpn lpn{first.value() + i};
        const auto data = from.empty() ? from : from.subspan(std::size_t{i} * logical_page_bytes(), logical_page_bytes());
        const PageProgram program{array_.geometry().page_of(log.block, log.next), data, {lpn, WriteSequence{next_sequence_++}, PageKind::data, 0}};
        const auto programmed = array_.program({&program, 1}, io.at(start));
        if (!programmed && programmed.error().kind == NandErrorKind::program_failed) {
            log.sealed = true;
            ++log.next;
            pool_.set_failing(log.block);
            durable_at_ = std::max(durable_at_, done);
            if (auto emptied = reclaim(place.slot, io.when); !emptied) return std::unexpected(emptied.error());
            return i;
        }
        if (!programmed) return std::unexpected(fail(programmed.error(), lpn));
        log.last_end = std::max(log.last_end, *programmed);
        adopt(lpn, place.slot, log.next++);
        done = std::max(done, *programmed);
    }
    durable_at_ = std::max(durable_at_, done);
    // Complete and in place: switched at once, so that a stream holds no log block that others could use.
    if (log.next == map_.pages_per_block() && log.home && can_complete(place.slot)) {
        if (curve_) curve_->merged_for_all(*log.home);
        if (auto merged = merge(*log.home, io.when); !merged) return std::unexpected(merged.error());
    }
    return place.pages;
}

void MergeFtl::adopt(Lpn lpn, LogSlot slot, std::uint32_t page) {
    if (map_.is_logged(lpn)) {
        ++counted_.rewritten_in_log; // a copy less for a merge
        logs_.drop(lpn);
    } else {
        ++counted_.new_in_log;
        if (ghost_ && !logs_.at(slot).home) ghost_->missed_write(lpn.value());
    }
    if (curve_ && !logs_.at(slot).home) curve_->logged(map_.block_of(lpn), map_.offset_of(lpn));
    logs_.put(lpn, slot, page);
    map_.map(lpn);
    map_.set_logged(lpn);
}

void MergeFtl::forget(Lpn lpn) {
    if (map_.is_logged(lpn)) {
        logs_.drop(lpn);
        map_.clear_logged(lpn);
    }
    map_.unmap(lpn);
}

FtlResult<SimTime> MergeFtl::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    const std::uint32_t end = first.value() + pages;
    for (std::uint32_t at = first.value(); at < end;) {
        const LogicalBlock home = map_.block_of(Lpn{at});
        const std::uint32_t stop = std::min(end, at + map_.run_from(Lpn{at}));
        const auto [from, to] = map_.offsets_in(home, at, stop);
        std::uint32_t trimmed = 0;
        for (std::uint32_t o = map_.next_mapped(home, from); o < to; o = map_.next_mapped(home, o + 1), ++trimmed) forget(map_.page_of(home, o));
        if (trimmed != 0) {
            counters_.host_pages_trimmed += trimmed;
            const WriteSequence sequence{next_sequence_};
            if (!trims_.empty() && trims_.back().sequence == sequence && trims_.back().first.value() + trims_.back().pages == at)
                trims_.back().pages += stop - at;
            else
                trims_.push_back({Lpn{at}, stop - at, sequence});
            if (map_.next_mapped(home, 0) == map_.pages_per_block()) {
                if (auto emptied = merge(home, io.when); !emptied) return std::unexpected(fail(emptied.error()));
            }
        }
        at = stop;
    }
    // They wait in DRAM for a flush, but not without bound.
    if (trims_.size() * trimmed_bytes * 2 > logical_page_bytes()) {
        if (auto committed = commit(Commit::what_is_due, io.when); !committed) return std::unexpected(fail(committed.error()));
    }
    return io.when;
}

FtlResult<SimTime> MergeFtl::do_flush(const Io& io) {
    if (!trims_.empty()) {
        if (is_broken_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, io.when});
        if (auto committed = commit(Commit::what_is_due, io.when); !committed) return std::unexpected(fail(committed.error()));
    }
    return std::max(io.when, durable_at_);
}

SimTime MergeFtl::do_idle(SimTime now) {
    if (read_only_) return sim_never;
    // A shared log block in which everything was overwritten need not wait for its turn.
    for (auto slot = logs_.oldest(LogKind::shared); slot && logs_.at(*slot).live == 0 && !logs_.has_room(*slot);
         slot = logs_.oldest(LogKind::shared)) {
        if (auto closed = reclaim(*slot, now); !closed) {
            (void)fail(closed.error());
            break;
        }
    }
    if (!leaving_.empty() && leaving_.front().ready <= now) {
        if (auto committed = commit(Commit::what_is_due, now); !committed) (void)fail(committed.error());
    }
    return leaving_.empty() ? sim_never : std::max(now, leaving_.front().ready);
}

FtlResult<SimTime> MergeFtl::do_relocate(BlockId block, SimTime now, Cause cause) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    if (role_[block.value()] != Role::data && role_[block.value()] != Role::log) return now;
    FtlResult<void> moved;
    // Data that nobody rewrites are parked on the most worn block at hand.
    if (config_.wear_threshold != 0) pool_.set_order(TakeOrder::most_worn);
    if (role_[block.value()] == Role::data)
        moved = merge(LogicalBlock{owner_[block.value()]}, now, cause, MergeTarget::fresh_block);
    else
        moved = reclaim(owner_[block.value()], now, cause);
    if (config_.wear_threshold != 0) pool_.set_order(TakeOrder::least_worn);
    if (!moved) return std::unexpected(fail(moved.error()));
    // Not forced: a record that waits for these copies would hold up all that come after it. The block leaves with the next one that is due.
    return leaving_.empty() ? now : std::max(now, leaving_.back().ready);
}

FtlCounters MergeFtl::counters() const {
    FtlCounters all = counters_;
    all.retired_blocks = pool_.retired_blocks();
    return all;
}

FtlSpace MergeFtl::space() const {
    FtlSpace s;
    s.free_blocks = pool_.free_blocks() + static_cast<std::uint32_t>(leaving_blocks_.size());
    s.spare_blocks = pool_.good_blocks() > map_.logical_blocks() ? pool_.good_blocks() - map_.logical_blocks() : 0;
    s.bad_blocks = pool_.lost_blocks();
    s.mapped_pages = map_.mapped_pages();
    s.is_read_only = read_only_;
    return s;
}

BlockStatus MergeFtl::do_status_of(BlockId block) const {
    const std::uint32_t owner = owner_[block.value()];
    switch (role_[block.value()]) {
    case Role::data: {
        const LogicalBlock home{owner};
        std::uint32_t logged = 0;
        for (std::uint32_t o = map_.next_logged(home, 0); o < map_.pages_per_block(); o = map_.next_logged(home, o + 1)) ++logged;
        return {BlockUse::data, map_.mapped_in(home, 0, map_.pages_per_block()) - logged};
    }
    case Role::log:
        return {BlockUse::log, logs_.at(owner).live};
    case Role::journal:
        return {BlockUse::other, 0};
    case Role::lost:
        return {BlockUse::bad, 0};
    case Role::unused:
    case Role::free:
    case Role::leaving:
        break;
    }
    return {BlockUse::free, 0};
}

std::optional<BlockExchange::Lent> MergeFtl::offer(PlaneId plane) { return pool_.offer(plane); }

void MergeFtl::lend(BlockId offered) {
    pool_.lend(offered);
    role_[offered.value()] = Role::journal;
}

void MergeFtl::give(BlockId block, SimTime ready) {
    pool_.give(block, ready);
    role_[block.value()] = Role::free;
}

} // namespace flashlab

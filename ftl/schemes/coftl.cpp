/// COFTL's requests: the data cache in front of the chains.
#include "ftl/schemes/coftl.h"

#include <algorithm>
#include <cstring>

namespace flashlab {

namespace {

/// A virtual page is written or read over all channels at once; only the bus and the cells count. Both planes of a pair share a bus.
Duration transfer_time(const NandArray& array) {
    const NandTiming& t = array.config().timing;
    const Duration page = t.command + Duration{(std::int64_t{array.geometry().page_bytes()} * t.bus_ps_per_byte + 999) / 1000};
    return page * BlockSets::planes_at_once(array.config());
}

Duration program_time(const NandArray& array) {
    return transfer_time(array) + array.config().timing.page_program + array.config().timing.controller_page_program;
}

Duration read_time(const NandArray& array) {
    return transfer_time(array) + array.config().timing.page_read + array.config().timing.controller_page_read;
}

} // namespace

Coftl::Coftl(const CoftlConfig& config, NandArray& array, BlockSets sets, MetaArea log_area, EventSink& events)
    : Ftl{{config.width * array.geometry().page_bytes(),
           CoftlShape{config.width, config.virtual_blocks, array.geometry().pages_per_block()}.logical_pages(), array.geometry().blocks()}},
      config_{config}, array_{array}, events_{events}, sets_{std::move(sets)},
      shape_{config.width, config.virtual_blocks, array.geometry().pages_per_block()}, info_{sets_.count()},
      log_{std::move(log_area), config.mirror, array}, tables_{config.cached_tables, shape_.page_count()},
      cache_{config.cache_slots, array.keeps_payload() ? std::size_t{config.width} * array.geometry().page_bytes() : 0, program_time(array),
             read_time(array)},
      swap_{config.swap_area, config.virtual_blocks, array}, blocks_(config.virtual_blocks), mapped_{shape_}, chained_{shape_},
      shadow_(array.keeps_payload() ? 0 : config.virtual_blocks),
      row_(array.keeps_payload() ? std::size_t{config.width} * array.geometry().page_bytes() : 0),
      page_(array.keeps_payload() ? array.geometry().page_bytes() : 0), places_(shape_.page_count()), cells_(array.geometry().pages_per_block()) {
    ensure(config.virtual_blocks >= 1 && config.cached_tables >= 1, "there are virtual blocks and a table to work in");
    ensure(sets_.width() == config.width && sets_.count() >= config.virtual_blocks + least_spare_sets, "more sets than virtual blocks");
    reads_.reserve(config.width);
}

FtlError Coftl::fail(const NandError& error, Lpn lpn) {
    if (error.kind == NandErrorKind::host_io) {
        read_only_ = true;
        return {FtlErrorKind::host_io, lpn, error.done, error.host_errno};
    }
    return {FtlErrorKind::lost_page, lpn, error.done};
}

FtlResult<SimTime> Coftl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    SimTime done = io.when;
    std::optional<FtlError> error;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto part = to.empty() ? to : to.subspan(std::size_t{i} * logical_page_bytes(), logical_page_bytes());
        const auto read = read_page(shape_.address(Lpn{first.value() + i}), part, io);
        if (read)
            done = std::max(done, *read);
        else if (!error)
            error = read.error();
    }
    counters_.host_pages_read += pages;
    if (error) return std::unexpected(*error);
    return done;
}

/// A whole virtual page: given out of the cache where it is there, never brought into it (CO5: only what is smaller is likely to be read again).
FtlResult<SimTime> Coftl::read_page(CoftlShape::Address at, std::span<std::byte> to, const Io& io) {
    const auto [vb, page] = at;
    const VirtualBlock& b = block(vb);
    if (b.length == 0 && !b.has_table()) {
        if (!to.empty()) std::memset(to.data(), 0, to.size());
        return io.when;
    }
    const auto looked_up = table_of(vb, io, TableUse::read);
    if (!looked_up) return looked_up;
    if (const auto slot = tables_.slot(b.table, page)) {
        ++own_.cache_hits;
        cache_.touch(*slot, io.when);
        if (!to.empty() && array_.keeps_payload()) std::memcpy(to.data(), cache_.payload(*slot).data(), to.size());
        return std::max(*looked_up, cache_.ready(*slot));
    }
    const CoftlPlace place = tables_.place(b.table, page);
    if (!place.mapped()) {
        if (!to.empty()) std::memset(to.data(), 0, to.size());
        return *looked_up;
    }
    ++own_.cache_misses;
    if (place.lost()) return std::unexpected(FtlError{FtlErrorKind::lost_page, shape_.lpn(vb, page), *looked_up});
    const auto done = read_row(set_at(vb, place.index()), place.row(), to, io.at(*looked_up));
    if (!done) return std::unexpected(fail(done.error(), shape_.lpn(vb, page)));
    return *done;
}

FtlResult<SimTime> Coftl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    const auto [vb, page] = shape_.address(lpn);
    ++counters_.host_pages_read;
    const VirtualBlock& b = block(vb);
    const auto zeros = [&](SimTime at) {
        if (!to.empty()) std::memset(to.data(), 0, to.size());
        return at;
    };
    if (b.length == 0 && !b.has_table()) return zeros(io.when);
    const auto looked_up = table_of(vb, io, TableUse::read);
    if (!looked_up) return looked_up;
    std::optional<SlotId> slot = tables_.slot(b.table, page);
    SimTime ready = *looked_up;
    if (slot) {
        ++own_.cache_hits;
        cache_.touch(*slot, io.when);
    } else {
        const CoftlPlace place = tables_.place(b.table, page);
        if (!place.mapped()) return zeros(*looked_up);
        ++own_.cache_misses;
        if (place.lost()) return std::unexpected(FtlError{FtlErrorKind::lost_page, lpn, *looked_up});
        if (cache_.capacity() == 0) {
            // No cache: only the pages that are asked for are read.
            const std::uint32_t page_bytes = array_.geometry().page_bytes();
            reads_.clear();
            for (std::uint32_t at = offset; at < offset + bytes;) {
                const std::uint32_t n = std::min(page_bytes - at % page_bytes, offset + bytes - at);
                const BlockId block = sets_.block(set_at(vb, place.index()), at / page_bytes);
                reads_.push_back(
                    {array_.geometry().page_of(block, place.row().value()), at % page_bytes, n, to.empty() ? to : to.subspan(at - offset, n)});
                at += n;
            }
            const auto done = array_.read(reads_, io.at(*looked_up));
            if (!done) return std::unexpected(fail(done.error(), lpn));
            return *done;
        }
        const auto free = free_slot(vb, page, false, io.at(*looked_up));
        if (!free) return std::unexpected(free.error());
        slot = free->slot;
        ready = free->ready;
        // What made room may have merged this very virtual block: its place is looked up again.
        const CoftlPlace now_at = tables_.place(b.table, page);
        const auto done = read_row(set_at(vb, now_at.index()), now_at.row(), cache_.payload(*slot), io.at(ready));
        if (!done) {
            drop_slot(vb, page, io.when);
            return std::unexpected(fail(done.error(), lpn));
        }
        cache_.set_ready(*slot, *done);
    }
    if (!to.empty() && array_.keeps_payload()) std::memcpy(to.data(), cache_.payload(*slot).data() + offset, bytes);
    return std::max(ready, cache_.ready(*slot));
}

/// A slot for a page that has none; whatever must leave leaves before.
FtlResult<Coftl::FreeSlot> Coftl::free_slot(VirtualBlockId vb, VirtualPage page, bool dirty, const Io& io) {
    SimTime ready = io.when;
    if (cache_.full()) {
        const auto evicted = evict_slot(cache_.victim(io.when), io);
        if (!evicted) return std::unexpected(evicted.error());
        ready = std::max(ready, *evicted);
    }
    const SlotId slot = cache_.insert(shape_.lpn(vb, page), dirty, io.when);
    tables_.set_slot(block(vb).table, page, slot);
    return FreeSlot{slot, ready};
}

FtlResult<SimTime> Coftl::evict_slot(SlotId slot, const Io& io) {
    const auto [vb, page] = shape_.address(cache_.lpn(slot));
    SimTime done = io.when;
    if (cache_.is_dirty(slot)) {
        const auto written = program_page(vb, block(vb).table, page, cache_.payload(slot), cache_.write_back(slot, io));
        if (!written) return written;
        done = *written;
        ++own_.dirty_evictions;
    } else {
        ++own_.clean_evictions;
    }
    drop_slot(vb, page, io.when);
    return done;
}

void Coftl::drop_slot(VirtualBlockId vb, VirtualPage page, SimTime now) {
    const TableId table = block(vb).table;
    if (table == no_table) return;
    const auto slot = tables_.slot(table, page);
    if (!slot) return;
    cache_.remove(*slot, now);
    tables_.set_slot(table, page, std::nullopt);
}

FtlResult<SimTime> Coftl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    SimTime done = io.when;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto [vb, page] = shape_.address(Lpn{first.value() + i});
        const auto part = from.empty() ? from : from.subspan(std::size_t{i} * logical_page_bytes(), logical_page_bytes());
        const auto looked_up = table_of(vb, io, TableUse::write);
        if (!looked_up) return looked_up;
        const bool cached = tables_.slot(block(vb).table, page).has_value();
        const auto written = cached || (pages == 1 && cache_.capacity() != 0) ? write_cached(vb, page, part, io.at(*looked_up))
                                                                              : program_page(vb, block(vb).table, page, part, io.at(*looked_up));
        if (!written) return written;
        done = std::max(done, *written);
    }
    counters_.host_pages_written += pages;
    if (const auto levelled = level_wear(io.when); !levelled && levelled.error().kind == FtlErrorKind::host_io) return levelled;
    return done;
}

FtlResult<SimTime> Coftl::write_cached(VirtualBlockId vb, VirtualPage page, Buffer from, const Io& io) {
    std::optional<SlotId> slot = tables_.slot(block(vb).table, page);
    SimTime ready = io.when;
    if (slot) {
        ++own_.cache_hits;
        cache_.make_dirty(*slot, io.when);
        cache_.touch(*slot, io.when);
    } else {
        ++own_.cache_misses;
        const auto free = free_slot(vb, page, true, io);
        if (!free) return std::unexpected(free.error());
        slot = free->slot;
        ready = free->ready;
    }
    cache_.set_written(*slot, ready, io.origin);
    if (!from.empty() && array_.keeps_payload()) std::memcpy(cache_.payload(*slot).data(), from.data(), from.size());
    return ready;
}

FtlResult<SimTime> Coftl::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    SimTime done = io.when;
    for (std::uint32_t i = 0; i < pages;) {
        const auto [vb, begin] = shape_.address(Lpn{first.value() + i});
        const VirtualPage end{std::min(shape_.page_count(), begin.value() + pages - i)};
        i += end.value() - begin.value();
        VirtualBlock& b = block(vb);
        if (b.length == 0 && !b.has_table()) continue;
        // The old places need not be known where all of them go.
        const bool whole = begin == VirtualPage{0} && end == VirtualPage{shape_.page_count()};
        if (!b.settled && !whole) {
            const auto looked_up = table_of(vb, io, TableUse::other);
            if (!looked_up) return looked_up;
            done = std::max(done, *looked_up);
        }
        if (!know_bits(vb)) { // all of them go
            for (const VirtualPage p : shape_.pages()) mapped_.set(vb, p, true);
            mapped_.set_known(vb, true);
        }
        bool changed = false;
        for (VirtualPage p = begin; p < end; p = next(p)) {
            if (!do_is_mapped(shape_.lpn(vb, p))) continue;
            drop_slot(vb, p, io.when);
            ++counters_.host_pages_trimmed;
            if (!mapped_.has(vb, p)) continue;
            mapped_.set(vb, p, false);
            if (b.has_table()) tables_.set_place(b.table, p, CoftlPlace{});
            changed = true;
        }
        if (!changed) continue;
        b.stated = true;
        if (!b.pending) pending_.push_back(vb);
        b.pending = true;
    }
    return done;
}

/// Everything answered so far: dirty pages, then what says that trimmed ones are gone.
FtlResult<SimTime> Coftl::do_flush(const Io& io) {
    if (read_only_ && cache_.dirty() + pending_.size() != 0) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, io.when});
    for (const SlotId slot : cache_.list_dirty()) {
        const auto [vb, page] = shape_.address(cache_.lpn(slot));
        const auto written = program_page(vb, block(vb).table, page, cache_.payload(slot), cache_.write_back(slot, io));
        if (!written) return written;
        cache_.make_clean(slot, io.when);
    }
    const auto stated = flush_trims(io.at(std::max(io.when, durable_at_)));
    if (!stated) return stated;
    return std::max({io.when, durable_at_, *stated});
}

} // namespace flashlab

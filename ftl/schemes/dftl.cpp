#include "ftl/schemes/dftl.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace flashlab {

Dftl::Dftl(const PageBlocksConfig& blocks, const PageJournalConfig& journal, CachedEntries cached, NandArray& array, EventSink& events,
           BlockPolicies policies)
    : Ftl{{UnitGeometry{array.geometry(), blocks.pages_per_unit}.bytes_per_unit(), journal.shape.logical_pages, array.geometry().blocks()}},
      array_{array}, logical_pages_{journal.shape.logical_pages},
      entries_per_page_{entries_per_page(UnitGeometry{array.geometry(), blocks.pages_per_unit})}, to_page_{entries_per_page_},
      on_flash_(std::size_t{translation_pages(UnitGeometry{array.geometry(), blocks.pages_per_unit}, logical_pages_)} * entries_per_page_),
      gtd_(on_flash_.size() / entries_per_page_, unmapped), cache_{cached.count, entries_per_page_, static_cast<std::uint32_t>(gtd_.size())},
      blocks_{blocks, array, events, *this, std::move(policies)}, journal_{journal, array, blocks_}, reader_{array, blocks_},
      page_(blocks_.units().bytes_per_unit()), most_{cached} {
    ensure(blocks.frontiers.size() == 2, "data and translation pages have a frontier each");
}

FtlResult<SimTime> Dftl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    const auto looked_up = look_up(first, pages, io);
    if (!looked_up) return looked_up;
    counters_.host_pages_read += pages;
    return reader_.read(first, pages, to, io.at(*looked_up), [this](Lpn lpn) { return unit_of(entry_of(lpn)); });
}

FtlResult<SimTime> Dftl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    const auto looked_up = look_up(lpn, 1, io);
    if (!looked_up) return looked_up;
    ++counters_.host_pages_read;
    return reader_.read_part(lpn, unit_of(entry_of(lpn)), offset, bytes, to, io.at(*looked_up));
}

FtlResult<SimTime> Dftl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    if (const auto paced = pace_checkpoint(io); !paced) return std::unexpected(paced.error());
    std::optional<std::uint32_t> just_read;
    const auto prepare = [&](Lpn lpn, std::uint32_t row, SimTime at) -> FtlResult<SimTime> {
        std::uint32_t new_entries = 0;
        for (std::uint32_t k = 0; k < row; ++k) new_entries += cache_.peek(Lpn{lpn.value() + k}) ? 0 : 1;
        const auto room = make_room(new_entries, io.at(at));
        if (!room) return room;
        at = std::max(at, *room);
        if (!most_.fetched_for_writes) return at;
        const auto fetched = fetch_missing(lpn, row, just_read, io.at(at));
        if (!fetched) return fetched;
        return std::max(at, *fetched);
    };
    const auto adopt = [this](Lpn lpn, UnitId unit, const OpenColumn&, SimTime end) {
        set_entry(lpn, unit.value() + 1);
        programmed_at_ = std::max(programmed_at_, end);
    };
    const auto written = write_rows(
        blocks_, {first, pages, from}, io, prepare, [this](Lpn lpn) { return unit_of(entry_of(lpn)); }, adopt,
        [&](std::uint32_t placed, SimTime at) { return keep_pace(placed, io.at(at)); });
    if (!written) return written;
    counters_.host_pages_written += pages;
    durable_at_ = std::max(durable_at_, *written);
    return *written;
}

FtlResult<SimTime> Dftl::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    const std::uint64_t trimmed_before = counters_.host_pages_trimmed;
    const auto room = make_room(0, io); // a checkpoint holds the dirty entries of a cache within its capacity
    if (!room) return room;
    FtlResult<SimTime> done = *room;
    std::uint32_t l = first.value();
    for (const std::uint32_t end = l + pages; l < end && done;) {
        const std::uint32_t page = page_of(Lpn{l});
        const std::uint32_t stop = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, (page + std::uint64_t{1}) * entries_per_page_));
        const std::uint64_t before = counters_.host_pages_trimmed;
        const auto trimmed = trim_in_page(page, Lpn{l}, stop - l, io);
        if (trimmed || counters_.host_pages_trimmed != before) l = stop;
        done = trimmed ? FtlResult<SimTime>{std::max(*done, *trimmed)} : trimmed;
    }
    // Also of a trim that failed half way: what reads zeros now must not come back.
    if (counters_.host_pages_trimmed != trimmed_before) journal_.trimmed(first, l - first.value());
    if (!done) return done;
    if (blocks_.has_failed_blocks())
        if (const auto retired = blocks_.retire_failed(io.when); !retired) return std::unexpected(retired.error());
    if (journal_.is_full())
        if (const auto written = flush_trims(io); !written) return written;
    return done;
}

FtlResult<SimTime> Dftl::do_flush(const Io& io) {
    const SimTime written = std::max(io.when, durable_at_);
    if (blocks_.is_read_only() && !journal_.can_flush_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, io.when});
    const auto trims = flush_trims(io);
    if (!trims) return trims;
    return std::max(written, *trims);
}

SimTime Dftl::do_idle(SimTime now) {
    if (blocks_.is_read_only()) return sim_never;
    if (journal_.begins_checkpoint()) {
        if (programmed_at_ > now) return std::min(programmed_at_, blocks_.idle(now));
        if (!pace_checkpoint({now, {Cause::map, no_event}})) return sim_never;
    }
    const auto next = journal_.pace_idle({}, now);
    if (!next) return sim_never;
    const SimTime again = blocks_.idle(now);
    if (!keep_pace(blocks_.groups(), {now, {Cause::map, no_event}})) return sim_never;
    return std::min(*next, again);
}

FtlResult<SimTime> Dftl::do_relocate(BlockId block, SimTime now) { return blocks_.relocate(block, now); }

void Dftl::moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn&, SimTime end) {
    programmed_at_ = std::max(programmed_at_, end);
    ++collected_[(oob.kind == PageKind::translation ? map_frontier : data_frontier).value()].copies;
    if (oob.kind == PageKind::translation) {
        ensure(gtd_[oob.lpn.value()] == from.value() + 1, "a valid translation page is the newest of its entries");
        gtd_[oob.lpn.value()] = to.value() + 1;
        return;
    }
    ensure(entry_of(oob.lpn) == from.value() + 1, "a valid unit is its page's newest version");
    if (cache_.peek(oob.lpn)) return cache_.update(oob.lpn, to.value() + 1); // lazy copying
    // What finds no room aside goes when the victim is done.
    if (cache_.aside() < most_aside())
        cache_.set_aside(oob.lpn, to.value() + 1);
    else
        cache_.insert_cold(oob.lpn, to.value() + 1);
}

/// The erase waits for no translation page: what was moved is dirty in the cache, as what the host wrote is. A census finds the copies, the next
/// checkpoint holds the entries.
FtlResult<SimTime> Dftl::forget(BlockId victim, BlockFate, SimTime at, EventId job) {
    Collected& collected = collected_[blocks_.kind_of(victim)];
    collected.copies_a_block.add(std::exchange(collected.copies, 0));
    if (blocks_.kind_of(victim) == data_frontier.value())
        if (const auto room = make_room(0, {at, {Cause::map, job}}); !room) return room;
    if (!journal_.is_kept(victim)) return std::max(at, journal_.trims_durable_at());
    return journal_.flush_trims(map_bytes(), {std::max(at, programmed_at_), {Cause::map, job}});
}

FtlSpace Dftl::space() const {
    FtlSpace s = blocks_.space();
    for (const std::uint32_t entry : gtd_) s.mapped_pages -= entry == unmapped ? 0 : 1;
    return s;
}

BlockStatus Dftl::do_status_of(BlockId block) const {
    return blocks_.status_of(block, blocks_.kind_of(block) == map_frontier.value() ? BlockUse::translation : BlockUse::data);
}

FtlCounters Dftl::counters() const {
    FtlCounters all = counters_;
    blocks_.count_into(all);
    return all;
}

std::vector<CheckProblem> Dftl::do_check() {
    std::vector<CheckProblem> out = journal_.check();
    blocks_.check(out);
    MapCheck map{"F1", "F4", blocks_.units(), array_};
    const auto check = [&](std::uint32_t page, PageKind kind, std::uint32_t entry) {
        if (const auto unit = unit_of(entry)) map.check({Lpn{page}, kind, *unit}, blocks_.valid().test(*unit), blocks_.next_sequence(), out);
    };
    std::uint64_t dirty = 0;
    for (std::uint32_t l = 0; l < logical_pages_; ++l) {
        const std::uint32_t entry = entry_of(Lpn{l});
        check(l, PageKind::data, entry);
        if (entry != on_flash_[l]) ++dirty;
    }
    for (std::uint32_t p = 0; p < gtd_.size(); ++p) check(p, PageKind::translation, gtd_[p]);
    if (dirty > cache_.dirty())
        out.push_back({"F2", "mapping cache", fmt::format("{} entries differ from flash, {} are dirty", dirty, cache_.dirty())});
    if (cache_.aside() > most_aside())
        out.push_back({"F6", "mapping cache", fmt::format("{} entries set aside, {} at most", cache_.aside(), most_aside())});
    if (map.units_named() != blocks_.valid().total())
        out.push_back({"F1", "valid bits", fmt::format("{} valid units, {} named", blocks_.valid().total(), map.units_named())});
    return out;
}

} // namespace flashlab

/// COFTL's page tables: into RAM at the first touch of a virtual block, out of it with the least recently used.
#include <algorithm>

#include "ftl/schemes/coftl.h"

namespace flashlab {

FtlResult<SimTime> Coftl::table_of(VirtualBlockId vb, const Io& io, TableUse use) {
    VirtualBlock& b = block(vb);
    if (ghost_ || curve_) count_use(vb, use, !b.has_table());
    if (b.has_table()) {
        tables_.touch(b.table);
        return io.when;
    }
    SimTime at = io.when;
    if (!tables_.has_free()) {
        const auto evicted = evict_table(tables_.least_recently_used(), io);
        if (!evicted) return evicted;
        at = *evicted;
    }
    const TableId table = tables_.take(vb);
    if (b.length != 0) {
        const auto loaded = load_table(vb, table, at);
        if (!loaded) {
            tables_.release(table);
            return loaded;
        }
        load_ns_.add(static_cast<double>((*loaded - at).count()));
        at = *loaded;
    }
    b.table = table;
    return at;
}

/// The slots that the table names leave with it (X5), dirty ones through flash.
FtlResult<SimTime> Coftl::evict_table(TableId table, const Io& io) {
    const VirtualBlockId vb = tables_.vb(table);
    SimTime done = io.when;
    for (const VirtualPage p : shape_.pages()) {
        if (tables_.slots(table) == 0) break;
        const auto slot = tables_.slot(table, p);
        if (!slot) continue;
        if (cache_.is_dirty(*slot)) {
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, shape_.lpn(vb, p), io.when});
            const auto written = program_page(vb, table, p, cache_.payload(*slot), cache_.write_back(*slot, io));
            if (!written) return written;
            done = std::max(done, *written);
        }
        drop_slot(vb, p, io.when);
    }
    const bool has_changed = tables_.is_dirty(table) && !block(vb).committed;
    const std::uint64_t skipped = own_.skipped_page_sets;
    const auto retired = retire_places(vb, table, done);
    if (!retired) return retired;
    if (has_changed) {
        retire_ns_.add(static_cast<double>((*retired - done).count()));
        skipped_.add(static_cast<double>(own_.skipped_page_sets - skipped));
    }
    if (ghost_) ghost_->evicted(vb.value());
    block(vb).table = no_table;
    tables_.release(table);
    return retired;
}

/// CO7: a table that leaves RAM before its set is full is committed, and what is left of the set is lost until it is erased. A clean one is dropped,
/// and so is one whose summary page is spoilt: its last set is scanned again at the next touch.
FtlResult<SimTime> Coftl::retire_places(VirtualBlockId vb, TableId table, SimTime now) {
    VirtualBlock& b = block(vb);
    if (b.length == 0 || !tables_.is_dirty(table) || b.committed || b.sealed || read_only_) return now;
    SimTime at = now;
    if (!shape_.has_summary(b.last_index())) {
        const auto merged = merge(vb, table, now, Cause::merge);
        if (!merged && merged.error().kind == FtlErrorKind::read_only) return now; // as any table of a device that has become so
        if (!merged) return merged;
        at = *merged;
        if (b.length == 0 || b.committed) return at;
    }
    if (swap_.exists()) {
        for (const VirtualPage p : shape_.pages()) places_[p.value()] = tables_.place(table, p);
        if (array_.keeps_payload()) CoftlSummary::encode(page_, CoftlSummary::swapped, info_.of(b.last).birth, places_);
        const auto swapped_out = swap_.write(vb, page_, std::max(at, b.last_end));
        if (!swapped_out) return std::unexpected(fail(swapped_out.error(), shape_.first_lpn(vb)));
        if (*swapped_out) {
            if (!array_.keeps_payload()) shadow_[vb.value()].assign(places_.begin(), places_.end());
            ++own_.swap_outs;
            durable_at_ = std::max(durable_at_, **swapped_out);
            return **swapped_out;
        }
    }
    own_.skipped_page_sets += shape_.rows_of(b.last_index()) - b.next_row.value();
    return commit(vb, table, at);
}

FtlResult<SimTime> Coftl::load_table(VirtualBlockId vb, TableId table, SimTime now) {
    const VirtualBlock& b = block(vb);
    ++own_.table_loads;
    if (!b.settled) return settle(vb, table, now);
    SimTime done = now;
    bool loaded = false;
    if (swap_.holds(vb)) {
        const auto read = swap_.read(vb, page_, now);
        if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), shape_.first_lpn(vb)));
        done = read ? *read : read.error().done;
        if (!array_.keeps_payload()) std::ranges::copy(shadow_[vb.value()], places_.begin());
        loaded = read && (!array_.keeps_payload() || CoftlSummary::decode(page_, CoftlSummary::swapped, info_.of(b.last).birth, places_));
        if (loaded) set_places(table, places_);
        own_.swap_ins += loaded ? 1 : 0;
    } else if (b.committed) {
        const auto summary = load_summary(vb, b.last_index(), table, now);
        if (!summary) return std::unexpected(summary.error());
        done = summary->done;
        loaded = summary->state == Summary::loaded;
    }
    if (!loaded) {
        const auto before = load_before_last(vb, table, done);
        if (!before) return before;
        done = *before;
        const auto scanned = scan_set(b.last, b.next_row, table, done);
        if (!scanned) return std::unexpected(scanned.error());
        done = scanned->done;
    }
    for (const VirtualPage p : shape_.pages())
        if (!mapped_.has(vb, p)) tables_.set_place(table, p, CoftlPlace{}); // trimmed since the summary
    return done;
}

void Coftl::set_places(TableId table, std::span<const CoftlPlace> places) {
    for (const VirtualPage p : shape_.pages()) tables_.set_place(table, p, places[p.value()]);
}

FtlResult<SimTime> Coftl::load_before_last(VirtualBlockId vb, TableId table, SimTime now) {
    const VirtualBlock& b = block(vb);
    if (b.length == 1) return now;
    const auto summary = load_summary(vb, ChainIndex{b.length - 2}, table, now);
    if (!summary) return std::unexpected(summary.error());
    SimTime done = summary->done;
    if (summary->state == Summary::loaded) return done;
    for (const ChainIndex index : FirstIds<ChainIndex>{b.length - 1}) {
        const auto scanned = scan_set(set_at(vb, index), shape_.end_of(index), table, done);
        if (!scanned) return std::unexpected(scanned.error());
        done = scanned->done;
    }
    return done;
}

FtlResult<Coftl::LoadedSummary> Coftl::load_summary(VirtualBlockId vb, ChainIndex commit, TableId table, SimTime now) {
    const Ppn at = summary_page(vb, commit);
    const auto read = array_.read(PageRead{at, 0, array_.geometry().page_bytes(), page_}, {now, {Cause::map, no_event}});
    const SimTime done = std::max(now, read ? *read : read.error().done);
    if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), shape_.first_lpn(vb)));
    if (!read) return LoadedSummary{read.error().kind == NandErrorKind::erased_page ? Summary::absent : Summary::spoilt, done};
    if (!array_.keeps_payload()) {
        if (shadow_[vb.value()].empty()) return LoadedSummary{Summary::spoilt, done};
        std::ranges::copy(shadow_[vb.value()], places_.begin());
    } else if (!CoftlSummary::decode(page_, commit, info_.of(block(vb).primary).birth, places_)) {
        return LoadedSummary{Summary::spoilt, done};
    }
    set_places(table, places_);
    return LoadedSummary{Summary::loaded, done};
}

/// The summary whose program the cut may have met. One that reads for the last time (T4) is no better than a spoilt one: what its table leaves out,
/// by a trim that was not flushed, would be seen as gone now and come back with the next cut.
FtlResult<Coftl::LoadedSummary> Coftl::load_last_summary(VirtualBlockId vb, TableId table, SimTime now) {
    const ChainIndex commit = block(vb).last_index();
    const auto oob = array_.read_oob(summary_page(vb, commit), {now, {Cause::recovery, no_event}});
    if (!oob) return std::unexpected(fail(oob.error(), shape_.first_lpn(vb)));
    if (oob->state == CellState::erased) return LoadedSummary{Summary::absent, oob->done};
    if (oob->state != CellState::programmed) return LoadedSummary{Summary::spoilt, oob->done};
    return load_summary(vb, commit, table, oob->done);
}

/// All pages of a page set, read together: its OOB iff all parse and agree, nothing where any of them does not.
FtlResult<Coftl::RowOob> Coftl::read_row_oob(SetId set, RowId row, SimTime now) {
    std::optional<PageOob> first;
    bool whole = true;
    bool erased = true;
    SimTime done = now;
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        const auto read = array_.read_oob(array_.geometry().page_of(sets_.block(set, c), row.value()), {now, {Cause::recovery, no_event}});
        if (!read) return std::unexpected(fail(read.error(), Lpn{0}));
        done = std::max(done, read->done);
        erased = erased && read->state == CellState::erased;
        if (read->state != CellState::programmed || !read->oob)
            whole = false;
        else if (c == 0)
            first = *read->oob;
        else
            whole = whole && first && *first == *read->oob;
    }
    return RowOob{whole ? first : std::nullopt, erased, done};
}

/// Is this the OOB of a data page of the set as it is used now? Its index is not asked for: a set that became the primary (O7) has that of before.
bool Coftl::speaks_for(const PageOob& oob, SetId set) const {
    const CoftlSets::Info& s = info_.of(set);
    return (oob.kind == PageKind::data || oob.kind == PageKind::padding) && oob.sequence.value() == s.birth && shape_.address(oob.lpn).vb == s.vb;
}

/// Page sets in order, up to the first that was never begun; what a cut tore is passed over. `end` of the answer: the first that was not begun.
FtlResult<Coftl::ScannedSet> Coftl::scan_set(SetId set, RowId end, TableId table, SimTime now) {
    SimTime done = now;
    for (RowId row = first_row; row < end; row = next(row)) {
        const auto read = read_row_oob(set, row, done);
        if (!read) return std::unexpected(read.error());
        done = read->done;
        if (read->erased) return ScannedSet{row, done};
        if (read->oob && speaks_for(*read->oob, set))
            tables_.set_place(table, shape_.address(read->oob->lpn).page, CoftlPlace{info_.of(set).index, row, read->oob->kind == PageKind::padding});
    }
    return ScannedSet{end, done};
}

/// The first touch after a power cut: is the last set committed? Else its pages say what they are. Nothing more is written into it (C6).
FtlResult<SimTime> Coftl::settle(VirtualBlockId vb, TableId table, SimTime now) {
    VirtualBlock& b = block(vb);
    const ChainIndex index = b.last_index();
    SimTime done = now;
    Summary summary = Summary::absent;
    bool pointed = false;
    if (shape_.has_summary(index)) {
        const auto pointer = array_.read_oob(pointer_page(vb, index), {now, {Cause::recovery, no_event}});
        if (!pointer) return std::unexpected(fail(pointer.error(), shape_.first_lpn(vb)));
        pointed = pointer->state != CellState::erased;
        const auto read = load_last_summary(vb, table, pointer->done);
        if (!read) return std::unexpected(read.error());
        summary = read->state;
        done = read->done;
    }
    b.next_row = shape_.end_of(index);
    if (summary != Summary::loaded) {
        const auto before = load_before_last(vb, table, done);
        if (!before) return before;
        const auto begun = scan_set(b.last, shape_.end_of(index), table, *before);
        if (!begun) return std::unexpected(begun.error());
        b.next_row = begun->end;
        done = begun->done;
    }
    for (const VirtualPage p : shape_.pages()) places_[p.value()] = tables_.place(table, p);
    if (mapped_.is_known(vb)) {
        for (const VirtualPage p : shape_.pages())
            if (!mapped_.has(vb, p)) places_[p.value()] = CoftlPlace{};
    } else {
        apply_statement(vb, places_);
    }
    mapped_.set_known(vb, true);
    for (const VirtualPage p : shape_.pages()) {
        mapped_.set(vb, p,
                    places_[p.value()].mapped()); // a question before the first touch saw what a trim left in its page set; the summary knows better
        tables_.set_place(table, p, places_[p.value()]);
    }
    b.closed = true;
    b.committed = summary == Summary::loaded;
    // A block marked bad by a merge that the cut took back holds its pages, but takes no more.
    const bool bad = std::ranges::any_of(sets_.blocks(b.primary), [this](BlockId block) { return array_.is_bad(block); });
    b.sealed = summary == Summary::spoilt || pointed || bad;
    b.ready = b.last_end = done;
    b.settled = true;
    b.stated = b.stated || recovered_statement(vb) != nullptr;
    if (summary == Summary::loaded && !b.stated && !read_only_ && mapped_count(vb) != shape_.page_count()) {
        // What the summary leaves out may be a trim that was never flushed and is seen as done from now on: the next flush states it, as that of any
        // trim. Else only this one page would know, and when it cannot be read some day, the page sets would bring the old version back.
        b.stated = true;
        if (!b.pending) pending_.push_back(vb);
        b.pending = true;
    }
    tables_.set_dirty(table, !b.committed);
    return done;
}

const CoftlStatement* Coftl::recovered_statement(VirtualBlockId vb) const {
    const auto s = std::ranges::lower_bound(recovered_, vb, {}, &CoftlStatement::vb);
    return s == recovered_.end() || s->vb != vb ? nullptr : &*s;
}

void Coftl::apply_statement(VirtualBlockId vb, std::span<CoftlPlace> places) const {
    const CoftlStatement* s = recovered_statement(vb);
    if (s == nullptr) return;
    for (const VirtualPage p : shape_.pages()) {
        if (!places[p.value()].mapped() || s->holds(p)) continue;
        const std::uint64_t birth = info_.of(set_at(vb, places[p.value()].index())).birth;
        if (birth < s->birth || (birth == s->birth && places[p.value()].row() < s->row)) places[p.value()] = CoftlPlace{};
    }
}

/// What the flash says of every page, at no simulated cost: for check() and for questions that are not requests. False: a record cannot be read.
bool Coftl::peek(VirtualBlockId vb, std::span<CoftlPlace> places) const {
    std::ranges::fill(places, CoftlPlace{});
    for (const ChainIndex index : FirstIds<ChainIndex>{block(vb).length}) {
        const SetId set = set_at(vb, index);
        for (RowId row = first_row; !shape_.is_end(index, row); row = next(row)) {
            std::optional<PageOob> first;
            bool whole = true;
            bool erased = true;
            for (std::uint32_t c = 0; c < config_.width; ++c) {
                const auto cell = array_.inspect_oob(array_.geometry().page_of(sets_.block(set, c), row.value()));
                if (!cell) return false;
                erased = erased && cell->state == CellState::erased;
                const auto& oob = cell->oob;
                whole = whole && cell->state == CellState::programmed && oob && (c == 0 || *first == *oob);
                if (!whole && !erased) break;
                if (whole) first = *oob;
            }
            if (erased) break;
            if (whole && speaks_for(*first, set))
                places[shape_.address(first->lpn).page.value()] = CoftlPlace{index, row, first->kind == PageKind::padding};
        }
    }
    return true;
}

/// False: what a damaged record says is not known, and so are the places of its virtual block; whoever needs them gets the error of its read.
bool Coftl::know_bits(VirtualBlockId vb) const {
    if (mapped_.is_known(vb)) return true;
    if (!peek(vb, places_)) return false;
    apply_statement(vb, places_);
    for (const VirtualPage p : shape_.pages()) mapped_.set(vb, p, places_[p.value()].mapped());
    mapped_.set_known(vb, true);
    return true;
}

/// A page of which nobody knows is one, so that it is asked for.
bool Coftl::do_is_mapped(Lpn lpn) const {
    const auto [vb, page] = shape_.address(lpn);
    const VirtualBlock& b = block(vb);
    return !know_bits(vb) || mapped_.has(vb, page) || (b.has_table() && tables_.slot(b.table, page));
}

std::uint32_t Coftl::mapped_count(VirtualBlockId vb) const { return know_bits(vb) ? mapped_.count(vb) : shape_.page_count(); }

} // namespace flashlab

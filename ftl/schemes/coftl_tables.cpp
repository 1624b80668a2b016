/// COFTL's page tables: into RAM at the first touch of a virtual block, out of it with the least recently used.
#include <algorithm>
#include <bit>

#include "ftl/schemes/coftl.h"

namespace flashlab {

FtlResult<SimTime> Coftl::table_of(std::uint32_t vb, SimTime now, Origin origin, TableUse use) {
    VirtualBlock& b = blocks_[vb];
    if (ghost_) count_use(vb, use, b.table == none);
    if (b.table != none) {
        tables_.touch(b.table);
        return now;
    }
    SimTime at = now;
    if (!tables_.has_free()) {
        const auto evicted = evict_table(tables_.least_recently_used(), now, origin);
        if (!evicted) return evicted;
        at = *evicted;
    }
    const std::uint32_t table = tables_.take(vb);
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
FtlResult<SimTime> Coftl::evict_table(std::uint32_t table, SimTime now, Origin origin) {
    const std::uint32_t vb = tables_.vb(table);
    SimTime done = now;
    for (std::uint32_t p = 0; p < pages_ && tables_.slots(table) != 0; ++p) {
        const std::uint32_t slot = tables_.slot(table, p);
        if (slot == CoftlCache::none) continue;
        if (cache_.is_dirty(slot)) {
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, lpn_of(vb, p), now});
            const auto written = program_page(vb, table, p, cache_.payload(slot), std::max(now, cache_.ready(slot)), origin);
            if (!written) return written;
            done = std::max(done, *written);
        }
        drop_slot(vb, p, now);
    }
    const bool has_changed = tables_.is_dirty(table) && !blocks_[vb].committed;
    const std::uint64_t skipped = own_.skipped_page_sets;
    const auto retired = retire_places(vb, table, done);
    if (!retired) return retired;
    if (has_changed) {
        retire_ns_.add(static_cast<double>((*retired - done).count()));
        skipped_.add(static_cast<double>(own_.skipped_page_sets - skipped));
    }
    if (ghost_) ghost_->evicted(vb);
    blocks_[vb].table = none;
    tables_.release(table);
    return retired;
}

/// CO7: a table that leaves RAM before its set is full is committed, and what is left of the set is lost until it is erased. A clean one is dropped,
/// and so is one whose summary page is spoilt: its last set is scanned again at the next touch.
FtlResult<SimTime> Coftl::retire_places(std::uint32_t vb, std::uint32_t table, SimTime now) {
    VirtualBlock& b = blocks_[vb];
    if (b.length == 0 || !tables_.is_dirty(table) || b.committed || b.sealed || read_only_) return now;
    SimTime at = now;
    if (b.length - 1 == config_.width) {
        const auto merged = merge(vb, table, now, Cause::merge);
        if (!merged && merged.error().kind == FtlErrorKind::read_only) return now; // as any table of a device that has become so
        if (!merged) return merged;
        at = *merged;
        if (b.length == 0 || b.committed) return at;
    }
    if (swap_.exists()) {
        for (std::uint32_t p = 0; p < pages_; ++p) places_[p] = tables_.place(table, p);
        if (array_.keeps_payload()) CoftlSummary::encode(page_, swapped, info_.of(b.last).birth, places_);
        const auto swapped_out = swap_.write(vb, page_, std::max(at, b.last_end));
        if (!swapped_out) return std::unexpected(fail(swapped_out.error(), lpn_of(vb, 0)));
        if (*swapped_out) {
            if (!array_.keeps_payload()) shadow_[vb].assign(places_.begin(), places_.end());
            ++own_.swap_outs;
            durable_at_ = std::max(durable_at_, **swapped_out);
            return **swapped_out;
        }
    }
    own_.skipped_page_sets += rows_of(b.length - 1) - b.next_row;
    return commit(vb, table, at);
}

FtlResult<SimTime> Coftl::load_table(std::uint32_t vb, std::uint32_t table, SimTime now) {
    const VirtualBlock& b = blocks_[vb];
    ++own_.table_loads;
    if (!b.settled) return settle(vb, table, now);
    SimTime done = now;
    bool loaded = false;
    if (swap_.holds(vb)) {
        const auto read = swap_.read(vb, page_, now);
        if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), lpn_of(vb, 0)));
        done = read ? *read : read.error().done;
        if (!array_.keeps_payload()) std::ranges::copy(shadow_[vb], places_.begin());
        loaded = read && (!array_.keeps_payload() || CoftlSummary::decode(page_, swapped, info_.of(b.last).birth, places_));
        for (std::uint32_t p = 0; p < pages_ && loaded; ++p) tables_.set_place(table, p, places_[p]);
        own_.swap_ins += loaded ? 1 : 0;
    } else if (b.committed) {
        const auto summary = load_summary(vb, b.length - 1, table, now, done);
        if (!summary) return std::unexpected(summary.error());
        loaded = *summary == Summary::loaded;
    }
    if (!loaded) {
        const auto before = load_before_last(vb, table, done);
        if (!before) return before;
        done = *before;
        const auto scanned = scan_set(b.last, b.next_row, table, done, done);
        if (!scanned) return std::unexpected(scanned.error());
    }
    for (std::uint32_t p = 0; p < pages_; ++p)
        if (!bit(vb, p)) tables_.set_place(table, p, CoftlPlace{}); // trimmed since the summary
    return done;
}

FtlResult<SimTime> Coftl::load_before_last(std::uint32_t vb, std::uint32_t table, SimTime now) {
    const VirtualBlock& b = blocks_[vb];
    if (b.length == 1) return now;
    SimTime done = now;
    const auto summary = load_summary(vb, b.length - 2, table, now, done);
    if (!summary) return std::unexpected(summary.error());
    if (*summary == Summary::loaded) return done;
    for (std::uint32_t index = 0; index + 1 < b.length; ++index) {
        const auto scanned = scan_set(set_at(vb, index), rows_of(index), table, done, done);
        if (!scanned) return std::unexpected(scanned.error());
    }
    return done;
}

FtlResult<Coftl::Summary> Coftl::load_summary(std::uint32_t vb, std::uint32_t commit, std::uint32_t table, SimTime now, SimTime& done) {
    const Ppn at = summary_page(vb, commit);
    const auto read = array_.read(PageRead{at, 0, array_.geometry().page_bytes(), page_}, now, {Cause::map, no_event});
    done = std::max(done, read ? *read : read.error().done);
    if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), lpn_of(vb, 0)));
    if (!read) return read.error().kind == NandErrorKind::erased_page ? Summary::absent : Summary::spoilt;
    if (!array_.keeps_payload()) {
        if (shadow_[vb].empty()) return Summary::spoilt;
        std::ranges::copy(shadow_[vb], places_.begin());
    } else if (!CoftlSummary::decode(page_, commit, info_.of(blocks_[vb].primary).birth, places_)) {
        return Summary::spoilt;
    }
    for (std::uint32_t p = 0; p < pages_; ++p) tables_.set_place(table, p, places_[p]);
    return Summary::loaded;
}

/// The summary whose program the cut may have met. One that reads for the last time (T4) is no better than a spoilt one: what its table leaves out,
/// by a trim that was not flushed, would be seen as gone now and come back with the next cut.
FtlResult<Coftl::Summary> Coftl::load_last_summary(std::uint32_t vb, std::uint32_t table, SimTime now, SimTime& done) {
    const std::uint32_t commit = blocks_[vb].length - 1;
    const auto oob = array_.read_oob(summary_page(vb, commit), now, {Cause::recovery, no_event});
    if (!oob) return std::unexpected(fail(oob.error(), lpn_of(vb, 0)));
    done = std::max(done, oob->done);
    if (oob->state == CellState::erased) return Summary::absent;
    return oob->state == CellState::programmed ? load_summary(vb, commit, table, oob->done, done) : Summary::spoilt;
}

/// All pages of a page set, read together: its OOB iff all parse and agree, nothing where any of them does not.
FtlResult<std::optional<PageOob>> Coftl::read_row_oob(std::uint32_t set, std::uint32_t row, SimTime now, SimTime& done, bool& erased) {
    std::optional<PageOob> first;
    bool whole = true;
    erased = true;
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        const auto read = array_.read_oob(array_.geometry().page_of(sets_.block(SetId{set}, c), row), now, {Cause::recovery, no_event});
        if (!read) return std::unexpected(fail(read.error(), Lpn{0}));
        done = std::max(done, read->done);
        erased = erased && read->state == CellState::erased;
        if (read->state != CellState::programmed || !read->oob) whole = false;
        else if (c == 0) first = *read->oob;
        else whole = whole && first && *first == *read->oob;
    }
    return whole ? first : std::nullopt;
}

/// Is this the OOB of a data page of the set as it is used now?
bool Coftl::speaks_for(const PageOob& oob, std::uint32_t set) const {
    const CoftlSets::Info& s = info_.of(set);
    return (oob.kind == PageKind::data || oob.kind == PageKind::padding) && oob.sequence.value() == s.birth && oob.lpn.value() / pages_ == s.vb &&
           CoftlWord::decode(oob.scheme_word).index == s.index;
}

/// Page sets in order, up to the first that was never begun; what a cut tore is passed over. Returns how many were begun.
FtlResult<std::uint32_t> Coftl::scan_set(std::uint32_t set, std::uint32_t rows, std::uint32_t table, SimTime now, SimTime& done) {
    SimTime at = now;
    for (std::uint32_t row = 0; row < rows; ++row) {
        bool erased = false;
        const auto oob = read_row_oob(set, row, at, at, erased);
        if (!oob) return std::unexpected(oob.error());
        done = std::max(done, at);
        if (erased) return row;
        if (*oob && speaks_for(**oob, set))
            tables_.set_place(table, (*oob)->lpn.value() % pages_, CoftlPlace{info_.of(set).index, row, (*oob)->kind == PageKind::padding});
    }
    return rows;
}

/// The first touch after a power cut: is the last set committed? Else its pages say what they are. Nothing more is written into it (C6).
FtlResult<SimTime> Coftl::settle(std::uint32_t vb, std::uint32_t table, SimTime now) {
    VirtualBlock& b = blocks_[vb];
    const std::uint32_t index = b.length - 1;
    SimTime done = now;
    Summary summary = Summary::absent;
    bool pointed = false;
    if (index < config_.width) {
        const auto pointer = array_.read_oob(pointer_page(vb, index), now, {Cause::recovery, no_event});
        if (!pointer) return std::unexpected(fail(pointer.error(), lpn_of(vb, 0)));
        pointed = pointer->state != CellState::erased;
        const auto read = load_last_summary(vb, table, pointer->done, done);
        if (!read) return std::unexpected(read.error());
        summary = *read;
    }
    b.next_row = rows_of(index);
    if (summary != Summary::loaded) {
        const auto before = load_before_last(vb, table, done);
        if (!before) return before;
        const auto begun = scan_set(b.last, rows_of(index), table, *before, done);
        if (!begun) return std::unexpected(begun.error());
        b.next_row = *begun;
        done = std::max(done, *before);
    }
    for (std::uint32_t p = 0; p < pages_; ++p) places_[p] = tables_.place(table, p);
    if (bits_known_[vb] != 0) {
        for (std::uint32_t p = 0; p < pages_; ++p)
            if (!bit(vb, p)) places_[p] = CoftlPlace{};
    } else {
        apply_statement(vb, places_);
    }
    bits_known_[vb] = 1;
    for (std::uint32_t p = 0; p < pages_; ++p) {
        set_bit(vb, p, places_[p].mapped()); // a question before the first touch saw what a trim left in its page set; the summary knows better
        tables_.set_place(table, p, places_[p]);
    }
    b.closed = true;
    b.committed = summary == Summary::loaded;
    // A block marked bad by a merge that the cut took back holds its pages, but takes no more.
    const bool bad = std::ranges::any_of(sets_.blocks(SetId{b.primary}), [this](BlockId block) { return array_.is_bad(block); });
    b.sealed = summary == Summary::spoilt || pointed || bad;
    b.ready = b.last_end = done;
    b.settled = true;
    b.stated = b.stated || recovered_statement(vb) != nullptr;
    if (summary == Summary::loaded && !b.stated && !read_only_ && mapped_count(vb) != pages_) {
        // What the summary leaves out may be a trim that was never flushed and is seen as done from now on: the next flush states it, as that of any trim.
        // Else only this one page would know, and when it cannot be read some day, the page sets would bring the old version back.
        b.stated = true;
        if (!b.pending) pending_.push_back(vb);
        b.pending = true;
    }
    tables_.set_dirty(table, !b.committed);
    return done;
}

const CoftlStatement* Coftl::recovered_statement(std::uint32_t vb) const {
    const auto s = std::ranges::lower_bound(recovered_, vb, {}, &CoftlStatement::vb);
    return s == recovered_.end() || s->vb != vb ? nullptr : &*s;
}

void Coftl::apply_statement(std::uint32_t vb, std::span<CoftlPlace> places) const {
    const CoftlStatement* s = recovered_statement(vb);
    if (s == nullptr) return;
    for (std::uint32_t p = 0; p < pages_; ++p) {
        if (!places[p].mapped() || (s->mapped[p / 64] >> p % 64 & 1) != 0) continue;
        const std::uint64_t birth = info_.of(set_at(vb, places[p].index())).birth;
        if (birth < s->birth || (birth == s->birth && places[p].row() < s->row)) places[p] = CoftlPlace{};
    }
}

/// What the flash says of every page, at no simulated cost: for check() and for questions that are not requests.
void Coftl::peek(std::uint32_t vb, std::span<CoftlPlace> places) const {
    std::ranges::fill(places, CoftlPlace{});
    for (std::uint32_t index = 0; index < blocks_[vb].length; ++index) {
        const std::uint32_t set = set_at(vb, index);
        for (std::uint32_t row = 0; row < rows_of(index); ++row) {
            std::optional<PageOob> first;
            bool whole = true;
            bool erased = true;
            for (std::uint32_t c = 0; c < config_.width; ++c) {
                const auto cell = array_.inspect(array_.geometry().page_of(sets_.block(SetId{set}, c), row));
                if (!cell) return;
                erased = erased && cell->state == CellState::erased;
                const auto oob = PageOob::decode(cell->oob);
                whole = whole && cell->state == CellState::programmed && oob && (c == 0 || *first == *oob);
                if (!whole && !erased) break;
                if (whole) first = *oob;
            }
            if (erased) break;
            if (whole && speaks_for(*first, set)) places[first->lpn.value() % pages_] = CoftlPlace{index, row, first->kind == PageKind::padding};
        }
    }
}

void Coftl::know_bits(std::uint32_t vb) const {
    if (bits_known_[vb] != 0) return;
    peek(vb, places_);
    apply_statement(vb, places_);
    for (std::uint32_t p = 0; p < pages_; ++p) set_bit(vb, p, places_[p].mapped());
    bits_known_[vb] = 1;
}

bool Coftl::is_mapped(Lpn lpn) const {
    const std::uint32_t vb = lpn.value() / pages_;
    const std::uint32_t page = lpn.value() % pages_;
    const VirtualBlock& b = blocks_[vb];
    know_bits(vb);
    return bit(vb, page) || (b.table != none && tables_.slot(b.table, page) != CoftlCache::none);
}

void Coftl::set_bit(std::uint32_t vb, std::uint32_t page, bool on) const {
    std::uint64_t& word = mapped_[std::size_t{vb} * words_ + page / 64];
    const std::uint64_t mask = std::uint64_t{1} << page % 64;
    mapped_total_ = mapped_total_ + (on ? 1 : 0) - ((word & mask) != 0 ? 1 : 0);
    word = on ? word | mask : word & ~mask;
}

std::uint32_t Coftl::mapped_count(std::uint32_t vb) const {
    know_bits(vb);
    std::uint32_t n = 0;
    for (std::uint32_t w = 0; w < words_; ++w) n += static_cast<std::uint32_t>(std::popcount(mapped_[std::size_t{vb} * words_ + w]));
    return n;
}

} // namespace flashlab

/// COFTL's chains: page sets written in order, commits, replacement sets, merges.
#include <algorithm>
#include <array>

#include "ftl/schemes/coftl.h"

namespace flashlab {

SetId Coftl::set_at(VirtualBlockId vb, ChainIndex index) const {
    const VirtualBlock& b = block(vb);
    if (index == primary_index) return b.primary;
    SetId set = b.last;
    for (std::uint32_t i = b.last_index().value(); i > index.value(); --i) set = info_.of(set).previous;
    return set;
}

Ppn Coftl::summary_page(VirtualBlockId vb, ChainIndex index) const {
    return array_.geometry().page_of(sets_.block(block(vb).primary, index.value()), shape_.summary_row().value());
}

Ppn Coftl::pointer_page(VirtualBlockId vb, ChainIndex index) const {
    return array_.geometry().page_of(sets_.block(block(vb).primary, index.value()), shape_.pointer_row().value());
}

std::expected<SimTime, NandError> Coftl::program_row(SetId set, RowId row, const PageOob& oob, Buffer data, const Io& io) {
    const Geometry& g = array_.geometry();
    const std::uint32_t together = at_once();
    SimTime end = io.when;
    std::optional<NandError> error;
    const auto page = [&](std::uint32_t c) {
        const auto part = data.empty() ? data : data.subspan(std::size_t{c} * g.page_bytes(), g.page_bytes());
        return PageProgram{g.page_of(sets_.block(set, c), row.value()), part, oob};
    };
    const auto program = [&](std::uint32_t c) {
        const PageProgram one = page(c);
        if (together == 1) return array_.program({&one, 1}, io);
        const std::array pair{one, page(c + 1)};
        return array_.program_two_plane(pair, io);
    };
    for (std::uint32_t c = 0; c < config_.width; c += together) {
        const auto done = program(c);
        end = std::max(end, done ? *done : done.error().done);
        if (!done && !error) error = done.error();
    }
    durable_at_ = std::max(durable_at_, end);
    if (error) {
        error->done = end;
        return std::unexpected(*error);
    }
    return end;
}

std::expected<SimTime, NandError> Coftl::read_row(SetId set, RowId row, std::span<std::byte> to, const Io& io) {
    const Geometry& g = array_.geometry();
    reads_.clear();
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        const auto part = to.empty() ? to : to.subspan(std::size_t{c} * g.page_bytes(), g.page_bytes());
        reads_.push_back({g.page_of(sets_.block(set, c), row.value()), 0, g.page_bytes(), part});
    }
    if (at_once() == 1) return array_.read(reads_, io);
    std::expected<SimTime, NandError> all = io.when; // all are issued, then the first failure is returned, as by read()
    for (std::uint32_t c = 0; c < config_.width; c += 2) {
        const auto one = array_.read_two_plane(std::span{reads_}.subspan(c).first<2>(), io);
        if (all) all = one ? std::max(*all, *one) : one;
    }
    return all;
}

std::expected<SimTime, NandError> Coftl::erase_columns(SetId set, std::uint32_t column, const Io& io) {
    if (at_once() == 1) return array_.erase(sets_.block(set, column), io);
    return array_.erase_two_plane(sets_.blocks(set).subspan(column).first<2>(), io);
}

void Coftl::set_place(VirtualBlockId vb, TableId table, VirtualPage page, CoftlPlace place) {
    tables_.set_place(table, page, place);
    tables_.set_dirty(table, true);
    swap_.forget(vb);
    mapped_.set(vb, page, place.mapped());
}

/// The next page set of the chain. A set whose program fails is closed and merged away, the page goes to the next.
FtlResult<SimTime> Coftl::program_page(VirtualBlockId vb, TableId table, VirtualPage page, Buffer data, const Io& io) {
    VirtualBlock& b = block(vb);
    for (;;) {
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, shape_.lpn(vb, page), io.when});
        const auto room = make_room(vb, table, io.when);
        if (!room) return room;
        const ChainIndex index = b.last_index();
        const CoftlSets::Info& set = info_.of(b.last);
        const CoftlWord word = index == primary_index ? CoftlWord::in_primary(0) : CoftlWord::naming(index, b.primary);
        const PageOob oob{shape_.lpn(vb, page), WriteSequence{set.birth}, PageKind::data, word.encode()};
        const auto end = program_row(b.last, b.next_row, oob, data, io.at(*room));
        b.last_end = std::max(b.last_end, end ? *end : end.error().done);
        if (!end) {
            if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), shape_.lpn(vb, page)));
            failed_.push_back(array_.geometry().block_of(end.error().page));
            b.next_row = next(b.next_row);
            b.closed = true;
            const auto merged = merge(vb, table, end.error().done, Cause::merge);
            if (!merged) return merged;
            continue;
        }
        set_place(vb, table, page, CoftlPlace{index, b.next_row, false});
        b.next_row = next(b.next_row);
        if (shape_.is_end(index, b.next_row)) {
            // Full: committed at once, or merged where no commit is left (CO7). The request does not wait for it.
            const auto filled = shape_.has_summary(index) ? commit(vb, table, b.last_end) : merge(vb, table, b.last_end, Cause::merge);
            if (!filled && filled.error().kind == FtlErrorKind::host_io) return filled;
        } else if (b.next_row == shape_.summary_row() && can_switch(vb, table)) {
            const auto switched = switch_to_last(vb, table, b.last_end, Cause::merge);
            if (!switched && switched.error().kind == FtlErrorKind::host_io) return switched;
        }
        return *end;
    }
}

/// When the last set of the chain can take a page set.
FtlResult<SimTime> Coftl::make_room(VirtualBlockId vb, TableId table, SimTime now) {
    VirtualBlock& b = block(vb);
    for (;;) {
        if (b.length != 0 && !b.closed && !shape_.is_end(b.last_index(), b.next_row)) return std::max(now, b.ready);
        if (b.length != 0) {
            if (!b.committed && !b.sealed && shape_.has_summary(b.last_index())) {
                const auto committed = commit(vb, table, now);
                if (!committed) return committed;
                continue;
            }
            if (b.sealed || !shape_.has_summary(b.last_index())) {
                const auto merged = merge(vb, table, now, Cause::merge);
                if (!merged) return merged;
                continue;
            }
        }
        if (info_.free() <= config_.free_sets) {
            const std::uint32_t length = b.length;
            const SetId last = b.last;
            const auto made = make_free(now);
            if (!made) return made;
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, shape_.first_lpn(vb), now}); // sets failed under the merges
            if (b.length != length || b.last != last) continue;                                                   // this very chain was merged
        }
        if (info_.free() <= keeps_free) return std::unexpected(out_of_sets(now));
        if (b.length != 0) {
            const auto added = add_replacement(vb, now);
            if (!added) return added;
            continue;
        }
        const auto taken = take_set(now, now);
        if (!taken) return std::unexpected(taken.error());
        begin_chain(vb, taken->set, taken->ready);
    }
}

void Coftl::begin_chain(VirtualBlockId vb, SetId set, SimTime ready) {
    VirtualBlock& b = block(vb);
    info_.use(set, vb, primary_index, no_set);
    swap_.forget(vb);
    b.primary = b.last = set;
    b.length = 1;
    b.next_row = first_row;
    b.settled = true;
    b.committed = b.closed = b.sealed = false;
    b.ready = ready;
    b.last_end = sim_start;
    note_length(vb);
}

/// The set before is committed; its replacement page points to the new one.
FtlResult<SimTime> Coftl::add_replacement(VirtualBlockId vb, SimTime now) {
    VirtualBlock& b = block(vb);
    const auto taken = take_set(now, b.ready);
    if (!taken) return std::unexpected(taken.error());
    const auto [set, ready] = *taken;
    const ChainIndex index = b.last_index();
    if (array_.keeps_payload()) CoftlPointer::encode(page_, set, info_.of(set).birth);
    const PageProgram one{
        pointer_page(vb, index), page_,
        PageOob{shape_.first_lpn(vb), WriteSequence{info_.of(b.primary).birth}, PageKind::translation, CoftlWord::naming(index, set).encode()}};
    const auto end = array_.program({&one, 1}, {ready, {Cause::map, no_event}});
    durable_at_ = std::max(durable_at_, end ? *end : end.error().done);
    if (!end) {
        if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), shape_.first_lpn(vb)));
        failed_.push_back(array_.geometry().block_of(one.page));
        b.sealed = true;
        info_.add_free(set, info_.of(set).erased);
        return now;
    }
    info_.use(set, vb, next(index), b.last);
    b.last = set;
    ++b.length;
    b.next_row = first_row;
    b.committed = false;
    b.closed = false;
    b.ready = ready; // the back pointers name the primary: nothing waits for the replacement page
    b.last_end = sim_start;
    note_length(vb);
    return ready;
}

/// O1, O2: after every program of the last set, and before any of the next.
FtlResult<SimTime> Coftl::commit(VirtualBlockId vb, TableId table, SimTime now) {
    VirtualBlock& b = block(vb);
    const ChainIndex index = b.last_index();
    const std::uint64_t birth = info_.of(b.primary).birth;
    for (const VirtualPage p : shape_.pages()) places_[p.value()] = tables_.place(table, p);
    if (array_.keeps_payload())
        CoftlSummary::encode(page_, index, birth, places_);
    else
        shadow_[vb.value()].assign(places_.begin(), places_.end());
    const PageOob oob{shape_.first_lpn(vb), WriteSequence{birth}, PageKind::summary, CoftlWord::in_summary(index).encode()};
    const PageProgram one{summary_page(vb, index), page_, oob};
    const auto end = array_.program({&one, 1}, {std::max({now, b.last_end, b.ready}), {Cause::map, no_event}});
    durable_at_ = std::max(durable_at_, end ? *end : end.error().done);
    b.closed = true;
    if (!end) {
        if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), shape_.first_lpn(vb)));
        failed_.push_back(array_.geometry().block_of(one.page));
        b.sealed = true;
        return end.error().done;
    }
    ++own_.commits;
    swap_.forget(vb);
    b.committed = true;
    b.ready = *end;
    tables_.set_dirty(table, false);
    return *end;
}

/// All that is valid goes to a fresh primary; the old sets are erased once its last page set is there.
FtlResult<SimTime> Coftl::merge(VirtualBlockId vb, TableId table, SimTime now, Cause cause) {
    VirtualBlock& b = block(vb);
    const std::uint32_t valid = mapped_count(vb);
    if (valid == 0) return drop_chain(vb, now, cause);
    if (cause != Cause::wear && cause != Cause::scrub && can_switch(vb, table)) return switch_to_last(vb, table, now, cause);
    const Origin origin{cause, events_.next_id()};
    for (;;) {
        if (info_.free() == 0) return std::unexpected(out_of_sets(now));
        const auto taken = take_set(now, now);
        if (!taken) return std::unexpected(taken.error());
        const auto [set, ready] = *taken;
        const auto copied = copy_into({set, vb, table, valid, {ready, origin}});
        if (!copied) {
            info_.add_free(set, false);
            return std::unexpected(copied.error());
        }
        const SimTime done = copied->done;
        if (!copied->whole) {
            const auto lost = release({&set, 1}, {done, origin});
            if (!lost) return lost;
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, shape_.first_lpn(vb), done});
            continue;
        }
        const std::span<const SetId> old_sets = detach(vb);
        begin_chain(vb, set, ready);
        b.stated = false;
        b.next_row = RowId{valid};
        b.last_end = done;
        merge_ns_.add(static_cast<double>((done - now).count()));
        RowId row = first_row;
        for (const VirtualPage p : shape_.pages()) {
            const CoftlPlace place = tables_.place(table, p);
            if (!place.mapped()) continue;
            tables_.set_place(table, p, CoftlPlace{primary_index, row, place.lost()});
            row = next(row);
        }
        tables_.set_dirty(table, true);
        ++own_.merges;
        counters_.gc_page_copies += std::uint64_t{valid} * config_.width;
        const BlockId first_old = sets_.block(old_sets.front(), 0);
        const SimTime start = now;
        const auto released = release(old_sets, {done, origin});
        if (!released) return released;
        tell(origin, start, *released, first_old, valid);
        if (valid == shape_.page_count()) return commit(vb, table, done);
        return done;
    }
}

/// Whatever is mapped lies in the last set, and there its last two page sets, for summaries and replacement pages, are untouched.
bool Coftl::can_switch(VirtualBlockId vb, TableId table) const {
    const VirtualBlock& b = block(vb);
    if (b.length < 2 || b.next_row > shape_.summary_row()) return false;
    const auto is_sound = [this](BlockId block) { return !array_.is_bad(block) && std::ranges::find(failed_, block) == failed_.end(); };
    for (const VirtualPage p : shape_.pages())
        if (const CoftlPlace place = tables_.place(table, p); place.mapped() && place.index() != b.last_index()) return false;
    return std::ranges::all_of(sets_.blocks(b.last), is_sound);
}

/// O7: the log says that the last set is the primary, then the others are erased. Its pages keep the word of a replacement set; the birth that they
/// have in common tells that they belong to it.
FtlResult<SimTime> Coftl::switch_to_last(VirtualBlockId vb, TableId table, SimTime now, Cause cause) {
    VirtualBlock& b = block(vb);
    const std::span<const SetId> old_sets = keep_last(vb);
    for (const VirtualPage p : shape_.pages())
        if (const CoftlPlace place = tables_.place(table, p); place.mapped())
            tables_.set_place(table, p, CoftlPlace{primary_index, place.row(), place.lost()});
    tables_.set_dirty(table, true);
    ++own_.switches;
    CoftlRecord record;
    record.drops.push_back({vb, info_.of(b.primary).birth});
    const auto durable = log_record(CoftlRecord::switched, record, {now, {Cause::map, no_event}});
    if (!durable) return durable;
    b.ready = std::max(b.ready, *durable);
    const Origin origin{cause, events_.next_id()};
    const BlockId first_old = sets_.block(old_sets.front(), 0);
    const auto released = release(old_sets, {*durable, origin});
    if (!released) return released;
    tell(origin, now, *released, first_old, 0);
    if (shape_.is_end(primary_index, b.next_row)) return commit(vb, table, *durable);
    return durable;
}

/// In runs of page sets that lie side by side in their set, as they do since the merge before.
FtlResult<Coftl::Copied> Coftl::copy_into(const Merge& merge) {
    Copied copied{true, merge.io.when};
    RowId row = first_row;
    for (VirtualPage p{0}; p.value() < shape_.page_count();) {
        std::uint32_t left = run_from(merge.table, p);
        if (left == 0) p = next(p);
        while (left != 0) {
            const CopiedRun run = rewrite(merge, p, row, left);
            copied.done = std::max(copied.done, run.done);
            if (run.pages == 0) {
                const auto one = copy_page(merge, p, row);
                if (!one) return one;
                copied = {one->whole, std::max(copied.done, one->done)};
                if (!copied.whole) return copied;
            }
            const std::uint32_t sets = std::max(1u, run.pages);
            row = RowId{row.value() + sets};
            p = VirtualPage{p.value() + sets};
            left -= sets;
        }
    }
    ensure(row == RowId{merge.valid}, "a merge copies what is mapped");
    return copied;
}

/// How many virtual pages from this one on lie in page sets side by side; 0: it is not mapped.
std::uint32_t Coftl::run_from(TableId table, VirtualPage page) const {
    const CoftlPlace first = tables_.place(table, page);
    if (!first.mapped() || first.lost()) return first.mapped() ? 1 : 0;
    const std::uint32_t most = shape_.page_count() - page.value();
    std::uint32_t count = 1;
    while (count < most && tables_.place(table, VirtualPage{page.value() + count}) == first.further(count)) ++count;
    return count;
}

PageOob Coftl::oob_of_copy(const Merge& merge, VirtualPage page, PageKind kind) const {
    return {shape_.lpn(merge.vb, page), WriteSequence{info_.of(merge.target).birth}, kind, CoftlWord::in_primary(merge.valid).encode()};
}

/// As many of these page sets as the array takes in one go.
CopiedRun Coftl::rewrite(const Merge& merge, VirtualPage page, RowId row, std::uint32_t sets) {
    const CoftlPlace place = tables_.place(merge.table, page);
    if (array_.keeps_payload() || at_once() != 1 || place.lost()) return {.pages = 0, .done = merge.io.when, .failed = std::nullopt};
    const SetId source = set_at(merge.vb, place.index());
    from_.clear();
    to_.clear();
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        from_.push_back(array_.geometry().page_of(sets_.block(source, c), place.row().value()));
        to_.push_back(array_.geometry().page_of(sets_.block(merge.target, c), row.value()));
    }
    const CopiedRun run = array_.rewrite_run({from_, to_, sets, oob_of_copy(merge, page, PageKind::data)}, merge.io);
    if (run.pages != 0) durable_at_ = std::max(durable_at_, run.done);
    return run;
}

/// Not whole: a program failed, the set is of no use. A page that cannot be read leaves a page set that says so (C9).
FtlResult<Coftl::Copied> Coftl::copy_page(const Merge& merge, VirtualPage page, RowId row) {
    CoftlPlace place = tables_.place(merge.table, page);
    SimTime got = merge.io.when;
    if (!place.lost()) {
        const auto read = read_row(set_at(merge.vb, place.index()), place.row(), row_, merge.io);
        if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), shape_.lpn(merge.vb, page)));
        got = read ? *read : read.error().done;
        if (!read) {
            place = CoftlPlace{place.index(), place.row(), true};
            tables_.set_place(merge.table, page, place);
        }
    }
    const auto end =
        program_row(merge.target, row, oob_of_copy(merge, page, place.lost() ? PageKind::padding : PageKind::data), row_, merge.io.at(got));
    if (end) return Copied{true, *end};
    if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), shape_.lpn(merge.vb, page)));
    failed_.push_back(array_.geometry().block_of(end.error().page));
    return Copied{false, end.error().done};
}

} // namespace flashlab

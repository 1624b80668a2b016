/// COFTL's chains: page sets written in order, commits, replacement sets, merges.
#include <algorithm>

#include "ftl/schemes/coftl.h"

namespace flashlab {

std::uint32_t Coftl::set_at(std::uint32_t vb, std::uint32_t index) const {
    const VirtualBlock& b = blocks_[vb];
    if (index == 0) return b.primary;
    std::uint32_t set = b.last;
    for (std::uint32_t i = b.length - 1; i > index; --i) set = info_.of(set).previous;
    return set;
}

Ppn Coftl::summary_page(std::uint32_t vb, std::uint32_t index) const {
    return array_.geometry().page_of(sets_.block(SetId{blocks_[vb].primary}, index), pages_);
}

Ppn Coftl::pointer_page(std::uint32_t vb, std::uint32_t index) const {
    return array_.geometry().page_of(sets_.block(SetId{blocks_[vb].primary}, index), pages_ + 1);
}

std::expected<SimTime, NandError> Coftl::program_row(std::uint32_t set, std::uint32_t row, const PageOob& oob, Buffer data, SimTime now,
                                                     Origin origin) {
    const std::uint32_t bytes = array_.geometry().page_bytes();
    SimTime end = now;
    std::optional<NandError> error;
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        const auto part = data.empty() ? data : data.subspan(std::size_t{c} * bytes, bytes);
        const PageProgram one{array_.geometry().page_of(sets_.block(SetId{set}, c), row), part, oob};
        const auto done = array_.program({&one, 1}, now, origin);
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

std::expected<SimTime, NandError> Coftl::read_row(std::uint32_t set, std::uint32_t row, std::span<std::byte> to, SimTime now, Origin origin) {
    const std::uint32_t bytes = array_.geometry().page_bytes();
    reads_.clear();
    for (std::uint32_t c = 0; c < config_.width; ++c) {
        const auto part = to.empty() ? to : to.subspan(std::size_t{c} * bytes, bytes);
        reads_.push_back({array_.geometry().page_of(sets_.block(SetId{set}, c), row), 0, bytes, part});
    }
    return array_.read(reads_, now, origin);
}

void Coftl::set_place(std::uint32_t vb, std::uint32_t table, std::uint32_t page, CoftlPlace place) {
    tables_.set_place(table, page, place);
    tables_.set_dirty(table, true);
    swap_.forget(vb);
    set_bit(vb, page, place.mapped());
}

/// The next page set of the chain. A set whose program fails is closed and merged away, the page goes to the next.
FtlResult<SimTime> Coftl::program_page(std::uint32_t vb, std::uint32_t table, std::uint32_t page, Buffer data, SimTime now, Origin origin) {
    VirtualBlock& b = blocks_[vb];
    for (;;) {
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, lpn_of(vb, page), now});
        const auto room = make_room(vb, table, now);
        if (!room) return room;
        const std::uint32_t index = b.length - 1;
        const CoftlSets::Info& set = info_.of(b.last);
        const PageOob oob{lpn_of(vb, page), WriteSequence{set.birth}, PageKind::data, CoftlWord{index, index == 0 ? 0 : b.primary}.encode()};
        const auto end = program_row(b.last, b.next_row, oob, data, *room, origin);
        b.last_end = std::max(b.last_end, end ? *end : end.error().done);
        if (!end) {
            if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), lpn_of(vb, page)));
            failed_.push_back(array_.geometry().block_of(end.error().page));
            ++b.next_row;
            b.closed = true;
            const auto merged = merge(vb, table, end.error().done, Cause::merge);
            if (!merged) return merged;
            continue;
        }
        set_place(vb, table, page, CoftlPlace{index, b.next_row, false});
        if (++b.next_row == rows_of(index)) {
            // Full: committed at once, or merged where no commit is left (CO7). The request does not wait for it.
            const auto filled = index < config_.width ? commit(vb, table, b.last_end) : merge(vb, table, b.last_end, Cause::merge);
            if (!filled && filled.error().kind == FtlErrorKind::host_io) return filled;
        }
        return *end;
    }
}

/// When the last set of the chain can take a page set.
FtlResult<SimTime> Coftl::make_room(std::uint32_t vb, std::uint32_t table, SimTime now) {
    VirtualBlock& b = blocks_[vb];
    for (;;) {
        if (b.length != 0 && !b.closed && b.next_row < rows_of(b.length - 1)) return std::max(now, b.ready);
        if (b.length != 0) {
            if (!b.committed && !b.sealed && b.length - 1 < config_.width) {
                const auto committed = commit(vb, table, now);
                if (!committed) return committed;
                continue;
            }
            if (b.sealed || b.length - 1 == config_.width) {
                const auto merged = merge(vb, table, now, Cause::merge);
                if (!merged) return merged;
                continue;
            }
        }
        if (info_.free() <= config_.free_sets) {
            const std::uint32_t length = b.length;
            const std::uint32_t last = b.last;
            const auto made = make_free(now);
            if (!made) return made;
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, lpn_of(vb, 0), now}); // sets failed under the merges
            if (b.length != length || b.last != last) continue; // this very chain was merged
        }
        if (info_.free() <= keeps_free) return std::unexpected(FtlError{FtlErrorKind::no_free_block, lpn_of(vb, 0), now});
        if (b.length != 0) {
            const auto added = add_replacement(vb, now);
            if (!added) return added;
            continue;
        }
        SimTime ready = now;
        const auto set = take_set(now, ready);
        if (!set) return std::unexpected(set.error());
        begin_chain(vb, *set, ready);
    }
}

void Coftl::begin_chain(std::uint32_t vb, std::uint32_t set, SimTime ready) {
    VirtualBlock& b = blocks_[vb];
    info_.use(set, vb, 0, none);
    swap_.forget(vb);
    b.primary = b.last = set;
    b.length = 1;
    b.next_row = 0;
    b.settled = true;
    b.committed = b.closed = b.sealed = false;
    b.ready = ready;
    b.last_end = sim_start;
    note_length(vb);
}

/// The set before is committed; its replacement page points to the new one.
FtlResult<SimTime> Coftl::add_replacement(std::uint32_t vb, SimTime now) {
    VirtualBlock& b = blocks_[vb];
    SimTime ready = std::max(now, b.ready);
    const auto set = take_set(now, ready);
    if (!set) return std::unexpected(set.error());
    const std::uint32_t index = b.length - 1;
    if (array_.keeps_payload()) CoftlPointer::encode(page_, SetId{*set}, info_.of(*set).birth);
    const PageProgram one{pointer_page(vb, index), page_,
                          PageOob{lpn_of(vb, 0), WriteSequence{info_.of(b.primary).birth}, PageKind::translation, CoftlWord{index, *set}.encode()}};
    const auto end = array_.program({&one, 1}, ready, {Cause::map, no_event});
    durable_at_ = std::max(durable_at_, end ? *end : end.error().done);
    if (!end) {
        if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), lpn_of(vb, 0)));
        failed_.push_back(array_.geometry().block_of(one.page));
        b.sealed = true;
        info_.add_free(*set, info_.of(*set).erased);
        return now;
    }
    info_.use(*set, vb, b.length, b.last);
    b.last = *set;
    ++b.length;
    b.next_row = 0;
    b.committed = false;
    b.closed = false;
    b.ready = ready; // the back pointers name the primary: nothing waits for the replacement page
    b.last_end = sim_start;
    note_length(vb);
    return ready;
}

/// O1, O2: after every program of the last set, and before any of the next.
FtlResult<SimTime> Coftl::commit(std::uint32_t vb, std::uint32_t table, SimTime now) {
    VirtualBlock& b = blocks_[vb];
    const std::uint32_t index = b.length - 1;
    const std::uint64_t birth = info_.of(b.primary).birth;
    for (std::uint32_t p = 0; p < pages_; ++p) places_[p] = tables_.place(table, p);
    if (array_.keeps_payload()) CoftlSummary::encode(page_, index, birth, places_);
    else shadow_[vb].assign(places_.begin(), places_.end());
    const PageOob oob{lpn_of(vb, 0), WriteSequence{birth}, PageKind::summary, CoftlWord{index, 0}.encode()};
    const PageProgram one{summary_page(vb, index), page_, oob};
    const auto end = array_.program({&one, 1}, std::max({now, b.last_end, b.ready}), {Cause::map, no_event});
    durable_at_ = std::max(durable_at_, end ? *end : end.error().done);
    b.closed = true;
    if (!end) {
        if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), lpn_of(vb, 0)));
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
FtlResult<SimTime> Coftl::merge(std::uint32_t vb, std::uint32_t table, SimTime now, Cause cause) {
    VirtualBlock& b = blocks_[vb];
    const std::uint32_t valid = mapped_count(vb);
    if (valid == 0) return drop_chain(vb, now, cause);
    const Origin origin{cause, events_.next_id()};
    for (;;) {
        if (info_.free() == 0) return std::unexpected(out_of_sets(now));
        SimTime ready = now;
        const auto set = take_set(now, ready);
        if (!set) return std::unexpected(set.error());
        SimTime done = ready;
        const auto copied = copy_into(*set, vb, table, valid, ready, origin, done);
        if (!copied) {
            info_.add_free(*set, false);
            return std::unexpected(copied.error());
        }
        if (!*copied) {
            gone_.assign(1, *set);
            const auto lost = release(gone_, done, origin);
            if (!lost) return lost;
            if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, lpn_of(vb, 0), done});
            continue;
        }
        detach(vb, gone_);
        begin_chain(vb, *set, ready);
        b.stated = false;
        b.next_row = valid;
        b.last_end = done;
        merge_ns_.add(static_cast<double>((done - now).count()));
        std::uint32_t row = 0;
        for (std::uint32_t p = 0; p < pages_; ++p)
            if (const CoftlPlace place = tables_.place(table, p); place.mapped()) tables_.set_place(table, p, CoftlPlace{0, row++, place.lost()});
        tables_.set_dirty(table, true);
        ++own_.merges;
        ++counters_.full_merges;
        counters_.gc_page_copies += std::uint64_t{valid} * config_.width;
        const BlockId first_old = sets_.block(SetId{gone_.front()}, 0);
        const SimTime start = now;
        const auto released = release(gone_, done, origin);
        if (!released) return released;
        if (events_.wants(EventLevel::all))
            events_.on(GcJobEvent{origin.parent, start, *released, GroupId{0}, first_old, valid, cause});
        if (valid == pages_) return commit(vb, table, done);
        return done;
    }
}

/// False: a program failed, the set is of no use. A page that cannot be read leaves a page set that says so (C9).
FtlResult<bool> Coftl::copy_into(std::uint32_t target, std::uint32_t vb, std::uint32_t table, std::uint32_t valid, SimTime now, Origin origin,
                                 SimTime& done) {
    std::uint32_t row = 0;
    for (std::uint32_t p = 0; p < pages_; ++p) {
        CoftlPlace place = tables_.place(table, p);
        if (!place.mapped()) continue;
        SimTime got = now;
        if (!place.lost()) {
            const auto read = read_row(set_at(vb, place.index()), place.row(), row_, now, origin);
            if (!read && read.error().kind == NandErrorKind::host_io) return std::unexpected(fail(read.error(), lpn_of(vb, p)));
            got = read ? *read : read.error().done;
            if (!read) {
                place = CoftlPlace{place.index(), place.row(), true};
                tables_.set_place(table, p, place);
            }
        }
        const PageOob oob{lpn_of(vb, p), WriteSequence{info_.of(target).birth}, place.lost() ? PageKind::padding : PageKind::data,
                          CoftlWord{0, valid}.encode()};
        const auto end = program_row(target, row, oob, row_, got, origin);
        done = std::max(done, end ? *end : end.error().done);
        if (!end) {
            if (end.error().kind != NandErrorKind::program_failed) return std::unexpected(fail(end.error(), lpn_of(vb, p)));
            failed_.push_back(array_.geometry().block_of(end.error().page));
            return false;
        }
        ++row;
    }
    ensure(row == valid, "a merge copies what is mapped");
    return true;
}

} // namespace flashlab

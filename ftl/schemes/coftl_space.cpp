/// COFTL's free sets, its cleaner, and what it writes to the log.
#include <algorithm>

#include "ftl/schemes/coftl.h"

namespace flashlab {

/// The oldest listed set, erased; a version with a new list when the old one is used up (CO9). It may be programmed when it is
/// ready, `earliest` or later.
FtlResult<Coftl::TakenSet> Coftl::take_set(SimTime now, SimTime earliest) {
    SimTime ready = std::max(now, earliest);
    for (;;) {
        if (info_.free() == 0) return std::unexpected(out_of_sets(now));
        if (info_.listed() == 0) {
            const auto written = write_version(now, false);
            if (!written) return std::unexpected(written.error());
        }
        const SetId set = info_.take();
        ready = std::max(ready, list_ready_);
        if (info_.of(set).erased) return TakenSet{set, ready};
        bool failed = false;
        SimTime done = ready;
        for (std::uint32_t c = 0; c < config_.width; c += at_once()) {
            const auto erased = erase_columns(set, c, {now, {Cause::gc, no_event}});
            done = std::max(done, erased ? *erased : erased.error().done);
            if (erased) continue;
            if (erased.error().kind == NandErrorKind::host_io) return std::unexpected(fail(erased.error(), Lpn{0}));
            const BlockId block = array_.geometry().block_of(erased.error().page);
            if (const auto marked = mark_bad(block, erased.error().done); !marked) return std::unexpected(marked.error());
            failed = true;
        }
        if (!failed) {
            ++total_wear_;
            return TakenSet{set, done};
        }
        lose(set);
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, done});
    }
}

FtlResult<void> Coftl::mark_bad(BlockId block, SimTime now) {
    if (auto marked = array_.mark_bad(block, now); !marked) return std::unexpected(fail(marked.error(), Lpn{0}));
    ++bad_blocks_;
    ++counters_.retired_blocks;
    return {};
}

/// So many sets failed one after the other that no merge has one to begin with: what chains hold beyond one set each cannot be gained back any more.
FtlError Coftl::out_of_sets(SimTime now) {
    read_only_ = true;
    return {FtlErrorKind::read_only, Lpn{0}, now};
}

void Coftl::lose(SetId set) {
    info_.lose(set);
    if (good_sets() < config_.virtual_blocks + least_spare_sets) read_only_ = true; // X6
}

/// Sets that nobody needs any more, `now` being when that is durable: erased, and last in the queue.
FtlResult<SimTime> Coftl::release(std::span<const SetId> sets, const Io& io) {
    SimTime done = io.when;
    for (const SetId set : sets) {
        bool bad = false;
        for (const BlockId block : sets_.blocks(set)) {
            if (const auto failed = std::ranges::find(failed_, block); failed != failed_.end()) {
                failed_.erase(failed);
                if (const auto marked = mark_bad(block, io.when); !marked) return std::unexpected(marked.error());
            }
            bad = bad || array_.is_bad(block);
        }
        for (std::uint32_t c = 0; c < config_.width && !bad; c += at_once()) {
            const auto erased = erase_columns(set, c, io);
            done = std::max(done, erased ? *erased : erased.error().done);
            if (erased) continue;
            if (erased.error().kind == NandErrorKind::host_io) return std::unexpected(fail(erased.error(), Lpn{0}));
            const BlockId block = array_.geometry().block_of(erased.error().page);
            if (const auto marked = mark_bad(block, erased.error().done); !marked) return std::unexpected(marked.error());
            bad = true;
        }
        ++erased_sets_;
        total_wear_ += bad ? 0 : 1;
        if (bad)
            lose(set);
        else
            info_.add_free(set, true);
    }
    return done;
}

void Coftl::note_length(VirtualBlockId vb) { chained_.set(vb, block(vb).length > 1); }

/// CO11: the next virtual block in the circle that has more than one set; its merge gains at least one. False: there is none.
FtlResult<bool> Coftl::clean_one(SimTime now) {
    const auto vb = chained_.take_next();
    if (!vb) return false;
    ++counters_.gc_jobs;
    if (const auto done = reclaim(*vb, now, Cause::gc); !done) return std::unexpected(done.error());
    return true;
}

/// Merges what may not be in RAM: the cleaner has a table of its own, so that no other one has to leave.
FtlResult<SimTime> Coftl::reclaim(VirtualBlockId vb, SimTime now, Cause cause) {
    if (block(vb).has_table()) return merge(vb, block(vb).table, now, cause);
    tables_.assign(tables_.scratch(), vb);
    const auto loaded = load_table(vb, tables_.scratch(), now);
    if (!loaded) return loaded;
    const auto merged = merge(vb, tables_.scratch(), *loaded, cause);
    if (!merged) return merged;
    return retire_places(vb, tables_.scratch(), *merged);
}

/// CO11: each time enough sets have been erased, a virtual block that has one set, and so is not rewritten, moves to another: the one whose set is
/// least worn among the next ones of the circle, as soon as the set it would move to is worn more than the average.
FtlResult<SimTime> Coftl::level_wear(SimTime now) {
    if (config_.wear_period == 0 || erased_sets_ < config_.wear_period || read_only_ || info_.free() <= keeps_free) return now;
    const auto wear_of = [this](SetId set) { return array_.erase_count(sets_.block(set, 0)); };
    // What rests should be worn more than the average: else the next free set is waited for.
    if (std::uint64_t{wear_of(info_.free_at(0))} * sets_.count() <= total_wear_) return now;
    erased_sets_ = 0;
    std::optional<VirtualBlockId> best;
    for (std::uint32_t step = 0; step < std::min(config_.virtual_blocks, wear_window); ++step) {
        const VirtualBlockId vb = wear_hand_;
        wear_hand_ = shape_.next_in_circle(wear_hand_);
        if (block(vb).length == 1 && (!best || wear_of(block(vb).primary) < wear_of(block(*best).primary))) best = vb;
    }
    if (!best || wear_of(block(*best).primary) >= wear_of(info_.free_at(0))) return now;
    ++own_.wear_reclaims;
    return reclaim(*best, now, Cause::wear);
}

FtlResult<SimTime> Coftl::make_free(SimTime now) {
    while (info_.free() <= config_.free_sets) {
        const auto cleaned = clean_one(now);
        if (!cleaned) return std::unexpected(cleaned.error());
        if (!*cleaned) break;
    }
    return now;
}

FtlError Coftl::log_failed(const FtlError& error) {
    read_only_ = true;
    return {error.kind == FtlErrorKind::host_io ? FtlErrorKind::host_io : FtlErrorKind::read_only, Lpn{0}, error.done, error.host_errno};
}

CoftlStatement Coftl::statement_of(VirtualBlockId vb) const {
    const VirtualBlock& b = block(vb);
    CoftlStatement s{vb, info_.of(b.last).birth, b.next_row, {}};
    const auto words = mapped_.words(vb);
    s.mapped.assign(words.begin(), words.end());
    return s;
}

/// CO9: the virtual block table and the free list, once everything they tell of is durable.
FtlResult<SimTime> Coftl::write_version(SimTime now, bool clean) {
    CoftlVersion v;
    v.clean = clean;
    v.width = config_.width;
    v.sets = sets_.count();
    v.virtual_blocks = config_.virtual_blocks;
    v.first_birth = info_.next_birth();
    v.listed = std::min(config_.free_sets, info_.free());
    for (std::uint32_t i = 0; i < info_.free(); ++i) v.free.push_back({info_.free_at(i), info_.of(info_.free_at(i)).erased});
    for (const VirtualBlockId vb : shape_.virtual_blocks()) {
        const VirtualBlock& b = block(vb);
        if (b.length == 0) continue;
        v.chains.push_back({vb, b.length, b.next_row, clean && b.settled, b.committed, b.closed, b.sealed});
        const std::size_t first = v.links.size();
        v.links.resize(first + b.length, {SetId{0}, 0});
        SetId set = b.last;
        for (std::uint32_t i = b.length; i > 0; --i) {
            v.links[first + i - 1] = {set, info_.of(set).birth};
            set = info_.of(set).previous;
        }
        if (b.settled && (b.stated || clean)) v.statements.push_back(statement_of(vb));
        if (b.settled) continue;
        if (const CoftlStatement* s = recovered_statement(vb); s != nullptr) v.statements.push_back(*s);
    }
    v.encode(record_);
    const auto end = log_.checkpoint(record_, {std::max(now, durable_at_), {Cause::map, no_event}});
    if (!end) return std::unexpected(log_failed(end.error()));
    info_.list(v.listed);
    list_ready_ = *end;
    durable_at_ = std::max(durable_at_, *end);
    ++own_.log_versions;
    return *end;
}

std::span<const SetId> Coftl::detach(VirtualBlockId vb) {
    VirtualBlock& b = block(vb);
    gone_.clear();
    for (SetId set = b.last; set != no_set; set = info_.of(set).previous) gone_.push_back(set);
    for (const SetId set : gone_) info_.leave(set);
    b.primary = b.last = no_set;
    b.length = 0;
    b.next_row = first_row;
    b.committed = b.closed = b.sealed = b.stated = false;
    b.settled = true;
    swap_.forget(vb);
    note_length(vb);
    return gone_;
}

std::span<const SetId> Coftl::keep_last(VirtualBlockId vb) {
    VirtualBlock& b = block(vb);
    const VirtualBlock before = b;
    const std::span<const SetId> all = detach(vb);
    b = before;
    b.primary = b.last;
    b.length = 1;
    b.committed = b.sealed = false;
    info_.use(b.last, vb, primary_index, no_set);
    note_length(vb);
    return all.subspan(1);
}

/// A record between two versions, or a version that says the same.
FtlResult<SimTime> Coftl::log_record(std::uint32_t kind, const CoftlRecord& record, const Io& io) {
    if (log_.needs_checkpoint(record.encoded_size())) return write_version(io.when, false);
    record.encode(record_);
    const auto end = log_.append(kind, record_, io.at(std::max(io.when, durable_at_)));
    if (!end) return std::unexpected(log_failed(end.error()));
    durable_at_ = std::max(durable_at_, *end);
    return *end;
}

/// A job is of whole sets, `valid` page sets of which were copied.
void Coftl::tell(const Origin& origin, SimTime start, SimTime end, BlockId first_old, std::uint32_t valid) {
    if (!events_.wants(EventLevel::all)) return;
    const std::uint32_t pages = config_.width == 1 ? 0 : config_.width * array_.geometry().pages_per_block();
    events_.on(GcJobEvent{origin.parent, start, end, GroupId{0}, first_old, valid * config_.width, origin.cause, pages});
}

/// Nothing of the chain is mapped: the log says that it is gone, then its sets are erased.
FtlResult<SimTime> Coftl::drop_chain(VirtualBlockId vb, SimTime now, Cause cause) {
    CoftlRecord record;
    record.drops.push_back({vb, info_.of(block(vb).primary).birth});
    const std::span<const SetId> sets = detach(vb);
    const auto durable = log_record(CoftlRecord::trims, record, {now, {Cause::map, no_event}});
    if (!durable) return durable;
    const Origin origin{cause, events_.next_id()};
    const auto released = release(sets, {*durable, origin});
    if (!released) return released;
    tell(origin, now, *released, sets_.block(sets.front(), 0), 0);
    return durable;
}

/// What was trimmed since the last flush becomes durable: a statement of each virtual block that still holds something, and the rest dropped.
FtlResult<SimTime> Coftl::flush_trims(const Io& io) {
    CoftlRecord record;
    std::vector<SetId> sets;
    for (const VirtualBlockId vb : pending_) {
        VirtualBlock& b = block(vb);
        b.pending = false;
        if (b.length == 0 || !b.stated) continue; // merged since: what was trimmed is not in the new primary
        if (mapped_count(vb) != 0) {
            record.statements.push_back(statement_of(vb));
            continue;
        }
        record.drops.push_back({vb, info_.of(b.primary).birth});
        const std::span<const SetId> gone = detach(vb);
        sets.insert(sets.end(), gone.begin(), gone.end());
    }
    pending_.clear();
    if (record.drops.empty() && record.statements.empty()) return io.when;
    const auto durable = log_record(CoftlRecord::trims, record, io);
    if (!durable) return durable;
    if (const auto released = release(sets, {*durable, {Cause::gc, io.origin.parent}}); !released) return released;
    return durable;
}

} // namespace flashlab

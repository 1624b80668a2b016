/// COFTL across power cuts and clean shutdowns: what is done at a mount. What is left for the first touch of a virtual block: coftl_tables.cpp.
#include <algorithm>

#include "ftl/schemes/coftl.h"

namespace flashlab {

FtlResult<FtlRecovery> Coftl::do_recover(SimTime now) {
    const Geometry& g = array_.geometry();
    for (const BlockId block : ids<BlockId>(g.blocks())) bad_blocks_ += array_.is_bad(block) && !has_records(block) ? 1 : 0;
    for (const SetId set : FirstIds<SetId>{sets_.count()}) total_wear_ += array_.erase_count(sets_.block(set, 0));
    const auto log = log_.recover(now);
    if (!log) return std::unexpected(fail(log.error(), Lpn{0}));
    FtlRecovery report{.pages_scanned = log->pages_read, .done = log->done};
    if (!log->checkpoint) {
        // Nothing is programmed before the first version is durable: the device is as new.
        report.was_clean = true;
        collect_free({}, true);
    } else {
        const auto taken = take_over(*log);
        if (!taken) return taken;
        report = *taken;
    }
    if (good_sets() < config_.virtual_blocks + least_spare_sets) read_only_ = true; // X6
    durable_at_ = std::max(durable_at_, report.done);
    return report;
}

FtlResult<FtlRecovery> Coftl::take_over(const MetaLog::Recovered& log) {
    const FtlError unusable{FtlErrorKind::foreign, Lpn{0}, log.done};
    const auto version = CoftlVersion::decode(log.checkpoint->payload);
    if (!version || version->width != config_.width || version->sets != sets_.count() || version->virtual_blocks != config_.virtual_blocks)
        return std::unexpected(unusable);
    const bool was_clean = version->clean && log.records.empty();
    adopt(*version, was_clean);
    Since since{Births(config_.virtual_blocks, 0), Births(config_.virtual_blocks, 0)};
    for (const MetaRecord& r : log.records) {
        if (r.kind == CoftlRecord::opened) continue;
        const auto record = CoftlRecord::decode(r.payload);
        if (!record) return std::unexpected(unusable);
        r.kind == CoftlRecord::switched ? replay_switch(*record, since) : replay(*record, since);
    }
    const auto report = [&](SimTime done, std::uint64_t pages) { return FtlRecovery{was_clean, log.pages_read + pages, done}; };
    if (was_clean) {
        collect_free(*version, true);
        info_.restart(version->first_birth);
        info_.list(version->listed);
        list_ready_ = log.done;
        if (log_.needs_checkpoint(0)) { // also where one of two logs says less than the other
            const auto written = write_version(log.done, false);
            if (!written) return std::unexpected(written.error());
            return report(*written, 0);
        }
        const auto opened = log_.append(CoftlRecord::opened, {}, {log.done, {Cause::recovery, no_event}});
        if (!opened) return std::unexpected(log_failed(opened.error()));
        return report(*opened, 0);
    }
    const auto scanned = scan_listed(*version, since, log.done);
    if (!scanned) return std::unexpected(scanned.error());
    collect_free(*version, false);
    info_.restart(version->first_birth + version->listed);
    if (!log_.can_write()) {
        read_only_ = true;
        return report(scanned->done, scanned->pages_read);
    }
    const auto written = write_version(scanned->done, false);
    if (!written) return std::unexpected(written.error());
    return report(*written, scanned->pages_read);
}

void Coftl::adopt(const CoftlVersion& version, bool clean) {
    std::size_t link = 0;
    for (const CoftlVersion::Chain& c : version.chains) {
        VirtualBlock& b = block(c.vb);
        SetId previous = no_set;
        for (std::uint32_t i = 0; i < c.length; ++i, ++link) {
            const SetId set = version.links[link].set;
            info_.use_again(set, c.vb, ChainIndex{i}, previous, version.links[link].birth);
            if (i == 0) b.primary = set;
            previous = set;
        }
        b.last = previous;
        b.length = c.length;
        b.next_row = c.next_row;
        b.committed = c.committed;
        b.closed = c.closed;
        b.sealed = c.sealed;
        b.settled = clean && c.known;
        mapped_.set_known(c.vb, b.settled);
        note_length(c.vb);
    }
    for (const CoftlStatement& s : version.statements) {
        if (!shape_.has(s.vb) || s.mapped.size() != mapped_.words_per_block()) continue;
        if (!block(s.vb).settled) {
            recovered_.push_back(s); // versions list them by virtual block
            continue;
        }
        for (const VirtualPage p : shape_.pages()) mapped_.set(s.vb, p, s.holds(p));
        block(s.vb).stated = mapped_count(s.vb) != shape_.page_count();
    }
}

void Coftl::replay(const CoftlRecord& record, Since& since) {
    for (const CoftlRecord::Drop& d : record.drops) {
        if (!shape_.has(d.vb)) continue;
        since.dropped[d.vb.value()] = std::max(since.dropped[d.vb.value()], d.birth);
        const VirtualBlock& b = block(d.vb);
        if (b.length != 0 && info_.of(b.primary).birth <= d.birth) detach(d.vb);
    }
    for (const CoftlStatement& s : record.statements) {
        if (!shape_.has(s.vb) || s.mapped.size() != mapped_.words_per_block()) continue;
        const auto at = std::ranges::lower_bound(recovered_, s.vb, {}, &CoftlStatement::vb);
        if (at != recovered_.end() && at->vb == s.vb)
            *at = s;
        else
            recovered_.insert(at, s);
    }
}

/// O7. A set that the version does not know was taken since: the scan will find it.
void Coftl::replay_switch(const CoftlRecord& record, Since& since) {
    for (const CoftlRecord::Drop& d : record.drops) {
        if (!shape_.has(d.vb)) continue;
        since.switched[d.vb.value()] = d.birth;
        const VirtualBlock& b = block(d.vb);
        if (b.length == 0) continue;
        if (info_.of(b.last).birth == d.birth)
            keep_last(d.vb);
        else
            detach(d.vb);
    }
}

/// CO10: which of the listed sets were taken since, and for which chain, their first page sets say. A primary that a merge wrote counts only whole.
FtlResult<Coftl::Scan> Coftl::scan_listed(const CoftlVersion& version, const Since& since, SimTime now) {
    Scan scan{now, 0};
    for (std::uint32_t i = 0; i < version.listed; ++i) {
        const SetId set = version.free[i].set;
        const std::uint64_t birth = version.first_birth + i;
        const auto read = read_row_oob(set, first_row, now);
        if (!read) return std::unexpected(read.error());
        scan.pages_read += config_.width;
        scan.done = std::max(scan.done, read->done);
        const std::optional<PageOob>& first = read->oob;
        if (!first || first->sequence.value() != birth || first->lpn.value() >= logical_pages()) continue;
        if (first->kind != PageKind::data && first->kind != PageKind::padding) continue;
        const VirtualBlockId vb = shape_.address(first->lpn).vb;
        const CoftlWord word = CoftlWord::decode(first->scheme_word);
        VirtualBlock& b = block(vb);
        if (!word.is_in_primary() && birth != since.switched[vb.value()]) {
            // A replacement of a primary that has been merged away since belongs to nobody.
            if (ChainIndex{b.length} != word.index || b.primary != word.set()) continue;
            info_.use_again(set, vb, word.index, b.last, birth);
            b.last = set;
            ++b.length;
        } else {
            if (birth <= since.dropped[vb.value()]) continue;
            if (word.is_in_primary() && word.merged_rows() > 1) {
                const auto last = read_row_oob(set, RowId{word.merged_rows() - 1}, read->done);
                if (!last) return std::unexpected(last.error());
                scan.pages_read += config_.width;
                scan.done = std::max(scan.done, last->done);
                if (!last->oob || last->oob->sequence.value() != birth) continue; // the merge never ended: the old chain holds everything
            }
            if (b.length != 0) detach(vb);
            info_.use_again(set, vb, primary_index, no_set, birth);
            b.primary = b.last = set;
            b.length = 1;
        }
        b.settled = false;
        mapped_.set_known(vb, false);
        note_length(vb);
    }
    return scan;
}

/// Everything that no chain holds is free, in the version's order; sets with a bad block are lost.
void Coftl::collect_free(const CoftlVersion& version, bool erased) {
    const auto add = [&](SetId set, bool is_erased) {
        if (info_.of(set).use != CoftlSets::Use::unknown) return;
        if (std::ranges::any_of(sets_.blocks(set), [&](BlockId b) { return array_.is_bad(b); }))
            info_.lose(set);
        else
            info_.add_free(set, is_erased);
    };
    for (const CoftlVersion::Free& f : version.free) add(f.set, erased && f.erased);
    // A new device has no version yet; else: what chains gave up since.
    for (const SetId set : FirstIds<SetId>{sets_.count()}) add(set, erased && version.free.empty() && version.chains.empty());
}

FtlResult<SimTime> Coftl::do_shut_down(SimTime now) {
    if (!read_only_) {
        const auto flushed = do_flush({now, {Cause::user, no_event}});
        if (!flushed) return flushed;
        now = *flushed;
    }
    now = std::max({now, durable_at_, array_.last_reserved_end()}); // sets that the version calls erased are
    if (read_only_) return now;
    return write_version(now, true);
}

FtlResult<SimTime> Coftl::do_relocate(BlockId block, SimTime now, Cause cause) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    const auto set = sets_.set_of(block);
    if (!set || info_.of(*set).use != CoftlSets::Use::used) return now;
    const VirtualBlockId vb = info_.of(*set).vb;
    const auto looked_up = table_of(vb, {now, {cause, no_event}}, TableUse::other);
    if (!looked_up) return looked_up;
    if (const auto made = make_free(*looked_up); !made) return made;
    if (info_.of(*set).use != CoftlSets::Use::used || info_.of(*set).vb != vb) return *looked_up;
    return merge(vb, blocks_[vb.value()].table, *looked_up, cause);
}

SimTime Coftl::do_idle(SimTime) { return sim_never; }

FtlSpace Coftl::space() const {
    FtlSpace s;
    s.free_blocks = info_.free() * config_.width;
    s.spare_blocks = good_sets() > config_.virtual_blocks ? (good_sets() - config_.virtual_blocks) * config_.width : 0;
    s.bad_blocks = bad_blocks_;
    s.mapped_pages = mapped_.total();
    s.spare_at_end = least_spare_sets * config_.width;
    s.is_read_only = read_only_;
    return s;
}

} // namespace flashlab

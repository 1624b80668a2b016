/// Block-mapping schemes across power cuts and clean shutdowns.
#include <algorithm>
#include <tuple>

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

/// What the checkpoint and the records say, before the log blocks are looked at.
struct MergeFtl::Replay {
    struct Log {
        BlockId block{0};
        std::optional<LogicalBlock> home;
        bool sealed = false;
        std::uint32_t next = 0;
        std::vector<std::optional<Lpn>> live;
    };
    /// Versions of [first, first + pages) older than the sequence are worthless.
    struct Ended {
        Lpn first{0};
        std::uint32_t pages = 0;
        WriteSequence sequence{0};
    };
    struct Version {
        Lpn lpn{0};
        std::uint64_t sequence = 0; ///< 0: from the checkpoint, older than anything since
        std::size_t log = 0;
        std::uint32_t page = 0;
    };
    std::vector<Log> logs;
    std::vector<Ended> trims;
    std::vector<std::uint64_t> moved_at;      ///< by logical block
    std::vector<std::uint64_t> ended_by_move; ///< by logical block: older versions of its pages are worthless
    std::vector<Version> versions;
    std::vector<std::byte> erased;
    bool is_clean = true;
    bool is_new = true;

    void close(BlockId block) {
        std::erase_if(logs, [block](const Log& log) { return log.block == block; });
    }
    void apply(const MergeChange& change, BlockMap& map);
    void apply_trim(const Ended& trim, LogicalBlock home, BlockMap& map) const;
};

void MergeFtl::Replay::apply_trim(const Ended& trim, LogicalBlock home, BlockMap& map) const {
    if (trim.sequence.value() < moved_at[home.value()]) return; // the row that came with the move knows it
    const auto [from, to] = map.offsets_in(home, trim.first.value(), trim.first.value() + trim.pages);
    for (std::uint32_t o = map.next_mapped(home, from); o < to; o = map.next_mapped(home, o + 1)) map.unmap(map.page_of(home, o));
}

/// Places in the order of the records, contents by their sequences.
void MergeFtl::Replay::apply(const MergeChange& change, BlockMap& map) {
    switch (change.type) {
    case MergeChangeType::mounted:
        break;
    case MergeChangeType::log_opened:
        close(*change.block);
        logs.push_back({*change.block, change.home, false, 0, {}});
        break;
    case MergeChangeType::log_closed:
        close(*change.block);
        break;
    case MergeChangeType::moved: {
        const LogicalBlock home = *change.home;
        if (change.block) close(*change.block);
        map.set_data_block(home, change.block);
        map.load_row(home, change.row);
        moved_at[home.value()] = change.sequence.value();
        ended_by_move[home.value()] = std::max(ended_by_move[home.value()], change.sequence.value());
        for (const Ended& trim : trims) {
            const auto [from, to] = map.offsets_in(home, trim.first.value(), trim.first.value() + trim.pages);
            if (from < to) apply_trim(trim, home, map);
        }
        break;
    }
    case MergeChangeType::trimmed: {
        if (change.pages == 0) break;
        const Ended trim{change.first, change.pages, change.sequence};
        trims.push_back(trim);
        const auto homes = map.homes_of(change.first.value(), change.first.value() + change.pages);
        for (std::uint32_t b = homes.from.value(); b < homes.to.value(); ++b) apply_trim(trim, LogicalBlock{b}, map);
        break;
    }
    }
}

void MergeFtl::load(const MergeCheckpoint& checkpoint, Replay& replay) {
    next_sequence_ = std::max(next_sequence_, checkpoint.next_sequence);
    for (std::uint32_t b = 0; b < map_.logical_blocks(); ++b) {
        map_.set_data_block(LogicalBlock{b}, checkpoint.data_blocks[b]);
        map_.load_row(LogicalBlock{b}, std::span{checkpoint.rows}.subspan(std::size_t{b} * map_.row_bytes(), map_.row_bytes()));
    }
    for (const MergeCheckpoint::Log& log : checkpoint.logs) replay.logs.push_back({log.block, log.home, log.sealed, log.next, log.live});
    replay.erased = checkpoint.erased;
    replay.is_clean = checkpoint.is_clean;
}

FtlResult<FtlRecovery> MergeFtl::do_recover(SimTime now) {
    FtlRecovery report;
    const auto kept = meta_.recover(now);
    if (!kept) return std::unexpected(fail(kept.error(), Lpn{0}));
    report.pages_scanned = kept->pages_read;
    const FtlError foreign{FtlErrorKind::foreign, Lpn{0}, kept->done};
    Replay replay;
    replay.moved_at.resize(map_.logical_blocks());
    replay.ended_by_move.resize(map_.logical_blocks());
    replay.is_new = !kept->checkpoint && kept->records.empty();
    if (kept->checkpoint) {
        const auto checkpoint = decode_merge_checkpoint(kept->checkpoint->payload, limits());
        if (!checkpoint) return std::unexpected(foreign);
        load(*checkpoint, replay);
    }
    for (const MergeLimits of = limits(); const MetaRecord& record : kept->records) {
        const auto changes = decode_merge_record(record.payload, of);
        if (record.kind != merge_record_kind || !changes) return std::unexpected(foreign);
        for (const MergeChange& change : *changes) {
            replay.apply(change, map_);
            next_sequence_ = std::max(next_sequence_, change.sequence.value());
        }
    }
    replay.is_clean = replay.is_new || (replay.is_clean && kept->checkpoint && kept->records.empty());
    report.was_clean = replay.is_clean;
    const auto scanned = scan_logs(replay, kept->done, report);
    if (!scanned) return std::unexpected(scanned.error());
    assign_roles(replay);
    report.done = durable_at_ = *scanned;
    is_broken_ = !meta_.can_write();
    read_only_ = is_broken_ || max_logs() < config_.least_logs;
    if (report.was_clean && !read_only_) {
        // Durable before anything is programmed: whoever finds it, or more, knows that nothing may be taken for erased.
        encode_mounted(opens_);
        const auto noted = commit(Commit::what_is_due, *scanned);
        if (!noted) return std::unexpected(fail(noted.error()));
        report.done = durable_at_ = *noted;
    }
    return report;
}

/// Finds what the pages of open log blocks hold, and keeps of each logical page the newest version that nothing ended.
FtlResult<SimTime> MergeFtl::scan_logs(Replay& replay, SimTime now, FtlRecovery& report) {
    const Geometry& g = array_.geometry();
    SimTime done = now;
    for (std::size_t l = 0; l < replay.logs.size(); ++l) {
        Replay::Log& log = replay.logs[l];
        for (std::uint32_t p = 0; p < log.live.size(); ++p)
            if (log.live[p]) replay.versions.push_back({*log.live[p], 0, l, p});
        if (replay.is_clean) continue;
        SimTime at = now;
        for (std::uint32_t p = log.next; p < g.pages_per_block(); ++p) {
            const auto read = array_.read_oob(g.page_of(log.block, p), {at, {Cause::recovery, no_event}});
            if (!read) return std::unexpected(fail(read.error(), Lpn{0}));
            at = read->done;
            ++report.pages_scanned;
            if (read->state == CellState::erased && !skips_pages()) break;
            if (read->state == CellState::erased) continue;
            log.next = p + 1;
            if (!read->oob || read->oob->kind != PageKind::data || read->oob->lpn.value() >= logical_pages()) continue;
            next_sequence_ = std::max(next_sequence_, read->oob->sequence.value() + 1);
            if (read->state == CellState::programmed) replay.versions.push_back({read->oob->lpn, read->oob->sequence.value(), l, p});
        }
        done = std::max(done, at);
        log.sealed = true; // its next page may have been in flight
    }
    auto& versions = replay.versions;
    std::ranges::sort(versions, {}, [](const Replay::Version& v) { return std::tuple{v.lpn, v.sequence, v.log, v.page}; });
    for (const Replay::Ended& e : replay.trims) {
        auto v = std::ranges::lower_bound(versions, e.first, {}, &Replay::Version::lpn);
        for (; v != versions.end() && v->lpn.value() < e.first.value() + e.pages; ++v)
            if (v->sequence < e.sequence.value()) v->log = replay.logs.size();
    }
    std::erase_if(versions, [&](const Replay::Version& v) {
        return v.log == replay.logs.size() || v.sequence < replay.ended_by_move[map_.block_of(v.lpn).value()];
    });
    std::vector<LogSlot> slots;
    for (const Replay::Log& log : replay.logs) {
        const LogSlot slot = logs_.open(log.block, log.home);
        logs_.at(slot).next = log.next;
        logs_.at(slot).sealed = log.sealed;
        slots.push_back(slot);
    }
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (i + 1 < versions.size() && versions[i + 1].lpn == versions[i].lpn) continue;
        map_.map(versions[i].lpn);
        map_.set_logged(versions[i].lpn);
        logs_.put(versions[i].lpn, slots[versions[i].log], versions[i].page);
    }
    return done;
}

void MergeFtl::assign_roles(const Replay& replay) {
    const Geometry& g = array_.geometry();
    for (std::uint32_t b = 0; b < map_.logical_blocks(); ++b) {
        if (const auto block = map_.data_block(LogicalBlock{b})) {
            role_[block->value()] = Role::data;
            owner_[block->value()] = b;
        }
    }
    for (LogSlot slot = 0; slot < logs_.slots(); ++slot) {
        role_[logs_.at(slot).block.value()] = Role::log;
        owner_[logs_.at(slot).block.value()] = slot;
    }
    for (const BlockId block : meta_.area().all()) role_[block.value()] = Role::journal;
    for (std::uint32_t b = 0; b < pool_.planes() * g.blocks_per_plane(); ++b) {
        const BlockId block{b};
        Role& role = role_[b];
        if (role == Role::journal) continue;
        if (role == Role::unused && array_.is_bad(block)) {
            role = Role::lost;
            pool_.add_lost();
        } else if (role == Role::unused) {
            role = Role::free;
            const bool noted = replay.is_clean && !replay.erased.empty() && (replay.erased[b / 8] & std::byte{1} << b % 8) != std::byte{0};
            pool_.add(block, replay.is_new || noted);
        } else {
            pool_.add_taken();
        }
    }
}

FtlResult<SimTime> MergeFtl::do_shut_down(SimTime now) {
    if (is_broken_) return std::max(now, durable_at_);
    const auto committed = commit(Commit::everything, now);
    if (!committed) return std::unexpected(committed.error());
    return checkpoint(true, std::max({now, *committed, pool_.last_end()}));
}

} // namespace flashlab

/// What goes to the journal, and when what it forgets is freed.
#include <algorithm>

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

MergeLimits MergeFtl::limits() const { return {array_.geometry().blocks(), map_.logical_blocks(), map_.pages_per_block()}; }

FtlError MergeFtl::broken(FtlError error) {
    is_broken_ = true;
    return fail(error);
}

FtlResult<SimTime> MergeFtl::commit(Commit what, SimTime now) {
    if (is_broken_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    const bool begins_checkpoint = !meta_.is_writing() && meta_.is_short();
    if (begins_checkpoint) what = Commit::everything; // so that no later record holds what the checkpoint knows
    std::size_t merges = 0;
    std::size_t bytes = 0;
    SimTime at = std::max(now, opens_ready_);
    for (; merges < leaving_.size() && (what == Commit::everything || leaving_[merges].ready <= now); ++merges) {
        bytes += leaving_[merges].bytes;
        at = std::max(at, leaving_[merges].ready);
    }
    record_.clear();
    for (const Trim& trim : trims_) encode_trimmed(record_, trim.first, trim.pages, trim.sequence);
    // Opened before moved: a log block may have become a data block meanwhile.
    record_.insert(record_.end(), opens_.begin(), opens_.end());
    record_.insert(record_.end(), changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (record_.empty()) return now;
    if (meta_.needs_checkpoint(record_.size())) {
        if (const auto finished = finish_checkpoint(now); !finished) return finished;
        if (meta_.needs_checkpoint(record_.size())) return checkpoint(false, now);
    }
    const auto durable = meta_.append(merge_record_kind, record_, {at, {Cause::map, no_event}});
    if (!durable) return std::unexpected(broken(durable.error()));
    if (auto freed = free_left(merges, *durable); !freed) return std::unexpected(freed.error());
    if (!begins_checkpoint && !meta_.is_writing()) return *durable;
    const auto paced = begins_checkpoint ? begin_checkpoint(now) : meta_.continue_checkpoint(meta_.share_of_record(), now);
    if (!paced) return std::unexpected(broken(paced.error()));
    return *durable;
}

/// When everything that the state speaks of has ended.
SimTime MergeFtl::state_ended(SimTime now) const {
    SimTime at = std::max({now, durable_at_, opens_ready_});
    for (LogSlot slot = 0; slot < logs_.slots(); ++slot)
        if (logs_.at(slot).is_open) at = std::max(at, logs_.at(slot).last_end);
    for (const Leaving& leaving : leaving_) at = std::max(at, leaving.ready);
    return at;
}

/// Of the state as it is here; its pages are written with the records that follow, which tell what happens meanwhile.
FtlResult<SimTime> MergeFtl::begin_checkpoint(SimTime now) {
    ensure(leaving_.empty() && opens_.empty() && trims_.empty(), "what the checkpoint knows is recorded");
    encode_merge_checkpoint(checkpoint_, limits(), false, next_sequence_, map_, logs_, {});
    return meta_.begin_checkpoint(checkpoint_.size(), checkpoint_, {state_ended(now), {Cause::map, no_event}});
}

/// The rest of the checkpoint under way, in one go.
FtlResult<SimTime> MergeFtl::finish_checkpoint(SimTime now) {
    if (!meta_.is_writing()) return now;
    const auto done = meta_.continue_checkpoint(meta_.pages_left(), now);
    if (!done) return std::unexpected(broken(done.error()));
    return done;
}

/// The state as it is here, once everything it speaks of has ended.
FtlResult<SimTime> MergeFtl::checkpoint(bool is_clean, SimTime now) {
    if (const auto finished = finish_checkpoint(now); !finished) return finished;
    const SimTime at = state_ended(now);
    const std::vector<BlockId> erased = is_clean ? pool_.erased_blocks() : std::vector<BlockId>{};
    encode_merge_checkpoint(record_, limits(), is_clean, next_sequence_, map_, logs_, erased);
    const auto durable = meta_.checkpoint(record_, {at, {Cause::map, no_event}});
    if (!durable) return std::unexpected(broken(durable.error()));
    if (!meta_.can_write()) is_broken_ = read_only_ = true;
    if (auto freed = free_left(leaving_.size(), *durable); !freed) return std::unexpected(freed.error());
    return *durable;
}

/// A record is durable at `now`: with every trim and opened log block, and with these merges, whose blocks are free from then on.
FtlResult<void> MergeFtl::free_left(std::size_t merges, SimTime now) {
    if (!trims_.empty()) durable_at_ = std::max(durable_at_, now);
    trims_.clear();
    opens_.clear();
    for (const LogSlot slot : unnamed_) logs_.at(slot).named = now;
    unnamed_.clear();
    std::size_t bytes = 0;
    std::size_t blocks = 0;
    for (std::size_t i = 0; i < merges; ++i) {
        bytes += leaving_[i].bytes;
        for (std::uint32_t b = 0; b < leaving_[i].blocks; ++b) {
            const BlockId block = leaving_blocks_[blocks++];
            const auto erased = pool_.give_back(block, {now, {leaving_[i].cause, leaving_[i].id}});
            if (!erased) return std::unexpected(broken(erased.error()));
            role_[block.value()] = pool_.is_failing(block) ? Role::lost : Role::free;
        }
    }
    leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(merges));
    leaving_blocks_.erase(leaving_blocks_.begin(), leaving_blocks_.begin() + static_cast<std::ptrdiff_t>(blocks));
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(bytes));
    leaving_bytes_ -= bytes;
    if (max_logs() < config_.least_logs) read_only_ = true; // G4
    return {};
}

} // namespace flashlab

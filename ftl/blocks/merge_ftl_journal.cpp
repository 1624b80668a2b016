/// What goes to the journal, and when what it forgets is freed.
#include <algorithm>

#include "ftl/blocks/merge_ftl.h"

namespace flashlab {

MergeLimits MergeFtl::limits() const { return {array_.geometry().blocks(), map_.logical_blocks(), map_.pages_per_block()}; }

FtlResult<SimTime> MergeFtl::commit(Commit what, std::span<const std::byte> own, SimTime now) {
    std::size_t merges = 0;
    std::size_t bytes = 0;
    SimTime at = now;
    for (; merges < leaving_.size() && (what == Commit::everything || leaving_[merges].ready <= now); ++merges) {
        bytes += leaving_[merges].bytes;
        at = std::max(at, leaving_[merges].ready);
    }
    record_.clear();
    for (const Trim& trim : trims_) encode_trimmed(record_, trim.first, trim.pages, trim.sequence);
    record_.insert(record_.end(), changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(bytes));
    record_.insert(record_.end(), own.begin(), own.end());
    if (record_.empty()) return now;
    if (meta_.needs_checkpoint(record_.size())) return checkpoint(false, now); // what `own` says is done here already: it is in there
    const auto durable = meta_.append(merge_record_kind, record_, at, {Cause::map, no_event});
    if (!durable) return std::unexpected(fail(durable.error()));
    if (!trims_.empty()) durable_at_ = std::max(durable_at_, *durable);
    trims_.clear();
    if (auto freed = free_left(merges, *durable); !freed) return std::unexpected(freed.error());
    return *durable;
}

/// The state as it is here, once everything it speaks of has ended.
FtlResult<SimTime> MergeFtl::checkpoint(bool is_clean, SimTime now) {
    SimTime at = std::max(now, durable_at_);
    for (const Leaving& leaving : leaving_) at = std::max(at, leaving.ready);
    const std::vector<BlockId> erased = is_clean ? pool_.erased_blocks() : std::vector<BlockId>{};
    encode_merge_checkpoint(record_, limits(), is_clean, next_sequence_, map_, logs_, erased);
    const auto durable = meta_.checkpoint(record_, at, {Cause::map, no_event});
    if (!durable) return std::unexpected(fail(durable.error()));
    if (!meta_.can_write()) read_only_ = true;
    if (!trims_.empty()) durable_at_ = std::max(durable_at_, *durable);
    trims_.clear();
    if (auto freed = free_left(leaving_.size(), *durable); !freed) return std::unexpected(freed.error());
    return *durable;
}

/// The record that forgets them is durable at `now`.
FtlResult<void> MergeFtl::free_left(std::size_t merges, SimTime now) {
    std::size_t bytes = 0;
    std::size_t blocks = 0;
    for (std::size_t i = 0; i < merges; ++i) {
        bytes += leaving_[i].bytes;
        for (std::uint32_t b = 0; b < leaving_[i].blocks; ++b) {
            const BlockId block = leaving_blocks_[blocks++];
            const auto erased = pool_.give_back(block, now, {Cause::merge, leaving_[i].id});
            if (!erased) return std::unexpected(fail(erased.error()));
            role_[block.value()] = pool_.is_failing(block) ? Role::lost : Role::free;
        }
    }
    leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(merges));
    leaving_blocks_.erase(leaving_blocks_.begin(), leaving_blocks_.begin() + static_cast<std::ptrdiff_t>(blocks));
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(bytes));
    leaving_bytes_ -= bytes;
    return {};
}

} // namespace flashlab

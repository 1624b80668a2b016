/// What another log block would save, and what a page that is written costs: for the partition of the DRAM.
#include <algorithm>
#include <utility>

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

namespace {

constexpr std::uint32_t shorter_part = 8; ///< one of so many log blocks: enough merges to tell the two logs apart, and still next to the real one

} // namespace

ShorterLog::Clock MergeFtl::log_clock() const {
    const auto newest = logs_.newest(LogKind::shared);
    return newest ? logs_.at(*newest).began + logs_.at(*newest).next : 0;
}

void MergeFtl::set_shorter() {
    const std::uint32_t most = std::max(max_logs(), 2u) - 1; // one is kept for writes that begin a logical block
    shorter_blocks_ = most < 2 ? 0 : std::max(most / shorter_part, 1u);
    shorter_->set_pages((most - shorter_blocks_) * map_.pages_per_block());
}

/// A log block was opened: others come to the shorter log's end.
void MergeFtl::age_shorter() {
    set_shorter();
    if (!shorter_end_) shorter_end_ = logs_.oldest(LogKind::shared);
    const ShorterLog::Clock now = log_clock();
    while (shorter_end_ && now - logs_.at(*shorter_end_).began >= shorter_->pages()) pass_end();
}

void MergeFtl::pass_end() {
    const LogSlot slot = *shorter_end_;
    const ShorterLog::Clock now = log_clock();
    for (std::uint32_t page = 0; page < map_.pages_per_block(); ++page)
        if (const auto lpn = logs_.live_page(slot, page)) shorter_->page_at_end(map_.block_of(*lpn), logs_.at(slot).began + page, now);
    shorter_end_ = logs_.after(slot);
}

/// `home` is merged for a log block that is reclaimed. Its younger pages the shorter log would still have.
void MergeFtl::tell_shorter(LogicalBlock home) {
    const auto until = shorter_->merged_until(home);
    const ShorterLog::Clock now = log_clock();
    std::optional<std::uint32_t> age; // of the oldest
    for (std::uint32_t o = map_.next_logged(home, 0); until && o < map_.pages_per_block(); o = map_.next_logged(home, o + 1)) {
        const auto page = logs_.find(map_.page_of(home, o));
        if (!page || logs_.at(page->slot).home) continue;
        const ShorterLog::Clock written = logs_.at(page->slot).began + page->page;
        if (now - written < now - *until) age = std::max(age.value_or(0), now - written);
    }
    shorter_->merged(home, age ? std::optional{now - *age} : std::nullopt);
}

/// What the real log saved against one that is shorter. Where there is no room for a shorter one, all that was merged.
MergeFtl::LongerLog MergeFtl::longer_log() {
    if (!shorter_) return {};
    set_shorter();
    shorter_->settle(log_clock(), (max_logs() + shorter_blocks_) * map_.pages_per_block());
    const double more = shorter_->more_merges();
    const double merged = std::exchange(merged_for_room_, 0);
    shorter_->clear();
    const bool has_room = logs_.count() + shorter_blocks_ < max_logs();
    return shorter_blocks_ == 0 ? LongerLog{merged, 1, has_room} : LongerLog{more, shorter_blocks_, has_room};
}

} // namespace flashlab

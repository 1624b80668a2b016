#include "fs/undurable_ranges.h"

namespace flashlab {

void UndurableRanges::add(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    while (!ranges_.empty() && is_kept(ranges_.front().mark)) ranges_.pop_front();
    const CommitMark mark = store_.last_commit();
    if (bytes == 0 || is_kept(mark)) return;
    if (!ranges_.empty()) {
        Committed& last = ranges_.back();
        if (last.range.ino == ino && last.range.offset + last.range.bytes == offset) {
            last.range.bytes += bytes;
            last.mark = mark;
            return;
        }
    }
    ranges_.push_back({.mark = mark, .range = {.ino = ino, .offset = offset, .bytes = bytes}});
}

void UndurableRanges::append_to(std::vector<UnsyncedRange>& ranges) const {
    for (const Committed& committed : ranges_) {
        if (!is_kept(committed.mark)) ranges.push_back(committed.range);
    }
}

} // namespace flashlab

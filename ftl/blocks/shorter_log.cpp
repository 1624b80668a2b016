#include "ftl/blocks/shorter_log.h"

#include <algorithm>
#include <bit>

#include "base/contract.h"

namespace flashlab {

ShorterLog::ShorterLog(std::uint64_t bytes)
    : records_(std::max<std::uint64_t>(bytes / sizeof(Record), 4)), shift_{64 - std::countr_zero(records_.size())} {
    ensure(std::has_single_bit(bytes), "the records of a shorter log are a power of two");
}

/// Where its record is, or would be.
std::size_t ShorterLog::place(std::uint32_t home) const {
    std::size_t at = start(home);
    while (records_[at].home != none && (records_[at].home & ~waiting) != home) at = (at + 1) & (records_.size() - 1);
    return at;
}

/// Closes the gap, so that no place between a record and its start is empty.
void ShorterLog::remove(std::size_t gap) {
    const std::size_t mask = records_.size() - 1;
    for (std::size_t at = (gap + 1) & mask; records_[at].home != none; at = (at + 1) & mask) {
        const std::size_t from = start(records_[at].home & ~waiting);
        if (((at - from) & mask) < ((at - gap) & mask)) continue; // it would come before its start
        records_[gap] = records_[at];
        gap = at;
    }
    records_[gap] = {};
    --used_;
}

void ShorterLog::sample_fewer() {
    weight_ *= 2;
    for (std::size_t at = 0; at < records_.size();) {
        if (records_[at].home != none && !is_sampled(records_[at].home & ~waiting))
            remove(at); // another may have moved here
        else
            ++at;
    }
}

void ShorterLog::page_at_end(LogicalBlock home, Clock written, Clock now) {
    const std::uint32_t h = home.value();
    if (!is_sampled(h)) return;
    std::size_t at = place(h);
    if (records_[at].home == none) {
        while (used_ * 4 >= records_.size() * 3) { // S2
            sample_fewer();
            if (!is_sampled(h)) return;
        }
        at = place(h);
        records_[at] = {h, now - 1};
        ++used_;
        more_ += static_cast<double>(weight_);
        return;
    }
    settle(records_[at], now);
    if ((records_[at].home & waiting) == 0 && !is_after(written, records_[at].at)) return;
    records_[at] = {h, now - 1};
    more_ += static_cast<double>(weight_);
}

std::optional<ShorterLog::Clock> ShorterLog::merged_until(LogicalBlock home) const {
    const Record& record = records_[place(home.value())];
    if (record.home == none || (record.home & waiting) != 0) return std::nullopt;
    return record.at;
}

void ShorterLog::merged(LogicalBlock home, std::optional<Clock> oldest) {
    const std::uint32_t h = home.value();
    if (!is_sampled(h)) return;
    const std::size_t at = place(h);
    if (records_[at].home == none) return; // nothing had come to the shorter log's end: both merge it now
    more_ -= static_cast<double>(weight_);
    if ((records_[at].home & waiting) != 0) return; // for older pages
    if (oldest)
        records_[at] = {h | waiting, *oldest};
    else
        remove(at);
}

void ShorterLog::merged_for_both(LogicalBlock home) {
    if (const std::size_t at = place(home.value()); records_[at].home != none) remove(at);
}

void ShorterLog::settle(Record& record, Clock now) {
    if ((record.home & waiting) == 0 || now - record.at < pages_) return;
    more_ += static_cast<double>(weight_);
    record = {record.home & ~waiting, record.at + pages_ - 1};
}

void ShorterLog::settle(Clock now, std::uint32_t longest) {
    for (std::size_t at = 0; at < records_.size();) {
        Record& record = records_[at];
        if (record.home == none) {
            ++at;
            continue;
        }
        settle(record, now);
        if ((record.home & waiting) == 0 && now - record.at > longest)
            remove(at); // no page is so old
        else
            ++at;
    }
}

int ShorterLog::broken_invariant() const {
    std::uint32_t used = 0;
    for (std::size_t at = 0; at < records_.size(); ++at) {
        if (records_[at].home == none) continue;
        const std::uint32_t home = records_[at].home & ~waiting;
        if (place(home) != at || !is_sampled(home)) return 1;
        ++used;
    }
    return used == used_ && std::uint64_t{used} * 4 <= records_.size() * 3 ? 0 : 2;
}

} // namespace flashlab

#include "ftl/recovery/trim_log.h"

#include "base/little_endian.h"

namespace flashlab {

void PendingTrims::add(const TrimRange& range) {
    if (!ranges_.empty()) {
        TrimRange& last = ranges_.back();
        // Nothing was written between the two: one range with the later sequence says the same.
        if (last.first.value() + last.pages == range.first.value() && last.sequence.value() + 1 == range.sequence.value()) {
            last.pages += range.pages;
            last.sequence = range.sequence;
            return;
        }
    }
    ranges_.push_back(range);
}

void PendingTrims::encode(std::vector<std::byte>& out) const {
    out.resize(encoded_bytes());
    LittleEndianWriter writer{out};
    for (const TrimRange& r : ranges_) {
        writer.u32(r.first.value());
        writer.u32(r.pages);
        writer.u64(r.sequence.value());
    }
    ensure(writer.full(), "trim ranges fill their record");
}

void TrimHistory::add(const TrimRange& range) {
    if (range.pages == 0) return;
    const std::uint32_t begin = range.first.value();
    const std::uint32_t end = begin + range.pages;
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin()) --it;
    while (it != ranges_.end() && it->first < end) {
        const TrimRange old = it->second;
        const std::uint32_t old_end = old.first.value() + old.pages;
        if (old_end <= begin) {
            ++it;
            continue;
        }
        it = ranges_.erase(it);
        if (old.first.value() < begin) ranges_.emplace(old.first.value(), TrimRange{old.first, begin - old.first.value(), old.sequence});
        if (old_end > end) it = ranges_.emplace(end, TrimRange{Lpn{end}, old_end - end, old.sequence}).first;
    }
    ranges_.insert_or_assign(begin, range);
}

bool TrimHistory::add_record(std::span<const std::byte> payload) {
    if (payload.size() % TrimRange::encoded_size != 0) return false;
    LittleEndianReader in{payload};
    while (in.left() != 0) {
        const Lpn first{in.u32()};
        const std::uint32_t pages = in.u32();
        const WriteSequence sequence{in.u64()};
        if (first.value() + std::uint64_t{pages} > 0xffff'ffffu) return false;
        add({first, pages, sequence});
    }
    return true;
}

std::optional<WriteSequence> TrimHistory::last_trim(Lpn lpn) const {
    auto it = ranges_.upper_bound(lpn.value());
    if (it == ranges_.begin()) return std::nullopt;
    --it;
    if (lpn.value() - it->first >= it->second.pages) return std::nullopt;
    return it->second.sequence;
}

} // namespace flashlab

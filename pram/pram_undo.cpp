#include "pram/pram_undo.h"

namespace flashlab {

void PramUndoRecords::remember(PramAddress at, std::span<const std::byte> old, SimTime first_start) {
    const auto bytes = static_cast<std::uint32_t>(old.size());
    records_.push_back({at, first_start, bytes, bytes});
    old_.insert(old_.end(), old.begin(), old.end());
}

void PramUndoRecords::settle(SimTime now) {
    while (head_ != records_.size() && end_of(records_[head_]) <= now) {
        old_head_ += records_[head_].bytes;
        ++head_;
    }
    give_back();
}

void PramUndoRecords::drop_rewound() {
    while (records_.size() != head_ && records_.back().live == 0) {
        old_.resize(old_.size() - records_.back().bytes);
        records_.pop_back();
    }
}

void PramUndoRecords::clear() {
    records_.clear();
    old_.clear();
    head_ = 0;
    old_head_ = 0;
}

// Moving the living part down costs no more than what died since the last time: O(1) amortised.
void PramUndoRecords::give_back() {
    if (head_ == records_.size()) {
        clear();
        return;
    }
    if (head_ < 1024 || head_ < records_.size() / 2 || old_head_ < old_.size() / 2) return;
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(head_));
    old_.erase(old_.begin(), old_.begin() + static_cast<std::ptrdiff_t>(old_head_));
    head_ = 0;
    old_head_ = 0;
}

} // namespace flashlab

#include "nand/compact_records.h"

#include <algorithm>
#include <utility>

#include "base/contract.h"

namespace flashlab {

const CompactRecords::Shared& CompactRecords::shared(std::uint32_t page) const {
    if (later_ == nullptr || later_->empty()) [[likely]]
        return first_;
    const auto next = std::ranges::upper_bound(*later_, page, {}, &Run::first);
    return next == later_->begin() ? first_ : std::prev(next)->shared;
}

void CompactRecords::share(std::uint32_t first, std::uint32_t count, const Shared& value) {
    if (first < set_) return share_again(first, count, value);
    if (set_ == 0) {
        first_ = value;
    } else if (value != shared(set_ - 1)) {
        if (later_ == nullptr) later_ = std::make_unique<std::vector<Run>>();
        later_->push_back({first, value});
    }
    set_ = first + count;
}

void CompactRecords::share_again(std::uint32_t first, std::uint32_t count, const Shared& value) {
    std::vector<Shared> all(std::max(set_, first + count));
    for (std::uint32_t page = 0; page < set_; ++page) all[page] = shared(page);
    std::fill_n(all.begin() + first, count, value);
    erase();
    for (std::uint32_t page = 0; page < all.size(); ++page) share(page, 1, all[page]);
}

void CompactRecords::reach(std::uint32_t page) {
    if (own_ == nullptr) own_ = std::make_unique_for_overwrite<Own[]>(pages_per_block_);
    if (set_ < page) share(set_, page - set_, Shared{});
}

void CompactRecords::set(std::uint32_t page, CellState state, const PageOob* oob) {
    if (oob != nullptr) return set_alike(page, state, *oob, 1);
    reach(page);
    share(page, 1, Shared{.state = state});
}

void CompactRecords::set_alike(std::uint32_t page, CellState state, const PageOob& oob, std::uint32_t count) {
    reach(page);
    const std::uint64_t sequence = oob.sequence.value();
    ensure(sequence >> 40 == 0 && oob.stream.value() < 256, "write sequences stay below 2^40 in runs without payload, streams below 2^8");
    for (std::uint32_t i = 0; i < count; ++i) own_[page + i] = {oob.lpn.value() + i, static_cast<std::uint32_t>(sequence)};
    share(page, count,
          {oob.scheme_word, static_cast<std::uint8_t>(sequence >> 32), static_cast<std::uint8_t>(std::to_underlying(oob.kind)), state,
           static_cast<std::uint8_t>(oob.stream.value())});
}

StoredOob CompactRecords::get(std::uint32_t page) const {
    if (page >= set_) return {};
    const Shared& all = shared(page);
    if (all.kind == 0) return {all.state, std::unexpected(OobError::bad_checksum)};
    const WriteSequence sequence{std::uint64_t{all.sequence_high} << 32 | own_[page].sequence};
    return {all.state, PageOob{Lpn{own_[page].lpn}, sequence, static_cast<PageKind>(all.kind), all.scheme_word, StreamId{all.stream}}};
}

bool CompactRecords::is_programmed(std::uint32_t page) const {
    return page < set_ && shared(page).state == CellState::programmed && shared(page).kind != 0;
}

void CompactRecords::copy(const CompactRecords& from, std::uint32_t first, std::uint32_t to, std::uint32_t count) {
    ensure(first + count <= from.set_ && to + count <= pages_per_block_, "pages that are set, to pages of the block");
    reach(to);
    std::copy_n(from.own_.get() + first, count, own_.get() + to);
    const bool is_one_run = from.later_ == nullptr || from.later_->empty();
    if (is_one_run) return share(to, count, from.first_);
    for (std::uint32_t i = 0; i < count; ++i) share(to + i, 1, from.shared(first + i));
}

void CompactRecords::erase() {
    set_ = 0;
    if (later_ != nullptr) later_->clear();
}

} // namespace flashlab

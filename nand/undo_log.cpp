#include "nand/undo_log.h"

#include <utility>

#include "base/contract.h"

namespace flashlab {

namespace {

template <class T>
std::vector<T> take_spare(std::vector<std::vector<T>>& spares) {
    if (spares.empty()) return {};
    std::vector<T> spare = std::move(spares.back());
    spares.pop_back();
    spare.clear();
    return spare;
}

} // namespace

std::uint64_t UndoLog::push(UndoRecord record) {
    records_.push_back(std::move(record));
    return first_ + records_.size() - 1;
}

const UndoRecord& UndoLog::at(std::uint64_t index) const {
    ensure(holds(index) && index - first_ < records_.size(), "UndoLog: the record is still held");
    return records_[index - first_];
}

void UndoLog::drop_front() {
    UndoRecord& record = records_.front();
    constexpr std::size_t most_spares = 16;
    if (record.old_records.capacity() != 0 && spare_records_.size() < most_spares) spare_records_.push_back(std::move(record.old_records));
    if (record.old_payload.capacity() != 0 && spare_payloads_.size() < most_spares) spare_payloads_.push_back(std::move(record.old_payload));
    records_.pop_front();
    ++first_;
}

void UndoLog::drop_back() { records_.pop_back(); }

std::vector<PageRecord> UndoLog::records_buffer() { return take_spare(spare_records_); }
std::vector<std::byte> UndoLog::payload_buffer() { return take_spare(spare_payloads_); }

} // namespace flashlab

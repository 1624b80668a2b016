#include <array>

#include "base/contract.h"
#include "base/little_endian.h"
#include "pram/redo_log.h"

namespace flashlab {

void PramTransaction::write(PramAddress at, std::span<const std::byte> data) {
    if (data.empty()) return;
    ensure(data.size() <= UINT32_MAX - data_.size(), "PramTransaction: below 4 GiB");
    writes_.push_back({at, static_cast<std::uint32_t>(data_.size()), static_cast<std::uint32_t>(data.size())});
    data_.insert(data_.end(), data.begin(), data.end());
}

void PramTransaction::write_u32(PramAddress at, std::uint32_t value) {
    std::array<std::byte, sizeof value> bytes{};
    store_le<decltype(value)>(bytes, value);
    write(at, bytes);
}

void PramTransaction::write_u64(PramAddress at, std::uint64_t value) {
    std::array<std::byte, sizeof value> bytes{};
    store_le<decltype(value)>(bytes, value);
    write(at, bytes);
}

void PramTransaction::clear() {
    writes_.clear();
    data_.clear();
}

} // namespace flashlab

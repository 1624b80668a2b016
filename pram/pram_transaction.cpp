#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "base/little_endian.h"
#include "pram/redo_log.h"

namespace flashlab {

void PramTransaction::write(PramAddress at, std::span<const std::byte> data) {
    if (data.empty()) return;
    std::memcpy(room_for(at, data.size()), data.data(), data.size());
}

void PramTransaction::write_u32(PramAddress at, std::uint32_t value) { store_le<decltype(value)>({room_for(at, sizeof value), sizeof value}, value); }

void PramTransaction::write_u64(PramAddress at, std::uint64_t value) { store_le<decltype(value)>({room_for(at, sizeof value), sizeof value}, value); }

std::byte* PramTransaction::room_for(PramAddress at, std::size_t bytes) {
    ensure(bytes <= UINT32_MAX - used_, "PramTransaction: below 4 GiB");
    if (used_ + bytes > data_.size()) data_.resize(std::max(used_ + bytes, 2 * data_.size()));
    writes_.push_back({at, static_cast<std::uint32_t>(used_), static_cast<std::uint32_t>(bytes)});
    used_ += bytes;
    return data_.data() + used_ - bytes;
}

void PramTransaction::clear() {
    writes_.clear();
    used_ = 0;
}

} // namespace flashlab

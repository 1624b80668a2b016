#include "tools/workloads/size_table.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

SizeTable::SizeTable(std::initializer_list<SizeShare> sizes) {
    ensure(sizes.size() <= sizes_.size(), "a table holds twelve sizes");
    std::ranges::copy(sizes, sizes_.begin());
    for (const SizeShare& s : sizes_) sum_ += s.share;
    ensure(sum_ > 0, "some size has a share");
}

double SizeTable::mean_bytes() const {
    double bytes = 0;
    for (const SizeShare& s : sizes_) bytes += static_cast<double>(s.bytes) * s.share;
    return bytes / static_cast<double>(sum_);
}

std::uint32_t SizeTable::largest() const { return std::ranges::max(sizes_, {}, &SizeShare::bytes).bytes; }

} // namespace flashlab

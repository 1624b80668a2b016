#include "nand/paired_pages.h"

#include <utility>

namespace flashlab {

PairedPages::PairedPages(const GeometryConfig& geometry) {
    const std::uint32_t bits = std::to_underlying(geometry.cell) + 1u;
    const std::uint32_t lines = geometry.pages_per_block / bits;
    std::vector<std::vector<std::uint32_t>> pages_of(lines);
    first_.push_back(0);
    const auto append = [&](std::uint32_t page) {
        first_.push_back(static_cast<std::uint32_t>(endangered_.size()));
        safe_after_.push_back(page);
    };
    std::uint32_t page = 0;
    for (std::uint32_t step = 0; lines > 0 && step < lines + bits - 1; ++step) {
        for (std::uint32_t pass = 0; pass < bits && pass <= step; ++pass) {
            if (step - pass >= lines) continue;
            auto& line = pages_of[step - pass];
            endangered_.insert(endangered_.end(), line.begin(), line.end());
            append(page);
            for (const std::uint32_t earlier : line) safe_after_[earlier] = page;
            line.push_back(page++);
        }
    }
    for (; page < geometry.pages_per_block; ++page) append(page);
}

} // namespace flashlab

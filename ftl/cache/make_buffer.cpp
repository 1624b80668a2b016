#include "ftl/cache/make_buffer.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

std::unique_ptr<BufferedFtl> make_buffer(const DramConfig& dram, Ftl& ftl, Pram* pram, PramRange range, std::uint32_t dies) {
    if (dram.pram_buffer_bytes != 0) {
        ensure(pram != nullptr, "a write buffer in PRAM has some");
        const std::uint32_t pages = PramSlots::pages_in(dram.pram_buffer_bytes, ftl.logical_page_bytes(), ftl.logical_pages());
        auto slots = std::make_unique<PramSlots>(*pram, range, pages, ftl.logical_page_bytes());
        const std::uint64_t bytes = dram.is_partitioned() ? std::min(dram.size_bytes, dram.pram_buffer_bytes) : dram.pram_buffer_bytes;
        return std::make_unique<BufferedFtl>(ftl, bytes, std::move(slots));
    }
    if (dram.is_partitioned()) return std::make_unique<BufferedFtl>(ftl, dram.size_bytes);
    if (dram.write_buffer_bytes == 0) return nullptr;
    DestagePolicy policy;
    if (dram.destages_ahead())
        policy = {dram.destage_lines == 0 ? dies : dram.destage_lines, dram.destage_from_permille, dram.throttle_from_permille, dram.throttle};
    return std::make_unique<BufferedFtl>(ftl, dram.write_buffer_bytes, policy);
}

} // namespace flashlab

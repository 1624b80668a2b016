#include "ftl/schemes/log_block.h"

namespace flashlab {

FtlResult<MergeFtl::Place> LogBlockFtl::place(Lpn lpn, std::uint32_t pages, SimTime now) {
    const LogicalBlock home = map_.block_of(lpn);
    if (const auto slot = logs_.of_home(home)) {
        logs_.touch(*slot);
        if (logs_.has_room(*slot)) return place_in(*slot, pages);
        if (auto merged = merge(home, now); !merged) return std::unexpected(merged.error());
    }
    while (logs_.count() >= max_logs()) {
        const auto oldest = logs_.oldest(LogKind::own);
        if (!oldest) return std::unexpected(FtlError{FtlErrorKind::no_free_block, lpn, now});
        if (auto emptied = reclaim(*oldest, now); !emptied) return std::unexpected(emptied.error());
    }
    const auto slot = open_log(home, now);
    if (!slot) return std::unexpected(slot.error());
    return place_in(*slot, pages);
}

} // namespace flashlab

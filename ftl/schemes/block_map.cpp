#include "ftl/schemes/block_map.h"

namespace flashlab {

FtlResult<MergeFtl::Place> BlockMapFtl::place(Lpn lpn, std::uint32_t pages, SimTime now) {
    const LogicalBlock home = map_.block_of(lpn);
    const std::uint32_t offset = map_.offset_of(lpn);
    for (;;) {
        std::optional<LogSlot> slot = logs_.of_home(home);
        if (!slot || !logs_.has_room(*slot) || offset < logs_.at(*slot).next) {
            const auto begun = begin_rewrite(home, now);
            if (!begun) return std::unexpected(begun.error());
            slot = *begun;
        }
        logs_.touch(*slot);
        if (offset == logs_.at(*slot).next) return place_in(*slot, pages);
        const auto filled = fill_in_place(*slot, logs_.at(*slot).next, offset, now);
        if (!filled) return std::unexpected(filled.error());
        if (*filled) return place_in(*slot, pages);
        if (auto emptied = reclaim(*slot, now); !emptied) return std::unexpected(emptied.error());
    }
}

FtlResult<LogSlot> BlockMapFtl::begin_rewrite(LogicalBlock home, SimTime now) {
    if (logs_.of_home(home)) {
        if (auto merged = merge(home, now); !merged) return std::unexpected(merged.error());
    }
    while (logs_.count() >= max_logs()) {
        const auto oldest = logs_.oldest(LogKind::own);
        if (!oldest) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
        if (auto emptied = reclaim(*oldest, now); !emptied) return std::unexpected(emptied.error());
    }
    return open_log(home, now);
}

} // namespace flashlab

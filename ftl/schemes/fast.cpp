#include "ftl/schemes/fast.h"

namespace flashlab {

FtlResult<MergeFtl::Place> FastFtl::place(Lpn lpn, std::uint32_t pages, SimTime now) {
    const LogicalBlock home = map_.block_of(lpn);
    const std::uint32_t offset = map_.offset_of(lpn);
    if (offset == 0) {
        const auto slot = open_sequential(home, now);
        if (!slot) return std::unexpected(slot.error());
        return place_in(*slot, pages);
    }
    if (const auto slot = logs_.of_home(home); slot && logs_.has_room(*slot) && logs_.at(*slot).next == offset) return place_in(*slot, pages);
    if (const auto slot = logs_.newest(LogKind::shared); slot && logs_.has_room(*slot)) return place_in(*slot, pages);
    const auto slot = open_random(now);
    if (!slot) return std::unexpected(slot.error());
    return place_in(*slot, pages);
}

FtlResult<LogSlot> FastFtl::open_sequential(LogicalBlock home, SimTime now) {
    while (const auto slot = logs_.oldest(LogKind::own)) {
        if (auto emptied = reclaim(*slot, now); !emptied) return std::unexpected(emptied.error());
    }
    return open_log(home, now);
}

FtlResult<LogSlot> FastFtl::open_random(SimTime now) {
    constexpr std::uint32_t sequential = 1;
    while (logs_.count(LogKind::shared) + sequential >= max_logs()) {
        const auto victim = logs_.oldest(LogKind::shared);
        if (!victim) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
        if (auto emptied = reclaim(*victim, now); !emptied) return std::unexpected(emptied.error());
    }
    return open_log(std::nullopt, now);
}

} // namespace flashlab

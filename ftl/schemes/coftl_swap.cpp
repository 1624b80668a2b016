#include "ftl/schemes/coftl_swap.h"

#include <algorithm>

namespace flashlab {

CoftlSwap::CoftlSwap(std::vector<BlockId> area, std::uint32_t virtual_blocks, NandArray& array)
    : array_{array}, area_{std::move(area)}, pages_{array.geometry().pages_per_block()}, owner_(area_.size() * pages_, no_virtual_block) {
    if (!exists()) return;
    page_of_.assign(virtual_blocks, no_page);
    if (array.keeps_payload()) buffer_.resize(array.geometry().page_bytes());
}

bool CoftlSwap::contains(BlockId block) const { return std::ranges::find(area_, block) != area_.end(); }

void CoftlSwap::forget(VirtualBlockId vb) {
    if (!holds(vb)) return;
    owner_[page_of_[vb.value()].value()] = no_virtual_block;
    page_of_[vb.value()] = no_page;
}

CoftlSwap::BlockIndex CoftlSwap::next_good(BlockIndex block) const {
    const auto count = static_cast<std::uint32_t>(area_.size());
    for (std::uint32_t step = 1; step <= count; ++step)
        if (const BlockIndex other{(block.value() + step) % count}; !array_.is_bad(block_of(other))) return other;
    return block;
}

std::uint32_t CoftlSwap::live_in(BlockIndex block) const {
    const auto first = owner_.begin() + std::ptrdiff_t{block.value()} * pages_;
    return pages_ - static_cast<std::uint32_t>(std::count(first, first + pages_, no_virtual_block));
}

/// The empty block is opened, and the one after it made empty. False: that one is full of what is wanted, nothing would be gained.
std::expected<bool, NandError> CoftlSwap::open_next(SimTime now) {
    const BlockIndex empty = next_ ? next_good(open_) : open_;
    const BlockIndex oldest = next_good(empty);
    if (empty == oldest || array_.is_bad(block_of(empty)) || live_in(empty) != 0 || live_in(oldest) == pages_) return false;
    const auto erased = array_.erase(block_of(empty), {now, {Cause::map, no_event}});
    if (!erased) {
        if (erased.error().kind == NandErrorKind::host_io) return std::unexpected(erased.error());
        if (auto marked = array_.mark_bad(block_of(empty), erased.error().done); !marked) return std::unexpected(marked.error());
        return false;
    }
    open_ = empty;
    next_ = 0;
    for (std::uint32_t i = 0; i < pages_; ++i) {
        const VirtualBlockId vb = owner_[page_in(oldest, i).value()];
        if (vb == no_virtual_block) continue;
        const auto got =
            array_.read(PageRead{ppn_of(page_of_[vb.value()]), 0, array_.geometry().page_bytes(), buffer_}, {now, {Cause::map, no_event}});
        if (!got && got.error().kind == NandErrorKind::host_io) return std::unexpected(got.error());
        forget(vb); // where it cannot be read or written again, the last set of its virtual block is scanned
        if (!got) continue;
        const auto moved = append(vb, buffer_, *got);
        if (!moved) return std::unexpected(moved.error());
    }
    return true;
}

std::expected<std::optional<SimTime>, NandError> CoftlSwap::append(VirtualBlockId vb, std::span<const std::byte> page, SimTime now) {
    if (!has_room() || array_.is_bad(block_of(open_))) return std::nullopt;
    const SwapPage at = page_in(open_, (*next_)++);
    const PageProgram one{ppn_of(at), page, PageOob{Lpn{vb.value()}, WriteSequence{0}, PageKind::translation, 0}};
    const auto end = array_.program({&one, 1}, {now, {Cause::map, no_event}});
    if (!end && end.error().kind == NandErrorKind::host_io) return std::unexpected(end.error());
    if (!end) {
        // The rest of the block is given up; what it holds can still be read.
        if (auto marked = array_.mark_bad(block_of(open_), end.error().done); !marked) return std::unexpected(marked.error());
        next_ = pages_;
        return std::nullopt;
    }
    owner_[at.value()] = vb;
    page_of_[vb.value()] = at;
    return *end;
}

std::expected<std::optional<SimTime>, NandError> CoftlSwap::write(VirtualBlockId vb, std::span<const std::byte> page, SimTime now) {
    forget(vb);
    if (!has_room()) {
        const auto opened = open_next(now);
        if (!opened) return std::unexpected(opened.error());
        if (!*opened) return std::nullopt;
    }
    return append(vb, page, now);
}

std::expected<SimTime, NandError> CoftlSwap::read(VirtualBlockId vb, std::span<std::byte> page, SimTime now) {
    return array_.read(PageRead{ppn_of(page_of_[vb.value()]), 0, array_.geometry().page_bytes(), page}, {now, {Cause::map, no_event}});
}

} // namespace flashlab

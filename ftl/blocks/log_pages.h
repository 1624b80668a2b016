/// Where the newest version of a logged page lies: a hash table from logical page to log page.
///
/// Idea       Open addressing with linear probing; a removal closes its gap, so that there are no tombstones.
/// Invariant  At most half full; nothing ever iterates over it, so its order shows nowhere.
/// Cost       8 bytes a slot, 16 to 32 a log page; about one probe.
/// Power cut  RAM only.
/// Source     Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/contract.h"
#include "base/id.h"

namespace flashlab {

class LogPages {
public:
    [[nodiscard]] std::optional<std::uint32_t> find(Lpn lpn) const {
        if (slots_.empty()) return std::nullopt;
        for (std::size_t at = start(lpn);; at = (at + 1) & mask_) {
            if (slots_[at].page == none) return std::nullopt;
            if (slots_[at].lpn == lpn.value()) return slots_[at].page;
        }
    }
    void put(Lpn lpn, std::uint32_t page) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        std::size_t at = start(lpn);
        while (slots_[at].page != none) {
            ensure(slots_[at].lpn != lpn.value(), "a logical page is logged once");
            at = (at + 1) & mask_;
        }
        slots_[at] = {lpn.value(), page};
        ++size_;
    }
    /// Returns where it was.
    std::uint32_t remove(Lpn lpn) {
        std::size_t gap = start(lpn);
        while (slots_[gap].lpn != lpn.value() || slots_[gap].page == none) {
            ensure(slots_[gap].page != none, "only a logged page is removed");
            gap = (gap + 1) & mask_;
        }
        const std::uint32_t page = slots_[gap].page;
        for (std::size_t at = (gap + 1) & mask_; slots_[at].page != none; at = (at + 1) & mask_) {
            const std::size_t home = start(Lpn{slots_[at].lpn});
            if (((at - home) & mask_) < ((at - gap) & mask_)) continue; // its own place lies after the gap
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap].page = none;
        --size_;
        return page;
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Slot {
        std::uint32_t lpn = 0;
        std::uint32_t page = none;
    };
    [[nodiscard]] std::size_t start(Lpn lpn) const { return (std::uint64_t{lpn.value()} * 0x9e3779b97f4a7c15u >> 32) & mask_; }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        size_ = 0;
        for (const Slot& slot : old)
            if (slot.page != none) put(Lpn{slot.lpn}, slot.page);
    }
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
};

} // namespace flashlab

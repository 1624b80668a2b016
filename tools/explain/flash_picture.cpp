#include "tools/explain/flash_picture.h"

#include <algorithm>

namespace flashlab {

namespace {

constexpr std::uint8_t data_kind = 1, translation_kind = 2; ///< of which one copy is the newest; of other kinds the drive keeps what it needs

bool is_versioned(std::uint8_t kind) { return kind == data_kind || kind == translation_kind; }

} // namespace

FlashPicture::FlashPicture(std::uint32_t blocks, std::uint32_t pages_per_block) : blocks_(blocks) {
    for (BlockPicture& block : blocks_) block.pages.resize(pages_per_block);
}

std::optional<FlashPlace> FlashPicture::programmed(FlashPlace place, std::uint8_t kind, std::uint32_t number) {
    at(place) = {kind == data_kind ? PageMark::newest : PageMark::own, kind, number};
    if (!is_versioned(kind)) return std::nullopt;
    const auto [old, is_new] = newest_.try_emplace({kind, number}, place);
    if (is_new) return std::nullopt;
    const FlashPlace before = std::exchange(old->second, place);
    at(before).mark = PageMark::stale;
    return before;
}

void FlashPicture::erased(std::uint32_t block) {
    ++blocks_[block].erases;
    std::ranges::fill(blocks_[block].pages, PagePicture{});
    std::erase_if(newest_, [&](const auto& entry) { return entry.second.block == block; });
}

std::optional<FlashPlace> FlashPicture::trimmed(std::uint32_t lpn) {
    const auto found = newest_.find({data_kind, lpn});
    if (found == newest_.end()) return std::nullopt;
    const FlashPlace place = found->second;
    at(place).mark = PageMark::stale;
    newest_.erase(found);
    return place;
}

void FlashPicture::forget() {
    newest_.clear();
    for (BlockPicture& block : blocks_) std::ranges::fill(block.pages, PagePicture{});
}

void FlashPicture::set_newest(std::uint32_t lpn, FlashPlace place) {
    newest_[{data_kind, lpn}] = place;
    at(place).mark = PageMark::newest;
}

std::optional<FlashPlace> FlashPicture::newest_of(std::uint32_t lpn) const {
    const auto found = newest_.find({data_kind, lpn});
    return found == newest_.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t FlashPicture::count(std::uint32_t block, PageMark mark) const {
    return static_cast<std::uint32_t>(std::ranges::count(blocks_[block].pages, mark, &PagePicture::mark));
}

} // namespace flashlab

/// What every page of a small flash holds, followed event by event: the newest copy of a logical page, a stale one, a page of the drive's own.
///
/// Idea       A program of a logical page makes its older copy stale, an erase frees the block. So the picture needs to know no scheme.
/// Invariant  A logical page has one newest copy, or none (a trim). After a power cut the picture is taken anew from the flash itself.
/// Cost       A few words a page.
/// Power cut  Keeps nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/events.h"

namespace flashlab {

enum class PageMark : std::uint8_t { free, newest, stale, own, damaged };

struct PagePicture {
    PageMark mark = PageMark::free;
    std::uint8_t kind = 0;    ///< nand/page_oob.h's PageKind
    std::uint32_t number = 0; ///< which logical page, or which page of its own kind
};
struct BlockPicture {
    std::uint32_t erases = 0;
    bool is_bad = false;
    std::vector<PagePicture> pages;
};
/// Where a page lies.
struct FlashPlace {
    std::uint32_t block = 0, page = 0;
    friend bool operator==(const FlashPlace&, const FlashPlace&) = default;
};

class FlashPicture {
public:
    FlashPicture(std::uint32_t blocks, std::uint32_t pages_per_block);

    /// Returns where the older copy was, if there was one.
    std::optional<FlashPlace> programmed(FlashPlace at, std::uint8_t kind, std::uint32_t number);
    void erased(std::uint32_t block);
    /// The logical page has no newest copy any more. Returns where it was.
    std::optional<FlashPlace> trimmed(std::uint32_t lpn);
    /// Erases are counted from here on.
    void forget_wear() {
        for (BlockPicture& block : blocks_) block.erases = 0;
    }
    void set_bad(std::uint32_t block) { blocks_[block].is_bad = true; }
    void set_erases(std::uint32_t block, std::uint32_t erases) { blocks_[block].erases = erases; }
    /// For the picture after a cut.
    void forget();
    void set(FlashPlace at, PagePicture page) { blocks_[at.block].pages[at.page] = page; }
    void set_newest(std::uint32_t lpn, FlashPlace at);

    [[nodiscard]] const std::vector<BlockPicture>& blocks() const { return blocks_; }
    [[nodiscard]] std::optional<FlashPlace> newest_of(std::uint32_t lpn) const;
    [[nodiscard]] std::uint32_t count(std::uint32_t block, PageMark mark) const;

private:
    [[nodiscard]] PagePicture& at(FlashPlace place) { return blocks_[place.block].pages[place.page]; }
    std::vector<BlockPicture> blocks_;
    std::map<std::pair<std::uint8_t, std::uint32_t>, FlashPlace> newest_; ///< by kind and number
};

} // namespace flashlab

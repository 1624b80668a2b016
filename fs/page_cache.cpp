#include "fs/page_cache.h"

#include <algorithm>
#include <bit>

#include "base/contract.h"

namespace flashlab {

namespace {
constexpr std::size_t grown_at_once = 256; ///< pages
constexpr std::size_t word_bits = 64;
} // namespace

PageCache::PageCache(std::size_t page_bytes, std::size_t capacity_pages)
    : page_bytes_{page_bytes}, capacity_{std::max<std::size_t>(capacity_pages, 16)} {}

/// Every place is taken: some more, behind the last.
void PageCache::grow() {
    const std::size_t first = places_.size();
    if (first == memory_end_) {
        const std::size_t pages = first == 0 ? capacity_ : grown_at_once;
        memory_.push_back(page_memory(pages * page_bytes_));
        memory_end_ += pages;
    }
    const std::size_t end = std::min(first + grown_at_once, memory_end_);
    free_.resize((end + word_bits - 1) / word_bits);
    const std::size_t memory_first = memory_.size() == 1 ? 0 : memory_end_ - grown_at_once;
    for (std::size_t place = first; place < end; ++place) {
        CachePage& page = places_.emplace_back();
        page.place = static_cast<std::uint32_t>(place);
        page.data = memory_.back().get() + (place - memory_first) * page_bytes_;
        free_[place / word_bits] |= std::uint64_t{1} << place % word_bits;
    }
    free_places_ += end - first;
    next_place_ = first;
}

/// The next free place, from the beginning again after the last.
CachePage& PageCache::take_place() {
    if (free_places_ == 0) grow();
    if (next_place_ >= places_.size()) next_place_ = 0;
    std::size_t word = next_place_ / word_bits;
    std::uint64_t bits = free_[word] & (~std::uint64_t{0} << next_place_ % word_bits);
    while (bits == 0) {
        word = word + 1 == free_.size() ? 0 : word + 1;
        bits = free_[word];
    }
    free_[word] &= ~(bits & -bits);
    --free_places_;
    next_place_ = word * word_bits + static_cast<std::size_t>(std::countr_zero(bits)) + 1;
    return places_[next_place_ - 1];
}

CachePage& PageCache::insert(Inode& inode, std::uint64_t index) {
    CachePage& page = take_place();
    const bool fresh = pages_.emplace(Key{inode.ino.value(), index}, &page).second;
    ensure(fresh, "PageCache::insert: a page is cached once");
    if (inode.pages == nullptr) {
        if (free_lists_.empty()) free_lists_.push_back(&lists_.emplace_back());
        inode.pages = free_lists_.back();
        free_lists_.pop_back();
    }
    page.owner = &inode;
    page.index = index;
    page.dirty = page.in_flight = page.reserved = false;
    inode.pages->push_back(page);
    return page;
}

void PageCache::drop(CachePage& page) {
    Inode& inode = *page.owner;
    inode.pages->erase(inode.pages->iterator_to(page));
    if (inode.pages->empty()) {
        free_lists_.push_back(inode.pages);
        inode.pages = nullptr;
    }
    pages_.erase(Key{inode.ino.value(), page.index});
    page.owner = nullptr;
    free_[page.place / word_bits] |= std::uint64_t{1} << page.place % word_bits;
    ++free_places_;
}

} // namespace flashlab

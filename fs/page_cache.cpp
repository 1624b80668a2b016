#include "fs/page_cache.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {
constexpr std::size_t grown_at_once = 256; ///< pages
} // namespace

PageCache::PageCache(std::size_t page_bytes, std::size_t capacity_pages)
    : page_bytes_{page_bytes}, capacity_{std::max<std::size_t>(capacity_pages, 16)} {}

/// Adds places behind the last one, when every place is taken. The memory for `capacity` pages is one piece, so that pages in a row lie in a row. The
/// code that configures the cache must ask whether the host has that much memory.
void PageCache::grow() {
    const std::size_t first = places_.size();
    if (first == memory_end_) {
        const std::size_t pages = first == 0 ? capacity_ : grown_at_once;
        memory_.push_back(page_memory(pages * page_bytes_));
        memory_end_ += pages;
    }
    const std::size_t end = std::min(first + grown_at_once, memory_end_);
    free_.resize(end, true);
    const std::size_t memory_first = memory_.size() == 1 ? 0 : memory_end_ - grown_at_once;
    for (std::size_t place = first; place < end; ++place) {
        CachePage& page = places_.emplace_back();
        page.place = static_cast<std::uint32_t>(place);
        page.data = memory_.back().get() + (place - memory_first) * page_bytes_;
    }
    free_places_ += end - first;
}

/// The next free place, from the beginning again after the last.
CachePage& PageCache::take_place() {
    if (free_places_ == 0) grow();
    last_taken_ = free_.find_next(last_taken_);
    if (last_taken_ == free_.npos) last_taken_ = free_.find_first();
    free_.reset(last_taken_);
    --free_places_;
    return places_[last_taken_];
}

CachePage& PageCache::insert(Inode& inode, FilePage at) {
    CachePage& page = take_place();
    const bool fresh = pages_.emplace(Key{inode.ino.value(), at.value()}, &page).second;
    ensure(fresh, "PageCache::insert: a page is cached once");
    if (inode.pages == nullptr) {
        if (free_lists_.empty()) free_lists_.push_back(&lists_.emplace_back());
        inode.pages = free_lists_.back();
        free_lists_.pop_back();
    }
    page.owner = &inode;
    page.page = at;
    page.dirty = page.in_flight = page.reserved = page.adds_records = false;
    inode.pages->push_back(page);
    return page;
}

void PageCache::set_adds_records(CachePage& page, bool adds) {
    if (page.adds_records == adds) return;
    page.adds_records = adds;
    if (adds)
        ++adding_records_;
    else
        --adding_records_;
}

void PageCache::drop(CachePage& page) {
    set_adds_records(page, false);
    Inode& inode = *page.owner;
    inode.pages->erase(inode.pages->iterator_to(page));
    if (inode.pages->empty()) {
        free_lists_.push_back(inode.pages);
        inode.pages = nullptr;
    }
    pages_.erase(Key{inode.ino.value(), page.page.value()});
    page.owner = nullptr;
    free_.set(page.place);
    ++free_places_;
}

} // namespace flashlab

#include "fs/page_cache.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {
constexpr std::size_t slab_bytes = 1u << 20;
} // namespace

PageCache::PageCache(std::size_t page_bytes, std::size_t capacity_pages)
    : page_bytes_{page_bytes}, capacity_{std::max<std::size_t>(capacity_pages, 16)} {}

void PageCache::grow() {
    const std::size_t pages = std::max<std::size_t>(1, slab_bytes / page_bytes_);
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(pages * page_bytes_));
    for (std::size_t i = 0; i < pages; ++i) {
        CachePage& page = descriptors_.emplace_back();
        page.data = slabs_.back().get() + i * page_bytes_;
        free_.push_back(&page);
    }
}

CachePage& PageCache::insert(Inode& inode, std::uint64_t index) {
    if (free_.empty()) grow();
    CachePage& page = *free_.back();
    const bool fresh = pages_.emplace(Key{inode.ino.value(), index}, &page).second;
    ensure(fresh, "PageCache::insert: a page is cached once");
    free_.pop_back();
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
    free_.push_back(&page);
}

} // namespace flashlab

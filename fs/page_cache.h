/// The pages that were written and are not yet on the device.
///
/// Idea       The cache holds dirty pages only. Clean pages are left to the device and the kernel, so a scan cannot push dirty pages out.
///            A new page takes the next free place in memory. So pages written in a row lie in a row, and go to the device without a copy.
/// Invariant  A page is in the cache until its data and its extent are committed. There are at most `capacity` pages, unless told to go beyond.
/// Cost       One hash look-up a page; no allocation once the pool has grown. Memory is touched as it is first needed.
/// Power cut  All of it is lost.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/page_memory.h"
#include "fs/inode.h"

namespace flashlab {

struct CachePage : CachePageHook {
    Inode* owner = nullptr;
    FilePage page{0};
    std::byte* data = nullptr;
    std::uint64_t first_dirty = 0; ///< write sequence that made it dirty; meaningful while dirty
    bool dirty = false;
    bool in_flight = false;    ///< its data were given to the device, its extent is not committed yet
    bool reserved = false;     ///< has no logical page yet: one is reserved for it
    bool adds_records = false; ///< its commit adds to the metadata: it has no extent yet, or an unwritten one
    std::uint32_t job_slot = 0;
    std::uint32_t place = 0; ///< its number in the pool; fixed, as is `data`
};

class PageCache {
public:
    PageCache(std::size_t page_bytes, std::size_t capacity_pages);
    PageCache(const PageCache&) = delete;
    PageCache& operator=(const PageCache&) = delete;

    [[nodiscard]] CachePage* find(const Inode& inode, FilePage page) const {
        if (inode.pages == nullptr) return nullptr;
        const auto at = pages_.find(Key{inode.ino.value(), page.value()});
        return at == pages_.end() ? nullptr : at->second;
    }
    /// Makes a new page of the inode. It is clean, and its bytes are not initialised.
    CachePage& insert(Inode& inode, FilePage page);
    void drop(CachePage& page);
    void set_adds_records(CachePage& page, bool adds);

    [[nodiscard]] std::size_t pages() const { return pages_.size(); }
    /// The number of pages for which metadata records are promised. Pages that overwrite data in place need no record.
    [[nodiscard]] std::size_t pages_adding_records() const { return adding_records_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }

private:
    struct Key {
        std::uint64_t ino;
        std::uint64_t page;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t z = (key.ino * 0x9e3779b97f4a7c15u) ^ (key.page * 0xbf58476d1ce4e5b9u);
            z = (z ^ (z >> 31)) * 0x94d049bb133111ebu;
            return z ^ (z >> 29);
        }
    };
    void grow();
    [[nodiscard]] CachePage& take_place();

    std::size_t page_bytes_;
    std::size_t capacity_;
    boost::unordered_flat_map<Key, CachePage*, Hash> pages_;
    std::vector<PageMemory> memory_; ///< first that of `capacity` pages, then what goes beyond
    std::size_t memory_end_ = 0;     ///< places that memory_ has room for
    std::deque<CachePage> places_;
    boost::dynamic_bitset<std::uint64_t> free_; ///< a bit a place
    std::size_t free_places_ = 0;
    std::size_t last_taken_ = 0;
    std::size_t adding_records_ = 0;
    std::deque<CachePageList> lists_;
    std::vector<CachePageList*> free_lists_;
};

} // namespace flashlab

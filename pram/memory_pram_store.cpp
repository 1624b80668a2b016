#include "pram/memory_pram_store.h"

#include <cstring>
#include <new>

#include "base/contract.h"

namespace flashlab {

namespace {

// calloc instead of a vector: calloc takes large zeroed blocks from the kernel untouched; a vector would write every byte.
void* zeroed(std::size_t count, std::size_t size) {
    void* memory = std::calloc(count, size);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

} // namespace

MemoryPramStore::MemoryPramStore(std::uint64_t bytes) : bytes_{bytes} {
    ensure(bytes > 0, "MemoryPramStore: a size above zero");
    cells_.reset(static_cast<std::byte*>(zeroed(bytes, 1)));
    wear_.reset(static_cast<std::uint64_t*>(zeroed(pram_wear_regions(bytes), sizeof(std::uint64_t))));
}

void MemoryPramStore::copy_from(const MemoryPramStore& other) {
    ensure(other.bytes_ == bytes_, "MemoryPramStore::copy_from: equal sizes");
    if (&other == this) return;
    std::memcpy(cells_.get(), other.cells_.get(), bytes_);
    std::memcpy(wear_.get(), other.wear_.get(), pram_wear_regions(bytes_) * sizeof(std::uint64_t));
}

} // namespace flashlab

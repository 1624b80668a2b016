#include "pram/memory_pram_store.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "base/contract.h"

namespace flashlab {

namespace {

// Pages of the kernel, untouched, instead of a vector, which would write every byte. calloc would write them, too, once it has such a block to use
// again.
void* zeroed(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    return memory;
}

} // namespace

void MemoryPramStore::Unmap::operator()(void* memory) const { ::munmap(memory, bytes); }

MemoryPramStore::MemoryPramStore(std::uint64_t bytes) : bytes_{bytes} {
    ensure(bytes > 0, "MemoryPramStore: a size above zero");
    cells_ = {static_cast<std::byte*>(zeroed(bytes)), {bytes}};
    const std::size_t wear_bytes = pram_wear_regions(bytes) * sizeof(std::uint64_t);
    wear_ = {static_cast<std::uint64_t*>(zeroed(wear_bytes)), {wear_bytes}};
}

void MemoryPramStore::copy_from(const MemoryPramStore& other) {
    ensure(other.bytes_ == bytes_, "MemoryPramStore::copy_from: equal sizes");
    if (&other == this) return;
    std::memcpy(cells_.get(), other.cells_.get(), bytes_);
    std::memcpy(wear_.get(), other.wear_.get(), pram_wear_regions(bytes_) * sizeof(std::uint64_t));
}

} // namespace flashlab

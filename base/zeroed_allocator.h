/// Large tables of zeros that cost nothing until they are used.
///
/// Idea       calloc takes large blocks from the kernel untouched. A std::vector of zeros would write, and so occupy, every byte at once.
/// Invariant  Elements are not initialised. So it is only for types whose initial value is all zero bytes, and for vectors that never grow.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace flashlab {

template <class T>
struct ZeroedAllocator {
    static_assert(std::is_trivially_copyable_v<T>);
    using value_type = T;
    ZeroedAllocator() = default;
    template <class U>
    ZeroedAllocator(const ZeroedAllocator<U>&) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        void* memory = std::calloc(count, sizeof(T));
        if (memory == nullptr) throw std::bad_alloc{};
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    template <class U>
    void construct(U*) {}
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
    friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

template <class T>
using ZeroedVector = std::vector<T, ZeroedAllocator<T>>;

} // namespace flashlab

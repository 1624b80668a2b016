/// Memory that begins where a page of the host begins.
///
/// Idea       The kernel copies to and from the memory of a process page by page. A page that begins where a host page begins costs one look-up of a
///            host page; any other page costs two.
/// Cost       As operator new.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace flashlab {

inline constexpr std::size_t host_page_bytes = 4096; ///< on hosts with larger pages the gain is smaller

struct PageMemoryDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{host_page_bytes}); }
};
using PageMemory = std::unique_ptr<std::byte[], PageMemoryDelete>;

/// The bytes are not initialised.
[[nodiscard]] inline PageMemory page_memory(std::size_t bytes) {
    return PageMemory{static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{host_page_bytes}))};
}

} // namespace flashlab

#include "ftl/cache/ghost_buffer.h"

namespace flashlab {

void GhostBuffer::set_capacity(std::uint32_t pages) {
    while (size() > pages) drop_oldest();
    pages_.set_capacity(pages);
}

void GhostBuffer::evicted(Lpn lpn) {
    if (capacity() == 0) return;
    if (const auto slot = pages_.find(lpn)) return pages_.used(*slot);
    if (pages_.is_full()) drop_oldest();
    pages_.insert(lpn);
}

void GhostBuffer::missed_read(Lpn lpn) {
    const auto slot = pages_.find(lpn);
    if (!slot) return;
    pages_.used(*slot);
    ++hits_.reads;
}

void GhostBuffer::missed_write(Lpn lpn) {
    const auto slot = pages_.find(lpn);
    if (!slot) return;
    pages_.remove(*slot);
    ++hits_.writes;
}

} // namespace flashlab

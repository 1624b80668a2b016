/// Room for the answer of one read.
///
/// Idea       Each thread keeps one buffer and lends it to the read that it serves. An answer that must wait takes the buffer along, and the thread
///            makes a new one.
/// Invariant  A buffer belongs to one request at a time.
/// Cost       No allocation while answers are given at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/page_memory.h"

namespace flashlab {

class ReadBuffer {
public:
    explicit ReadBuffer(std::size_t bytes) {
        std::swap(room_, kept());
        if (room_.bytes >= bytes) return;
        room_.bytes = std::max(bytes, smallest);
        room_.data = page_memory(room_.bytes);
    }
    ReadBuffer(ReadBuffer&& other) noexcept : room_{std::exchange(other.room_, Room{})} {}
    ReadBuffer& operator=(ReadBuffer&&) = delete;
    ~ReadBuffer() {
        if (room_.bytes > kept().bytes) std::swap(room_, kept());
    }
    [[nodiscard]] std::span<std::byte> first(std::size_t bytes) { return {room_.data.get(), bytes}; }

private:
    static constexpr std::size_t smallest = 128u << 10; ///< the kernel's usual read-ahead
    struct Room {
        PageMemory data;
        std::size_t bytes = 0;
    };
    static Room& kept() {
        thread_local Room room;
        return room;
    }
    Room room_;
};

} // namespace flashlab

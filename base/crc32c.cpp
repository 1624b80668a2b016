#include "base/crc32c.h"

#include <isa-l/crc.h>

namespace flashlab {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
    // ISA-L's function only reads, although its prototype lacks the const. It takes and returns the register, not the inverted checksum;
    // its length is an int.
    std::uint32_t state = ~seed;
    auto* at = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    for (std::size_t left = bytes.size(); left != 0;) {
        const std::size_t step = left < (1u << 30) ? left : (1u << 30);
        state = crc32_iscsi(at, static_cast<int>(step), state);
        at += step;
        left -= step;
    }
    return ~state;
}

} // namespace flashlab

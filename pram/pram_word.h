/// One PRAM word of 2, 4 or 8 bytes as a number.
///
/// Idea       The size is known when the device is made, not when it is compiled; a switch is cheaper than a memcpy of unknown length.
/// Invariant  Little-endian host (base/little_endian.h): the low bytes of the number are the word.
/// Cost       A predicted branch and a load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace flashlab {

namespace pram_word_detail {
template <class T>
[[nodiscard]] inline std::uint64_t load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
} // namespace pram_word_detail

[[nodiscard]] inline std::uint64_t load_pram_word(const std::byte* at, std::uint32_t word_bytes) {
    switch (word_bytes) {
    case 8:
        return pram_word_detail::load<std::uint64_t>(at);
    case 4:
        return pram_word_detail::load<std::uint32_t>(at);
    default:
        return pram_word_detail::load<std::uint16_t>(at);
    }
}

[[nodiscard]] inline bool same_pram_word(const std::byte* a, const std::byte* b, std::uint32_t word_bytes) {
    return load_pram_word(a, word_bytes) == load_pram_word(b, word_bytes);
}

/// The offset of the first word at or after `from` in which the two differ, or `bytes`. All are multiples of the word size.
[[nodiscard]] inline std::size_t first_difference(const std::byte* a, const std::byte* b, std::size_t from, std::size_t bytes,
                                                  std::uint32_t word_bytes) {
    while (from + 8 <= bytes && same_pram_word(a + from, b + from, 8)) from += 8;
    while (from < bytes && same_pram_word(a + from, b + from, word_bytes)) from += word_bytes;
    return from;
}

} // namespace flashlab

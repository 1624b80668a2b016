#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace flashlab {

namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr Table one_byte() {
    Table table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t state = i;
        for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ (crc32c_polynomial & (0u - (state & 1u)));
        table[i] = state;
    }
    return table;
}

/// [k][b]: what byte b does to the register when k more bytes follow it.
constexpr std::array<Table, 8> followed() {
    std::array<Table, 8> tables{one_byte()};
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t i = 0; i < 256; ++i) tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
    return tables;
}

constexpr std::array<Table, 8> tables = followed();

std::uint64_t load(const std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
    return word;
}

std::uint32_t by_tables(std::uint32_t state, std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        const std::uint64_t word = load(at) ^ state;
        state = 0;
        for (unsigned i = 0; i < 8; ++i) state ^= tables[7 - i][(word >> (8 * i)) & 0xff];
    }
    for (; left != 0; --left, ++at) state = (state >> 8) ^ tables[0][(state ^ static_cast<std::uint32_t>(*at)) & 0xff];
    return state;
}

#if defined(__x86_64__)

/// The register after `zeros` bytes of zero. That is linear, so a table for each of its four bytes says it.
template <std::size_t zeros>
struct Passed {
    std::array<Table, 4> by{};
    constexpr Passed() {
        for (unsigned bit = 0; bit < 32; ++bit) {
            std::uint32_t state = 1u << bit;
            for (std::size_t i = 0; i < zeros; ++i) state = (state >> 8) ^ tables[0][state & 0xff];
            for (std::size_t i = 0; i < 256; ++i)
                if ((i >> (bit % 8)) & 1) by[bit / 8][i] ^= state;
        }
    }
    [[nodiscard]] std::uint64_t operator()(std::uint64_t state) const {
        return by[0][state & 0xff] ^ by[1][(state >> 8) & 0xff] ^ by[2][(state >> 16) & 0xff] ^ by[3][(state >> 24) & 0xff];
    }
};

/// As long as three parts of so many bytes are left.
template <std::size_t part>
[[gnu::target("sse4.2")]] std::uint64_t by_thirds(std::uint64_t state, const std::byte*& at, std::size_t& left) {
    static constexpr Passed<part> passed;
    for (; left >= 3 * part; left -= 3 * part, at += 3 * part) {
        std::uint64_t second = 0, third = 0;
        for (std::size_t i = 0; i < part; i += 8) {
            state = _mm_crc32_u64(state, load(at + i));
            second = _mm_crc32_u64(second, load(at + part + i));
            third = _mm_crc32_u64(third, load(at + 2 * part + i));
        }
        state = passed(passed(state) ^ second) ^ third;
    }
    return state;
}

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::uint32_t begin, std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t state = begin;
    state = by_thirds<1024>(state, at, left);
    state = by_thirds<128>(state, at, left);
    for (; left >= 8; left -= 8, at += 8) state = _mm_crc32_u64(state, load(at));
    auto narrow = static_cast<std::uint32_t>(state);
    for (; left != 0; --left, ++at) narrow = _mm_crc32_u8(narrow, static_cast<std::uint8_t>(*at));
    return narrow;
}

#endif

} // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t seed) { return ~by_tables(~seed, bytes); }

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(~seed, bytes);
#endif
    return crc32c_portable(bytes, seed);
}

} // namespace flashlab

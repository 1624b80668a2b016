#include "tools/run/payload_stamp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "ftl/block_device.h"

namespace flashlab {
namespace {

constexpr std::size_t words = sector_bytes / sizeof(std::uint64_t);
using Words = std::array<std::uint64_t, words>;

/// The sector's number, the number of the write, then words that follow from both.
void make(Words& out, std::uint64_t sector, std::uint64_t write) {
    out[0] = sector + 1; // no stamp is all zero
    out[1] = write;
    std::uint64_t state = sector * 0x9e3779b97f4a7c15u ^ write;
    for (std::size_t i = 2; i < words; ++i) {
        state = state * 0xd1342543de82ef95u + 1;
        out[i] = state ^ state >> 29;
    }
}

} // namespace

std::span<std::byte> PayloadStamp::room(std::uint32_t sectors) {
    const std::size_t bytes = std::size_t{sectors} * sector_bytes;
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    return std::span{buffer_}.first(bytes);
}

std::span<const std::byte> PayloadStamp::zeros(std::uint32_t sectors) {
    const std::size_t bytes = std::size_t{sectors} * sector_bytes;
    if (zeros_.size() < bytes) zeros_.resize(bytes);
    return std::span{zeros_}.first(bytes);
}

std::span<const std::byte> PayloadStamp::stamped(Sector first, std::uint32_t sectors) {
    const auto out = room(sectors);
    ++writes_;
    Words sector;
    for (std::uint32_t i = 0; i < sectors; ++i) {
        make(sector, first.value() + i, writes_);
        std::memcpy(out.data() + std::size_t{i} * sector_bytes, sector.data(), sector_bytes);
    }
    return out;
}

std::optional<std::string> PayloadStamp::find_wrong(Sector first, std::span<const std::byte> bytes) {
    Words found, expected;
    for (std::size_t i = 0; i < bytes.size() / sector_bytes; ++i) {
        std::memcpy(found.data(), bytes.data() + i * sector_bytes, sector_bytes);
        const std::uint64_t sector = first.value() + i;
        ++verified_;
        if (std::ranges::all_of(found, [](std::uint64_t word) { return word == 0; })) continue;
        make(expected, sector, found[1]);
        if (found == expected) continue;
        make(expected, found[0] - 1, found[1]);
        return found == expected ? fmt::format("sector {} holds what was written to sector {}", sector, found[0] - 1)
                                 : fmt::format("sector {} holds bytes that nobody wrote there", sector);
    }
    return std::nullopt;
}

} // namespace flashlab

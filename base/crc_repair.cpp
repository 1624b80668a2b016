#include "base/crc_repair.h"

#include <algorithm>

#include "base/contract.h"
#include "base/crc32c.h"

namespace flashlab {

namespace {

constexpr unsigned byte_bits = 8;
constexpr unsigned crc_bits = 32;
constexpr std::size_t most_for_two = 650;

/// What the bit before it adds.
constexpr std::uint32_t step(std::uint32_t added) { return added >> 1 ^ ((added & 1) != 0 ? crc32c_polynomial : 0); }

/// Calls `work(added, place)` for each bit, those of the checksum first, then the message from its end, until it returns false.
template <class Work>
void for_each_bit(std::uint64_t message_bytes, Work work) {
    const std::uint64_t end = message_bytes * byte_bits;
    for (unsigned bit = 0; bit < crc_bits; ++bit)
        if (!work(std::uint32_t{1} << bit, end + bit)) return;
    std::uint32_t added = crc32c_polynomial;
    for (std::uint64_t place = end; place-- > 0; added = step(added))
        if (!work(added, place)) return;
}

} // namespace

std::optional<BitPlace> find_flipped_bit(std::uint64_t message_bytes, std::uint32_t difference) {
    std::optional<BitPlace> found;
    for_each_bit(message_bytes, [&](std::uint32_t added, BitPlace place) {
        if (added == difference) found = place;
        return !found;
    });
    return found;
}

FlippedBits::FlippedBits(std::size_t message_bytes) {
    ensure(message_bytes <= most_for_two, "FlippedBits: so short that two flipped bits are unmistakable");
    for_each_bit(message_bytes, [&](std::uint32_t added, BitPlace place) {
        places_.emplace_back(added, place);
        return true;
    });
    std::ranges::sort(places_);
}

std::optional<BitPlace> FlippedBits::place_of(std::uint32_t difference) const {
    const auto at = std::ranges::lower_bound(places_, difference, {}, &std::pair<std::uint32_t, BitPlace>::first);
    if (at == places_.end() || at->first != difference) return std::nullopt;
    return at->second;
}

std::optional<std::vector<BitPlace>> FlippedBits::find(std::uint32_t difference) const {
    if (const auto one = place_of(difference)) return std::vector{*one};
    for (const auto& [added, place] : places_) {
        const auto other = place_of(difference ^ added);
        if (other && *other != place) return std::vector{std::min(place, *other), std::max(place, *other)};
    }
    return std::nullopt;
}

} // namespace flashlab

/// Strong ids: a name for a thing, not a number to calculate with.
///
/// Idea       An id compares, orders, hashes and prints; it does not add, convert or default to zero.
/// Invariant  Address arithmetic lives in Geometry only: nowhere else is `value()` divided or multiplied.
/// Cost       None: an id is its representation.
/// Power cut  Ids are written to the media field by field through LittleEndianWriter.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <ranges>

namespace flashlab {

template <class Tag, std::unsigned_integral Rep>
class Id {
public:
    using Representation = Rep;
    constexpr explicit Id(Rep value) : value_{value} {}
    [[nodiscard]] constexpr Rep value() const { return value_; }
    friend constexpr auto operator<=>(Id, Id) = default;

private:
    Rep value_;
};

using Lpn = Id<struct LpnTag, std::uint32_t>;                     ///< logical page number (mapping granule of the FTL)
using Ppn = Id<struct PpnTag, std::uint32_t>;                     ///< physical page number, device-wide
using BlockId = Id<struct BlockTag, std::uint32_t>;               ///< erase unit, device-wide
using PlaneId = Id<struct PlaneTag, std::uint32_t>;               ///< plane, device-wide
using DieId = Id<struct DieTag, std::uint32_t>;                   ///< die, device-wide
using ChipId = Id<struct ChipTag, std::uint32_t>;                 ///< package, device-wide
using ChannelId = Id<struct ChannelTag, std::uint32_t>;           ///< bus that chips share
using GroupId = Id<struct GroupTag, std::uint32_t>;               ///< independent (channel set, chip, die)
using FrontierId = Id<struct FrontierTag, std::uint32_t>;         ///< place of a group where pages are written
using Sector = Id<struct SectorTag, std::uint64_t>;               ///< 512-byte unit at the host edge
using Ino = Id<struct InoTag, std::uint64_t>;                     ///< inode number; never reused
using WriteSequence = Id<struct WriteSequenceTag, std::uint64_t>; ///< order of host writes; a GC copy keeps the sequence of its data
using StreamId = Id<struct StreamTag, std::uint16_t>;             ///< data that the host wants to lie together
using QueueId = Id<struct QueueTag, std::uint16_t>;               ///< submission queue of the host
using EventId = Id<struct EventTag, std::uint64_t>;               ///< host request or background job in the event log; 0 = nobody
using PramAddress = Id<struct PramAddressTag, std::uint64_t>;     ///< byte offset in the PRAM

inline constexpr EventId no_event{0};
inline constexpr StreamId no_stream{0};
inline constexpr FrontierId host_frontier{0};
inline constexpr QueueId first_queue{0};
inline constexpr std::uint32_t sector_bytes = 512;

/// The ids from 0 on.
template <class Id>
[[nodiscard]] constexpr auto ids(std::uint32_t count) {
    return std::views::iota(0u, count) | std::views::transform([](std::uint32_t i) { return Id{static_cast<typename Id::Representation>(i)}; });
}

} // namespace flashlab

template <class Tag, class Rep>
struct std::hash<flashlab::Id<Tag, Rep>> {
    std::size_t operator()(flashlab::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};

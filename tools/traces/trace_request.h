/// One request of a trace, in the same form for all formats.
///
/// Idea       Addresses are bytes and times are nanoseconds, so that only the formats know sectors, ticks or FILETIME.
/// Invariant  time_ns is absolute in the trace's own epoch (TraceReader makes it relative). Flushes have no bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.h"

namespace flashlab {

/// More than any host of today has. A drive looks at each queue for each command.
inline constexpr std::int64_t most_queues = 256;

enum class TraceOp : std::uint8_t { read, write, trim, flush };

struct TraceRequest {
    std::uint64_t time_ns = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint32_t device = 0; ///< each device is an address space of its own
    TraceOp op = TraceOp::read;
    std::uint16_t queue = 0; ///< submission queue of the host
    bool fua = false;        ///< of a write: durable when it is answered
    StreamId stream = no_stream;
    friend bool operator==(const TraceRequest&, const TraceRequest&) = default;
};

/// In which these bytes lie.
[[nodiscard]] constexpr std::uint64_t sectors_of(std::uint64_t offset, std::uint64_t bytes) {
    return (offset + bytes + sector_bytes - 1) / sector_bytes - offset / sector_bytes;
}

[[nodiscard]] constexpr std::string_view to_string(TraceOp op) {
    constexpr std::string_view names[] = {"read", "write", "trim", "flush"};
    return names[static_cast<std::size_t>(op)];
}

/// A longer request is damage: no host sends it, and a walk over its pages would take forever. Trims may be longer, because they can free whole
/// volumes.
[[nodiscard]] constexpr std::uint64_t longest_request_bytes(TraceOp op) { return std::uint64_t{1} << (op == TraceOp::trim ? 40 : 32); }

/// The result of parsing a line or record.
struct TraceParse {
    enum class Kind : std::uint8_t { request, other, bad };
    Kind kind = Kind::other;  ///< other: a header, a comment, an event that is no request
    std::uint32_t column = 0; ///< bad: the field, from 1; 0 = the line as a whole
    std::string_view why{};   ///< bad: static text
    [[nodiscard]] static constexpr TraceParse request() { return {Kind::request, 0, {}}; }
    [[nodiscard]] static constexpr TraceParse other() { return {}; }
    [[nodiscard]] static constexpr TraceParse bad(std::uint32_t column, std::string_view why) { return {Kind::bad, column, why}; }
};

} // namespace flashlab

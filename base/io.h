/// What a request knows of itself: when it is made, who asked for it, and how its data cross the host's link.
///
/// Idea       One value goes down through drive, translation layer and array, so that nothing has to be remembered beside a call. The host says
///            HostIo; the drive numbers the request and makes an Io of it. A page that waits in a buffer keeps its Origin: its stream and its queue
///            go with it, whoever pushes it out.
/// Invariant  An operation that another cause makes necessary is as() of the request that met it: same parent, own cause, no data on the link.
/// Cost       Io is passed by reference: a call that hands it on copies nothing. A HostIo is three words, by value.
/// Power cut  Belongs to the call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/events.h"
#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

/// How the data of one host request cross a pipelined link: each page by itself.
struct LinkTransfer {
    struct Out {
        SimTime end;
        std::uint32_t bytes = 0;
    };
    std::vector<Out> out;         ///< read: the pages that have left the flash
    Lpn first{~std::uint32_t{0}}; ///< write: the data of this logical page arrive at `first_in`
    SimTime first_in = sim_start;
    Duration each_in{0};        ///< the data of each further page arrive later by this much
    SimTime all_in = sim_start; ///< no data arrive later than this

    void begin_read() { begin_write(Lpn{~std::uint32_t{0}}, sim_start, Duration{0}, sim_start); }
    void begin_write(Lpn first_, SimTime first_in_, Duration each_in_, SimTime all_in_) {
        out.clear();
        first = first_;
        first_in = first_in_;
        each_in = each_in_;
        all_in = all_in_;
    }
    [[nodiscard]] SimTime arrival_of(Lpn lpn) const {
        if (lpn < first) return sim_start;
        return std::min(all_in, first_in + static_cast<std::int64_t>(lpn.value() - first.value()) * each_in);
    }
};

struct Io {
    SimTime when;
    Origin origin;
    LinkTransfer* transfer = nullptr; ///< null: no data of this operation are on the link
    bool is_behind = false;           ///< no request waits for it: the host's reads may suspend it

    /// The same request, later.
    [[nodiscard]] Io at(SimTime time) const { return {time, origin, transfer, is_behind}; }
    /// The same, in the background.
    [[nodiscard]] Io behind() const { return {when, origin, transfer, true}; }
    /// This request makes the data of another go to the flash: they keep their stream and queue, and this request is the one that waits.
    [[nodiscard]] Io with_data_of(const Origin& other) const {
        return {when, {origin.cause, origin.parent, other.stream, other.queue}, nullptr, is_behind};
    }
    /// What else has to be done for this request, for another reason.
    [[nodiscard]] Io as(Cause cause) const { return {when, {cause, origin.parent, origin.stream, origin.queue}, nullptr}; }
};

/// A request at the drive's link. A time alone is one of queue 0 and stream 0.
struct HostIo {
    // NOLINTNEXTLINE(google-explicit-constructor): a mount and most tools have one queue and one stream
    HostIo(SimTime when_, StreamId stream_ = no_stream, QueueId queue_ = first_queue, std::uint32_t piece_ = 0, Duration waited_ = Duration{0})
        : when{when_}, stream{stream_}, queue{queue_}, piece{piece_}, waited{waited_} {}
    SimTime when;
    StreamId stream;
    QueueId queue;
    std::uint32_t piece; ///< number of a piece of a trace's request that a replay splits: 1, 2 ...; 0: whole
    Duration waited;     ///< in its queue, before `when`
};

} // namespace flashlab

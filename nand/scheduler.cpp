#include "nand/scheduler.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr Duration none{0};

Duration shortest_of(std::initializer_list<Duration> phases) {
    Duration shortest = Duration::max();
    for (const Duration phase : phases) {
        if (phase > none) shortest = std::min(shortest, phase);
    }
    return shortest == Duration::max() ? Duration{1} : shortest;
}

Duration bus_time(std::uint32_t bytes, std::uint32_t ps_per_byte) {
    return Duration{static_cast<std::int64_t>((std::uint64_t{bytes} * ps_per_byte + 999) / 1000)};
}

/// The first buffer that is free for the whole interval; nullptr when none is.
Calendar* free_buffer(std::span<Calendar> buffers, SimTime from, SimTime to) {
    const auto at = std::ranges::find_if(buffers, [=](const Calendar& buffer) { return buffer.earliest(from, to - from) == from; });
    return at == buffers.end() ? nullptr : &*at;
}

/// When the first of the buffers can be had for that long.
SimTime earliest_buffer(std::span<const Calendar> buffers, SimTime from, Duration length) {
    SimTime earliest = sim_never;
    for (const Calendar& buffer : buffers) earliest = std::min(earliest, buffer.earliest(from, length));
    return earliest;
}

} // namespace

struct Scheduler::Tail {
    SimTime out;
    SimTime controller;
};

Scheduler::Scheduler(const Geometry& geometry, const NandConfig& config)
    : geometry_{geometry},
      timing_{config.timing},
      planes_per_channel_{geometry.planes() / geometry.channels()},
      page_buffers_{config.page_buffers_per_channel},
      shortest_transfer_{shortest_of({timing_.command, bus_time(sector_bytes, timing_.bus_ps_per_byte)})},
      buses_(geometry.channels(), Calendar{shortest_transfer_}),
      buffers_(std::size_t{geometry.channels()} * page_buffers_, Calendar{}),
      planes_(geometry.planes(), Calendar{shortest_of({timing_.page_read, timing_.page_program, timing_.block_erase})}),
      controller_{shortest_of({timing_.controller_page_read, timing_.controller_page_program})} {
    whole_page_ = transfer(geometry.page_bytes());
}

Duration Scheduler::transfer(std::uint32_t bytes) const {
    const Duration time = bus_time(bytes, timing_.bus_ps_per_byte);
    return time == none ? none : std::max(time, shortest_transfer_);
}

std::span<Calendar> Scheduler::buffers_of(ChannelId channel) {
    return std::span{buffers_}.subspan(std::size_t{channel.value()} * page_buffers_, page_buffers_);
}

void Scheduler::settle(SimTime now) { settled_ = std::max(settled_, now); }

void Scheduler::settle_resources(ChannelId channel, std::span<const PlaneId> planes, Duration controller_time) {
    buses_[channel.value()].settle(settled_);
    for (const PlaneId plane : planes) planes_[plane.value()].settle(settled_);
    if (controller_time == none) return;
    controller_.settle(settled_);
    for (Calendar& buffer : buffers_of(channel)) buffer.settle(settled_);
}

/// Data out at the earliest, such that the controller and a buffer can be had with it.
Scheduler::Tail Scheduler::find_tail(const Calendar& bus, std::span<const Calendar> buffers, SimTime from, Duration out) const {
    const Duration work = timing_.controller_page_read;
    if (work == none) return {bus.earliest(from, out), from};
    const bool cpu_moves = page_buffers_ == 0;
    for (SimTime start = from;;) {
        const SimTime at = bus.earliest(start, cpu_moves ? out + work : out);
        const SimTime controller = controller_.earliest(at + out, work);
        if (cpu_moves) {
            if (controller == at + out) return {at, controller};
            start = controller - out;
            continue;
        }
        const SimTime buffer = earliest_buffer(buffers, at, controller + work - at);
        if (buffer == at) return {at, controller};
        start = buffer;
    }
}

Scheduler::Reservation Scheduler::read(PlaneId plane, std::uint32_t bytes, SimTime from) {
    const ChannelId channel = channel_of(plane);
    settle_resources(channel, {&plane, 1}, timing_.controller_page_read);
    Calendar& bus = buses_[channel.value()];
    Calendar& cells = planes_[plane.value()];
    const auto buffers = buffers_of(channel);
    const Duration out = bytes == geometry_.page_bytes() ? whole_page_ : transfer(bytes);
    const Duration work = timing_.controller_page_read;
    const Duration moved_by_cpu = page_buffers_ == 0 ? work : none;

    for (SimTime start = from;;) {
        const SimTime command = bus.earliest(start, timing_.command);
        const SimTime sense = command + timing_.command;
        const Tail tail = find_tail(bus, buffers, sense + timing_.page_read, out);
        const SimTime register_free = tail.out + out + moved_by_cpu;
        const SimTime plane_at = cells.earliest(sense, register_free - sense);
        if (plane_at != sense) {
            start = plane_at - timing_.command;
            continue;
        }
        const SimTime end = work == none ? register_free : tail.controller + work;
        bus.take(command, timing_.command);
        cells.take(sense, register_free - sense);
        bus.take(tail.out, out + moved_by_cpu);
        if (work != none) {
            controller_.take(tail.controller, work);
            if (Calendar* buffer = free_buffer(buffers, tail.out, end)) buffer->take(tail.out, end - tail.out);
        }
        last_end_ = std::max(last_end_, end);
        return {command, sense, end};
    }
}

/// The earliest instant from which every plane is free for that long.
SimTime Scheduler::all_planes_free(std::span<const PlaneId> planes, SimTime from, Duration length) const {
    for (SimTime start = from;;) {
        SimTime latest = start;
        for (const PlaneId plane : planes) latest = std::max(latest, planes_[plane.value()].earliest(start, length));
        if (latest == start) return start;
        start = latest;
    }
}

Scheduler::Reservation Scheduler::program(std::span<const PlaneId> planes, SimTime from) {
    const ChannelId channel = channel_of(planes.front());
    settle_resources(channel, planes, timing_.controller_page_program);
    Calendar& bus = buses_[channel.value()];
    const auto buffers = buffers_of(channel);
    const auto pages = static_cast<std::int64_t>(planes.size());
    const Duration work = pages * timing_.controller_page_program;
    const bool cpu_moves = page_buffers_ == 0;
    const Duration before_bus = cpu_moves ? none : work; ///< the controller fills the buffer before the bus is needed
    const Duration in = (cpu_moves ? work : none) + pages * (timing_.command + whole_page_);
    const Duration on_plane = in + timing_.page_program;

    for (SimTime start = all_planes_free(planes, from + before_bus, on_plane) - before_bus;;) {
        const SimTime controller = controller_.earliest(start, work);
        const SimTime at = bus.earliest(controller + before_bus, in);
        const SimTime plane_at = all_planes_free(planes, at, on_plane);
        if (plane_at != at) {
            start = plane_at - before_bus;
            continue;
        }
        if (cpu_moves && work != none && controller != at) {
            start = at;
            continue;
        }
        Calendar* buffer = nullptr;
        if (work != none && !cpu_moves) {
            buffer = free_buffer(buffers, controller, at + in);
            if (buffer == nullptr) {
                start = earliest_buffer(buffers, controller, at + in - controller);
                continue;
            }
        }
        const SimTime end = at + on_plane;
        controller_.take(controller, work);
        if (buffer != nullptr) buffer->take(controller, at + in - controller);
        bus.take(at, in);
        for (const PlaneId plane : planes) planes_[plane.value()].take(at, on_plane);
        last_end_ = std::max(last_end_, end);
        return {work == none ? at : controller, at + in, end};
    }
}

Scheduler::Reservation Scheduler::erase(PlaneId plane, SimTime from) {
    const ChannelId channel = channel_of(plane);
    settle_resources(channel, {&plane, 1}, none);
    Calendar& bus = buses_[channel.value()];
    Calendar& cells = planes_[plane.value()];
    for (SimTime start = from;;) {
        const SimTime command = bus.earliest(start, timing_.command);
        const SimTime pulse = command + timing_.command;
        const SimTime plane_at = cells.earliest(pulse, timing_.block_erase);
        if (plane_at != pulse) {
            start = plane_at - timing_.command;
            continue;
        }
        bus.take(command, timing_.command);
        cells.take(pulse, timing_.block_erase);
        const SimTime end = pulse + timing_.block_erase;
        last_end_ = std::max(last_end_, end);
        return {command, pulse, end};
    }
}

} // namespace flashlab

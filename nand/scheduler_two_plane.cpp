/// Two-plane reads and erases: the cells of both planes work at once, commands and data take the one bus in turn. (Programs: Scheduler::program().)
#include <algorithm>

#include "nand/scheduler.h"

namespace flashlab {

void Scheduler::take_lanes_of_pair(PlaneId first) {
    lanes_.clear();
    lanes_.push_back(lane_of(first));
    if (options_.independent_planes) lanes_.push_back(lane_of(PlaneId{first.value() + 1}));
}

/// As read(), of two pages: two commands, one tR, both data one after the other.
Scheduler::Reservation Scheduler::read_two_plane(PlaneId plane, std::span<const std::uint32_t, 2> bytes, SimTime from, bool host) {
    const ChannelId channel = channel_of(plane);
    const Duration commands = 2 * timing_.command;
    const Duration request = host ? 2 * timing_.host_interface_command : none;
    const Duration to_host = host ? host_transfer(bytes[0]) + host_transfer(bytes[1]) : none;
    const Duration work = 2 * timing_.controller_page_read + to_host;
    take_lanes_of_pair(plane);
    settle_resources(channel, lanes_, request + work);
    Calendar& bus = buses_[channel.value()];
    const auto buffers = buffers_of(channel);
    const Duration out = data_transfer(bytes[0]) + data_transfer(bytes[1]);
    const Duration moved_by_cpu = page_buffers_ == 0 ? work : none;
    const Duration polled = options_.bus_held_while_sensing ? timing_.page_read + out + moved_by_cpu : none;

    for (SimTime start = from;;) {
        const SimTime asked = front_.earliest(start, request);
        const SimTime command = bus.earliest(asked + request, commands + polled);
        const SimTime sense = command + commands;
        const SimTime sensed = sense + timing_.page_read;
        const Tail tail = find_tail(bus, buffers, sensed, out, work);
        if (polled != none && tail.out != sensed) {
            start = tail.out - timing_.page_read - commands - request;
            continue;
        }
        const SimTime register_free = tail.out + out + moved_by_cpu;
        const SimTime cells_free = options_.cache_register ? sensed : register_free;
        if (options_.cache_register) {
            const SimTime held = all_free(registers_, lanes_, sensed, register_free - sensed);
            if (held != sensed) {
                start = held - timing_.page_read - commands - request;
                continue;
            }
        }
        SimTime planes_at = all_free(cells_, lanes_, sense, cells_free - sense);
        for (const std::size_t lane : lanes_)
            if (host) planes_at = std::max(planes_at, suspensions_.plainly(lane, cells_[lane], sense, cells_free - sense));
        if (planes_at != sense) {
            start = planes_at - commands - request;
            continue;
        }
        const SimTime end = work == none ? register_free : tail.front + work;
        front_.take(asked, request);
        if (polled == none) {
            bus.take(command, commands);
            bus.take(tail.out, out + moved_by_cpu);
        } else {
            bus.take(command, commands + polled);
        }
        for (const std::size_t lane : lanes_) {
            cells_[lane].take(sense, cells_free - sense);
            if (host) suspensions_.note_read(lane, sense, cells_free);
            if (options_.cache_register) registers_[lane].take(sensed, register_free - sensed);
        }
        if (work != none) {
            front_.take(tail.front, work);
            const auto buffer = std::ranges::find_if(buffers, [&](const Calendar& b) { return b.earliest(tail.out, end - tail.out) == tail.out; });
            if (buffer != buffers.end()) buffer->take(tail.out, end - tail.out);
        }
        last_end_ = std::max(last_end_, end);
        return {request == none ? command : asked, sense, end, command, sense, sensed, tail.out, register_free};
    }
}

/// As erase(), of two blocks: two commands, one tBERS.
Scheduler::Reservation Scheduler::erase_two_plane(PlaneId plane, SimTime from) {
    const ChannelId channel = channel_of(plane);
    const Duration commands = 2 * timing_.command;
    take_lanes_of_pair(plane);
    settle_resources(channel, lanes_, none);
    Calendar& bus = buses_[channel.value()];
    const Duration length = timing_.block_erase;
    for (SimTime start = from;;) {
        const SimTime command = bus.earliest(start, commands);
        const SimTime pulse = command + commands;
        const SimTime planes_at = all_free(cells_, lanes_, pulse, length);
        if (planes_at != pulse) {
            start = planes_at - commands;
            continue;
        }
        bus.take(command, commands);
        const SimTime end = pulse + length;
        for (const std::size_t lane : lanes_) {
            cells_[lane].take(pulse, length);
            suspensions_.open(lane, pulse, end, options_.erase_suspends);
        }
        last_end_ = std::max(last_end_, end);
        return {command, pulse, end, command, pulse, end, end, end};
    }
}

} // namespace flashlab

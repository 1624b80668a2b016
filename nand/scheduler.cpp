#include "nand/scheduler.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {

Duration shortest_of(std::initializer_list<Duration> phases) {
    Duration shortest = Duration::max();
    for (const Duration phase : phases) {
        if (phase > Duration{0}) shortest = std::min(shortest, phase);
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

/// The earliest time from which one of the buffers is free for that long.
SimTime earliest_buffer(std::span<const Calendar> buffers, SimTime from, Duration length) {
    SimTime earliest = sim_never;
    for (const Calendar& buffer : buffers) earliest = std::min(earliest, buffer.earliest(from, length));
    return earliest;
}

/// Reservations of a channel that can be under way.
std::size_t reads_a_channel(const Geometry& geometry) {
    return std::max(Calendar::usual_live, std::size_t{8} * (geometry.planes() / geometry.channels()));
}

} // namespace

struct Scheduler::Load {
    Duration in;      ///< on the bus
    Duration program; ///< of the cells
};

Scheduler::Scheduler(const Geometry& geometry, const NandConfig& config, const Media& media)
    : geometry_{geometry}, timing_{config.timing}, options_{config.options}, media_{media},
      planes_per_channel_{geometry.planes() / geometry.channels()},
      planes_per_lane_{config.options.independent_planes ? 1 : geometry.planes_per_die()}, page_buffers_{config.page_buffers_per_channel},
      shortest_transfer_{shortest_of({timing_.command, bus_time(sector_bytes, timing_.bus_ps_per_byte)})},
      buses_(geometry.channels(), Calendar{shortest_transfer_, reads_a_channel(geometry)}),
      commands_(geometry.channels(), Calendar{std::max(timing_.command, Duration{1}), reads_a_channel(geometry)}),
      buffers_(std::size_t{geometry.channels()} * page_buffers_, Calendar{}),
      cells_(geometry.planes() / planes_per_lane_.divisor(), Calendar{media.shortest()}),
      registers_(config.options.cache_register ? cells_.size() : 0, Calendar{shortest_transfer_}),
      front_{shortest_of({timing_.controller_page_read, timing_.controller_page_program, timing_.host_interface_command,
                          timing_.host_interface_confirm, host_transfer(sector_bytes)})},
      suspensions_{cells_.size(), config.timing, config.options, media.shortest()} {
    whole_page_ = data_transfer(geometry.page_bytes());
    const Duration commands = (options_.two_plane ? 2 : 1) * timing_.command;
    // With a shorter read its own command might be what the data leave room behind; while a bus polls nobody has a gap.
    interleaves_ = timing_.page_read >= commands && !options_.bus_held_while_sensing;
    if (interleaves_) slip_in_ = commands;
    least_piece_ = std::max(transfer(sector_bytes), shortest_transfer_); // data may take no time: a command then
    lanes_.reserve(geometry.planes_per_die());
}

Duration Scheduler::transfer(std::uint32_t bytes) const {
    const Duration time = bus_time(bytes, timing_.bus_ps_per_byte);
    return time == none ? none : std::max(time, shortest_transfer_);
}

Duration Scheduler::data_transfer(std::uint32_t bytes) const {
    if (!options_.spare_on_bus) return transfer(bytes);
    const std::uint64_t spare = (std::uint64_t{bytes} * geometry_.config().spare_bytes + geometry_.page_bytes() - 1) / geometry_.page_bytes();
    return transfer(bytes + static_cast<std::uint32_t>(spare));
}

/// At least the time of one sector: the front's calendar was told that no transfer is shorter.
Duration Scheduler::host_transfer(std::uint32_t bytes) const { return bus_time(std::max(bytes, sector_bytes), timing_.host_interface_ps_per_byte); }

std::span<Calendar> Scheduler::buffers_of(ChannelId channel) {
    return std::span{buffers_}.subspan(std::size_t{channel.value()} * page_buffers_, page_buffers_);
}

void Scheduler::settle(SimTime now) { settled_ = std::max(settled_, now); }

void Scheduler::settle_resources(ChannelId channel, std::span<const std::size_t> lanes, Duration front_work) {
    buses_[channel.value()].settle(settled_);
    for (const std::size_t lane : lanes) {
        cells_[lane].settle(settled_);
        suspensions_.settle(lane, settled_);
    }
    if (options_.cache_register) {
        for (const std::size_t lane : lanes) registers_[lane].settle(settled_);
    }
    if (front_work == none) return;
    front_.settle(settled_);
    for (Calendar& buffer : buffers_of(channel)) buffer.settle(settled_);
}

/// The earliest data out for which a buffer and the front are free, too.
Scheduler::Tail Scheduler::find_tail(const Calendar& bus, std::span<const Calendar> buffers, SimTime from, Duration out, Duration work) const {
    if (work == none) return {bus.earliest(from, out, slip_in_), from};
    const bool cpu_moves = page_buffers_ == 0;
    for (SimTime start = from;;) {
        const SimTime at = bus.earliest(start, cpu_moves ? out + work : out, slip_in_);
        const SimTime front = front_.earliest(at + out, work);
        if (cpu_moves) {
            if (front == at + out) return {at, front};
            start = front - out;
            continue;
        }
        const SimTime buffer = earliest_buffer(buffers, at, front + work - at);
        if (buffer == at) return {at, front};
        start = buffer;
    }
}

/// How long a plane's turn is on a bus that is booked out: as long as one page of each plane that has work takes. No wait where it is not.
Duration Scheduler::turn_on_bus(ChannelId channel, const Medium& medium, SimTime from) const {
    const Duration each = timing_.command + whole_page_;
    if (whole_page_ <= medium.page_read || !buses_[channel.value()].is_booked_out(from, medium.page_read)) return none;
    const std::uint32_t lanes = planes_per_channel_.divisor() / planes_per_lane_.divisor();
    const auto own = std::span{cells_}.subspan(std::size_t{channel.value()} * lanes, lanes);
    return std::ranges::count_if(own, [=](const Calendar& cells) { return cells.free_at() > from; }) * each;
}

/// In a wide gap a command goes by itself. Between the data of others its time is with its own data: gaps that data can use stay as they are.
Scheduler::BetweenOthers Scheduler::between_others(const Calendar& bus, SimTime command, SimTime data_from, Duration out) const {
    const auto is_free = [&](Duration behind) { return bus.earliest(command, timing_.command + behind) == command; };
    const bool is_alone = is_free(whole_page_) || (is_free(none) && !is_free(least_piece_));
    const Duration length = is_alone ? out : timing_.command + out;
    return {is_alone, length, bus.earliest_in_pieces(data_from, length, least_piece_).end};
}

Scheduler::Reservation Scheduler::read(PlaneId plane, const Medium& medium, std::uint32_t bytes, SimTime from, bool host, PagePart part) {
    const ChannelId channel = channel_of(plane);
    const Duration request = host ? timing_.host_interface_command : none;
    const Duration work = timing_.controller_page_read + (host ? host_transfer(bytes) : none);
    const std::size_t lane = lane_of(plane);
    settle_resources(channel, {&lane, 1}, request + work);
    Calendar& bus = buses_[channel.value()];
    Calendar& cells = cells_[lane];
    const auto buffers = buffers_of(channel);
    const Duration out = part == PagePart::spare ? transfer(bytes) : bytes == geometry_.page_bytes() ? whole_page_ : data_transfer(bytes);
    const Duration moved_by_cpu = page_buffers_ == 0 ? work : none;
    const Duration polled = options_.bus_held_while_sensing ? medium.page_read + out + moved_by_cpu : none;
    const bool interleaves = host && work == none && interleaves_;
    const Duration turn = interleaves ? turn_on_bus(channel, medium, from) : none;
    Calendar& commands = commands_[channel.value()];
    if (interleaves) commands.settle(settled_);
    for (SimTime start = from;;) {
        const SimTime asked = front_.earliest(start, request);
        const SimTime command =
            interleaves ? commands.earliest(asked + request, timing_.command) : bus.earliest(asked + request, timing_.command + polled);
        const SimTime sense = command + timing_.command;
        const SimTime sensed = sense + medium.page_read;
        const SimTime data_from = turn == none ? sensed : std::max(sensed, cells.free_at() + turn - out);
        const BetweenOthers between = interleaves ? between_others(bus, command, data_from, out) : BetweenOthers{};
        // Of pieces: as if together at last, so that times add up.
        const Tail tail = interleaves ? Tail{between.end - out, sensed} : find_tail(bus, buffers, sensed, out, work);
        if (polled != none && tail.out != sensed) {
            start = tail.out - medium.page_read - timing_.command - request;
            continue;
        }
        const SimTime register_free = tail.out + out + moved_by_cpu;
        const SimTime cells_free = options_.cache_register ? sensed : register_free;
        if (options_.cache_register) {
            const SimTime held = registers_[lane].earliest(sensed, register_free - sensed);
            if (held != sensed) {
                start = held - medium.page_read - timing_.command - request;
                continue;
            }
        }
        const Duration holds = cells_free - sense;
        const Suspensions::Place place =
            host ? suspensions_.place_of_read(lane, cells, from, sense, holds) : Suspensions::Place{cells.earliest(sense, holds)};
        if (place.at != sense) {
            start = place.at - timing_.command - request;
            continue;
        }
        const SimTime end = work == none ? register_free : tail.front + work;
        front_.take(asked, request);
        if (interleaves) {
            commands.take(command, timing_.command);
            if (between.command_is_alone) bus.take(command, timing_.command);
            bus.reserve_in_pieces(data_from, between.length, least_piece_);
        } else if (polled == none) {
            bus.take(command, timing_.command);
            bus.take(tail.out, out + moved_by_cpu);
        } else {
            bus.take(command, timing_.command + polled);
        }
        if (place.window == nullptr) {
            cells.take(sense, holds);
            if (!host) suspensions_.open(lane, sense, cells_free, options_.program_suspends, true);
        } else {
            last_end_ = std::max(last_end_, suspensions_.get_in(*place.window, lane, cells, sense, cells_free));
        }
        if (host) suspensions_.note_read(lane, sense, cells_free);
        if (options_.cache_register) registers_[lane].take(sensed, register_free - sensed);
        if (work != none) {
            front_.take(tail.front, work);
            if (Calendar* buffer = free_buffer(buffers, tail.out, end)) buffer->take(tail.out, end - tail.out);
        }
        last_end_ = std::max(last_end_, end);
        return {request == none ? command : asked, sense, end, command, sense, sensed, tail.out, register_free};
    }
}

/// The earliest instant from which every lane is free for that long.
SimTime Scheduler::all_free(const std::vector<Calendar>& calendars, std::span<const std::size_t> lanes, SimTime from, Duration length) {
    if (lanes.size() == 1) return calendars[lanes.front()].earliest(from, length);
    for (SimTime start = from;;) {
        SimTime latest = start;
        for (const std::size_t lane : lanes) latest = std::max(latest, calendars[lane].earliest(start, length));
        if (latest == start) return start;
        start = latest;
    }
}

Scheduler::Placed Scheduler::place(std::span<const std::size_t> lanes, const Load& load, SimTime at, SimTime cells_from) const {
    if (!options_.cache_register) {
        const SimTime free = all_free(cells_, lanes, at, load.in + load.program);
        return {free, free + load.in};
    }
    // The data wait in the cache register until the cells are done with the page before.
    const SimTime cells = all_free(cells_, lanes, std::max(at + load.in, cells_from), load.program);
    return {all_free(registers_, lanes, at, cells - at), cells};
}

Scheduler::Reservation Scheduler::program(const Program& what, SimTime from, SimTime cells_from) {
    const ChannelId channel = channel_of(what.planes.front());
    const auto pages = static_cast<std::int64_t>(what.planes.size() * what.pages_a_plane);
    const Duration work = pages * (timing_.controller_page_program +
                                   (what.host ? timing_.host_interface_command + timing_.host_interface_confirm + host_transfer(what.bytes) : none));
    lanes_.clear();
    for (const PlaneId plane : what.planes) {
        if (lanes_.empty() || options_.independent_planes) lanes_.push_back(lane_of(plane));
    }
    settle_resources(channel, lanes_, work);
    Calendar& bus = buses_[channel.value()];
    const auto buffers = buffers_of(channel);
    const bool cpu_moves = page_buffers_ == 0;
    const Duration before_bus = cpu_moves ? none : work; ///< the front fills the buffer before the bus is needed
    const Duration moved = what.bytes == geometry_.page_bytes() ? whole_page_ : data_transfer(what.bytes);
    const Duration in = (cpu_moves ? work : none) + pages * moved + pages / options_.subpages * timing_.command;
    const Load load{in, what.medium.program_of(what.page)};

    const SimTime data_from = options_.cache_register ? from + before_bus : std::max(from + before_bus, cells_from - in);
    // The front works just in time, so that a buffer is held no longer than need be.
    Placed placed = place(lanes_, load, data_from, cells_from);
    for (SimTime start = placed.at - before_bus;;) {
        const SimTime front = front_.earliest(start, work);
        const SimTime at = bus.earliest(front + before_bus, in);
        // What was found free from this very instant on still is; a cache register depends on when the data come, too.
        if (at != placed.at || options_.cache_register) placed = place(lanes_, load, at, cells_from);
        if (placed.at != at) {
            start = placed.at - before_bus;
            continue;
        }
        if (cpu_moves && work != none && front != at) {
            start = at;
            continue;
        }
        Calendar* buffer = nullptr;
        if (work != none && !cpu_moves) {
            buffer = free_buffer(buffers, front, at + in);
            if (buffer == nullptr) {
                start = earliest_buffer(buffers, front, at + in - front);
                continue;
            }
        }
        const SimTime end = placed.cells + load.program;
        front_.take(front, work);
        if (buffer != nullptr) buffer->take(front, at + in - front);
        bus.take(at, in);
        for (const std::size_t lane : lanes_) {
            if (options_.cache_register) registers_[lane].take(at, placed.cells - at);
            cells_[lane].take(options_.cache_register ? placed.cells : at, end - (options_.cache_register ? placed.cells : at));
            if (!what.host || what.is_behind) suspensions_.open(lane, placed.cells, end, options_.program_suspends);
        }
        last_end_ = std::max(last_end_, end);
        return {work == none ? at : front, placed.cells, end, at, at + in, end, end, end};
    }
}

Scheduler::Reservation Scheduler::erase(PlaneId plane, const Medium& medium, SimTime from) {
    const ChannelId channel = channel_of(plane);
    const std::size_t lane = lane_of(plane);
    settle_resources(channel, {&lane, 1}, none);
    Calendar& bus = buses_[channel.value()];
    Calendar& cells = cells_[lane];
    const Duration length = medium.block_erase;
    for (SimTime start = from;;) {
        const SimTime command = bus.earliest(start, timing_.command);
        const SimTime pulse = command + timing_.command;
        const SimTime plane_at = cells.earliest(pulse, length);
        if (plane_at != pulse) {
            start = plane_at - timing_.command;
            continue;
        }
        bus.take(command, timing_.command);
        cells.take(pulse, length);
        const SimTime end = pulse + length;
        suspensions_.open(lane, pulse, end, options_.erase_suspends);
        last_end_ = std::max(last_end_, end);
        return {command, pulse, end, command, pulse, end, end, end};
    }
}

} // namespace flashlab

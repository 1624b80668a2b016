/// Copies on the calendars, one by one and in runs: merges of block-mapping schemes and of COFTL consist of them.
#include <algorithm>
#include <array>
#include <utility>

#include "base/contract.h"
#include "nand/scheduler.h"

namespace flashlab {

/// Where a copy goes.
struct Scheduler::CopyWay {
    Way source;
    Way target;
};

/// And what a run of copies takes from each calendar when no other reservation is in its way.
struct Scheduler::CopyRoute : CopyWay {
    struct Use {
        Calendar* calendar = nullptr;
        std::array<Calendar::Phase, 3> phases{};
        std::size_t count = 0;
        [[nodiscard]] std::span<const Calendar::Phase> of_a_step() const { return std::span{phases}.first(count); }
    };
    CopyRoute(const CopyWay& way, const NandTiming& timing, Duration page, Duration slip_in)
        : CopyWay{way}, read{timing.command + timing.page_read + page}, held{timing.command + page + timing.page_program} {
        add(*source.bus, {Duration{0}, timing.command});
        add(*source.bus, {timing.command + timing.page_read, page, false, slip_in});
        add(*source.cells, {timing.command, timing.page_read + page});
        add(*target.bus, {read, timing.command + page});
        add(*target.cells, {read, held});
    }
    [[nodiscard]] Duration step() const { return read + held; }
    [[nodiscard]] std::span<const Use> used() const { return std::span{uses}.first(count); }
    [[nodiscard]] SimTime free_at() const {
        return std::max({source.bus->free_at(), source.cells->free_at(), target.bus->free_at(), target.cells->free_at()});
    }

    Duration read; ///< a copy begins with it
    Duration held; ///< by the program, of the target's cells
    std::array<Use, 4> uses{};
    std::size_t count = 0;

private:
    bool begins = false;
    /// One of no length takes nothing: the next one begins the operation.
    void add(Calendar& calendar, Calendar::Phase phase) {
        phase.settles = std::exchange(begins, false) || phase.settles;
        if (phase.length == Duration{0}) {
            begins = phase.settles;
            return;
        }
        const auto at =
            std::find_if(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(count), [&](const Use& use) { return use.calendar == &calendar; });
        if (at == uses.begin() + static_cast<std::ptrdiff_t>(count)) uses[count++].calendar = &calendar;
        at->phases[at->count++] = phase;
    }
};

bool Scheduler::copies_runs() const {
    return !options_.cache_register && !options_.bus_held_while_sensing && !suspensions_.are_possible() && media_.is_single() &&
           media_.own_medium().program_times.empty() && timing_.controller_page_read == Duration{0} && timing_.controller_page_program == Duration{0};
}

/// Copies that need not wait are reserved together: behind all reservations, or in the gaps of another run, whose step is usually the same. A copy
/// that has to wait is reserved by itself, as read() and program() do.
Scheduler::CopyRun Scheduler::copy_run(PlaneId source, PlaneId target, std::uint32_t pages, SimTime from, SimTime cells_from,
                                       std::span<SimTime> ends) {
    const CopyRoute route{{way_to(source), way_to(target)}, timing_, whole_page_, slip_in_};
    CopyRun run{from, from};
    for (std::uint32_t i = 0; i < pages; cells_from = run.end) {
        for (const auto& use : route.used()) use.calendar->settle(settled_);
        std::uint32_t together = cells_from <= run.end ? pages - i : 0;
        const SimTime reserved = route.free_at();
        if (together != 0 && reserved > run.end) {
            together = static_cast<std::uint32_t>(std::min<std::int64_t>(together, (reserved - run.end) / route.step() + 1));
            for (const auto& use : route.used())
                if (together != 0) together = use.calendar->steps_free(run.end, route.step(), together, use.of_a_step());
            for (const auto& use : route.used())
                if (together != 0) use.calendar->weave_run(run.end, route.step(), together, use.of_a_step(), woven_);
        } else if (together != 0) {
            for (const auto& use : route.used()) use.calendar->take_run(run.end, route.step(), together, use.of_a_step());
        }
        if (together == 0) {
            run = copy_one(route, run.end, cells_from);
            ends[i++ % ends.size()] = run.end;
            continue;
        }
        const auto known = std::min(together, static_cast<std::uint32_t>(ends.size()));
        for (std::uint32_t p = together - known; p < together; ++p) ends[(i + p) % ends.size()] = run.end + (p + 1) * route.step();
        i += together;
        run = {run.end + (together - 1) * route.step() + route.read, run.end + together * route.step()};
    }
    last_end_ = std::max(last_end_, run.end);
    return run;
}

Scheduler::CopyRun Scheduler::copy(PlaneId source, PlaneId target, SimTime from, SimTime cells_from) {
    const CopyWay way{way_to(source), way_to(target)};
    return copy_one(way, from, cells_from);
}

Scheduler::CopyRun Scheduler::copy_one(const CopyWay& way, SimTime from, SimTime cells_from) {
    const PlainRead read = read_one(way.source, from);
    return {read.end, program_plainly(way.target, read.end, cells_from), read.sense};
}

SimTime Scheduler::read_plainly(const Way& way, SimTime from) {
    const PlainRead read = read_one(way, from);
    last_end_ = std::max(last_end_, read.end);
    return read.end;
}

/// Where the cells have no room before the end of all that they do, no search before it is worth the time: it would come to that end, too.
Scheduler::PlainRead Scheduler::read_one(const Way& way, SimTime from) {
    Calendar& bus = *way.bus;
    Calendar& cells = *way.cells;
    bus.settle(settled_);
    cells.settle(settled_);
    const SimTime room = cells.earliest(from + timing_.command, timing_.page_read + whole_page_);
    for (SimTime start = room >= cells.free_at() ? room - timing_.command : from;;) {
        const SimTime command = bus.earliest(start, timing_.command);
        const SimTime sense = command + timing_.command;
        const SimTime out = bus.earliest(sense + timing_.page_read, whole_page_, slip_in_);
        const SimTime end = out + whole_page_;
        const SimTime at = cells.earliest(sense, end - sense);
        if (at != sense) {
            start = at - timing_.command;
            continue;
        }
        bus.take(command, timing_.command);
        bus.take(out, whole_page_);
        cells.take(sense, end - sense);
        return {sense, end};
    }
}

SimTime Scheduler::program_plainly(const Way& way, SimTime from, SimTime cells_from) {
    Calendar& bus = *way.bus;
    Calendar& cells = *way.cells;
    bus.settle(settled_);
    cells.settle(settled_);
    const Duration in = timing_.command + whole_page_, held = in + timing_.page_program;
    for (SimTime start = cells.earliest(std::max(from, cells_from - in), held);;) {
        const SimTime at = bus.earliest(start, in);
        start = cells.earliest(at, held);
        if (start != at) continue;
        bus.take(at, in);
        cells.take(at, held);
        last_end_ = std::max(last_end_, at + held);
        return at + held;
    }
}

} // namespace flashlab

/// Runs of copies on the calendars: merges of block-mapping schemes consist of them.
#include <algorithm>
#include <array>

#include "base/contract.h"
#include "nand/scheduler.h"

namespace flashlab {

/// Where a copy goes.
struct Scheduler::CopyWay {
    Calendar& source_bus;
    Calendar& source_cells;
    Calendar& target_bus;
    Calendar& target_cells;
    Duration in;   ///< command and data of a program
    Duration held; ///< by the program, of the target's cells
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
        : CopyWay{way}, read{timing.command + timing.page_read + page} {
        add(source_bus, {Duration{0}, timing.command});
        add(source_bus, {timing.command + timing.page_read, page, false, slip_in});
        add(source_cells, {timing.command, timing.page_read + page});
        add(target_bus, {read, in});
        add(target_cells, {read, held});
    }
    [[nodiscard]] Duration step() const { return read + held; }
    [[nodiscard]] std::span<const Use> used() const { return std::span{uses}.first(count); }
    [[nodiscard]] SimTime free_at() const {
        return std::max({source_bus.free_at(), source_cells.free_at(), target_bus.free_at(), target_cells.free_at()});
    }

    Duration read; ///< a copy begins with it
    std::array<Use, 4> uses{};
    std::size_t count = 0;

private:
    void add(Calendar& calendar, Calendar::Phase phase) {
        const auto at =
            std::find_if(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(count), [&](const Use& use) { return use.calendar == &calendar; });
        if (at == uses.begin() + static_cast<std::ptrdiff_t>(count)) uses[count++].calendar = &calendar;
        at->phases[at->count++] = phase;
    }
};

Scheduler::CopyWay Scheduler::way_of(PlaneId source, PlaneId target) {
    const Duration in = timing_.command + whole_page_;
    return {buses_[channel_of(source).value()], cells_of(source), buses_[channel_of(target).value()], cells_of(target), in,
            in + timing_.page_program};
}

bool Scheduler::copies_runs() const {
    return !options_.cache_register && !options_.bus_held_while_sensing && windows_.empty() && media_.is_single() &&
           media_.own_medium().program_times.empty() && timing_.controller_page_read == Duration{0} && timing_.controller_page_program == Duration{0};
}

/// Copies that need not wait are reserved together: behind all reservations, or in the gaps of another run, whose step is usually the same. A copy
/// that has to wait is reserved by itself, as read() and program() do.
Scheduler::CopyRun Scheduler::copy_run(PlaneId source, PlaneId target, std::uint32_t pages, SimTime from, SimTime cells_from,
                                       std::span<SimTime> ends) {
    const CopyRoute route{way_of(source, target), timing_, whole_page_, slip_in_};
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
    const CopyWay way = way_of(source, target);
    way.source_bus.settle(settled_);
    way.source_cells.settle(settled_);
    const CopyRun page = copy_one(way, from, cells_from);
    if (way.source_bus.notes_brief()) way.source_bus.note_brief(page.sense);
    last_end_ = std::max(last_end_, page.end);
    return page;
}

Scheduler::CopyRun Scheduler::copy_one(const CopyWay& route, SimTime from, SimTime cells_from) {
    CopyRun page{from, from};
    for (SimTime start = from;;) {
        const SimTime command = route.source_bus.earliest(start, timing_.command);
        const SimTime sense = command + timing_.command;
        const SimTime out = route.source_bus.earliest(sense + timing_.page_read, whole_page_, slip_in_);
        page.sense = sense;
        page.read_end = out + whole_page_;
        const SimTime cells = route.source_cells.earliest(sense, page.read_end - sense);
        if (cells != sense) {
            start = cells - timing_.command;
            continue;
        }
        route.source_bus.take(command, timing_.command);
        route.source_bus.take(out, whole_page_);
        route.source_cells.take(sense, page.read_end - sense);
        break;
    }
    route.target_bus.settle(settled_);
    route.target_cells.settle(settled_);
    for (SimTime start = route.target_cells.earliest(std::max(page.read_end, cells_from - route.in), route.held);;) {
        const SimTime at = route.target_bus.earliest(start, route.in);
        start = route.target_cells.earliest(at, route.held);
        if (start != at) continue;
        route.target_bus.take(at, route.in);
        route.target_cells.take(at, route.held);
        page.end = at + route.held;
        return page;
    }
}

} // namespace flashlab

/// When an operation gets its bus, plane, page buffer and controller.
///
/// Idea       Read     command (bus) -> tR (plane; the bus is free) -> data out (bus) -> controller. The plane's register is held until the data are out.
///            Program  controller -> command and data in, one page after the other (bus, planes' registers) -> tPROG (planes; the bus is free).
///            Erase    command (bus) -> tBERS (plane).
///            A page buffer of the channel is held while the controller and the bus work on a page; without controller time the bus alone decides.
///            With no page buffer at all the CPU moves pages between its memory and the register: bus and register are held meanwhile (HY).
/// Invariant  N3: no resource serves two operations at one instant; a chain of phases is reserved whole or not at all.
/// Cost       O(1) amortised: each step of a search passes a reservation for good, and calendars keep at most Calendar::max_live of them.
/// Power cut  Nothing survives.
/// Source     Park et al., "Design and analysis of flash translation layers for multi-channel NAND flash-based storage devices" (MC2, MC5).
#pragma once

#include <span>
#include <vector>

#include "base/calendar.h"
#include "nand/geometry.h"
#include "nand/nand_config.h"

namespace flashlab {

class Scheduler {
public:
    struct Reservation {
        SimTime start; ///< of the first phase
        SimTime cells; ///< the cells are sensed or changed from here on: a cut before leaves them as they were
        SimTime end;   ///< of the last phase
    };

    Scheduler(const Geometry& geometry, const NandConfig& config);

    Reservation read(PlaneId plane, std::uint32_t bytes, SimTime from);
    /// One page on each of these planes of one die.
    Reservation program(std::span<const PlaneId> planes, SimTime from);
    Reservation erase(PlaneId plane, SimTime from);

    /// Nothing will be asked for before `now`; reservations before it are forgotten when their resource is next used.
    void settle(SimTime now);
    [[nodiscard]] SimTime settled() const { return settled_; }
    [[nodiscard]] SimTime last_end() const { return last_end_; }
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const { return planes_[plane.value()].free_at(); }
    [[nodiscard]] Duration channel_busy(ChannelId channel) const { return buses_[channel.value()].busy(); }
    [[nodiscard]] Duration plane_busy(PlaneId plane) const { return planes_[plane.value()].busy(); }
    /// Data of `bytes` over the bus, rounded up to a nanosecond.
    [[nodiscard]] Duration transfer(std::uint32_t bytes) const;

private:
    struct Tail; ///< data out and controller of a read

    [[nodiscard]] ChannelId channel_of(PlaneId plane) const { return ChannelId{planes_per_channel_.divide(plane.value())}; }
    [[nodiscard]] std::span<Calendar> buffers_of(ChannelId channel);
    [[nodiscard]] Tail find_tail(const Calendar& bus, std::span<const Calendar> buffers, SimTime from, Duration out) const;
    [[nodiscard]] SimTime all_planes_free(std::span<const PlaneId> planes, SimTime from, Duration length) const;
    void settle_resources(ChannelId channel, std::span<const PlaneId> planes, Duration controller_time);

    Geometry geometry_;
    NandTiming timing_;
    Divider planes_per_channel_;
    std::uint32_t page_buffers_;
    Duration whole_page_; ///< over the bus
    Duration shortest_transfer_;
    SimTime settled_ = sim_start;
    SimTime last_end_ = sim_start;
    std::vector<Calendar> buses_;   ///< by channel
    std::vector<Calendar> buffers_; ///< page_buffers_ for each channel
    std::vector<Calendar> planes_;
    Calendar controller_;
};

} // namespace flashlab

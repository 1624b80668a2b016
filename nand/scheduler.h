/// When an operation gets its bus, plane, page buffer, controller and host interface.
///
/// Idea       Read     request (host interface) -> command (bus) -> tR (plane; the bus is free) -> data out (bus) -> controller, host interface.
///                     The plane's register is held until the data are out.
///            Program  host interface, controller -> command and data in, one page after the other (bus, planes' registers) -> tPROG (planes; bus free).
///            Erase    command (bus) -> tBERS (plane).
///            A page buffer of the channel is held while the front (controller and host interface, one serial resource of the whole array) and the bus
///            work on a page: with two buffers the front fills one while the bus empties the other. Without work of the front the bus alone decides.
///            With no page buffer at all the CPU moves pages between its memory and the register: bus and register are held meanwhile (HY).
///            Options: the bus held while sensing (DUMBO polls), planes of a die one after the other, a cache register that takes the next page while
///            the cells are busy, erases and programs that let reads of the host in. Such an operation is given the time of all its suspensions when
///            it is reserved: its end, once told, never moves, and whoever depends on it waits no shorter than in the worst case.
/// Invariant  N3: no resource serves two operations at one instant; a chain of phases is reserved whole or not at all.
/// Cost       O(1) amortised: each step of a search passes a reservation for good, and calendars keep 64 of them at most, a bus eight for each of its planes.
/// Power cut  Nothing survives.
/// Source     Kang et al., "A multi-channel architecture for high-performance NAND flash-based storage system" (MC2, MC5, MC7).
#pragma once

#include <span>
#include <vector>

#include "base/calendar.h"
#include "nand/geometry.h"
#include "nand/nand_config.h"

namespace flashlab {

/// What is moved of a page: data, with their spare bytes where these cross the bus, or the spare bytes alone.
enum class PagePart : std::uint8_t { data, spare };

class Scheduler {
public:
    struct Reservation {
        SimTime start; ///< of the first phase
        SimTime cells; ///< the cells are sensed or changed from here on: a cut before leaves them as they were
        SimTime end;   ///< of the last phase
        SimTime bus_in; ///< command, and data of a program
        SimTime bus_in_end;
        SimTime cells_end;
        SimTime bus_out; ///< data of a read; empty otherwise
        SimTime bus_out_end;
    };

    Scheduler(const Geometry& geometry, const NandConfig& config);

    /// `host`: the data go to the host, so they cross its interface.
    Reservation read(PlaneId plane, std::uint32_t bytes, SimTime from, bool host, PagePart part = PagePart::data);
    /// One page on each of these planes of one die, `bytes` of each moved; the cells not before `cells_from`.
    Reservation program(std::span<const PlaneId> planes, std::uint32_t bytes, SimTime from, SimTime cells_from, bool host);
    Reservation erase(PlaneId plane, SimTime from);
    /// Reads of whole pages of one plane, each programmed on another before the next is read: what read() and program() would reserve one by one.
    struct CopyRun {
        SimTime read_end;
        SimTime end;
    };
    /// True: bus and cells are all that a copy needs, so that copy_run() may be called.
    [[nodiscard]] bool copies_runs() const;
    /// The first program's cells not before `cells_from`. The end of the program of page i goes to ends[i % ends.size()].
    CopyRun copy_run(PlaneId source, PlaneId target, std::uint32_t pages, SimTime from, SimTime cells_from, std::span<SimTime> ends);
    /// Reads that suspended an erase or a program so far.
    [[nodiscard]] std::uint64_t suspensions() const { return suspensions_; }

    /// Nothing will be asked for before `now`; reservations before it are forgotten when their resource is next used.
    void settle(SimTime now);
    [[nodiscard]] SimTime settled() const { return settled_; }
    [[nodiscard]] SimTime last_end() const { return last_end_; }
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const { return cells_of(plane).free_at(); }
    [[nodiscard]] Duration channel_busy(ChannelId channel) const { return buses_[channel.value()].busy(); }
    [[nodiscard]] Duration plane_busy(PlaneId plane) const { return cells_of(plane).busy(); }
    /// Of the controller and host interface.
    [[nodiscard]] Duration front_busy() const { return front_.busy(); }
    /// So many bytes over the bus, rounded up to a nanosecond.
    [[nodiscard]] Duration transfer(std::uint32_t bytes) const;
    /// Data of `bytes`, and their spare bytes where the options say that these cross the bus.
    [[nodiscard]] Duration data_transfer(std::uint32_t bytes) const;

private:
    struct Tail; ///< data out and controller of a read
    struct Load; ///< what a program asks for

    [[nodiscard]] ChannelId channel_of(PlaneId plane) const { return ChannelId{planes_per_channel_.divide(plane.value())}; }
    [[nodiscard]] std::size_t lane_of(PlaneId plane) const { return planes_per_lane_.divide(plane.value()); }
    [[nodiscard]] Calendar& cells_of(PlaneId plane) { return cells_[lane_of(plane)]; }
    [[nodiscard]] const Calendar& cells_of(PlaneId plane) const { return cells_[lane_of(plane)]; }
    [[nodiscard]] std::span<Calendar> buffers_of(ChannelId channel);
    [[nodiscard]] Duration host_transfer(std::uint32_t bytes) const;
    [[nodiscard]] Tail find_tail(const Calendar& bus, std::span<const Calendar> buffers, SimTime from, Duration out, Duration work) const;
    [[nodiscard]] static SimTime all_free(const std::vector<Calendar>& calendars, std::span<const std::size_t> lanes, SimTime from, Duration length);
    /// When a program's data go in and its cells begin, with the bus from `at` on: {at, cells} or a later start in `at`.
    struct Placed {
        SimTime at;
        SimTime cells;
    };
    [[nodiscard]] Placed place(std::span<const std::size_t> lanes, const Load& load, SimTime at, SimTime cells_from) const;
    /// An erase or program that lets reads in.
    struct Window {
        SimTime begin = sim_start; ///< of its cells' work
        SimTime end = sim_start;
        SimTime busy_until = sim_start; ///< resumed from the last suspension
        Duration left{0};          ///< of the time given for suspensions
    };
    static constexpr std::size_t windows_a_lane = 4; ///< the last ones reserved
    struct CopyRoute;
    CopyRun copy_one(const CopyRoute& route, SimTime from, SimTime cells_from);
    [[nodiscard]] Duration allowance(std::uint32_t suspends) const;
    void open_window(std::size_t lane, SimTime begin, SimTime end, Duration allowance);
    /// The window in which this read may suspend, with `earliest` the first instant at which it may sense there; null: none.
    [[nodiscard]] Window* window_for(std::size_t lane, SimTime from, SimTime sense, Duration held, SimTime& earliest);
    void settle_resources(ChannelId channel, std::span<const std::size_t> lanes, Duration front_work);

    Geometry geometry_;
    NandTiming timing_;
    NandOptions options_;
    Divider planes_per_channel_;
    Divider planes_per_lane_; ///< planes that share one calendar
    std::uint32_t page_buffers_;
    Duration shortest_transfer_;
    Duration whole_page_{0}; ///< over the bus
    SimTime settled_ = sim_start;
    SimTime last_end_ = sim_start;
    std::vector<Calendar> buses_;     ///< by channel
    std::vector<Calendar> buffers_;   ///< page_buffers_ for each channel
    std::vector<Calendar> cells_;     ///< by lane; with the register where there is no cache register
    std::vector<Calendar> registers_; ///< by lane; only with a cache register
    Calendar front_;
    std::vector<Window> windows_;     ///< windows_a_lane for each lane; empty without suspensions
    std::vector<std::size_t> next_window_; ///< by lane
    std::uint64_t suspensions_ = 0;
    std::vector<std::size_t> lanes_; ///< of the operation at hand
    std::vector<Slot> woven_;        ///< of the run of copies at hand
};

} // namespace flashlab

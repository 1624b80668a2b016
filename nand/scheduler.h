/// When an operation gets its bus, plane, page buffer, controller and host interface.
///
/// Idea       Read     request (host interface) -> command (bus) -> tR (plane; the bus is free) -> data out (bus) -> controller, host interface.
///                     The plane's register is held until the data are out.
///            Program  host interface, controller -> command and data in, one page after the other (bus, planes' registers) -> tPROG (planes; bus
///            free). Erase    command (bus) -> tBERS (plane).
///            The front is the controller and the host interface, one serial resource of the whole array. A page buffer of the channel is held while
///            front and bus work on a page. With two buffers the front fills one while the bus empties the other. If the front has no work, the bus
///            alone decides. Without page buffers the CPU moves pages between its memory and the register, and bus and register are held meanwhile
///            (HY). Options: the bus held while sensing (DUMBO polls); planes of a die that work one after the other; a cache register that takes the
///            next page while the cells are busy; erases and programs that reads of the host may suspend (suspensions.h).
///            Where nothing but the bus decides, a read of the host interleaves: its command goes between the data of others at once, and takes its
///            time of the bus where that is free next; its data go out in pieces, a sector each at least, wherever the bus is free. So no gap is
///            lost, though transfers have their times long before. Other reads leave the time of a command before their data, and wait for such.
/// Invariant  N3: no resource serves two operations at one instant, but a bus a command of a read that interleaves, which it pays for; a chain of
///            phases is reserved whole or not at all.
/// Cost       O(1) amortised: each step of a search passes a reservation for good. A calendar keeps 64 reservations at most, a bus eight for each of
///            its planes.
/// Power cut  Nothing survives.
/// Source     Kang et al., "A multi-channel architecture for high-performance NAND flash-based storage system" (MC2, MC5, MC7).
#pragma once

#include <span>
#include <vector>

#include "base/calendar.h"
#include "nand/medium.h"
#include "nand/suspensions.h"

namespace flashlab {

/// Which part of a page is moved: the data (with the spare bytes if NandOptions::spare_on_bus), or the spare bytes alone.
enum class PagePart : std::uint8_t { data, spare };

class Scheduler {
public:
    struct Reservation {
        SimTime start;  ///< of the first phase
        SimTime cells;  ///< from here on the cells are sensed or changed: a cut before this time leaves them as they were
        SimTime end;    ///< of the last phase
        SimTime bus_in; ///< command, and data of a program
        SimTime bus_in_end;
        SimTime cells_end;
        SimTime bus_out; ///< data of a read; empty otherwise
        SimTime bus_out_end;
    };

    /// `media` lives as long.
    Scheduler(const Geometry& geometry, const NandConfig& config, const Media& media);

    /// `host`: the data go to the host, so they cross its interface.
    Reservation read(PlaneId plane, const Medium& medium, std::uint32_t bytes, SimTime from, bool host, PagePart part = PagePart::data);
    struct Program {
        std::span<const PlaneId> planes; ///< of one die
        std::uint32_t page;              ///< number in its block of the first page on each plane
        std::uint32_t pages_a_plane;     ///< of one word line
        std::uint32_t bytes;             ///< that are moved of each page
        bool host;
        bool is_behind;       ///< it may be suspended though it is the host's
        const Medium& medium; ///< of its blocks
    };
    /// The cells do not begin before `cells_from`.
    Reservation program(const Program& what, SimTime from, SimTime cells_from);
    Reservation erase(PlaneId plane, const Medium& medium, SimTime from);
    /// Two-plane commands, in the cells' own mode, on the pair of planes of which this is the first (scheduler_two_plane.cpp). `bytes`: of each page.
    /// Such a read suspends nothing.
    Reservation read_two_plane(PlaneId plane, std::span<const std::uint32_t, 2> bytes, SimTime from, bool host);
    Reservation erase_two_plane(PlaneId plane, SimTime from);
    /// A run of copies from one plane to another: each page is read as a whole and programmed before the next is read. The reservations are those
    /// that single calls of read() and program() would make.
    struct CopyRun {
        SimTime read_end;
        SimTime end;
        SimTime sense = sim_start; ///< of a copy by itself: from here on the cells are read
    };
    /// True: a copy needs only bus and cells, so that copy() and copy_run() may be called.
    [[nodiscard]] bool copies_runs() const;
    /// The cells of the first program do not begin before `cells_from`. The end of the program of page i goes to ends[i % ends.size()].
    CopyRun copy_run(PlaneId source, PlaneId target, std::uint32_t pages, SimTime from, SimTime cells_from, std::span<SimTime> ends);
    /// Bus and cells of a plane. Like copy(), the next three are for arrays whose copies need nothing else.
    struct Way {
        Calendar* bus;
        Calendar* cells;
    };
    [[nodiscard]] Way way_to(PlaneId plane) { return {&buses_[channel_of(plane).value()], &cells_of(plane)}; }
    /// read() and program() of a whole page that is not the host's; each returns its end.
    SimTime read_plainly(const Way& way, SimTime from);
    SimTime program_plainly(const Way& way, SimTime from, SimTime cells_from);
    /// One copy; the cells of its program do not begin before `cells_from`.
    CopyRun copy(PlaneId source, PlaneId target, SimTime from, SimTime cells_from);
    /// How many reads have suspended an erase or a program so far.
    [[nodiscard]] std::uint64_t suspensions() const { return suspensions_.count(); }

    /// No later call will ask for a time before `now`. Reservations before `now` are forgotten when their resource is next used.
    void settle(SimTime now);
    [[nodiscard]] SimTime settled() const { return settled_; }
    [[nodiscard]] SimTime last_end() const { return last_end_; }
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const { return cells_of(plane).free_at(); }
    [[nodiscard]] Duration channel_busy(ChannelId channel) const { return buses_[channel.value()].busy(); }
    [[nodiscard]] Duration channel_busy_before(ChannelId channel, SimTime at) const { return buses_[channel.value()].busy_before(at); }
    [[nodiscard]] Duration plane_busy(PlaneId plane) const { return cells_of(plane).busy(); }
    /// Busy time of the controller and the host interface.
    [[nodiscard]] Duration front_busy() const { return front_.busy(); }
    /// The time of so many bytes on the bus, rounded up to a nanosecond.
    [[nodiscard]] Duration transfer(std::uint32_t bytes) const;
    /// The time of `bytes` of data on the bus, with their spare bytes if NandOptions::spare_on_bus.
    [[nodiscard]] Duration data_transfer(std::uint32_t bytes) const;

private:
    static constexpr Duration none{0};
    /// Of a read: when its data go out, and when the front works on them.
    struct Tail {
        SimTime out;
        SimTime front;
    };
    struct Load; ///< what a program asks for

    [[nodiscard]] ChannelId channel_of(PlaneId plane) const { return ChannelId{planes_per_channel_.divide(plane.value())}; }
    [[nodiscard]] std::size_t lane_of(PlaneId plane) const { return planes_per_lane_.divide(plane.value()); }
    [[nodiscard]] Calendar& cells_of(PlaneId plane) { return cells_[lane_of(plane)]; }
    [[nodiscard]] const Calendar& cells_of(PlaneId plane) const { return cells_[lane_of(plane)]; }
    [[nodiscard]] std::span<Calendar> buffers_of(ChannelId channel);
    [[nodiscard]] Duration host_transfer(std::uint32_t bytes) const;
    [[nodiscard]] Tail find_tail(const Calendar& bus, std::span<const Calendar> buffers, SimTime from, Duration out, Duration work) const;
    /// Of a read that interleaves: whether its command has the bus by itself, how long its data take then, when they are out.
    struct BetweenOthers {
        bool command_is_alone = true;
        Duration length{0};
        SimTime end = sim_start;
    };
    [[nodiscard]] BetweenOthers between_others(const Calendar& bus, SimTime command, SimTime data_from, Duration out) const;
    [[nodiscard]] Duration turn_on_bus(ChannelId channel, const Medium& medium, SimTime from) const;
    [[nodiscard]] static SimTime all_free(const std::vector<Calendar>& calendars, std::span<const std::size_t> lanes, SimTime from, Duration length);
    /// For a program that takes the bus from `at` on: when its data go in (`at`) and when its cells begin (`cells`). If it cannot start at `at`, the
    /// result's `at` is a later start to try.
    struct Placed {
        SimTime at;
        SimTime cells;
    };
    [[nodiscard]] Placed place(std::span<const std::size_t> lanes, const Load& load, SimTime at, SimTime cells_from) const;
    struct CopyWay;
    struct CopyRoute;
    CopyRun copy_one(const CopyWay& way, SimTime from, SimTime cells_from);
    struct PlainRead {
        SimTime sense;
        SimTime end;
    };
    PlainRead read_one(const Way& way, SimTime from);
    /// The lanes of a pair of planes, into lanes_.
    void take_lanes_of_pair(PlaneId first);
    void settle_resources(ChannelId channel, std::span<const std::size_t> lanes, Duration front_work);

    Geometry geometry_;
    NandTiming timing_;
    NandOptions options_;
    const Media& media_;
    Divider planes_per_channel_;
    Divider planes_per_lane_; ///< planes that share one calendar
    std::uint32_t page_buffers_;
    Duration shortest_transfer_;
    Duration whole_page_{0};   ///< over the bus
    bool interleaves_ = false; ///< commands and pieces of data go between the data of other planes
    Duration slip_in_{0};      ///< left free before data that leave a chip, for a command that is not there yet
    Duration least_piece_{0};  ///< of data that leave a chip between others
    SimTime settled_ = sim_start;
    SimTime last_end_ = sim_start;
    std::vector<Calendar> buses_;     ///< by channel
    std::vector<Calendar> commands_;  ///< of reads that interleave, by channel: they follow each other, and do not wait for data
    std::vector<Calendar> buffers_;   ///< page_buffers_ for each channel
    std::vector<Calendar> cells_;     ///< by lane; with the register where there is no cache register
    std::vector<Calendar> registers_; ///< by lane; only with a cache register
    Calendar front_;
    Suspensions suspensions_;
    std::vector<std::size_t> lanes_; ///< of the operation at hand
    std::vector<Slot> woven_;        ///< of the run of copies at hand
};

} // namespace flashlab

/// What a preset or a TOML file says of the flash: geometry, timing, endurance, factory state.
/// Plain data, validated by Geometry::make and NandTiming::validate.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/sim_time.h"
#include "nand/geometry.h"

namespace flashlab {

/// The durations of the phases in nand/DESIGN.md (MC2). Transfer rates are integer picoseconds a byte, so that no rounding depends on the host.
struct NandTiming {
    Duration page_read{60'000};          ///< tR: cells to page register; the plane is busy, the bus free
    Duration page_program{700'000};      ///< tPROG, mean over the page types of the cell
    Duration lsb_program{0};             ///< tPROG of the first page of a word line; 0, as in the next two: page_program
    Duration csb_program{0};             ///< of the pages between the first and the last
    Duration msb_program{0};             ///< of the last
    Duration block_erase{3'000'000};     ///< tBERS
    Duration command{100};               ///< command and address cycles on the bus, for each plane addressed
    std::uint32_t bus_ps_per_byte = 833; ///< 1.2 GB/s; the page's data cross the bus, and its spare bytes if NandOptions::spare_on_bus
    Duration suspend{20'000};            ///< from the suspend command until the cells can sense (only with erase_suspends, program_suspends)
    Duration resume{5'000};              ///< from the end of the read until the cells work again
    Duration controller_page_read{0};    ///< controller CPU for each page read, GC copies included (HY: 362 us)
    Duration controller_page_program{0}; ///< controller CPU for each page programmed (HY: 323 us)

    Duration host_interface_command{0};           ///< MC2, RS or WS: on the serial host interface, for each page the host reads or writes
    Duration host_interface_confirm{0};           ///< MC2, WC: the same in addition for each page the host writes
    std::uint32_t host_interface_ps_per_byte = 0; ///< MC2, RD or WD: a page's data between its buffer and the host; 0: the drive's link alone counts

    [[nodiscard]] std::expected<void, std::string> validate() const;
    friend bool operator==(const NandTiming&, const NandTiming&) = default;
};

/// What the chips and channel managers can do beyond the plain phases.
struct NandOptions {
    bool independent_planes = true;      ///< MC7, CO12; false: planes of a die work one after the other, except in multi-plane commands
    bool cache_register = false;         ///< cached programs and reads: the bus serves the register while the cells are busy
    bool spare_on_bus = false;           ///< spare bytes cross the bus with a page's data (with a part of a page: in proportion); false: data alone
    bool bus_held_while_sensing = false; ///< MC2, RN: the channel manager polls, so that the bus is busy from the command to the data
    std::uint32_t erase_suspends = 0;    ///< how many reads of the host may suspend one erase; each erase is given time for so many
    std::uint32_t program_suspends = 0;  ///< the same for a program that no host waits for
    bool two_plane = false;              ///< CO12: two-plane commands: the same block, or page, of a pair of planes as one command
    std::uint32_t subpages = 1;          ///< pages that are one page of the chip: it is sensed, and programmed, as a whole
    bool one_shot = false;               ///< one program operation takes the pages of a word line that it is given together; tPROG is paid once
    bool paired_pages = false;           ///< T6: a cut program damages the pages that share its cells; those that must survive are backed up (C5)
    friend bool operator==(const NandOptions&, const NandOptions&) = default;
};

/// Of which cells the raw bit errors are (nand/bit_errors.h); none: a read fails only where a cut or a fault has spoiled the page.
enum class CellErrors : std::uint8_t { none, mlc_2y, tlc_72 };
inline constexpr std::array<std::string_view, 3> cell_errors_names{"none", "mlc-2y", "tlc-72"};

/// Bit errors, and what corrects them.
struct NandErrors {
    CellErrors cells = CellErrors::none;
    std::uint32_t cycles_before = 0;         ///< program/erase cycles of each block when the drive was made
    std::uint32_t ecc_bits = 40;             ///< that are corrected in a code word of 1 KiB
    Duration ecc_decode{10'000};             ///< behind the data of each read, beside other reads
    std::uint32_t read_retries = 3;          ///< at most
    std::uint32_t retry_gain_permille = 500; ///< of ecc_bits, that each retry corrects more
    [[nodiscard]] bool are_on() const { return cells != CellErrors::none; }
    friend bool operator==(const NandErrors&, const NandErrors&) = default;
};

/// Cells of a block that hold fewer bits than they could: what a mode below the cells' own changes. A time or count of 0 is the cells' own.
struct CellMode {
    Duration page_program{0}; ///< 0: the chips do not have this mode
    Duration page_read{0};
    Duration block_erase{0};
    std::uint32_t endurance_cycles = 0;
    friend bool operator==(const CellMode&, const CellMode&) = default;
};

struct NandConfig {
    GeometryConfig geometry;
    NandTiming timing;
    std::uint32_t endurance_cycles = 3000;        ///< rated P/E cycles; percent_used is relative to it
    std::uint32_t factory_bad_per_million = 1000; ///< factory bad blocks, placed by the seed
    std::uint64_t seed = 1;
    std::uint32_t page_buffers_per_channel = 2; ///< MC5: 1 = no pipelining; 0 = the CPU moves pages itself, bus and register held (HY)
    std::uint32_t striping = 1;                 ///< MC3: S, channels that the array presents as one with pages S times as wide
    std::uint32_t stripe_bytes = 0;             ///< MC3: bytes of a striped page on one channel before the next channel's; 0 = a page of the chip
    std::uint32_t rain = 0;                     ///< W, dies of a row of pages, one of which holds the parity of the others; 0: none
    NandOptions options;
    NandErrors errors;
    std::array<CellMode, 3> modes{}; ///< by CellType: slc, mlc, tlc
    /// How many pages of a block one program takes at most: the subpages of a page of the chip, or of all of a word line, which follow each other.
    [[nodiscard]] std::uint32_t pages_a_program(CellType mode) const {
        return options.subpages * (options.one_shot && mode == geometry.cell ? std::to_underlying(mode) + 1u : 1u);
    }
    [[nodiscard]] std::uint32_t pages_a_program() const { return pages_a_program(geometry.cell); }
    friend bool operator==(const NandConfig&, const NandConfig&) = default;
};

} // namespace flashlab

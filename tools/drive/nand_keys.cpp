#include "tools/drive/nand_keys.h"

#include <array>
#include <limits>

#include "tools/drive/config_field.h"

namespace flashlab {

/// The keys of a mode of blocks that is not the cells' own.
#define MODE_KEYS(name, index)                                                                                                                       \
    ConfigKey{"nand." name "_page_program_ns",                                                                                                       \
              integer,                                                                                                                               \
              mkfs,                                                                                                                                  \
              0,                                                                                                                                     \
              10 * ns_per_second,                                                                                                                    \
              "",                                                                                                                                    \
              "tPROG of blocks whose cells of more bits are used as " name "; 0: the chips do not have this mode.",                                  \
              FIELD(ssd.nand.modes[index].page_program)},                                                                                            \
        ConfigKey{"nand." name "_page_read_ns",          integer, mount, 0, 10 * ns_per_second, "", "Their tR; 0: nand.page_read_ns.",               \
                  FIELD(ssd.nand.modes[index].page_read)},                                                                                           \
        ConfigKey{"nand." name "_block_erase_ns",          integer, mount, 0, 10 * ns_per_second, "", "Their tBERS; 0: nand.block_erase_ns.",        \
                  FIELD(ssd.nand.modes[index].block_erase)},                                                                                         \
        ConfigKey {                                                                                                                                  \
        "nand." name "_endurance_cycles", integer, mount, 0, 1'000'000'000, "", "Their rated program/erase cycles; 0: nand.endurance_cycles.",       \
            FIELD(ssd.nand.modes[index].endurance_cycles)                                                                                            \
    }

std::span<const ConfigKey> nand_keys() {
    constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t ns_per_second = 1'000'000'000;
    using enum ConfigType;
    using enum ConfigPhase;
    static const std::array keys{
        ConfigKey{"nand.channels", integer, mkfs, 1, 256, "", "Buses; each serves one transfer at a time.", FIELD(ssd.nand.geometry.channels)},
        ConfigKey{"nand.chips_per_channel", integer, mkfs, 1, 64, "", "Packages on each bus.", FIELD(ssd.nand.geometry.chips_per_channel)},
        ConfigKey{"nand.dies_per_chip", integer, mkfs, 1, 64, "", "Dies in a package; each works alone.", FIELD(ssd.nand.geometry.dies_per_chip)},
        ConfigKey{"nand.planes_per_die", integer, mkfs, 1, 16, "", "Planes of a die; they work in step on multi-plane commands.",
                  FIELD(ssd.nand.geometry.planes_per_die)},
        ConfigKey{"nand.blocks_per_plane", integer, mkfs, 1, max_u32, "", "Erase units of a plane.", FIELD(ssd.nand.geometry.blocks_per_plane)},
        ConfigKey{"nand.pages_per_block", integer, mkfs, 2, 65536, "", "Pages of a block, programmed in order, once each between erases.",
                  FIELD(ssd.nand.geometry.pages_per_block)},
        ConfigKey{"nand.page_bytes", size, mkfs, 512, 1u << 20, "", "Data bytes of a page, a multiple of 512.", FIELD(ssd.nand.geometry.page_bytes)},
        ConfigKey{"nand.spare_bytes", size, mkfs, 0, 1u << 16, "", "Out-of-band bytes of a page.", FIELD(ssd.nand.geometry.spare_bytes)},
        ConfigKey{"nand.cell", text, mkfs, 0, 0, "slc mlc tlc qlc", "Bits in a cell: 1, 2, 3 or 4.", FIELD(ssd.nand.geometry.cell)},
        ConfigKey{"nand.page_read_ns", integer, mount, 1, 10 * ns_per_second, "", "tR: cells to page register.", FIELD(ssd.nand.timing.page_read)},
        ConfigKey{"nand.page_program_ns", integer, mount, 1, 10 * ns_per_second, "", "tPROG: page register to cells, mean over the page types.",
                  FIELD(ssd.nand.timing.page_program)},
        ConfigKey{"nand.lsb_program_ns", integer, mount, 0, 10 * ns_per_second, "",
                  "tPROG of the first page of a word line (on SLC of all); 0: nand.page_program_ns.", FIELD(ssd.nand.timing.lsb_program)},
        ConfigKey{"nand.csb_program_ns", integer, mount, 0, 10 * ns_per_second, "",
                  "tPROG of the pages of a word line between the first and the last (TLC, QLC); 0: nand.page_program_ns.",
                  FIELD(ssd.nand.timing.csb_program)},
        ConfigKey{"nand.msb_program_ns", integer, mount, 0, 10 * ns_per_second, "",
                  "tPROG of the last page of a word line (MLC, TLC, QLC); 0: nand.page_program_ns.", FIELD(ssd.nand.timing.msb_program)},
        ConfigKey{"nand.block_erase_ns", integer, mount, 1, 10 * ns_per_second, "", "tBERS: erase of a block.", FIELD(ssd.nand.timing.block_erase)},
        ConfigKey{"nand.command_ns", integer, mount, 0, ns_per_second, "", "Command and address cycles on the bus, for each plane addressed.",
                  FIELD(ssd.nand.timing.command)},
        ConfigKey{"nand.bus_ps_per_byte", integer, mount, 0, ns_per_second, "", "Transfer of one byte over a channel; 833 is 1.2 GB/s.",
                  FIELD(ssd.nand.timing.bus_ps_per_byte)},
        ConfigKey{"nand.controller_page_read_ns", integer, mount, 0, 10 * ns_per_second, "", "Controller time for each page read, copies included.",
                  FIELD(ssd.nand.timing.controller_page_read)},
        ConfigKey{"nand.controller_page_program_ns", integer, mount, 0, 10 * ns_per_second, "", "Controller time for each page programmed.",
                  FIELD(ssd.nand.timing.controller_page_program)},
        ConfigKey{"nand.page_buffers_per_channel", integer, mount, 0, 64, "",
                  "Page buffers of a channel manager; 1: no pipelining, 0: the CPU moves pages.", FIELD(ssd.nand.page_buffers_per_channel)},
        ConfigKey{"nand.host_interface_command_ns", integer, mount, 0, ns_per_second, "",
                  "Serial host interface behind the page buffers: command of each page that the host reads or writes.",
                  FIELD(ssd.nand.timing.host_interface_command)},
        ConfigKey{"nand.host_interface_confirm_ns", integer, mount, 0, ns_per_second, "", "The same: in addition for each page that the host writes.",
                  FIELD(ssd.nand.timing.host_interface_confirm)},
        ConfigKey{"nand.host_interface_ps_per_byte", integer, mount, 0, ns_per_second, "",
                  "The same: a page's data between its buffer and the host; 0: only the host link counts.",
                  FIELD(ssd.nand.timing.host_interface_ps_per_byte)},
        ConfigKey{"nand.striping", integer, mkfs, 1, 256, "", "Channels that work as one with pages as many times as wide: superpages.",
                  FIELD(ssd.nand.striping)},
        ConfigKey{"nand.stripe_bytes", size, mkfs, 0, 1u << 20, "",
                  "Bytes of a striped page on one channel before the next one's; 0: a page of the chip.", FIELD(ssd.nand.stripe_bytes)},
        ConfigKey{"nand.two_plane", integer, mkfs, 0, 1, "", "1: two-plane commands, and page sets on pairs of planes.",
                  FIELD(ssd.nand.options.two_plane)},
        ConfigKey{
            "nand.subpages", integer, mkfs, 1, 16, "",
            "Pages of nand.page_bytes in a page of the chip, which is sensed and programmed as a whole; each is mapped by itself. 4 and 4 KiB: a "
            "page of 16 KiB. Block sizes count subpages.",
            FIELD(ssd.nand.options.subpages)},
        ConfigKey{"nand.one_shot", integer, mount, 0, 1, "",
                  "1: pages of a word line that are written together are programmed at once, in nand.page_program_ns (MLC, TLC, QLC).",
                  FIELD(ssd.nand.options.one_shot)},
        ConfigKey{"nand.independent_planes", integer, mount, 0, 1, "",
                  "1: planes of a die overlap; 0: one after the other, but for multi-plane commands.", FIELD(ssd.nand.options.independent_planes)},
        ConfigKey{"nand.cache_register", integer, mount, 0, 1, "", "1: cached programs and reads, the bus serves the register while the cells work.",
                  FIELD(ssd.nand.options.cache_register)},
        ConfigKey{"nand.erase_suspends", integer, mount, 0, 1000, "",
                  "Reads of the host that may suspend an erase; each erase is given time for so many. 0: none.",
                  FIELD(ssd.nand.options.erase_suspends)},
        ConfigKey{"nand.program_suspends", integer, mount, 0, 1000, "", "The same of programs that no host waits for (collections, merges, tables).",
                  FIELD(ssd.nand.options.program_suspends)},
        ConfigKey{"nand.suspend_ns", integer, mount, 0, 1'000'000'000, "ns", "From the suspend command until the cells can be read.",
                  FIELD(ssd.nand.timing.suspend)},
        ConfigKey{"nand.resume_ns", integer, mount, 0, 1'000'000'000, "ns", "From the end of such a read until the erase or program goes on.",
                  FIELD(ssd.nand.timing.resume)},
        ConfigKey{"nand.paired_pages", integer, mkfs, 0, 1, "",
                  "1: on MLC and TLC a cut program damages the pages that share its cells, and what must survive is backed up before.",
                  FIELD(ssd.nand.options.paired_pages)},
        ConfigKey{"nand.spare_on_bus", integer, mount, 0, 1, "",
                  "1: a page's spare bytes cross the bus with its data, with a part of it in proportion; 0: data alone.",
                  FIELD(ssd.nand.options.spare_on_bus)},
        ConfigKey{"nand.bus_held_while_sensing", integer, mount, 0, 1, "", "1: the channel manager polls: a read holds the bus from command to data.",
                  FIELD(ssd.nand.options.bus_held_while_sensing)},
        ConfigKey{"nand.endurance_cycles", integer, mount, 1, 1'000'000'000, "", "Rated program/erase cycles; percent_used is relative to it.",
                  FIELD(ssd.nand.endurance_cycles)},
        MODE_KEYS("slc", 0),
        MODE_KEYS("mlc", 1),
        MODE_KEYS("tlc", 2),
        ConfigKey{"nand.factory_bad_per_million", integer, mkfs, 0, 100'000, "", "Blocks that are bad when new, placed by the seed.",
                  FIELD(ssd.nand.factory_bad_per_million)},
        ConfigKey{"nand.seed", integer, mkfs, 0, max_u64 / 2, "", "What is random about the device follows from it.", FIELD(ssd.nand.seed)},
    };
    return keys;
}
#undef MODE_KEYS
#undef FIELD

} // namespace flashlab

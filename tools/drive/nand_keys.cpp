#include "tools/drive/nand_keys.h"

#include <array>
#include <limits>

#include "tools/drive/config_field.h"

namespace flashlab {

/// A key without choices; a time, a count or a switch that has the name of its field.
#define KEY(name, type, phase, min, max, help, member)                                                                                               \
    ConfigKey { name, type, phase, min, max, "", help, FIELD(ssd.nand.member) }
#define TIME(member, min, max, help)             KEY("nand." #member "_ns", integer, mount, min, max, help, timing.member)
#define SHAPE(member, type, min, max, help)      KEY("nand." #member, type, mkfs, min, max, help, geometry.member)
#define OWN(member, type, phase, min, max, help) KEY("nand." #member, type, phase, min, max, help, member)
#define SWITCH(member, phase, help)              KEY("nand." #member, integer, phase, 0, 1, help, options.member)
/// The keys of a mode of blocks that is not the cells' own.
#define MODE_KEYS(name, index)                                                                                                                       \
    KEY("nand." name "_page_program_ns", integer, mkfs, 0, 10 * ns_per_second,                                                                       \
        "tPROG of blocks used as " name ", with fewer bits in a cell, in ns. 0: the chips have no such mode.", modes[index].page_program),           \
        KEY("nand." name "_page_read_ns", integer, mount, 0, 10 * ns_per_second, "tR of such blocks, in ns. 0: nand.page_read_ns.",                  \
            modes[index].page_read),                                                                                                                 \
        KEY("nand." name "_block_erase_ns", integer, mount, 0, 10 * ns_per_second, "tBERS of such blocks, in ns. 0: nand.block_erase_ns.",           \
            modes[index].block_erase),                                                                                                               \
        KEY("nand." name "_endurance_cycles", integer, mount, 0, 1'000'000'000,                                                                      \
            "Rated program/erase cycles of such blocks. 0: nand.endurance_cycles.", modes[index].endurance_cycles)

std::span<const ConfigKey> nand_keys() {
    constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t ns_per_second = 1'000'000'000;
    using enum ConfigType;
    using enum ConfigPhase;
    static const std::array keys{
        SHAPE(channels, integer, 1, 256, "Channels: buses between controller and flash. More: more transfers at the same time."),
        SHAPE(chips_per_channel, integer, 1, 64, "Chips (packages) on each channel. They work at the same time and share its bus."),
        SHAPE(dies_per_chip, integer, 1, 64, "Dies in a chip. Each executes commands of its own."),
        SHAPE(planes_per_die, integer, 1, 16, "Planes in a die. A multi-plane command works on all of them in step."),
        SHAPE(blocks_per_plane, integer, 1, max_u32, "Blocks in a plane. A block is the unit of erasing."),
        SHAPE(pages_per_block, integer, 2, 65536, "Pages in a block, programmed in order, once each between erases. More: larger units of erasing."),
        SHAPE(page_bytes, size, 512, 1u << 20, "Data bytes of a page, the unit of reading and programming: a multiple of 512."),
        SHAPE(spare_bytes, size, 24, 1u << 16,
              "Out-of-band bytes of a page: number, write sequence and checksum, from which recovery finds the map again."),
        ConfigKey{"nand.cell", text, mkfs, 0, 0, "slc mlc tlc qlc", "Bits in a cell: slc 1, mlc 2, tlc 3, qlc 4.", FIELD(ssd.nand.geometry.cell)},
        TIME(page_read, 1, 10 * ns_per_second, "tR: time from the cells to the page register, in ns."),
        TIME(page_program, 1, 10 * ns_per_second, "tPROG: time from the page register to the cells, in ns, the mean over the page types."),
        TIME(lsb_program, 0, 10 * ns_per_second, "tPROG of the first page of a word line (SLC: of every page), in ns. 0: nand.page_program_ns."),
        TIME(csb_program, 0, 10 * ns_per_second, "tPROG of the middle pages of a word line (TLC, QLC), in ns. 0: nand.page_program_ns."),
        TIME(msb_program, 0, 10 * ns_per_second, "tPROG of the last page of a word line (MLC, TLC, QLC), in ns. 0: nand.page_program_ns."),
        TIME(block_erase, 1, 10 * ns_per_second, "tBERS: time to erase a block, in ns."),
        TIME(command, 0, ns_per_second, "Bus time of command and address cycles, in ns, for each plane addressed."),
        KEY("nand.bus_ps_per_byte", integer, mount, 0, ns_per_second,
            "Transfer time of one byte over a channel, in ps. Larger is slower: 833 is 1.2 GB/s.", timing.bus_ps_per_byte),
        TIME(controller_page_read, 0, 10 * ns_per_second, "Controller time for each page read, the drive's own copies included, in ns."),
        TIME(controller_page_program, 0, 10 * ns_per_second, "Controller time for each page programmed, in ns."),
        OWN(page_buffers_per_channel, integer, mount, 0, 64,
            "Page buffers of a channel. 2 or more: transfers to the host overlap with the flash; 1: they do not; 0: the CPU moves pages."),
        TIME(host_interface_command, 0, ns_per_second,
             "Serial host interface behind the page buffers: time to command each page of the host, in ns."),
        TIME(host_interface_confirm, 0, ns_per_second, "Serial host interface: time to confirm each page that the host writes, in ns, in addition."),
        KEY("nand.host_interface_ps_per_byte", integer, mount, 0, ns_per_second,
            "Serial host interface: transfer time of one byte between page buffer and host, in ps. 0: only the host link counts.",
            timing.host_interface_ps_per_byte),
        OWN(striping, integer, mkfs, 1, 256,
            "Channels that work as one, with pages so many times as wide (superpages). Larger: faster large requests, fewer requests at a time."),
        OWN(stripe_bytes, size, mkfs, 0, 1u << 20,
            "Bytes of a superpage on one channel before the next one's. Smaller: short requests use more channels. 0: a page of the chip."),
        OWN(rain, integer, mkfs, 0, 128,
            "Dies of a row of pages, one of which holds the parity of the others (RAIN): a page, or a die, that cannot be read is rebuilt. More: "
            "less "
            "space and fewer programs for parity, more reads for a page that is rebuilt. 0: none."),
        SWITCH(two_plane, mkfs, "1: two-plane commands, for page sets on pairs of planes. 0: each plane has its own commands."),
        KEY("nand.subpages", integer, mkfs, 1, 16,
            "Pages of nand.page_bytes in one page of the chip, which is read and programmed as a whole while each is mapped by itself: 4 of 4 KiB "
            "make a page of 16 KiB. Blocks count subpages.",
            options.subpages),
        SWITCH(one_shot, mount,
               "1: pages of a word line written together take one nand.page_program_ns (MLC, TLC, QLC). 0: each page is programmed by itself."),
        SWITCH(independent_planes, mount, "1: the planes of a die work at the same time. 0: one after the other, except in multi-plane commands."),
        SWITCH(cache_register, mount, "1: the bus moves the next page while the cells work on this one (cached reads and programs). 0: it waits."),
        KEY("nand.erase_suspends", integer, mount, 0, 1000,
            "Host reads that may suspend one erase; their time is paid behind it. More: shorter read tails, later erases. 0: none.",
            options.erase_suspends),
        KEY("nand.program_suspends", integer, mount, 0, 1000,
            "Host reads that may suspend one background program, or pass reads of a collection. More: shorter read tails, later programs. 0: none.",
            options.program_suspends),
        TIME(suspend, 0, 1'000'000'000, "Time from the suspend command until the cells can be read, in ns."),
        TIME(resume, 0, 1'000'000'000, "Time from the end of such a read until the erase or program goes on, in ns."),
        SWITCH(paired_pages, mkfs,
               "1: a program cut by a power loss damages the pages that share its cells (MLC, TLC), and the drive backs up what must survive. 0: "
               "it does not."),
        SWITCH(spare_on_bus, mount, "1: a page's spare bytes cross the bus with its data, in proportion for a part of a page. 0: data alone."),
        SWITCH(bus_held_while_sensing, mount,
               "1: the channel manager polls, so a read holds the bus from command to data. 0: the bus is free meanwhile."),
        OWN(endurance_cycles, integer, mount, 1, 1'000'000'000, "Rated program/erase cycles of a block; percent_used is relative to it."),
        MODE_KEYS("slc", 0),
        MODE_KEYS("mlc", 1),
        MODE_KEYS("tlc", 2),
        ConfigKey{"nand.cell_errors", text, mount, 0, 0, "none mlc-2y tlc-72",
                  "Cells whose raw bit errors grow with erases, age and reads as measured: 2y-nm MLC, 72-layer TLC. none: no bit errors.",
                  FIELD(ssd.nand.errors.cells)},
        KEY("nand.cycles_before", integer, mount, 0, 1'000'000,
            "With nand.cell_errors: erases that each block had when the drive was made. More: more bit errors.", errors.cycles_before),
        KEY("nand.ecc_bits", integer, mount, 1, 4096, "With nand.cell_errors: wrong bits that the ECC corrects in a code word of 1 KiB.",
            errors.ecc_bits),
        KEY("nand.ecc_decode_ns", integer, mount, 0, ns_per_second, "With nand.cell_errors: time to decode what was read, beside other reads, in ns.",
            errors.ecc_decode),
        KEY("nand.read_retries", integer, mount, 0, 100,
            "With nand.cell_errors: times that a page is sensed again before it counts as lost. More: longer tails, fewer losses.",
            errors.read_retries),
        KEY("nand.retry_gain_permille", integer, mount, 0, 10'000,
            "With nand.cell_errors: thousandths of nand.ecc_bits that each retry corrects more, since it senses at other thresholds.",
            errors.retry_gain_permille),
        OWN(factory_bad_per_million, integer, mkfs, 0, 100'000, "Bad blocks of a new drive, of a million; nand.seed places them."),
        OWN(seed, integer, mkfs, 0, max_u64 / 2, "Seed of what is random about the device: the same seed and load give the same results."),
    };
    return keys;
}
#undef MODE_KEYS
#undef SWITCH
#undef OWN
#undef SHAPE
#undef TIME
#undef KEY
#undef FIELD

} // namespace flashlab

/// The devices that tests and benches share, by what they are good for. crash/tiny_devices.h has those that replay ids name.
///
/// Idea       One function a shape, without a scheme; a test changes what it is about.
/// Invariant  No block is bad from the factory, unless a test asks for it.
#pragma once

#include "ftl/ssd_config.h"

namespace flashlab::test {

/// Times that are added up by hand: a command 100 ns, a byte on the bus 1 ns, a read 60 us, a program 700 us, an erase 3 ms.
inline constexpr NandTiming round_timing{.page_read = Duration{60'000},
                                         .page_program = Duration{700'000},
                                         .block_erase = Duration{3'000'000},
                                         .command = Duration{100},
                                         .bus_ps_per_byte = 1000,
                                         .controller_page_read = Duration{0},
                                         .controller_page_program = Duration{0}};

/// One channel of one chip of one die, single-bit cells.
inline SsdConfig one_die(std::uint32_t planes, std::uint32_t blocks, std::uint32_t pages, std::uint32_t page_bytes, std::uint32_t spare_bytes) {
    SsdConfig c;
    c.nand.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = planes,
                       .blocks_per_plane = blocks,
                       .pages_per_block = pages,
                       .page_bytes = page_bytes,
                       .spare_bytes = spare_bytes,
                       .cell = CellType::slc};
    c.nand.factory_bad_per_million = 0;
    return c;
}

/// Cuts and collections come quickly.
inline SsdConfig tiny_config() {
    SsdConfig c = one_die(2, 10, 8, 512, 32);
    c.pram.bytes = 1u << 20;
    return c;
}

/// 64 MiB a channel on two planes, an eighth of it spare: large enough for shares and ratios.
inline SsdConfig roomy_drive(std::uint32_t channels) {
    SsdConfig c = one_die(2, 128, 64, 4096, 256);
    c.nand.geometry.channels = channels;
    c.nand.geometry.cell = CellType::tlc;
    c.ftl.reserved_permille = 125;
    return c;
}

/// 256 MiB on eight planes.
inline SsdConfig wear_drive() { return roomy_drive(4); }

/// 1 MiB on two channels, an eighth of it spare: worn out in seconds.
inline SsdConfig small_wear_drive() {
    SsdConfig c = one_die(1, 64, 16, 512, 32);
    c.nand.geometry.channels = 2;
    c.ftl.reserved_permille = 125;
    return c;
}

/// One plane and so one frontier, as closed forms assume it.
inline SsdConfig one_plane(std::uint32_t blocks) { return one_die(1, blocks, 64, 4096, 64); }

} // namespace flashlab::test

#include "nand/presets.h"

#include <algorithm>
#include <array>
#include <utility>

namespace flashlab {

namespace {

constexpr Duration us(std::int64_t n) { return Duration{n * 1000}; }

/// Parts of today: the figures that makers print on their fact sheets and conference papers, rounded; blocks scaled down to 256 pages of 4 KiB.
constexpr NandConfig modern(CellType cell, Duration read, Duration program, Duration erase, std::uint32_t endurance) {
    NandConfig config;
    config.geometry.cell = cell;
    config.timing.page_read = read;
    config.timing.page_program = program;
    config.timing.block_erase = erase;
    config.endurance_cycles = endurance;
    return config;
}

constexpr NandConfig coftl() {
    NandConfig config;
    config.geometry = {.channels = 16,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 2,
                       .blocks_per_plane = 4096,
                       .pages_per_block = 256,
                       .page_bytes = 4096,
                       .spare_bytes = 224,
                       .cell = CellType::mlc};
    config.timing = {.page_read = us(50), .page_program = us(900), .block_erase = us(3000), .command = Duration{0}, .bus_ps_per_byte = 10'000};
    config.endurance_cycles = 5000;
    return config;
}

constexpr NandConfig k9g8g08u0m() {
    NandConfig config;
    config.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 1,
                       .blocks_per_plane = 4096,
                       .pages_per_block = 128,
                       .page_bytes = 2048,
                       .spare_bytes = 64,
                       .cell = CellType::mlc};
    config.timing = {.page_read = us(121),
                     .page_program = us(861),
                     .block_erase = us(1500),
                     .command = Duration{0},
                     .bus_ps_per_byte = 0,
                     .controller_page_read = us(362),
                     .controller_page_program = us(323)};
    config.endurance_cycles = 5000;
    config.page_buffers_per_channel = 0;
    return config;
}

constexpr NandConfig dumbo() {
    NandConfig config;
    config.geometry = {.channels = 4,
                       .chips_per_channel = 8,
                       .dies_per_chip = 1,
                       .planes_per_die = 1,
                       .blocks_per_plane = 1024,
                       .pages_per_block = 64,
                       .page_bytes = 2048,
                       .spare_bytes = 64,
                       .cell = CellType::slc};
    config.timing = {.page_read = Duration{27'320},
                     .page_program = Duration{196'370},
                     .block_erase = us(2000),
                     .command = Duration{0},
                     .bus_ps_per_byte = 25'000,
                     .host_interface_command = us(6),
                     .host_interface_confirm = us(29),
                     .host_interface_ps_per_byte = 40'000};
    config.stripe_bytes = 128; // a request of 512 bytes splits evenly over four channels
    config.options.bus_held_while_sensing = true;
    config.endurance_cycles = 100'000;
    return config;
}

constexpr NandConfig slc_64g() {
    NandConfig config;
    config.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 1,
                       .blocks_per_plane = 540'672,
                       .pages_per_block = 64,
                       .page_bytes = 2048,
                       .spare_bytes = 64,
                       .cell = CellType::slc};
    config.timing = {
        .page_read = Duration{72'800}, .page_program = Duration{252'800}, .block_erase = us(1500), .command = Duration{0}, .bus_ps_per_byte = 0};
    config.endurance_cycles = 100'000;
    return config;
}

/// A drive with capacitors: dies of four planes with pages of 16 KiB, mapped by 4 KiB, whole word lines programmed at once. Blocks of 48 pages of the
/// chip, where such chips have some 2300: so a drive of a hundredth of the capacity has half as many blocks, and their erases take as much less time.
constexpr NandConfig enterprise_tlc(std::uint32_t chips_per_channel, Duration read, Duration program) {
    NandConfig config;
    config.geometry = {.channels = 8,
                       .chips_per_channel = chips_per_channel,
                       .dies_per_chip = 1,
                       .planes_per_die = 4,
                       .blocks_per_plane = 192,
                       .pages_per_block = 4 * 48,
                       .page_bytes = 4096,
                       .spare_bytes = 256,
                       .cell = CellType::tlc};
    config.timing = {.page_read = read, .page_program = program, .block_erase = us(200), .bus_ps_per_byte = 833, .suspend = us(50), .resume = us(5)};
    config.modes[std::to_underlying(CellType::slc)] = {.page_program = us(200)};
    config.options.subpages = 4;
    config.options.one_shot = true;
    config.options.independent_planes = true;
    config.options.erase_suspends = 1;
    config.options.program_suspends = 6;
    config.endurance_cycles = 10'000;
    return config;
}

/// A drive with an SLC cache. Blocks hold so many pages that, in SLC mode, they fill whole word lines of the cells' own mode on all planes, halved
/// twice, too.
constexpr NandConfig consumer(CellType cell, std::uint32_t channels, std::uint32_t chips, std::uint32_t planes, std::uint32_t blocks,
                              std::uint32_t pages_of_chip, Duration read, Duration program, Duration slc_program, std::uint32_t bus_ps_per_byte) {
    NandConfig config;
    config.geometry = {.channels = channels,
                       .chips_per_channel = chips,
                       .dies_per_chip = 1,
                       .planes_per_die = planes,
                       .blocks_per_plane = blocks,
                       .pages_per_block = 4 * pages_of_chip,
                       .page_bytes = 4096,
                       .spare_bytes = 256,
                       .cell = cell};
    config.timing = {.page_read = read, .page_program = program, .block_erase = us(4) * pages_of_chip, .bus_ps_per_byte = bus_ps_per_byte};
    config.modes[0] = {.page_program = slc_program, .page_read = us(30), .endurance_cycles = 40'000};
    config.options.subpages = 4;
    config.options.one_shot = true;
    config.endurance_cycles = cell == CellType::qlc ? 1000 : 3000;
    return config;
}

constexpr NandConfig tiny() {
    NandConfig config;
    config.geometry = {.channels = 2,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 2,
                       .blocks_per_plane = 16,
                       .pages_per_block = 16,
                       .page_bytes = 4096,
                       .spare_bytes = 256,
                       .cell = CellType::slc};
    config.timing = {.page_read = us(25), .page_program = us(200), .block_erase = us(1500)};
    config.factory_bad_per_million = 0;
    return config;
}

constexpr std::string_view modern_source =
    "Orders of magnitude of makers' public fact sheets; not one part. 4 KiB pages and blocks of 256 of them are scaled down from 16 KiB and "
    "several hundred to thousands, so that small devices have enough blocks. Bus 1.2 GB/s (ONFI 4.x NV-DDR3).";

constexpr std::string_view dev_source =
    "Measurements of the SSD-iq study (Haas et al., PVLDB 18, 2025): the program time fits its writes in order, tR its reads at the lowest rate, the "
    "reserve its write amplification at one fill level; the rest are orders of magnitude. `reproduce dev-*` shows what was predicted.";

constexpr std::string_view sold_source =
    "The flash, buffer and firmware that fit Micron's 7450 MAX (see micron-7450-max), with the spare of drives that sell 960 GB of each TiB.";

constexpr std::string_view consumer_source =
    "One sequential fill as techpowerup.com's reviews plot it: the size of the SLC cache, the program time and the time of a request fit its first "
    "two "
    "phases; SLC program times by the makers' data sheets; the rest are orders of magnitude. `reproduce dev-*` shows what was predicted.";

/// 4 GiB, as the drive that mkfs makes unless it is asked for another size.
constexpr NandConfig nvme_tlc() {
    NandConfig config = enterprise_tlc(2, us(52), us(1965));
    config.geometry.blocks_per_plane = 98;
    return config;
}

constexpr std::array presets{
    NandPreset{"nvme-tlc", "a drive like those sold: 16 dies of TLC behind a protected buffer, 13 % spare (default)", sold_source, nvme_tlc()},
    NandPreset{"modern-tlc", "TLC of today as every translation layer can use it, 8 dies of 2 planes (default where --ftl is given)", modern_source,
               NandConfig{}},
    NandPreset{"modern-slc", "low-latency SLC of today", modern_source, modern(CellType::slc, us(5), us(100), us(1000), 50'000)},
    NandPreset{"modern-mlc", "MLC of today", modern_source, modern(CellType::mlc, us(45), us(400), us(3000), 10'000)},
    NandPreset{"modern-qlc", "QLC of today", modern_source, modern(CellType::qlc, us(110), us(2000), us(10'000), 1000)},
    NandPreset{
        "coftl", "the Caching-Oriented FTL paper's device, 16 channels of 8 GB MLC chips",
        "CO, Table II: 2 planes x 4096 blocks x 256 pages x (4 KB + 224 B), program 900 us, read 50 us, erase 3 ms, transfer 10 ns a byte, one "
        "chip a channel. Command time and endurance are not given: none, and 5000 cycles.",
        coftl()},
    NandPreset{
        "k9g8g08u0m", "the hybrid PRAM paper's device, 1 GB MLC, one channel, one way",
        "HY, section 5, and the part's data sheet (2 KB + 64 B pages, 128 pages a block): read 121 us and program 861 us with the transfer, erase "
        "1.5 ms; 362 and 323 us of controller a page give the raw 4.24 and 1.73 MB/s. The CPU moves every page: no page buffers.",
        k9g8g08u0m()},
    NandPreset{
        "dumbo", "the multi-channel paper's device, 4 channels x 8 chips of 1 Gbit SLC",
        "MC: 2 KB + 64 B pages, 64 pages a block, a 16-bit transfer in 50 ns, read busy 27.32 us, program busy 196.37 us, two page buffers a "
        "channel, managers that poll, one serial host interface of 25 MB/s behind the buffers. Its control overheads are not given: 6 us a page and "
        "29 us more to write one are fitted to figures 11 to 14 (tools/reproduce/README.md). Erase and command times: 2 ms as on parts of that size, "
        "and none.",
        dumbo()},
    NandPreset{"slc-64g", "the adaptive partitioning paper's device, 64 GB SLC with 3 % spare",
               "AP, section IV: 2 KB pages, 128 KB blocks, 72.8/252.8/1500 us with the transfer. One plane, as the paper counts times one after the "
               "other; 524,288 blocks and 3 % more.",
               slc_64g()},
    NandPreset{"micron-7450-max", "a drive like Micron's 7450 MAX of 800 GB, a fiftieth of its space: 16 dies of TLC behind a protected buffer",
               dev_source, enterprise_tlc(2, us(52), us(1965))},
    NandPreset{"solidigm-p5520", "a drive like Solidigm's D7-P5520 of 1.92 TB, a hundredth of its space: 32 dies of TLC behind a protected buffer",
               dev_source, enterprise_tlc(4, us(57), us(2870))},
    NandPreset{"samsung-980pro-1t", "a drive like Samsung's 980 Pro of 1 TB, a 64th of its space: 16 dies of TLC, an SLC cache that shrinks",
               consumer_source, consumer(CellType::tlc, 8, 2, 2, 455, 72, us(45), us(845), us(78), 833)},
    NandPreset{"samsung-870qvo-4t", "a drive like Samsung's 870 QVO of 4 TB, a 128th of its space: QLC, an SLC cache that shrinks", consumer_source,
               consumer(CellType::qlc, 8, 2, 2, 512, 128, us(110), us(13'000), us(200), 833)},
    NandPreset{"adata-atom50-1t", "a drive like ADATA's Atom 50 of 1 TB, a 16th of its space: 16 dies of TLC, most of it an SLC cache at first",
               consumer_source, consumer(CellType::tlc, 4, 4, 4, 455, 144, us(50), us(1430), us(175), 625)},
    NandPreset{"lexar-nm800pro-2t", "a drive like Lexar's NM800 Pro of 2 TB, a 16th of its space: 32 dies of TLC, most of it an SLC cache at first",
               consumer_source, consumer(CellType::tlc, 8, 4, 4, 455, 144, us(50), us(2650), us(270), 625)},
    NandPreset{"tiny", "4 MiB for tests and first steps: 2 channels, 64 blocks of 16 pages", "Chosen so that every path is reached soon; SLC times.",
               tiny()},
};

} // namespace

std::span<const NandPreset> nand_presets() { return presets; }

std::optional<NandPreset> find_nand_preset(std::string_view name) {
    const auto at = std::ranges::find(presets, name, &NandPreset::name);
    if (at == presets.end()) return std::nullopt;
    return *at;
}

} // namespace flashlab

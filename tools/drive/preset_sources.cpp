#include "tools/drive/preset_sources.h"

#include <algorithm>
#include <array>

#include "ftl/make_ftl.h"

namespace flashlab {
namespace {

constexpr std::array everywhere{
    NumberSource{"pram.bytes", "computed by mkfs: what the translation layer needs and a 32nd of the capacity for metadata"},
    NumberSource{"pram.write_buffer_bytes", "ours: the write buffer is in DRAM unless asked for"},
    NumberSource{"pram.word_bytes pram.word_read_ns pram.word_write_ns",
                 "ours: byte-addressable memory of today, of the order of Optane DC (Izraelevitz et al., arXiv:1903.05714: reads of 169 to 305 ns)"},
    NumberSource{"ftl.* dftl.* tpftl.* sftl.* leaftl.* learnedftl.* coftl.*",
                 "ours: a setting of the firmware, not a property of the device (docs/configuration.md)"},
    NumberSource{"host_link.ps_per_byte", "ours: 4 GB/s, about PCIe 3.0 x4"},
    NumberSource{"host_link.request_overhead_ns host_link.controller_request_ns host_link.firmware_latency_ns",
                 "ours: a microsecond a request on the link, a controller that keeps up"},
    NumberSource{"host_link.slots", "ours: a host of one queue, none of whose commands waits"},
    NumberSource{"host_link.pipelined", "ours: a request's data cross the link together"},
    NumberSource{"dram.read_ahead", "ours: none unless asked for; no paper speaks of it"},
    NumberSource{"dram.*", "ours: no write buffer unless asked for, as an answered write is then on the flash"},
    NumberSource{"nand.controller_page_read_ns nand.controller_page_program_ns", "none: the controller moves pages by DMA"},
    NumberSource{"nand.lsb_program_ns nand.csb_program_ns nand.msb_program_ns", "none: the source gives one time, the mean over the page types"},
    NumberSource{"nand.slc_* nand.mlc_* nand.tlc_*", "none: the source says nothing of blocks in another mode than the cells' own"},
    NumberSource{"nand.subpages", "ours: a page of the chip is what is mapped"},
    NumberSource{"nand.one_shot", "ours: no source says how the pages of a word line are given"},
    NumberSource{"nand.page_buffers_per_channel", "ours: two, one fills while the other empties"},
    NumberSource{"nand.host_interface_command_ns nand.host_interface_confirm_ns nand.host_interface_ps_per_byte",
                 "none: the host link lies before the controller, see host_link.*"},
    NumberSource{"nand.striping", "ours: a logical page lies on one channel"},
    NumberSource{"nand.stripe_bytes", "ours: what fits a page of the chip stays on one channel"},
    NumberSource{"nand.rain", "ours: no parity unless asked for; drives are sold with rows of 8, 12, 16 and 128 dies"},
    NumberSource{"nand.two_plane", "ours: a choice of the translation layer; page_map and others program several planes together without it"},
    NumberSource{"nand.independent_planes nand.cache_register nand.bus_held_while_sensing",
                 "ours: planes work independently, no cache commands, the controller is interrupted when a page is ready"},
    NumberSource{"nand.spare_on_bus", "ours: transfer times are given for a page's data"},
    NumberSource{"nand.erase_suspends nand.program_suspends nand.suspend_ns nand.resume_ns",
                 "ours: suspends are off unless asked for; a suspend or resume takes microseconds on the parts that have it"},
    NumberSource{"nand.paired_pages", "ours: a choice of the fault model, not a figure of the device"},
    NumberSource{"nand.cell_errors nand.cycles_before nand.ecc_* nand.read_retries nand.retry_gain_permille",
                 "ours: no bit errors unless asked for; their rates Kim, Choi, Min (FAST 2019), the ECC's strength and time as MQSim-JW's"},
    NumberSource{"nand.factory_bad_per_million", "ours: one block in a thousand; data sheets allow up to 2 % over the whole life"},
    NumberSource{"nand.seed", "ours: any number"},
};

constexpr std::string_view modern_geometry = "ours: channels and planes of a small drive of today; 4 KiB pages and blocks of 256 of them are scaled "
                                             "down from 16 KiB and several hundred to thousands, so that small devices have enough blocks";
constexpr std::string_view modern_bus = "ONFI 4.x NV-DDR3 at 1200 MT/s; command cycles of the same order as its data sheets";
constexpr std::string_view geometry_keys = "nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die nand.blocks_per_plane "
                                           "nand.pages_per_block nand.page_bytes nand.spare_bytes";
constexpr std::string_view bus_keys = "nand.command_ns nand.bus_ps_per_byte";
constexpr std::string_view cell_keys = "nand.page_read_ns nand.page_program_ns nand.block_erase_ns";

constexpr std::array modern_tlc{
    NumberSource{geometry_keys, modern_geometry},
    NumberSource{bus_keys, modern_bus},
    NumberSource{cell_keys, "order of magnitude of published parts, e.g. a 64-layer 512 Gb TLC (Kim et al., ISSCC 2017: read 60 us, program 660 us); "
                            "erase as HP's technical white paper on SLC, MLC and TLC, 3 to 4.5 ms"},
    NumberSource{"nand.endurance_cycles", "HP, Solid State Drive Technology, Table 1: TLC 1000 to 3000 cycles"},
};
constexpr std::array modern_slc{
    NumberSource{geometry_keys, modern_geometry},
    NumberSource{bus_keys, modern_bus},
    NumberSource{cell_keys,
                 "order of magnitude of low-latency parts such as Z-NAND (Cheong et al., ISSCC 2018: read 3 us, program 100 us); erase ours"},
    NumberSource{"nand.endurance_cycles",
                 "ours: half of the 100,000 that HP, Solid State Drive Technology, Table 1, gives for SLC, since cells are smaller today"},
};
constexpr std::array modern_mlc{
    NumberSource{geometry_keys, modern_geometry},
    NumberSource{bus_keys, modern_bus},
    NumberSource{cell_keys, "HP, Solid State Drive Technology, Table 1: MLC reads in 50 us, programs in 600 to 900 us, erases in 3 ms; "
                            "three-dimensional cells program faster: 45 and 400 us are ours"},
    NumberSource{"nand.endurance_cycles", "HP, Table 1: MLC 3000 to 5000 cycles in planar cells; twice that in three-dimensional ones is ours"},
};
constexpr std::array modern_qlc{
    NumberSource{geometry_keys, modern_geometry},
    NumberSource{bus_keys, modern_bus},
    NumberSource{cell_keys, "order of magnitude of published parts, e.g. a 64-layer 1 Tb QLC (Lee et al., ISSCC 2018: 12 MB/s a chip, about 2.7 ms "
                            "for a 32 KiB program on two planes); read and erase ours"},
    NumberSource{"nand.endurance_cycles", "ours: the 1000 cycles that makers name for drives"},
};
constexpr std::array coftl{
    NumberSource{"nand.channels", "CO, section IV-B: figures 7 and 8 use 16 channels"},
    NumberSource{"nand.chips_per_channel", "CO, section IV-A: each channel is composed of one chip"},
    NumberSource{"nand.dies_per_chip nand.planes_per_die nand.blocks_per_plane nand.pages_per_block nand.page_bytes nand.spare_bytes",
                 "CO, Table II: 2 planes of 4096 blocks of 256 pages of 4 KB + 224 B; the chip is one die"},
    NumberSource{cell_keys, "CO, Table II: page read 50 us, program 900 us, block erase 3 ms"},
    NumberSource{"nand.bus_ps_per_byte", "CO, Table II: transfer time 10 ns a byte"},
    NumberSource{"nand.command_ns", "not given: none"},
    NumberSource{"nand.endurance_cycles", "not given: 5000, usual for MLC of its time"},
    NumberSource{"ftl.striping", "CO1: a block set has one block on each channel"},
    NumberSource{"ftl.reserved_permille", "CO, section IV-A: 97 % of the storage system was initially stored with data"},
};
constexpr std::array k9g8g08u0m{
    NumberSource{"nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die",
                 "HY, Figure 10: 1 channel, 1 way; one plane, since the paper counts times one after the other"},
    NumberSource{"nand.blocks_per_plane nand.pages_per_block nand.page_bytes nand.spare_bytes",
                 "K9G8G08U0M data sheet: 2 KB + 64 B pages, 128 pages a block, 1 GB"},
    NumberSource{cell_keys, "HY, Table 1: read 121 us and program 861 us a page, transfer included; erase 1.5 ms a block"},
    NumberSource{bus_keys, "in the times of HY, Table 1: none of their own"},
    NumberSource{"nand.controller_page_read_ns nand.controller_page_program_ns",
                 "HY, section 5: raw speed 4.24 and 1.73 MB/s, so 483 and 1184 us a page: 362 and 323 us more than Table 1"},
    NumberSource{"nand.page_buffers_per_channel", "HY, section 5: the CPU moves every page itself"},
    NumberSource{"nand.endurance_cycles", "not given: 5000, usual for MLC of its time"},
    NumberSource{"pram.word_bytes", "HY2: the filter compares words of 2 bytes"},
    NumberSource{"pram.word_read_ns pram.word_write_ns", "HY, Table 1: read 80 ns, write 10 us a word"},
};
constexpr std::array dumbo{
    NumberSource{"nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die nand.blocks_per_plane nand.pages_per_block "
                 "nand.page_bytes nand.spare_bytes",
                 "MC, section 3: 4 channel managers with 8 large-block chips of 1 Gbit: 1024 blocks of 64 pages of 2 KB + 64 B, one plane"},
    NumberSource{"nand.page_read_ns", "MC, Table 2: busy time of a read 27.32 us"},
    NumberSource{
        "nand.page_program_ns",
        "MC, Table 2: busy time of a program 196.37 us; reproduce adds how late the driver notices its end, fitted (tools/reproduce/README.md)"},
    NumberSource{"nand.block_erase_ns", "not given: 2 ms, usual for SLC of that size"},
    NumberSource{"nand.bus_ps_per_byte", "MC, Table 2: 16 bits in 50 ns"},
    NumberSource{"nand.command_ns", "not given: in the busy times"},
    NumberSource{"nand.page_buffers_per_channel", "MC, section 3.2: two page buffers a channel manager"},
    NumberSource{"nand.stripe_bytes", "MC, Figure 7: each channel manager of a group gets an equal part of a request; 128 bytes divide the smallest "
                                      "request, 512, over four"},
    NumberSource{"nand.host_interface_ps_per_byte",
                 "MC, Table 2: host interface 25 MB/s; section 4.2.1: one, serial, behind all channel managers' buffers"},
    NumberSource{"nand.host_interface_command_ns nand.host_interface_confirm_ns",
                 "control overheads (RS, WS; WC) are not given: fitted to the figures quoted from MC, section 5.1 (tools/reproduce/README.md)"},
    NumberSource{"nand.bus_held_while_sensing", "MC, section 3.3: the channel manager polls the chip in the busy phase of a read"},
    NumberSource{"nand.endurance_cycles", "not given: 100,000, usual for SLC of its time"},
    NumberSource{"host_link.ps_per_byte host_link.request_overhead_ns",
                 "none: the host interface lies behind the page buffers, nand.host_interface_*"},
};
constexpr std::array slc_64g{
    NumberSource{"nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die",
                 "AP, section IV-A: not given; one of each, since the paper adds operation times"},
    NumberSource{"nand.blocks_per_plane", "AP, section IV-A: 64 GB, 524,288 blocks; IV-B: 3 % extra blocks"},
    NumberSource{"nand.pages_per_block nand.page_bytes", "AP, Table I, SLC: 2 KB pages, 128 KB blocks"},
    NumberSource{"nand.spare_bytes", "not given: 64 B, usual for pages of 2 KB"},
    NumberSource{cell_keys, "AP, Table I, SLC: 72.8, 252.8 and 1500 us"},
    NumberSource{bus_keys, "in the times of AP, Table I: none of their own"},
    NumberSource{"nand.endurance_cycles", "not given: 100,000, usual for SLC"},
    NumberSource{"ftl.reserved_permille", "AP, section IV-B: 3 % extra blocks with DFTL"},
};
constexpr std::array sold_today{
    NumberSource{"nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die",
                 "ours: dies of 64 GiB and four planes that make the drive's raw capacity, on eight channels"},
    NumberSource{"nand.blocks_per_plane nand.pages_per_block",
                 "ours: 48 pages of the chip a block, 192 blocks a plane; space is scaled, rates are not (docs/fidelity.md)"},
    NumberSource{"nand.page_bytes nand.subpages nand.spare_bytes", "pages of 16 KiB, mapped by 4 KiB, as such drives have them"},
    NumberSource{"nand.one_shot", "TLC of several planes programs a word line at once"},
    NumberSource{"nand.independent_planes", "chips of this kind read their planes independently"},
    NumberSource{"nand.slc_page_program_ns ftl.records_in_slc", "ours: firmware keeps its tables in SLC mode; the time is an order of magnitude"},
    NumberSource{"nand.page_program_ns", "fitted to the writes in order of Haas et al., PVLDB 18, 2025: all dies busy with word lines"},
    NumberSource{"nand.page_read_ns", "fitted to the median read at the lowest rate of Haas et al."},
    NumberSource{"nand.block_erase_ns", "ours: 10 ms for a block of some 2300 pages, a 50th of it for a 48th of the pages"},
    NumberSource{bus_keys, modern_bus},
    NumberSource{"nand.suspend_ns", "fitted to the median read at 100 thousand requests a second of Haas et al."},
    NumberSource{"nand.erase_suspends nand.program_suspends nand.resume_ns", "ours: reads suspend what no host waits for"},
    NumberSource{"nand.endurance_cycles", "ours: of the order that three drive writes a day for five years need"},
    NumberSource{"ftl.reserved_permille", "fitted to one write amplification of random writes of Haas et al."},
    NumberSource{"ftl.scheme", "ours: page_map, a map of 4 KiB pages in DRAM"},
    NumberSource{"dram.write_buffer_bytes dram.destage*", "ours: a buffer that keeps each die busy with one word line"},
    NumberSource{"dram.read_ahead", "ours: what hides 100 us of the flash from the link, in a power of two; no maker says"},
    NumberSource{"dram.protected", "data sheet: power-loss protection"},
    NumberSource{"host_link.ps_per_byte host_link.request_overhead_ns host_link.pipelined", "PCIe 4.0 x4, 7 GB/s"},
    NumberSource{"host_link.controller_request_ns", "fitted to the data sheet's random reads a second, 256 in flight"},
    NumberSource{"host_link.firmware_latency_ns", "fitted to the median write at the lowest rate of Haas et al., less the controller's part"},
};
/// Flash, buffer and firmware of micron-7450-max with its own size and spare.
constexpr auto like_those_sold = [] {
    std::array<NumberSource, 3 + sold_today.size()> rows{
        {{"host_link.controller_request_ns", "ours: a controller that keeps up"},
         {"nand.blocks_per_plane", "ours: 4 GiB; mkfs changes it with --size"},
         {"ftl.reserved_permille",
          "12.7 %, as drives sell 960 GB of each TiB of flash, and what 16 dies hold open at 4 GiB; mkfs changes it with --size, and rates stay"}}};
    std::ranges::copy(sold_today, rows.begin() + 3);
    return rows;
}();
constexpr std::array with_slc_cache{
    NumberSource{
        "nand.channels nand.chips_per_channel nand.dies_per_chip nand.planes_per_die",
        "teardowns: channels of the controller, dies of 512 Gbit (Samsung's of two planes, Micron's of four); 870 QVO: the drive of 4 TB writes as "
        "fast as that of 2 TB, so as many dies work at a time"},
    NumberSource{"nand.blocks_per_plane nand.pages_per_block",
                 "ours: about as many blocks a plane as such dies have; space is scaled by their pages, rates are not (docs/fidelity.md)"},
    NumberSource{"nand.page_bytes nand.subpages nand.spare_bytes", "pages of 16 KiB, mapped by 4 KiB, as such drives have them"},
    NumberSource{"nand.one_shot", "TLC and QLC of several planes program a word line at once"},
    NumberSource{"nand.page_program_ns",
                 "fitted to the second phase of techpowerup.com's fill: all dies busy with word lines. ISSCC papers: 82 MB/s a die "
                 "(Samsung's 128-layer TLC, 2019), 12 MB/s (QLC, 2018)"},
    NumberSource{"nand.slc_page_program_ns", "the makers' data sheets: sequential write into the cache, all dies busy"},
    NumberSource{"nand.slc_page_read_ns nand.slc_endurance_cycles nand.slc_block_erase_ns", "ours: orders of magnitude of cells with one bit"},
    NumberSource{"nand.page_read_ns nand.endurance_cycles", "order of magnitude of published parts"},
    NumberSource{"nand.block_erase_ns", "ours: 10 ms for a block of some 2300 pages, in proportion"},
    NumberSource{bus_keys, modern_bus},
    NumberSource{"ftl.slc_blocks", "Samsung: Intelligent TurboWrite has 6 GB of its own; others: none known"},
    NumberSource{"ftl.slc_dynamic_permille", "fitted to the size of the cache in techpowerup.com's fill; Samsung's data sheets say 108 and 72 GB"},
    NumberSource{"ftl.checkpoint_blocks", "ours: so seldom that checkpoints, which such drives write into SLC, take no time of a few dies"},
    NumberSource{"ftl.fold_page_ns",
                 "fitted to the third phase of the Atom 50, 64 MB/s a channel, and taken for all four; Lexar's was predicted by it"},
    NumberSource{"ftl.reserved_permille", "raw capacity in binary units, sold in decimal ones"},
    NumberSource{"ftl.scheme", "ours: page_map, a map of 4 KiB pages in DRAM, also where the drive has none of its own"},
    NumberSource{"dram.write_buffer_bytes dram.destage*", "ours: a buffer that keeps each die busy with one word line"},
    NumberSource{"dram.read_ahead", "ours: what hides 100 us of the flash from the link, in a power of two; no maker says"},
    NumberSource{"host_link.ps_per_byte host_link.request_overhead_ns host_link.pipelined",
                 "PCIe 4.0 x4, 7 GB/s; SATA, 6 Gbit/s less coding and frames"},
    NumberSource{"host_link.firmware_latency_ns", "fitted to the first phase of techpowerup.com's fill, with requests of 128 KiB one at a time"},
};
constexpr std::array tiny{
    NumberSource{"nand.*", "ours: so small that every path is reached soon, with the times of an SLC part"},
};

struct Rows {
    std::string_view preset;
    std::span<const NumberSource> rows;
};
constexpr std::array all{
    Rows{"", everywhere},
    Rows{"nvme-tlc", like_those_sold},
    Rows{"modern-tlc", modern_tlc},
    Rows{"modern-slc", modern_slc},
    Rows{"modern-mlc", modern_mlc},
    Rows{"modern-qlc", modern_qlc},
    Rows{"coftl", coftl},
    Rows{"k9g8g08u0m", k9g8g08u0m},
    Rows{"dumbo", dumbo},
    Rows{"slc-64g", slc_64g},
    Rows{"tiny", tiny},
    Rows{"micron-7450-max", sold_today},
    Rows{"solidigm-p5520", sold_today},
    Rows{"samsung-980pro-1t", with_slc_cache},
    Rows{"samsung-870qvo-4t", with_slc_cache},
    Rows{"adata-atom50-1t", with_slc_cache},
    Rows{"lexar-nm800pro-2t", with_slc_cache},
};

} // namespace

std::span<const NumberSource> number_sources(std::string_view preset) {
    const auto at = std::ranges::find(all, preset, &Rows::preset);
    return at == all.end() ? std::span<const NumberSource>{} : at->rows;
}

bool names_key(const NumberSource& row, std::string_view key) {
    for (std::size_t at = 0; at < row.keys.size();) {
        const std::size_t end = std::min(row.keys.find(' ', at), row.keys.size());
        const std::string_view name = row.keys.substr(at, end - at);
        if (name == key || (name.ends_with('*') && key.starts_with(name.substr(0, name.size() - 1)))) return true;
        at = end + 1;
    }
    return false;
}

std::string_view source_of(std::string_view preset, std::string_view key) {
    for (const std::string_view of : {preset, std::string_view{}})
        for (const NumberSource& row : number_sources(of))
            if (names_key(row, key)) return row.source;
    const auto declared = declared_options();
    return std::ranges::find(declared, key, &Option::key) == declared.end() ? std::string_view{} : source_of({}, "ftl.scheme");
}

} // namespace flashlab

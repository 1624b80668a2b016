/// Everything that makes one device: plain data, filled by a preset, a TOML file and --set; tools/drive/config_file.h holds the one schema of its
/// keys.
#pragma once

#include <cstdint>
#include <string>

#include "ftl/options.h"
#include "nand/nand_config.h"
#include "pram/pram.h"

namespace flashlab {

/// What all translation layers have, or those on ftl/blocks; what a scheme or policy has besides is in `options`.
struct FtlConfig {
    std::string scheme = "hftl";
    std::uint32_t mapping_unit_pages = 1; ///< HY9: 1, 2 or 4 physical pages a logical page
    std::uint32_t striping = 1;           ///< MC3: S
    std::string allocation = "CWDP";      ///< which units neighbouring pages take, the fastest first: blocks/allocation.h
    std::uint32_t groups = 0;             ///< 0 = as many as keep 64 blocks each
    std::uint32_t reserved_permille = 50; ///< HY7: blocks outside the logical space, of all good blocks (raised to 4 blocks a group)
    std::string victim = "greedy";        ///< which full block is collected: blocks/victim_policies.def
    std::string separation = "none";      ///< which pages share superblocks: blocks/separation_policies.def
    std::uint32_t wear_threshold = 0;     ///< erases by which a block may lag behind the mean before its data move; 0 = no wear levelling
    bool moving_ring = false;             ///< the ring of checkpoints and journal moves to less worn blocks when wear is levelled; coftl's stays
    std::uint32_t scrub_retries = 0;      ///< of one read, after which its block is written anew; 0 = whatever they are
    std::uint32_t scrub_days = 0;         ///< after which data are written anew; 0 = never
    std::uint32_t gc_slice_us = 2000;     ///< background copies are issued in slices of at most this much of one plane
    OptionSet options;                    ///< that a scheme, a policy or an arbiter declares
};

struct HostLinkConfig {
    std::uint32_t ps_per_byte = 250; ///< 4 GB/s
    Duration request_overhead{1000}; ///< on the link, for each request
    bool pipelined = false;          ///< a page crosses the link while others are still sensed, or wait to be programmed; false: all at once
    Duration controller_request{0};  ///< controller CPU for each request, after the link; serial
    Duration firmware_latency{0};    ///< until a request is understood, beside others; after the CPU
    std::uint32_t slots = 0;         ///< commands that are fetched from queues and not yet answered, at most; 0: any number
    std::string arbiter = "fifo";    ///< whose command takes a free slot: host/arbiters.def
};

/// The drive's DRAM: write buffer and mapping cache share it, or each has its own size (here and in the scheme's options).
struct DramConfig {
    std::uint64_t size_bytes = 0;                  ///< budget of both; 0 = no limit, and no partition
    std::string partition = "curve";               ///< of the budget, where there is one: curve, ghost, static, or none (sizes as given)
    std::uint32_t map_share_permille = 500;        ///< AP6: of the maps, fixed tables included; where curve and ghost begin
    std::uint32_t tune_interval = 0;               ///< AP3: requests between decisions; 0 = 1000, ghost on fast 10 000
    std::uint32_t tune_units = 1;                  ///< AP3: times the ratio of the benefits, that move at a decision
    std::uint32_t ghost_floor_permille = 500;      ///< AP3: hits that a ghost without a hit counts
    std::uint64_t ghost_bitmap_bytes = 128u << 10; ///< AP2
    std::uint32_t ghost_reach_permille = 0;        ///< AP2: of size_bytes, that a ghost stands for at most; 0 = the scheme's, 30
    std::uint64_t write_buffer_bytes = 0;          ///< AP1; 0 = none: a write is answered when it is programmed
    std::uint64_t pram_buffer_bytes = 0;           ///< AP7: the write buffer lies in PRAM, and so much of it; 0 = in DRAM
    std::uint64_t read_ahead_bytes = 0;            ///< of each run of reads in order, beside size_bytes; 0: nothing is read before it is asked for
    bool is_protected = false;                     ///< capacitors: at a power cut the buffer is programmed before the lights go out
    std::string destage = "full";                  ///< when the write buffer is programmed: full, or ahead
    std::uint32_t destage_lines = 0;               ///< ahead: lines under way at once; 0 = one a die
    std::uint32_t destage_from_permille = 250;     ///< ahead: of the buffer, that stay in it
    std::uint32_t throttle_from_permille = 1000;   ///< ahead: of the buffer; once more is taken, newcomers wait
    Duration throttle{0};                          ///< ahead: the longest such wait, in a full buffer
    [[nodiscard]] bool destages_ahead() const { return destage == "ahead" && write_buffer_bytes != 0; }
    [[nodiscard]] bool is_partitioned() const { return size_bytes != 0 && partition != "none"; }
    [[nodiscard]] bool is_adaptive() const { return size_bytes != 0 && (partition == "curve" || partition == "ghost"); }
};

/// Where the parts of the PRAM lie; computed by mkfs, ftl/FORMAT.md and fs/FORMAT.md describe the content.
struct PramLayout {
    std::uint64_t ftl_at = 0, ftl_bytes = 0; ///< FTL's redo log, then its tables
    std::uint64_t fs_at = 0, fs_bytes = 0;   ///< FS' superblock, redo log, bitmaps, nodes
};

struct SsdConfig {
    std::string preset = "modern-tlc";
    NandConfig nand;
    PramConfig pram;
    FtlConfig ftl;
    HostLinkConfig host_link;
    DramConfig dram;
};

} // namespace flashlab

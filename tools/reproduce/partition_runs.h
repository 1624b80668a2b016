/// The drive of the adaptive partitioning paper under its loads. One run gives one point of the paper's figures.
///
/// Idea       For each translation layer a drive is filled once: every logical page is written, in order. Each run takes over that drive with a DRAM
///            of its own, in a process of its own, and counts what the load costs the flash. The paper's operation time is the sum of the times of
///            all NAND operations. Before it is read all debts are paid, for every share alike: the buffer is flushed, and the maps shrink to the
///            least, so that dirty entries are written and log blocks merged. What lies there at the end would cost nothing otherwise, and a share
///            would look the better, the more it puts off.
/// Invariant  The same settings give the same result. Results are kept, because figures share points.
/// Cost       Full: about 10 s and 0.7 GB to fill a drive; a run 1 to 15 s.
/// Source     Shim et al. 2010, section IV; device: preset slc-64g.
#pragma once

#include <array>
#include <expected>
#include <string>
#include <vector>

#include "tools/reproduce/experiment.h"

namespace flashlab {

enum class PartitionKind : std::uint8_t {
    static_share,
    adaptive, ///< dram.partition=curve
    ghost,    ///< as published
    separate,
};

struct PartitionSetting {
    std::string ftl;      ///< dftl, fast or coftl
    std::string workload; ///< of tools/workloads; "a+b": phases of a and b in turn
    PartitionKind kind = PartitionKind::adaptive;
    std::uint64_t dram_bytes = 0;                  ///< unscaled, as the paper says it
    std::uint32_t map_permille = 500;              ///< static: the share; adaptive: where it begins
    std::uint64_t buffer_bytes = 0, map_bytes = 0; ///< separate (figure 2), unscaled
    std::uint32_t floor_permille = 500;            ///< adaptive: what a ghost without a hit counts, in thousandths of a hit
    std::uint32_t tune_units = 0;                  ///< 0: as the experiment's set-up says
    std::uint32_t interval = 0;                    ///< 0: the scheme's
    std::uint64_t bitmap_bytes = 0;                ///< adaptive: bitmap of the ghost mapping cache; 0: the paper's size
    std::uint32_t reach_permille = 0;              ///< adaptive: part of the DRAM that a ghost stands for at most; 0: the scheme's value
    bool tables_in_share = false; ///< true: tables that always lie in DRAM count in dram_bytes and in the share; false: they come on top
    friend auto operator<=>(const PartitionSetting&, const PartitionSetting&) = default;
};

inline constexpr std::size_t partition_periods = 40; ///< parts of a run, for throughput over time

/// Plain data, because it comes through a pipe.
struct PartitionResult {
    double operation_s = 0; ///< sum of the times of all NAND operations
    double mean_map_share = 0;
    double flash_reads = 0, flash_writes = 0, erases = 0;
    double page_copies = 0;                             ///< valid pages that collections or merges copied
    double buffer_read_hits = 0, buffer_write_hits = 0; ///< ratios
    double map_read_hits = 0, map_write_hits = 0;       ///< ratios; dftl
    double log_write_hits = 0;                          ///< ratio of written pages whose older version lay in a log block; fast
    double debts_s = 0;                                 ///< of operation_s: what the load left to be written or merged
    std::array<double, partition_periods> period_s{};   ///< operation time, without the debts
    std::array<double, partition_periods> period_share{};
};

/// The results, in the order of the settings.
[[nodiscard]] std::expected<std::vector<PartitionResult>, std::string> run_partitions(const std::vector<PartitionSetting>& settings,
                                                                                      const RunContext& context);

/// Both are for the report: where the loads came from, and what the paper leaves open.
[[nodiscard]] std::expected<std::vector<ReproducedLoad>, std::string> partition_load_sources(const std::vector<std::string>& workloads,
                                                                                             const RunContext& context);
[[nodiscard]] std::vector<FreeParameter> partition_free_parameters();

} // namespace flashlab

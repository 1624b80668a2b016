/// What measures each figure, and the experiments beyond the papers. experiment.cpp lists them with their titles.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

// Figures 7 to 9 of Chang et al. (COFTL), their section IV.
[[nodiscard]] ExperimentRun::Result run_co_fig7(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_co_fig8(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_co_fig9(const RunContext& context);

// Figures 11 to 15 of Kang et al. 2007 (DUMBO), raw level, their section 5.1.
[[nodiscard]] ExperimentRun::Result run_mc_fig11(RunLength length);
[[nodiscard]] ExperimentRun::Result run_mc_fig12(RunLength length);
[[nodiscard]] ExperimentRun::Result run_mc_fig13(RunLength length);
[[nodiscard]] ExperimentRun::Result run_mc_fig14(RunLength length);
[[nodiscard]] ExperimentRun::Result run_mc_fig15(RunLength length);

/// Figure 16 of Kang et al. 2007 (DUMBO): what an application sees through Linux and the log-block translation layer.
[[nodiscard]] ExperimentRun::Result run_mc_fig16(RunLength length);

/// MB/s of asynchronous writes when the driver's two threads compete for the CPU. So many percent of the completions of each group, evenly spread,
/// are noticed only when the busy wait of the other group is over.
[[nodiscard]] std::expected<double, std::string> dumbo_write_competing(RunLength length, std::uint32_t percent_of_completions);

// Figures 3, 9, 13 and 14 of Kim et al. 2008: the effect of files that are created and deleted on metadata, collections and erases, and how much
// PRAM the system needs.
[[nodiscard]] ExperimentRun::Result run_hy_fig3(RunLength length);
[[nodiscard]] ExperimentRun::Result run_hy_fig9(RunLength length);
[[nodiscard]] ExperimentRun::Result run_hy_fig13(RunLength length);
[[nodiscard]] ExperimentRun::Result run_hy_fig14(RunLength length);
/// The records of the files and the share of small ones, varied.
[[nodiscard]] ExperimentRun::Result run_beyond_files(RunLength length);

/// Figure 11 of Kim et al. 2008: what the translation layers reach without a file system.
[[nodiscard]] ExperimentRun::Result run_hy_fig11(RunLength length);

/// Figure 12 of Kim et al. 2008: IOZone's patterns through the file system, on the paper's four systems.
[[nodiscard]] ExperimentRun::Result run_hy_fig12(RunLength length);

// Figures 2 and 4 to 10 of the adaptive partitioning paper: which share of the DRAM is best, and whether ghost caches find it.
[[nodiscard]] ExperimentRun::Result run_ap_fig2(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig4(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig5(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig6(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig7(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig8(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig9(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_ap_fig10(const RunContext& context);

// The maps that lie on flash, each against those that its paper compares it with: Zhou et al. (TPFTL), Sun et al. (LeaFTL), Wang et al. (LearnedFTL).
[[nodiscard]] ExperimentRun::Result run_maps_tpftl(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_maps_leaftl(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_maps_learnedftl(const RunContext& context);

// Beyond the papers: all translation layers on one device.
[[nodiscard]] ExperimentRun::Result run_beyond_ftls(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_recovery(const RunContext& context);
/// The maps that lie on flash, and the one in DRAM, with equal DRAM: dftl, tpftl, sftl, leaftl, learnedftl, page_map.
[[nodiscard]] ExperimentRun::Result run_beyond_maps(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_groups(const RunContext& context);

// Beyond the COFTL paper: what its gain over BL consists of, and what the chips' two-plane commands and the mirrored log do to it.
/// Figure 9 with each part taken away from COFTL and from BL with the same DRAM: spare sets, cache, requests in flight, hot set.
[[nodiscard]] ExperimentRun::Result run_beyond_coftl_parts(const RunContext& context);
/// Figure 9 on chips whose planes take turns, with two-plane commands and without; and with the log written twice.
[[nodiscard]] ExperimentRun::Result run_beyond_coftl_chips(const RunContext& context);

// Adaptive partitioning beyond its paper: a load of changing phases, COFTL, other values of what the paper leaves open, and the causes of claims
// that fail.
[[nodiscard]] ExperimentRun::Result run_beyond_phases(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_coftl_partition(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_sensitivity(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_causes(const RunContext& context);

/// Adaptive partitioning's device with its write buffer in PRAM, which its paper names as a way out of power failures (AP7) and does not measure.
[[nodiscard]] ExperimentRun::Result run_beyond_pram_buffer(const RunContext& context);

/// The hybrid paper's future work (HY4): two buffer blocks, so that hot and cold data do not share a block.
[[nodiscard]] ExperimentRun::Result run_beyond_frontiers(const RunContext& context);

/// Placement handles (NVMe FDP): why they bring one load's write amplification to 1 and another's half of the way.
[[nodiscard]] ExperimentRun::Result run_beyond_handles(const RunContext& context);

// Drives that can be bought: their loads, and what was measured on them (drive_values.h).
[[nodiscard]] ExperimentRun::Result run_dev_micron_7450(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_dev_solidigm_p5520(const RunContext& context);
/// The same of drives with an SLC cache: one sequential fill.
[[nodiscard]] ExperimentRun::Result run_dev_samsung_980pro(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_dev_samsung_870qvo(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_dev_adata_atom50(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_dev_lexar_nm800pro(const RunContext& context);

/// Variations of the model's overheads: what a cost does to a claim when it is charged in another way. They explain why the DUMBO driver's cost is
/// charged as it is, and why a claim of the hybrid paper fails.
[[nodiscard]] ExperimentRun::Result run_beyond_overheads(RunLength length);

} // namespace flashlab

/// The static curve and the adaptive point of every load, on one translation layer.
///
/// Idea       A run measures seven static shares, and two more beside the best of them. Then comes the adaptive partition, which begins at
///            one half.
/// Cost       See partition_runs.h. Figures that show the same sweep share it.
#pragma once

#include <functional>

#include "tools/reproduce/partition_runs.h"

namespace flashlab {

struct PartitionLoad {
    const char* name;  ///< of tools/workloads
    const char* title; ///< of the paper
};
inline constexpr std::array partition_loads{PartitionLoad{"sysmark", "SYSmark"}, PartitionLoad{"financial", "Financial"}, PartitionLoad{"pc", "PC"},
                                            PartitionLoad{"tpcc", "TPC-C"}};
inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

struct PartitionCurve {
    PartitionLoad load{};
    std::uint64_t dram_mib = 0;
    std::vector<PartitionResult> fixed; ///< static, by share
    PartitionResult adaptive;

    [[nodiscard]] const PartitionResult& best() const;
    [[nodiscard]] const PartitionResult& worst() const;
    /// The static share of 50 %: where the adaptive partition begins, had it never moved.
    [[nodiscard]] const PartitionResult& stays() const;
};

struct PartitionCase {
    PartitionLoad load{};
    std::uint64_t dram_mib = 0;
};
/// A case for every load with each of these DRAM sizes.
[[nodiscard]] std::vector<PartitionCase> partition_cases(const std::vector<std::uint64_t>& dram_mib);

/// Curves in the order of the cases.
[[nodiscard]] std::expected<std::vector<PartitionCurve>, std::string>
sweep_partitions(const std::string& ftl, const std::vector<PartitionCase>& cases, const RunContext& context);
[[nodiscard]] PartitionSetting static_setting(const std::string& ftl, const PartitionCase& of, std::uint32_t permille);
/// The adaptive setting of a case, as in the paper.
[[nodiscard]] PartitionSetting adaptive_setting(const std::string& ftl, const PartitionCase& of);

/// Operation time of the second half of the run, and of the debts at its end. The adaptive partition begins at one half of the DRAM and finds its
/// share in the first half of the run.
[[nodiscard]] double late_seconds(const PartitionResult& result);

[[nodiscard]] constexpr double percent(double share) { return share * 100; }
/// One series of all static points and one of the adaptive point, over the map share.
void plot_curve(Reproduction& out, const std::string& ftl, const PartitionCurve& curve, const std::string& what,
                const std::function<double(const PartitionResult&)>& y);
/// A point of its own for the partition that stays at 50 %.
void plot_stays(Reproduction& out, const std::string& ftl, const PartitionCurve& curve, const std::string& what, double y);
/// Adds to `out` where the loads came from, and what the paper leaves open.
[[nodiscard]] std::expected<Reproduction, std::string> with_partition_setup(Reproduction out, const std::vector<std::string>& workloads,
                                                                            const RunContext& context);

} // namespace flashlab

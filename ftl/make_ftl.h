/// The one place that knows every scheme by name.
#pragma once

#include <span>

#include "ftl/scheme.h"

namespace flashlab {

/// Those of ftl/schemes.def, in the order of the documentation. Help, tests, and the log's texts are made of this list.
[[nodiscard]] std::span<const Scheme* const> schemes();
[[nodiscard]] std::vector<std::string> all_schemes();
/// Of the list, or admitted (ftl/admit_scheme.h). The error lists those there are.
[[nodiscard]] std::expected<const Scheme*, std::string> find_scheme(std::string_view name);

/// Those of the list, then the admitted ones.
[[nodiscard]] std::vector<const Scheme*> every_scheme();
/// What schemes and policies declare, each option once; those of admitted schemes last.
[[nodiscard]] std::vector<const Option*> declared_options();
/// What its scheme counts besides FtlCounters.
[[nodiscard]] CounterValues own_counters(const Ftl& ftl);

/// `geometry` is that of the chips; the scheme plans for what the array shows of it (config.nand.striping).
[[nodiscard]] std::expected<FtlPlan, std::string> plan_ftl(const SsdConfig& config, const Geometry& geometry);

/// `pram_range` is the FTL's part of the PRAM (plan.pram_bytes); pram may be null for schemes that need none.
[[nodiscard]] std::expected<std::unique_ptr<Ftl>, std::string> make_ftl(const SsdConfig& config, NandArray& array, Pram* pram, PramRange pram_range,
                                                                        EventSink& events);

/// What the scheme's entry tells of `ftl`, which make_ftl() has made of this configuration and array.
[[nodiscard]] WriteMemory write_memory_of(const SsdConfig& config, const NandArray& array, const Ftl& ftl);

} // namespace flashlab

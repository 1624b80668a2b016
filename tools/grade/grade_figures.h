/// What a translation layer costs, in numbers: write amplification, simulated speed, recovery, memory.
///
/// Idea       Four loads on one drive in memory, filled before; a drive that is cut and started again; the scheme's heap, weighed when it ends.
///            All schemes get the same drives, so two sets of figures compare.
/// Invariant  All but ram_bytes and cpu_ns depend on scheme and seed alone. ram_bytes is of the host's allocator, cpu_ns of its processor.
/// Cost       About two seconds and 200 MB for a page-mapping scheme: payload is kept, so that maps on flash are on flash.
/// Power cut  measure_recovery() makes them.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

struct LoadFigures {
    std::string name; ///< sequential, random, skewed, mixed
    double waf = 0;   ///< pages programmed, for whatever cause, a page written
    double iops = 0;  ///< simulated
    double p99_us = 0;
    double cpu_ns = 0; ///< of the host, a request
};

struct GradeFigures {
    std::vector<LoadFigures> loads;
    std::uint64_t logical_pages = 0;
    std::uint64_t ram_bytes = 0; ///< on the host's heap after the loads
    std::uint64_t pram_bytes = 0;
    std::uint64_t spare_blocks = 0;
    double recovery_us_mean = 0, recovery_us_max = 0; ///< simulated, after power cuts
    double clean_start_us = 0;
    std::uint64_t pages_scanned_max = 0;

    [[nodiscard]] double waf() const;        ///< geometric mean of random, skewed and mixed
    [[nodiscard]] double iops() const;       ///< geometric mean of all loads
    [[nodiscard]] double ram_a_page() const; ///< PRAM included: it holds what else would be in RAM
    [[nodiscard]] Json to_json() const;
    [[nodiscard]] static GradeFigures of_json(const Json& json);
};

/// The error says why the scheme refuses the drive, or what failed.
[[nodiscard]] std::expected<GradeFigures, std::string> measure_scheme(const std::string& scheme, std::uint64_t seed);

} // namespace flashlab

/// Test protocols by name: what reviewers run on a drive, round after round until it is steady.
///
/// Idea       Rounds of cells, each a load for a time; random writes alone go on for a quarter of the drive's bytes. One cell is tracked: the drive
///            is steady when its values of five rounds lie within 20 % of their mean, and a line through them within 10 %. Where random writes are
///            all of the load, the drive has settled as well (steady_state.h). What is reported are the means of these rounds.
/// Invariant  A drive that did not become steady in 25 rounds (40 where random writes are all) is reported with its last five, and why it did not.
/// Cost       snia-pts-iops 56 cells a round: some ten million requests at the usual time of a cell.
/// Source     SNIA, Solid State Storage Performance Test Specification (PTS) Enterprise 1.1 and 2.0.2; Haas, Lee, Bonnet, Leis, "SSD-iq", PVLDB 18,
///            2025. PTS measures each cell for a minute: a model whose space is scaled down needs no more than a share of it.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "tools/run/timed_load.h"

namespace flashlab {

inline constexpr Duration usual_cell{100'000'000}; ///< how long a cell is measured

[[nodiscard]] std::span<const std::string_view> protocol_names();

/// Told the rounds that are done.
using ProtocolProgress = std::function<void(std::uint64_t rounds)>;

/// On a drive that holds nothing. The object says: protocol, cell_seconds and cell_bytes (a cell takes so long and writes so much at least), rounds,
/// steady {reached, why_not, first_round, last_round, tracked, mean, excursion, excursion_at_most, slope, slope_at_most, overwritten,
/// overwritten_at_least}, tracked (its value in each round), cells, one object each, and by_round, one object each: seconds and drive_fills since
/// the drive was filled at the round's end, and of each value of a cell a list, cell by cell.
[[nodiscard]] std::expected<Json, std::string> run_protocol(std::string_view name, const RunSpace& space, Duration cell, std::uint64_t seed,
                                                            const ProtocolProgress& progress = {});

} // namespace flashlab

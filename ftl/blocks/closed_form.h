/// What greedy collection costs by the closed form: no simulation, no constant of this implementation.
///
/// Idea       Uniform random writes over a full drive, the block with fewest valid pages collected first; all spare takes part, one block is written
///            at a time.
/// Invariant  Falls as the spare grows; 1 is its limit.
/// Cost       Fifty steps of Newton's method; for mkfs, info and tests.
/// Power cut  Keeps nothing.
/// Source     Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012.
#pragma once

namespace flashlab {

/// Lambert's W, principal branch, for -1/e < x < 0.
[[nodiscard]] double lambert_w(double x);

/// Write amplification of greedy collection. `alpha`: physical over logical pages, more than 1.
[[nodiscard]] double greedy_amplification(double alpha, double pages_per_block);

} // namespace flashlab

/// What is on a drive before a run: it is filled, and overwritten at random.
///
/// Idea       The fill is written in order. Of the random part only those writes are made whose effect is still to be seen at the end. Where it is
///            known how much of its past a scheme remembers, a short load with the same effect replaces the long one (aged_history.h). A small part
///            of the real load follows it.
/// Invariant  Every write goes through the drive, so maps, journals and checkpoints are those of written data, and check() succeeds. No
///            preconditioning counts in a report. Where bytes are kept, zeros are written: an image then holds little more than its records.
/// Cost       quick: one pass over the flash at most, however large the random part is, and a fraction of a pass for schemes with logs. written:
///            every write of the load.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "tools/run/run_loop.h"

namespace flashlab {

enum class Ageing : std::uint8_t { quick, written };

struct Precondition {
    std::uint32_t fill_percent = 0;
    double random_fills = 0; ///< times the filled bytes, overwritten at random
    Ageing ageing = Ageing::quick;
    Duration shelf{0}; ///< then the drive lies without power
};
/// "fill:90,random:2x", "90", "0.9,random", "fill:100,random:3x,written", "fill:100,age:30d"; nothing is an empty drive.
[[nodiscard]] std::expected<Precondition, std::string> parse_precondition(const std::string& text);
/// False, and why, where a part of it would change nothing on this drive.
[[nodiscard]] std::expected<void, std::string> check_precondition(const Precondition& what, const SsdConfig& drive);
/// Told now and then how many requests have been written.
using PreconditionProgress = std::function<void(std::uint64_t)>;
/// For the one before a load of this seed: with equal draws the load would begin with the pages that were written last.
[[nodiscard]] constexpr std::uint64_t precondition_seed(std::uint64_t seed_of_load) { return seed_of_load ^ 0x666f7265'72756e73u; }
/// When it is done.
[[nodiscard]] std::expected<SimTime, std::string> precondition(const RunSpace& space, const Precondition& what, std::uint64_t seed, SimTime now,
                                                               const PreconditionProgress& progress = {});

} // namespace flashlab

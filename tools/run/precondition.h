/// What is on a drive before a run: filled, and overwritten at random.
///
/// Idea       The fill is written in order. Of the random part only what leaves a trace is written: where it is known how much of its past a scheme remembers,
///            a short load of the same effect takes the place of the long one (aged_history.h), and a little of the real one closes it.
/// Invariant  Every write goes through the drive: maps, journals and checkpoints are those of written data, check() holds. Nothing of it counts in a report.
///            Where bytes are kept it writes zeros: an image stays as small as its records.
/// Cost       quick: one pass over the flash at most, whatever random says, and a fraction of it for schemes with logs. written: every write.
#pragma once

#include <expected>
#include <string>

#include "tools/run/run_loop.h"

namespace flashlab {

enum class Ageing : std::uint8_t { quick, written };

struct Precondition {
    std::uint32_t fill_percent = 0;
    double random_fills = 0;   ///< times the filled bytes, overwritten at random
    Ageing ageing = Ageing::quick;
};
/// "fill:90,random:2x", "90", "0.9,random", "fill:100,random:3x,written"; nothing is an empty drive.
[[nodiscard]] std::expected<Precondition, std::string> parse_precondition(const std::string& text);
/// When it is done.
[[nodiscard]] std::expected<SimTime, std::string> precondition(const RunSpace& space, const Precondition& what, std::uint64_t seed, SimTime now);

} // namespace flashlab

/// Deliberate defects, each of a kind that real devices have had. The harness is good when it finds every one.
///
/// Idea       A bug is a Sabotage between the parts of an otherwise right device. It answers too early, ignores an order, believes damaged data, or
///            loses, mixes or misplaces data. hunt() explores with it until something is found.
/// Invariant  The schemes themselves contain no switch. Without a sabotage the same exploration finds nothing (the tests show both).
/// Cost       An exploration a bug, most of them over after a few hundred states.
/// Power cut  See explorer.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crash/explore_report.h"
#include "crash/judges.h"
#include "crash/sabotage.h"

namespace flashlab {

struct SeededBug {
    /// What a scheme must have so that the bug breaks one of its promises.
    enum class Needs : std::uint8_t { nothing, pram, volatile_cache, no_volatile_cache };
    std::string_view name;
    std::string_view what;
    std::function<std::unique_ptr<Sabotage>()> make;
    Needs needs = Needs::nothing;
    std::string_view level = "scheme";
    Judge judge = Judge::contents; ///< who must see it
    std::string_view schemes{};    ///< empty: each; else the names of those that it can harm, with blanks between
    std::string_view devices{};    ///< empty: first every cut on chip-slc, then drawn ones on all devices; else drawn ones on these
};

[[nodiscard]] const std::vector<SeededBug>& seeded_bugs();
/// Orders and looks that only some devices or judges bring to light; part of seeded_bugs().
[[nodiscard]] std::vector<SeededBug> seeded_orderings();
/// Of maps that are learned; part of seeded_bugs().
[[nodiscard]] std::vector<SeededBug> seeded_map_bugs();
/// Of what drives of today have; part of seeded_bugs().
[[nodiscard]] std::vector<SeededBug> seeded_drive_bugs();

/// The first violation that was found; none: the bug was not noticed.
struct Hunt {
    std::optional<Violation> found;
    std::uint64_t states = 0;
};
/// The error says why the scheme has no such device.
[[nodiscard]] std::expected<Hunt, std::string> hunt(const SeededBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed,
                                                    JudgeSet judges = {});
/// False: the bug would break nothing that this scheme promises.
[[nodiscard]] bool applies(const SeededBug& bug, const std::string& scheme);
/// Those who see the bug, in the order in which they do: the first is left out and the hunt repeated, until nobody sees it.
/// A judge that reports nothing itself (T5) is one of them if nobody sees the bug without it.
[[nodiscard]] std::vector<Judge> seen_by(const SeededBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed);

} // namespace flashlab

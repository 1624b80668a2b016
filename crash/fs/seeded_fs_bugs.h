/// Deliberate defects of the whole stack: of the file system, its write-back, its journal, and of what fsck must find.
///
/// Idea       A bug is a FsSabotage between the parts of a right stack. hunt() explores with it, as `crash explore --metadata` does, until something
///            is found.
/// Invariant  The parts contain no switch. Without a sabotage the same exploration finds nothing (the tests show both).
/// Cost       An exploration a bug, most of them over after some ten states.
/// Power cut  See fs_explorer.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crash/fs/fs_explorer.h"
#include "crash/fs/fs_sabotage.h"

namespace flashlab {

struct SeededFsBug {
    /// The stack on which it breaks a promise.
    enum class On : std::uint8_t { pram, journal, buffered, buffered_journal };
    std::string_view name;
    std::string_view what;
    std::function<std::unique_ptr<FsSabotage>()> make;
    std::string_view level;
    Judge judge;
    On on = On::pram;
};

[[nodiscard]] const std::vector<SeededFsBug>& seeded_fs_bugs();
/// What a wrong recovery may leave in the metadata; part of seeded_fs_bugs().
[[nodiscard]] std::vector<SeededFsBug> seeded_fsck_bugs();
/// What a journal may do wrongly; part of seeded_fs_bugs().
[[nodiscard]] std::vector<SeededFsBug> seeded_journal_bugs();
/// What a file system may show wrongly by little; part of seeded_fs_bugs().
[[nodiscard]] std::vector<SeededFsBug> seeded_view_bugs();

/// The first violation that was found; none: the bug was not noticed.
struct FsHunt {
    std::optional<FsViolation> found;
    std::uint64_t states = 0;
    std::string scheme; ///< above which it was hunted
};
/// Above `scheme`; empty: above the one that suits the bug.
[[nodiscard]] FsHunt hunt(const SeededFsBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed, JudgeSet judges = {});
/// Those who see the bug: the first is left out and the hunt repeated, until nobody sees it.
[[nodiscard]] std::vector<Judge> seen_by(const SeededFsBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed);

} // namespace flashlab

/// Who looks at a device after a cut, by name: so that each judge can be shown to be needed.
///
/// Idea       A judge is one question that is asked of every state. All are asked; a set without one of them exists only for the tests of the
///            judges and for `crash selftest`, which must then miss a seeded defect.
/// Invariant  JudgeSet{} is all of them. Nothing below reads a set from anywhere but its caller: no global, no environment, no command line.
/// Cost       A bit test a question.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab {

enum class Judge : std::uint8_t {
    running,       ///< requests before any cut are answered, and read what was written
    recovery,      ///< the device starts again, and no promise between its parts is broken
    contents,      ///< every page shows a version that C1 to C4 allow, without EIO (C9)
    check,         ///< the scheme's own check()
    writing_on,    ///< the recovered device is written to, flushed, checked and read (C7, C8)
    second_cut,    ///< what was read after one cut is still there after a cut of the recovery (C6)
    looks_erased,  ///< T5 is among the outcomes
    endurance,     ///< cuts in a row on one image (C7)
    tree,          ///< names and attributes are some prefix of what was done (C10)
    names,         ///< the prefix is as long as what was answered or synced (C11)
    fsync,         ///< what a sync covered is there (C12, C14)
    file_contents, ///< files show written bytes or zeros (C13)
    fsck,          ///< all that fsck finds but the next two
    free_pages,    ///< fsck: pages that are free are not valid in the drive (C15)
    st_blocks,     ///< fsck: an inode counts the pages that it has (C15)
    drive_check,   ///< the drive's own check() below a file system
    space,         ///< inodes and pages add up (C15)
};

inline constexpr std::array<std::string_view, 17> judge_names{"running",      "recovery",   "contents",  "check",       "writing_on", "second_cut",
                                                              "looks_erased", "endurance",  "tree",      "names",       "fsync",      "file_contents",
                                                              "fsck",         "free_pages", "st_blocks", "drive_check", "space"};
[[nodiscard]] constexpr std::string_view name_of(Judge judge) { return judge_names[static_cast<std::size_t>(judge)]; }

class JudgeSet {
public:
    constexpr JudgeSet() = default;
    [[nodiscard]] constexpr JudgeSet without(Judge judge) const {
        JudgeSet fewer = *this;
        fewer.absent_ |= bit(judge);
        return fewer;
    }
    [[nodiscard]] constexpr bool has(Judge judge) const { return (absent_ & bit(judge)) == 0; }

private:
    static constexpr std::uint32_t bit(Judge judge) { return 1u << static_cast<unsigned>(judge); }
    std::uint32_t absent_ = 0;
};

/// What a judge found.
struct Finding {
    Judge judge;
    std::string what;
};
using Verdict = std::optional<Finding>; ///< none: nothing is wrong

} // namespace flashlab

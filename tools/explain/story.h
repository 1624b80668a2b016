/// A few requests on a tiny drive, told step by step: what the scheme looked up, copied, merged, erased, and how the flash looks afterwards.
///
/// Idea       The drive is a real one, of the explorer's kind, with an event sink that writes sentences and follows the picture.
/// Invariant  Same script, scheme and seed: same story. Every flash operation is in it, so its totals are the drive's counters.
/// Cost       A drive of some tens of blocks; a step is as fast as its operations.
/// Power cut  A step of the story: what is in flight tears as the seed says, and the recovery is told, too.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "tools/explain/flash_picture.h"
#include "tools/text/json.h"

namespace flashlab {

class CrashDevice;

/// What happened until a step, in all.
struct StoryTotals {
    std::uint64_t host_pages = 0; ///< written
    std::uint64_t nand_reads = 0, nand_programs = 0, nand_erases = 0;
    std::uint64_t copies = 0; ///< programs of collections, merges and levelling
    std::uint64_t merges_switch = 0, merges_partial = 0, merges_full = 0, collections = 0;
    std::uint64_t pram_words = 0;
};

struct StoryFrame {
    std::string title;              ///< what the host asked for
    std::vector<std::string> lines; ///< what the drive did, a sentence each
    std::vector<BlockPicture> blocks;
    StoryTotals totals;
};

struct StoryOptions {
    std::string scheme = "page_map";
    std::uint32_t blocks = 8, pages_per_block = 4; ///< at least so many blocks: a scheme that needs more gets more
    std::uint64_t seed = 1;                        ///< of what a power cut leaves
    bool levels_wear = false;
    std::string until{};      ///< the story ends with the step of the first collection, merge or cut; empty: with the script
    bool folds_pages = false; ///< pages behind the drive's last begin again at 0; else they are refused
    /// After each frame for which the drive is on: a test compares the picture with the flash.
    std::function<void(CrashDevice& device, const StoryFrame& frame)> look{};
};

struct Story {
    std::string scheme;
    std::uint32_t blocks = 0, pages_per_block = 0, units = 0; ///< units: logical pages
    std::vector<StoryFrame> frames;                           ///< the first: the new drive
};

/// `script`: steps joined by '.' or blanks, as of `crash explore --workload` (w3, w0x4, t3, g3, f, i, r7x20), and c: the power fails in the midst of
/// the step before, and comes back. The error names the step.
[[nodiscard]] std::expected<Story, std::string> tell_story(const std::string& script, const StoryOptions& options);

[[nodiscard]] Json to_json(const Story& story);
[[nodiscard]] Json to_json(const StoryTotals& totals);
/// The flash as text, at most `columns` wide: a block is its number, its erases, and a cell a page.
[[nodiscard]] std::string draw(const Story& story, const StoryFrame& frame, std::size_t columns);
/// What the cells mean.
[[nodiscard]] std::string legend();
/// One self-contained page with steps, back and play.
[[nodiscard]] std::string to_html(const Story& story);

} // namespace flashlab

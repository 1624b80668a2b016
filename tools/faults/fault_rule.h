/// One fault that a user asks for: what fails, where, and which time.
///
/// Idea       A kind, then key=value words: `eio op=fsync path=*.db nth=2`. The same words come from `ctl fault add`, from -o fault= (joined by ':')
///            and from the lines of a plan file.
/// Invariant  text() gives words that parse() reads back into the same rule.
/// Cost       Parsing only; matching is FaultPlan's.
/// Power cut  Rules are the mount's: they end with it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"

namespace flashlab {

enum class FaultKind : std::uint8_t {
    eio,          ///< a call, or a write-back, of a file fails
    enospc,       ///< the same, with ENOSPC
    stall,        ///< the answer of a call comes late
    program_fail, ///< a page is not programmed: its block goes bad
    erase_fail,   ///< a block is not erased: it goes bad
    bit_rot,      ///< more bits are wrong than the ECC corrects: a read of a page fails
    die_dead,     ///< nothing of a die works any more
    host_eio,     ///< the host does not write the image: EIO
    host_enospc,  ///< the same: the host's disk is full
    lie_flush,    ///< the drive answers a flush, or FUA, and does nothing
    lie_order,    ///< a flush leaves a page in the drive's buffer until the next
    lie_tear,     ///< at a power cut the pages in the buffer reach the flash half
};

struct FaultRule {
    FaultKind kind = FaultKind::eio;
    std::string op;         ///< of eio, enospc, stall: the call, `writeback`, or `any`
    std::string path = "*"; ///< glob: of the path from the root of the mount, or of its last part
    std::optional<std::uint64_t> ino;
    std::optional<std::uint32_t> die, block;
    std::uint64_t nth = 1;   ///< the first that fails, counted among those that match
    std::uint64_t times = 1; ///< so many fail; 0: all from then on
    Duration stall{0};

    /// The error is a sentence that names what is allowed.
    [[nodiscard]] static std::expected<FaultRule, std::string> parse(std::span<const std::string> words);
    [[nodiscard]] std::string text() const;
    /// True: it is about files and calls; false: about the flash, the image or the drive's promises.
    [[nodiscard]] bool is_about_calls() const { return kind == FaultKind::eio || kind == FaultKind::enospc || kind == FaultKind::stall; }
    [[nodiscard]] bool is_about_flash() const { return !is_about_calls() && !is_about_image() && !is_a_lie(); }
    [[nodiscard]] bool is_a_lie() const { return kind >= FaultKind::lie_flush; }
    [[nodiscard]] bool is_about_image() const { return kind == FaultKind::host_eio || kind == FaultKind::host_enospc; }
    /// Whether the n-th match (counted from 1) is one that fails.
    [[nodiscard]] bool strikes(std::uint64_t n) const { return n >= nth && (times == 0 || n - nth < times); }
    friend bool operator==(const FaultRule&, const FaultRule&) = default;
};

/// The words of a rule in one text: separated by blanks, or, where there is none, by ':'.
[[nodiscard]] std::vector<std::string> fault_words(std::string_view text);
/// A plan: a rule a line; what follows '#' and empty lines are left out. The error names the line.
[[nodiscard]] std::expected<std::vector<FaultRule>, std::string> parse_fault_plan(std::string_view text);

} // namespace flashlab

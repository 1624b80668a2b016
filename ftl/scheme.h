/// What makes a scheme known: its name, the keys that it reads, what a configuration of it comes to, and how it is made.
///
/// Idea       A scheme is its file pair, one of these (NAME_scheme), and one line in ftl/schemes.def.
/// Invariant  plan() is pure: mkfs, mount and tests get the same answer from the same configuration. make() gets what plan() asked for.
///            `geometry` is what the array shows: a striped one where nand.striping says so.
/// Cost       Once a mkfs or mount.
/// Power cut  Keeps nothing.
#pragma once

#include <algorithm>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ftl/counters.h"
#include "ftl/ftl.h"
#include "ftl/ssd_config.h"
#include "ftl/write_memory.h"
#include "nand/nand_array.h"
#include "pram/pram.h"
#include "pram/redo_log.h"

namespace flashlab {

/// What a configuration comes to, before anything is made: refused combinations carry the reason and the remedy.
struct FtlPlan {
    std::uint32_t groups = 0;
    std::uint32_t spare_blocks = 0;           ///< after raising; mkfs prints it
    std::uint32_t effective_spare_blocks = 0; ///< of these: what stale pages, or logs, may fill when the drive is full; mkfs and info print it
    double expected_waf = 0;                  ///< of uniform random writes on a full drive, with the effective spare, parity too; 0: no closed form
    double closed_form_waf = 0;               ///< the same if nothing but checkpoints and the scheme's own pages were taken off the spare
    bool is_paced = false;                    ///< collections keep pace with the host: there is spare enough
    std::uint32_t meta_blocks = 0;            ///< of these: kept for the scheme's checkpoints and journal on flash (recovery/meta_log.h)
    std::uint32_t logical_pages = 0;          ///< of logical_page_bytes each
    std::uint32_t logical_page_bytes = 0;
    std::uint64_t pram_bytes = 0;        ///< what the scheme needs, redo log included, and the buffer; 0 = works without PRAM
    std::uint64_t pram_buffer_bytes = 0; ///< of these, the last: the write buffer's, where it lies in PRAM (plan_ftl() adds it)
    std::vector<std::string> warnings;
};

struct FtlParts {
    const SsdConfig& config;
    const FtlPlan& plan;
    NandArray& array;
    Pram* pram; ///< null where plan.pram_bytes is 0 and the device has none
    PramRange pram_range;
    EventSink& events;
};

struct Scheme {
    std::string_view name;
    std::string_view idea; ///< one line for people: `flashlab presets`, --help
    /// The configuration keys that this scheme reads and some other scheme does not. A key that no scheme lists is everybody's. A listed
    /// key does nothing with a scheme that does not list it, and is refused where a user asks for it.
    std::span<const std::string_view> keys;
    /// Its own, and those that it shares with some other schemes: keys like these, declared by who reads them (ftl/options.h).
    OptionList options{};
    [[nodiscard]] bool has_key(std::string_view key) const {
        return std::ranges::find(keys, key) != keys.end() || std::ranges::find(options, key, &Option::key) != options.end();
    }
    std::span<const Counter> counters{}; ///< that it counts besides FtlCounters
    std::expected<FtlPlan, std::string> (*plan)(const SsdConfig& config, const Geometry& geometry);
    std::expected<std::unique_ptr<Ftl>, std::string> (*make)(const FtlParts& parts);
    /// Null: nothing is known, the ageing of a drive writes every write (ftl/write_memory.h). `ftl` is what make() has made, recovered and empty.
    WriteMemory (*write_memory)(const SsdConfig& config, const FtlPlan& plan, const Geometry& geometry, const Ftl& ftl) = nullptr;
    bool separates = false; ///< has frontiers of its own for streams of data: ftl.separation does something
    /// DRAM of the drive that the scheme fills by keys of its own, beside the write buffer or dram.size. Null: none.
    std::uint64_t (*dram_bytes)(const SsdConfig& config) = nullptr;
    /// Puts into the configuration what the drive keeps for its life. mkfs, or who runs a drive in memory, calls it once, before plan().
    /// The error says which of the keys that were `asked` for stands against it. Null: nothing.
    std::expected<void, std::string> (*settle)(SsdConfig& config, std::span<const std::string> asked) = nullptr;
};

/// Blocks among the first `blocks` that no scheme may use: bad from the factory, or kept for backups of paired pages. Known before anything is made.
[[nodiscard]] std::uint32_t factory_bad_blocks(const NandConfig& nand, std::uint32_t blocks);

} // namespace flashlab

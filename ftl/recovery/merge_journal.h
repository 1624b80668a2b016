/// What block-mapping schemes write to their MetaLog: records of changes, and checkpoints of everything.
///
/// Idea       A record is a list of changes: a log block opened or closed, a logical block moved to another data block, pages trimmed. Changes of
///            content carry the write sequence at which they were made, so that their order among records does not matter: a page on flash counts iff
///            no later change took it away.
/// Invariant  decode(encode(x)) == x; bytes that are cut short or name what the device does not have are refused.
/// Cost       A record is one page as a rule; a merge adds 20 bytes and a bit a page.
/// Power cut  Recovery's only input besides the log blocks' OOB. Bytes: ftl/FORMAT.md, "What block_map, log_block and fast put into records".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ftl/blocks/block_map.h"
#include "ftl/blocks/log_blocks.h"

namespace flashlab {

enum class MergeChangeType : std::uint8_t { mounted = 1, log_opened = 2, log_closed = 3, moved = 4, trimmed = 5 };

struct MergeChange {
    MergeChangeType type = MergeChangeType::mounted;
    std::optional<BlockId> block;     ///< opened, closed; moved: the new data block, none = nothing is mapped any more
    std::optional<LogicalBlock> home; ///< opened: whose log block; moved: of whom
    Lpn first{0};                     ///< trimmed
    std::uint32_t pages = 0;          ///< trimmed
    WriteSequence sequence{0};        ///< moved, trimmed: every older version of the pages is worthless
    std::span<const std::byte> row;   ///< moved: mapped bits; a view of the record's payload
};

inline constexpr std::uint32_t merge_record_kind = 1;

void encode_mounted(std::vector<std::byte>& to);
void encode_log_opened(std::vector<std::byte>& to, BlockId block, std::optional<LogicalBlock> home);
void encode_log_closed(std::vector<std::byte>& to, BlockId block);
void encode_moved(std::vector<std::byte>& to, LogicalBlock home, std::optional<BlockId> block, WriteSequence sequence, const BlockMap& map);
void encode_trimmed(std::vector<std::byte>& to, Lpn first, std::uint32_t pages, WriteSequence sequence);
inline constexpr std::size_t trimmed_bytes = 20;

/// What ids may be named.
struct MergeLimits {
    std::uint32_t blocks = 0;
    std::uint32_t logical_blocks = 0;
    std::uint32_t pages_per_block = 0;
    [[nodiscard]] std::uint32_t row_bytes() const { return (pages_per_block + 7) / 8; }
};

/// nullopt: damaged, or of another version.
[[nodiscard]] std::optional<std::vector<MergeChange>> decode_merge_record(std::span<const std::byte> payload, const MergeLimits& limits);

struct MergeCheckpoint {
    struct Log {
        BlockId block{0};
        std::optional<LogicalBlock> home;
        bool in_place = false;
        bool sealed = false;
        std::uint32_t next = 0;
        std::vector<std::optional<Lpn>> live; ///< by page
    };
    bool is_clean = false;
    std::uint64_t next_sequence = 1;
    std::vector<std::optional<BlockId>> data_blocks; ///< by logical block
    std::vector<std::byte> rows;                     ///< mapped bits, row after row
    std::vector<std::byte> erased;                   ///< bit b % 8 of byte b / 8: block b is free and known erased
    std::vector<Log> logs;                           ///< own ones, then shared ones, each from the oldest to the newest
};

[[nodiscard]] std::uint64_t merge_checkpoint_bytes(const MergeLimits& limits, std::uint32_t logs);
void encode_merge_checkpoint(std::vector<std::byte>& to, const MergeLimits& limits, bool is_clean, std::uint64_t next_sequence, const BlockMap& map,
                             const LogBlocks& logs, std::span<const BlockId> erased);
[[nodiscard]] std::optional<MergeCheckpoint> decode_merge_checkpoint(std::span<const std::byte> payload, const MergeLimits& limits);

} // namespace flashlab

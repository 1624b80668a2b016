#include "ftl/recovery/merge_journal.h"

#include <algorithm>
#include <utility>

#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::uint32_t checkpoint_magic = 0x4c46'4d42; // "BMFL"
constexpr std::uint32_t checkpoint_version = 2;         ///< 1: the journal had one row of the ring, so what lies behind was not the ring's
constexpr std::uint64_t checkpoint_head_bytes = 40;
constexpr std::uint64_t log_head_bytes = 16;
constexpr std::uint32_t flag_in_place = 1;
constexpr std::uint32_t flag_sealed = 2;

/// Grows `to` and writes its new end.
LittleEndianWriter appended(std::vector<std::byte>& to, std::size_t bytes) {
    to.resize(to.size() + bytes);
    return LittleEndianWriter{std::span{to}.last(bytes)};
}

void put_type(LittleEndianWriter& writer, MergeChangeType type) { writer.u32(std::to_underlying(type)); }

/// 0 stands for none, so that all-zero names nothing.
template <class Id>
void put_optional(LittleEndianWriter& writer, const std::optional<Id>& id) {
    writer.u32(id ? id->value() + 1 : 0);
}

/// nullopt outside: beyond the limit.
template <class Id>
std::optional<std::optional<Id>> get_optional(LittleEndianReader& reader, std::uint32_t limit) {
    const std::uint32_t raw = reader.u32();
    if (raw > limit) return std::nullopt;
    return raw == 0 ? std::optional<Id>{} : std::optional{Id{raw - 1}};
}

} // namespace

void encode_mounted(std::vector<std::byte>& to) {
    auto writer = appended(to, 4);
    put_type(writer, MergeChangeType::mounted);
}

void encode_log_opened(std::vector<std::byte>& to, BlockId block, std::optional<LogicalBlock> home) {
    auto writer = appended(to, 12);
    put_type(writer, MergeChangeType::log_opened);
    put_optional(writer, std::optional{block});
    put_optional(writer, home);
}

void encode_log_closed(std::vector<std::byte>& to, BlockId block) {
    auto writer = appended(to, 8);
    put_type(writer, MergeChangeType::log_closed);
    put_optional(writer, std::optional{block});
}

void encode_moved(std::vector<std::byte>& to, LogicalBlock home, std::optional<BlockId> block, WriteSequence sequence, const BlockMap& map) {
    auto writer = appended(to, 20);
    put_type(writer, MergeChangeType::moved);
    put_optional(writer, std::optional{home});
    put_optional(writer, block);
    writer.u64(sequence.value());
    to.resize(to.size() + map.row_bytes());
    map.store_row(home, std::span{to}.last(map.row_bytes()));
}

void encode_trimmed(std::vector<std::byte>& to, Lpn first, std::uint32_t pages, WriteSequence sequence) {
    auto writer = appended(to, trimmed_bytes);
    put_type(writer, MergeChangeType::trimmed);
    writer.u32(first.value());
    writer.u32(pages);
    writer.u64(sequence.value());
}

std::optional<std::vector<MergeChange>> decode_merge_record(std::span<const std::byte> payload, const MergeLimits& limits) {
    std::vector<MergeChange> out;
    LittleEndianReader reader{payload};
    while (reader.left() != 0) {
        MergeChange change;
        change.type = static_cast<MergeChangeType>(reader.u32());
        switch (change.type) {
        case MergeChangeType::mounted:
            break;
        case MergeChangeType::log_opened:
        case MergeChangeType::log_closed: {
            const auto block = get_optional<BlockId>(reader, limits.blocks);
            if (!block || !*block) return std::nullopt;
            change.block = *block;
            if (change.type == MergeChangeType::log_closed) break;
            const auto home = get_optional<LogicalBlock>(reader, limits.logical_blocks);
            if (!home) return std::nullopt;
            change.home = *home;
            break;
        }
        case MergeChangeType::moved: {
            const auto home = get_optional<LogicalBlock>(reader, limits.logical_blocks);
            const auto block = get_optional<BlockId>(reader, limits.blocks);
            if (!home || !*home || !block) return std::nullopt;
            change.home = *home;
            change.block = *block;
            change.sequence = WriteSequence{reader.u64()};
            change.row = reader.bytes(limits.row_bytes());
            break;
        }
        case MergeChangeType::trimmed: {
            change.first = Lpn{reader.u32()};
            change.pages = reader.u32();
            change.sequence = WriteSequence{reader.u64()};
            const std::uint64_t end = std::uint64_t{change.first.value()} + change.pages;
            if (end > std::uint64_t{limits.logical_blocks} * limits.pages_per_block) return std::nullopt;
            break;
        }
        default:
            return std::nullopt;
        }
        if (reader.failed()) return std::nullopt;
        out.push_back(change);
    }
    return out;
}

std::uint64_t merge_checkpoint_bytes(const MergeLimits& limits, std::uint32_t logs) {
    return checkpoint_head_bytes + std::uint64_t{limits.logical_blocks} * (4 + limits.row_bytes()) + (limits.blocks + 7) / 8 +
           logs * (log_head_bytes + std::uint64_t{limits.pages_per_block} * 4);
}

void encode_merge_checkpoint(std::vector<std::byte>& to, const MergeLimits& limits, bool is_clean, std::uint64_t next_sequence, const BlockMap& map,
                             const LogBlocks& logs, std::span<const BlockId> erased) {
    to.assign(merge_checkpoint_bytes(limits, logs.count()), std::byte{0});
    LittleEndianWriter writer{to};
    writer.u32(checkpoint_magic);
    writer.u32(checkpoint_version);
    writer.u64(next_sequence);
    writer.u32(is_clean ? 1 : 0);
    writer.u32(limits.blocks);
    writer.u32(limits.logical_blocks);
    writer.u32(limits.pages_per_block);
    writer.u32(logs.count());
    writer.u32(0);
    for (std::uint32_t b = 0; b < limits.logical_blocks; ++b) put_optional(writer, map.data_block(LogicalBlock{b}));
    for (std::uint32_t b = 0; b < limits.logical_blocks; ++b) {
        const std::size_t at = writer.written().size();
        writer.zeros(limits.row_bytes());
        map.store_row(LogicalBlock{b}, std::span{to}.subspan(at, limits.row_bytes()));
    }
    const std::size_t bits = writer.written().size();
    writer.zeros((limits.blocks + 7) / 8);
    for (const BlockId block : erased) to[bits + block.value() / 8] |= std::byte{1} << block.value() % 8;
    for (const LogKind kind : {LogKind::own, LogKind::shared}) {
        for (auto slot = logs.oldest(kind); slot; slot = logs.after(*slot)) {
            const LogBlock& log = logs.at(*slot);
            put_optional(writer, std::optional{log.block});
            put_optional(writer, log.home);
            writer.u32(log.next);
            writer.u32((log.in_place ? flag_in_place : 0) | (log.sealed ? flag_sealed : 0));
            static_assert(LogBlocks::no_lpn + 1 == 0, "none is written as 0, a page as one more than its number");
            for (const std::uint32_t lpn : logs.live_pages(*slot)) writer.u32(lpn + 1);
        }
    }
    ensure(writer.full(), "a checkpoint's fields and its size agree");
}

std::optional<MergeCheckpoint> decode_merge_checkpoint(std::span<const std::byte> payload, const MergeLimits& limits) {
    MergeCheckpoint out;
    LittleEndianReader reader{payload};
    if (reader.u32() != checkpoint_magic || reader.u32() != checkpoint_version) return std::nullopt;
    out.next_sequence = reader.u64();
    out.is_clean = reader.u32() != 0;
    if (reader.u32() != limits.blocks || reader.u32() != limits.logical_blocks || reader.u32() != limits.pages_per_block) return std::nullopt;
    const std::uint32_t logs = reader.u32();
    (void)reader.u32();
    if (reader.failed() || logs > limits.blocks || payload.size() != merge_checkpoint_bytes(limits, logs)) return std::nullopt;
    for (std::uint32_t b = 0; b < limits.logical_blocks; ++b) {
        const auto block = get_optional<BlockId>(reader, limits.blocks);
        if (!block) return std::nullopt;
        out.data_blocks.push_back(*block);
    }
    const auto rows = reader.bytes(std::size_t{limits.logical_blocks} * limits.row_bytes());
    out.rows.assign(rows.begin(), rows.end());
    const auto erased = reader.bytes((limits.blocks + 7) / 8);
    out.erased.assign(erased.begin(), erased.end());
    for (std::uint32_t i = 0; i < logs; ++i) {
        const auto block = get_optional<BlockId>(reader, limits.blocks);
        const auto home = get_optional<LogicalBlock>(reader, limits.logical_blocks);
        if (!block || !*block || !home) return std::nullopt;
        MergeCheckpoint::Log log{**block, *home, false, false, reader.u32(), {}};
        const std::uint32_t flags = reader.u32();
        log.in_place = (flags & flag_in_place) != 0;
        log.sealed = (flags & flag_sealed) != 0;
        if (log.next > limits.pages_per_block) return std::nullopt;
        for (std::uint32_t p = 0; p < limits.pages_per_block; ++p) {
            const auto lpn = get_optional<Lpn>(reader, limits.logical_blocks * limits.pages_per_block);
            if (!lpn) return std::nullopt;
            log.live.push_back(*lpn);
        }
        out.logs.push_back(std::move(log));
    }
    return reader.failed() ? std::nullopt : std::optional{std::move(out)};
}

} // namespace flashlab

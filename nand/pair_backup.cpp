#include "nand/pair_backup.h"

#include <utility>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"
#include "nand/factory_bad_blocks.h"

namespace flashlab {

namespace {

constexpr std::uint32_t backup_crc_seed = 0x50554b42; // "BKUP" in memory

} // namespace

std::array<std::byte, PageOob::encoded_size> BackupOob::encode() const {
    std::array<std::byte, PageOob::encoded_size> out{};
    const std::uint64_t sequence = origin.sequence.value();
    ensure(sequence >> 40 == 0, "BackupOob: write sequences stay below 2^40");
    LittleEndianWriter writer{out};
    writer.u32(static_cast<std::uint32_t>(sequence));
    writer.u8(static_cast<std::uint8_t>(sequence >> 32));
    writer.u8(static_cast<std::uint8_t>(std::to_underlying(origin.kind)));
    writer.u16(life);
    writer.u32(origin.lpn.value());
    writer.u32(origin.scheme_word);
    writer.u32(page.value());
    writer.u32(crc32c(writer.written(), backup_crc_seed));
    ensure(writer.full(), "BackupOob: fields and size agree");
    return out;
}

std::optional<BackupOob> BackupOob::decode(std::span<const std::byte, PageOob::encoded_size> in) {
    LittleEndianReader reader{in};
    BackupOob backup;
    const std::uint64_t low = reader.u32();
    backup.origin.sequence = WriteSequence{low | std::uint64_t{reader.u8()} << 32};
    backup.origin.kind = static_cast<PageKind>(reader.u8());
    backup.life = reader.u16();
    backup.origin.lpn = Lpn{reader.u32()};
    backup.origin.scheme_word = reader.u32();
    backup.page = Ppn{reader.u32()};
    const std::uint32_t expected = crc32c(reader.consumed(), backup_crc_seed);
    if (reader.u32() != expected) return std::nullopt;
    return backup;
}

/// Room for three things: the pages that can be in danger at once on a die (one program on each plane endangers the earlier pages of its line); the
/// backups that are still read after some cuts in a row; and one block that can be erased meanwhile.
std::uint32_t backup_blocks_per_die(const NandConfig& config) {
    const std::uint32_t bits = std::to_underlying(config.geometry.cell) + 1u;
    if (!config.options.paired_pages || bits == 1) return 0;
    constexpr std::uint32_t cuts_in_a_row = 4;
    const std::uint32_t safe = config.geometry.pages_per_block / bits + config.geometry.pages_per_block % bits; // pages of a block
    const std::uint32_t needed = config.geometry.planes_per_die * (bits - 1) * (1 + cuts_in_a_row);
    return 2 + (needed + safe - 1) / safe;
}

bool is_set_aside(const NandConfig& config, BlockId block) {
    return is_backup_block(config, block) || is_bad_from_factory(block, config.seed, config.factory_bad_per_million);
}

bool is_backup_block(const NandConfig& config, BlockId block) {
    const std::uint32_t kept = backup_blocks_per_die(config);
    if (kept == 0) return false;
    const std::uint32_t plane = block.value() / config.geometry.blocks_per_plane % config.geometry.planes_per_die;
    return block.value() % config.geometry.blocks_per_plane * config.geometry.planes_per_die + plane < kept;
}

} // namespace flashlab

#include "fs/btree_node.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::uint32_t max_slots = node_capacity / (slot_bytes + record_header_bytes);

std::uint32_t significant_bytes(std::uint64_t value) { return static_cast<std::uint32_t>((std::bit_width(value) + 7) / 8); }

/// `bytes` little-endian bytes; `at` has at least that many in the node, and eight unless it lies near the end.
std::uint64_t load_short(const std::byte* node, std::uint32_t at, std::uint32_t bytes) {
    if (bytes == 0) return 0;
    std::uint64_t value = 0;
    if (at + 8 <= node_bytes) {
        std::memcpy(&value, node + at, 8);
        return value & (~std::uint64_t{0} >> (64 - 8 * bytes));
    }
    std::memcpy(&value, node + at, bytes);
    return value;
}

bool less(const RecordKey& a, const RecordKey& b) {
    if (a.ino != b.ino) return a.ino < b.ino;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.subkey < b.subkey;
}

constexpr std::array<std::uint64_t, 16> low_byte_masks = [] {
    std::array<std::uint64_t, 16> masks{};
    for (std::size_t bytes = 0; bytes < masks.size(); ++bytes) masks[bytes] = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
    return masks;
}();

std::uint64_t load_u64(const std::byte* at) {
    std::uint64_t value;
    std::memcpy(&value, at, 8);
    return value;
}

struct RecordBytes {
    std::uint16_t offset;
    std::uint16_t bytes;
};
using RecordPlaces = std::array<RecordBytes, max_slots>;

} // namespace

std::uint32_t encoded_bytes(const RecordKey& key, std::size_t value_bytes) {
    return record_header_bytes + significant_bytes(key.ino.value()) + significant_bytes(key.subkey) + static_cast<std::uint32_t>(value_bytes);
}

std::uint32_t NodeView::key_bytes_at(std::uint32_t offset) const {
    ensure(offset >= node_header_bytes && offset + record_header_bytes <= node_bytes, "a record begins inside its node");
    const auto lengths = std::to_integer<std::uint32_t>(node_[offset + 1]);
    const std::uint32_t ino_bytes = lengths & 15, subkey_bytes = lengths >> 4;
    ensure(ino_bytes <= 8 && subkey_bytes <= 8, "a record's key has sane lengths");
    return ino_bytes + subkey_bytes;
}

std::uint32_t NodeView::record_bytes_at(std::uint32_t offset) const {
    const std::uint32_t bytes = record_header_bytes + key_bytes_at(offset) + u16(offset + 2);
    ensure(offset + bytes <= node_bytes, "a record ends inside its node");
    return bytes;
}

RecordKey NodeView::key_at(std::uint32_t offset) const {
    ensure(offset + record_header_bytes + key_bytes_at(offset) <= node_bytes, "a key ends inside its node");
    const auto lengths = std::to_integer<std::uint32_t>(node_[offset + 1]);
    const std::uint32_t ino_bytes = lengths & 15, subkey_bytes = lengths >> 4;
    const std::uint32_t ino_at = offset + record_header_bytes;
    return {Ino{load_short(node_, ino_at, ino_bytes)}, static_cast<RecordKind>(node_[offset]), load_short(node_, ino_at + ino_bytes, subkey_bytes)};
}

std::span<const std::byte> NodeView::record(std::uint32_t index) const {
    const std::uint32_t offset = record_offset(index);
    return {node_ + offset, record_bytes_at(offset)};
}

std::span<const std::byte> NodeView::value(std::uint32_t index) const {
    const std::uint32_t offset = record_offset(index);
    const std::uint32_t bytes = record_bytes_at(offset), value_bytes = u16(offset + 2);
    return {node_ + offset + bytes - value_bytes, value_bytes};
}

std::uint32_t NodeView::child(std::uint32_t index) const {
    ensure(index < count(), "an interior entry exists");
    return load_le<std::uint32_t>(value(index));
}

/// The compare at every step of a search. Unlike key_at() it reads whole words and masks them. That stays inside the node for all records except
/// those at its end.
bool NodeView::key_below(std::uint32_t index, const RecordKey& wanted) const {
    constexpr std::uint32_t longest_lengths = 15; // of an ino, if the node is damaged
    const std::uint32_t offset = record_offset(index);
    if (offset > node_bytes - record_header_bytes - longest_lengths - 8) return less(key_at(offset), wanted);
    const std::byte* const at = node_ + offset;
    const auto lengths = std::to_integer<std::uint32_t>(at[1]);
    const std::uint64_t ino = load_u64(at + record_header_bytes) & low_byte_masks[lengths & 15];
    if (ino != wanted.ino.value()) return ino < wanted.ino.value();
    const auto kind = std::to_integer<std::uint8_t>(at[0]);
    if (kind != static_cast<std::uint8_t>(wanted.kind)) return kind < static_cast<std::uint8_t>(wanted.kind);
    return (load_u64(at + record_header_bytes + (lengths & 15)) & low_byte_masks[lengths >> 4]) < wanted.subkey;
}

std::uint32_t NodeView::lower_bound(const RecordKey& wanted) const {
    std::uint32_t low = 0, length = count();
    while (length > 0) {
        const std::uint32_t half = length / 2;
        const bool right = key_below(low + half, wanted);
        low = right ? low + half + 1 : low;
        length = right ? length - half - 1 : half;
    }
    return low;
}

std::uint32_t NodeView::child_index(const RecordKey& wanted) const {
    const std::uint32_t at = lower_bound(wanted);
    if (at < count() && key(at) == wanted) return at;
    return at == 0 ? 0 : at - 1;
}

std::string NodeView::problem() const {
    if (count() == 0) return "it is empty";
    if (count() > max_slots) return fmt::format("{} records cannot be", count());
    const std::uint32_t slots_end = node_header_bytes + slot_bytes * count();
    if (heap_start() < slots_end || heap_start() > node_bytes)
        return fmt::format("heap start {} is outside {}..{}", heap_start(), slots_end, node_bytes);
    RecordPlaces extents;
    for (std::uint32_t i = 0; i < count(); ++i) {
        const std::uint32_t offset = record_offset(i);
        if (offset < heap_start() || offset + record_header_bytes > node_bytes)
            return fmt::format("record {} at {} lies outside the heap", i, offset);
        const auto lengths = std::to_integer<std::uint32_t>(node_[offset + 1]);
        if ((lengths & 15) > 8 || (lengths >> 4) > 8) return fmt::format("record {} has key lengths {:02x}", i, lengths);
        const std::uint32_t bytes = record_header_bytes + (lengths & 15) + (lengths >> 4) + u16(offset + 2);
        if (offset + bytes > node_bytes || bytes > max_encoded_record)
            return fmt::format("record {} of {} bytes at {} is too long", i, bytes, offset);
        if (level() > 0 && u16(offset + 2) != 4) return fmt::format("interior entry {} has a value of {} bytes", i, u16(offset + 2));
        extents[i] = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(bytes)};
        if (i > 0 && !less(key(i - 1), key(i))) return fmt::format("records {} and {} are out of order", i - 1, i);
    }
    std::sort(extents.begin(), extents.begin() + count(), [](RecordBytes a, RecordBytes b) { return a.offset < b.offset; });
    std::uint32_t end = heap_start(), dead = 0;
    for (std::uint32_t i = 0; i < count(); ++i) {
        if (extents[i].offset < end) return fmt::format("two records overlap at {}", extents[i].offset);
        dead += extents[i].offset - end;
        end = std::uint32_t{extents[i].offset} + extents[i].bytes;
    }
    dead += node_bytes - end;
    if (dead != dead_bytes()) return fmt::format("{} dead bytes, the header says {}", dead, dead_bytes());
    return {};
}

void NodeEditor::set_header(std::uint32_t count, std::uint32_t heap_start, std::uint32_t dead_bytes) {
    set_u16(0, count);
    set_u16(2, heap_start);
    set_u16(4, dead_bytes);
}

void NodeEditor::format(std::uint32_t self_number, std::uint32_t at_level) {
    set_header(0, node_bytes, 0);
    bytes_[6] = static_cast<std::byte>(at_level);
    bytes_[7] = std::byte{0};
    store_le(std::span{bytes_ + 8, 4}, self_number);
    store_le(std::span{bytes_ + 12, 4}, node_magic);
}

/// Finds room for a record beside the slots of count() records, one of which may not point anywhere yet:
/// in the middle, in a hole, or after compaction.
std::uint32_t NodeEditor::place(std::uint32_t bytes) {
    const std::uint32_t slots_end = node_header_bytes + slot_bytes * (count() + 1);
    if (heap_start() >= slots_end + bytes) {
        set_header(count(), heap_start() - bytes, dead_bytes());
        return heap_start();
    }
    if (heap_start() >= slots_end && dead_bytes() >= bytes) {
        if (const std::uint32_t hole = find_hole(bytes); hole != 0) {
            set_header(count(), heap_start(), dead_bytes() - bytes);
            return hole;
        }
    }
    compact();
    ensure(heap_start() >= slots_end + bytes, "a record that fits has a place");
    set_header(count(), heap_start() - bytes, dead_bytes());
    return heap_start();
}

/// The smallest hole that takes it; 0 when there is none.
std::uint32_t NodeEditor::find_hole(std::uint32_t bytes) const {
    RecordPlaces extents;
    const std::uint32_t n = count();
    for (std::uint32_t i = 0; i < n; ++i)
        extents[i] = {static_cast<std::uint16_t>(record_offset(i)), static_cast<std::uint16_t>(record_bytes_at(record_offset(i)))};
    std::sort(extents.begin(), extents.begin() + n, [](RecordBytes a, RecordBytes b) { return a.offset < b.offset; });
    std::uint32_t best = 0, best_bytes = node_bytes, end = heap_start();
    for (std::uint32_t i = 0; i <= n; ++i) {
        const std::uint32_t next = i < n ? extents[i].offset : node_bytes;
        if (const std::uint32_t gap = next - end; gap >= bytes && gap < best_bytes) {
            best = end;
            best_bytes = gap;
        }
        if (i < n) end = next + extents[i].bytes;
    }
    return best;
}

/// Closes the holes, highest record first, so that what lies packed at the end keeps its words.
void NodeEditor::compact() {
    struct Placed {
        std::uint16_t offset, bytes, index;
    };
    std::array<Placed, max_slots> placed;
    const std::uint32_t n = count();
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t offset = record_offset(i);
        placed[i] = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(record_bytes_at(offset)), static_cast<std::uint16_t>(i)};
    }
    std::sort(placed.begin(), placed.begin() + n, [](const Placed& a, const Placed& b) { return a.offset > b.offset; });
    std::uint32_t top = node_bytes;
    for (std::uint32_t i = 0; i < n; ++i) {
        top -= placed[i].bytes;
        std::memmove(bytes_ + top, bytes_ + placed[i].offset, placed[i].bytes);
        set_u16(node_header_bytes + slot_bytes * placed[i].index, top);
    }
    set_header(n, top, 0);
}

std::uint32_t NodeEditor::open_slot(std::uint32_t index, std::uint32_t bytes) {
    ensure(index <= count() && fits(bytes), "NodeEditor: the record fits");
    const std::uint32_t offset = place(bytes);
    std::byte* const slot = bytes_ + node_header_bytes + slot_bytes * index;
    std::memmove(slot + slot_bytes, slot, slot_bytes * (count() - index));
    set_u16(node_header_bytes + slot_bytes * index, offset);
    set_u16(0, count() + 1);
    return offset;
}

void NodeEditor::insert(std::uint32_t index, const RecordKey& key, std::span<const std::byte> value) {
    const std::uint32_t ino_bytes = significant_bytes(key.ino.value()), subkey_bytes = significant_bytes(key.subkey);
    const std::uint32_t bytes = encoded_bytes(key, value.size());
    std::byte* to = bytes_ + open_slot(index, bytes);
    to[0] = static_cast<std::byte>(key.kind);
    to[1] = static_cast<std::byte>(ino_bytes | subkey_bytes << 4);
    const auto value_bytes = static_cast<std::uint16_t>(value.size());
    std::memcpy(to + 2, &value_bytes, 2);
    const std::uint64_t ino = key.ino.value();
    std::memcpy(to + record_header_bytes, &ino, ino_bytes);
    std::memcpy(to + record_header_bytes + ino_bytes, &key.subkey, subkey_bytes);
    if (!value.empty()) std::memcpy(to + record_header_bytes + ino_bytes + subkey_bytes, value.data(), value.size());
}

void NodeEditor::insert_record(std::uint32_t index, std::span<const std::byte> encoded) {
    std::memcpy(bytes_ + open_slot(index, static_cast<std::uint32_t>(encoded.size())), encoded.data(), encoded.size());
}

void NodeEditor::remove(std::uint32_t index) {
    const std::uint32_t n = count();
    ensure(index < n, "NodeEditor: the record exists");
    const std::uint32_t offset = record_offset(index), bytes = record_bytes_at(offset);
    std::byte* const slot = bytes_ + node_header_bytes + slot_bytes * index;
    std::memmove(slot, slot + slot_bytes, slot_bytes * (n - 1 - index));
    if (n == 1) return set_header(0, node_bytes, 0);
    if (offset == heap_start()) return set_header(n - 1, heap_start() + bytes, dead_bytes());
    set_header(n - 1, heap_start(), dead_bytes() + bytes);
}

void NodeEditor::replace(std::uint32_t index, std::span<const std::byte> value) {
    const std::uint32_t offset = record_offset(index), bytes = record_bytes_at(offset), old_bytes = u16(offset + 2);
    const std::uint32_t value_at = offset + bytes - old_bytes;
    if (value.size() <= old_bytes) {
        set_u16(offset + 2, static_cast<std::uint32_t>(value.size()));
        if (!value.empty()) std::memcpy(bytes_ + value_at, value.data(), value.size());
        set_u16(4, dead_bytes() + old_bytes - static_cast<std::uint32_t>(value.size()));
        return;
    }
    // Copies are private: taking it out and in again costs no PRAM word by itself.
    const RecordKey kept = key(index);
    remove(index);
    insert(index, kept, value);
}

void NodeEditor::set_child(std::uint32_t index, std::uint32_t child_number) {
    std::array<std::byte, 4> raw;
    store_le(std::span{raw}, child_number);
    replace(index, raw);
}

void NodeEditor::truncate(std::uint32_t count_kept) {
    std::uint32_t dead = dead_bytes();
    for (std::uint32_t i = count_kept; i < count(); ++i) dead += record_bytes_at(record_offset(i));
    if (count_kept == 0) return set_header(0, node_bytes, 0);
    set_header(count_kept, heap_start(), dead);
}

} // namespace flashlab

/// One 4 KiB node of the metadata tree: records from the back, a sorted array of their offsets from the front.
///
/// Idea       An insert writes its record into free space and moves two-byte slots, not records.
///            Leaves hold values, interior nodes child numbers of 4 bytes.
/// Invariant  S1 and S4 of pram_metadata_store.h. Every read checks that the record lies inside the node. A damaged node makes it throw; no read
///            leaves the node.
/// Cost       find: log2(count) key decodes. insert: the record, the slots behind it, one header word; a compaction only when no hole fits.
/// Power cut  Nothing here touches the PRAM: NodeView reads cells or a private copy, NodeEditor changes private copies only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/little_endian.h"
#include "fs/metadata_store.h"

namespace flashlab {

inline constexpr std::uint32_t node_bytes = 4096;
inline constexpr std::uint32_t node_header_bytes = 16;
inline constexpr std::uint32_t node_capacity = node_bytes - node_header_bytes;
inline constexpr std::uint32_t node_magic = 0x45444f4e; ///< "NODE"
inline constexpr std::uint32_t record_header_bytes = 4;
inline constexpr std::uint32_t slot_bytes = 2;
/// The longest encoded record. It is small enough that any overfull node can be split into two nodes that fit.
inline constexpr std::uint32_t max_encoded_record = record_header_bytes + 16 + static_cast<std::uint32_t>(max_record_bytes);

/// Size of a record as stored, without its slot.
[[nodiscard]] std::uint32_t encoded_bytes(const RecordKey& key, std::size_t value_bytes);

class NodeView {
public:
    explicit NodeView(const std::byte* node) : node_{node} {}

    [[nodiscard]] std::uint32_t count() const { return u16(0); }
    [[nodiscard]] std::uint32_t heap_start() const { return u16(2); }                              ///< lowest offset a record may have
    [[nodiscard]] std::uint32_t dead_bytes() const { return u16(4); }                              ///< holes above heap_start
    [[nodiscard]] std::uint32_t level() const { return std::to_integer<std::uint32_t>(node_[6]); } ///< 0: leaf
    [[nodiscard]] std::uint32_t self() const { return u32(8); }
    [[nodiscard]] std::uint32_t magic() const { return u32(12); }
    [[nodiscard]] std::uint32_t live_bytes() const { return node_bytes - heap_start() - dead_bytes() + slot_bytes * count(); }
    [[nodiscard]] bool fits(std::uint32_t record_bytes) const { return live_bytes() + record_bytes + slot_bytes <= node_capacity; }

    [[nodiscard]] RecordKey key(std::uint32_t index) const { return key_at(record_offset(index)); }
    [[nodiscard]] std::span<const std::byte> value(std::uint32_t index) const;
    [[nodiscard]] std::span<const std::byte> record(std::uint32_t index) const;
    [[nodiscard]] std::uint32_t child(std::uint32_t index) const;
    /// First record whose key is >= `wanted`; count() when none.
    [[nodiscard]] std::uint32_t lower_bound(const RecordKey& wanted) const;
    /// The child whose range holds `wanted`: the last entry whose key is <= `wanted`, the first one when none is.
    [[nodiscard]] std::uint32_t child_index(const RecordKey& wanted) const;
    /// Is this the node with this number and level? Asked on every way down the tree.
    [[nodiscard]] bool is(std::uint32_t self_number, std::uint32_t at_level) const {
        return magic() == node_magic && self() == self_number && level() == at_level && count() > 0 && count() <= node_capacity / slot_bytes;
    }
    /// Empty when header, slots and records are sound (S1, S4), else what is wrong.
    [[nodiscard]] std::string problem() const;

protected:
    [[nodiscard]] std::uint32_t record_offset(std::uint32_t index) const { return u16(node_header_bytes + slot_bytes * index); }
    [[nodiscard]] RecordKey key_at(std::uint32_t offset) const;
    [[nodiscard]] bool key_below(std::uint32_t index, const RecordKey& wanted) const;
    [[nodiscard]] std::uint32_t record_bytes_at(std::uint32_t offset) const;
    [[nodiscard]] std::uint32_t key_bytes_at(std::uint32_t offset) const;
    [[nodiscard]] std::uint16_t u16(std::uint32_t at) const {
        std::uint16_t v;
        std::memcpy(&v, node_ + at, sizeof v);
        return v;
    }
    [[nodiscard]] std::uint32_t u32(std::uint32_t at) const {
        std::uint32_t v;
        std::memcpy(&v, node_ + at, sizeof v);
        return v;
    }

private:
    const std::byte* node_;
};

class NodeEditor : public NodeView {
public:
    explicit NodeEditor(std::byte* node) : NodeView{node}, bytes_{node} {}

    /// Makes it an empty node. Stale bytes in its free space stay there, so that unused words need not be written.
    void format(std::uint32_t self_number, std::uint32_t at_level);
    /// fits() must be true.
    void insert(std::uint32_t index, const RecordKey& key, std::span<const std::byte> value);
    void insert_record(std::uint32_t index, std::span<const std::byte> encoded);
    void remove(std::uint32_t index);
    /// Replaces the value of a record. The caller must know that the new value fits.
    void replace(std::uint32_t index, std::span<const std::byte> value);
    void set_child(std::uint32_t index, std::uint32_t child_number);
    /// Keeps the first `count` records.
    void truncate(std::uint32_t count);

private:
    void set_u16(std::uint32_t at, std::uint32_t value) {
        const auto v = static_cast<std::uint16_t>(value);
        std::memcpy(bytes_ + at, &v, sizeof v);
    }
    void set_header(std::uint32_t count, std::uint32_t heap_start, std::uint32_t dead_bytes);
    [[nodiscard]] std::uint32_t place(std::uint32_t bytes);
    [[nodiscard]] std::uint32_t find_hole(std::uint32_t bytes) const;
    [[nodiscard]] std::uint32_t open_slot(std::uint32_t index, std::uint32_t bytes);
    void compact();
    std::byte* bytes_;
};

} // namespace flashlab

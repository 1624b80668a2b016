/// The nodes of the metadata tree: in the cells, or as the open transaction's private copies.
///
/// Idea       The first change of a node makes a copy. Commit compares the copy with the cells word by word. A node that is freed and allocated again
///            keeps its stale bytes, so that words that happen to be equal are not written.
/// Invariant  A node in use has its bit set; node numbers begin at 1. A copy exists only while a transaction is open.
/// Cost       read: one table look-up. First touch: 4 KiB copied into a pool that only grows. Compare: 512 words a copy.
/// Power cut  Copies vanish; the cells change only by what append_changes() puts into the log.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fs/btree_node.h"
#include "fs/pram_bitmap.h"
#include "pram/redo_log.h"

namespace flashlab {

class NodeSpace {
public:
    NodeSpace(std::span<const std::byte> node_cells, PramAddress nodes_home, std::span<const std::byte> bitmap_cells, PramAddress bitmap_home,
              std::uint32_t nodes);

    [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
    [[nodiscard]] std::uint32_t free_nodes() const { return static_cast<std::uint32_t>(bitmap_.clear_bits()); }
    [[nodiscard]] bool in_use(std::uint32_t node) const { return node >= 1 && node <= nodes_ && bitmap_.test(node - 1); }
    [[nodiscard]] NodeView read(std::uint32_t node) const {
        ensure(node >= 1 && node <= nodes_, "a node number exists");
        const std::uint16_t copy = copy_of_[node - 1];
        return NodeView{copy == 0 ? cells_ + std::size_t{node - 1} * node_bytes : copies_[copy - 1u]->data()};
    }
    /// Copies the node at the first call in a transaction.
    [[nodiscard]] NodeEditor edit(std::uint32_t node);
    /// Allocates an empty node. free_nodes() must not be 0.
    [[nodiscard]] std::uint32_t allocate(std::uint32_t level);
    void release(std::uint32_t node);

    [[nodiscard]] const PramBitmap& bitmap() const { return bitmap_; }
    void append_changes(PramTransaction& to) const;
    /// Two upper bounds of the bytes that append_changes() adds to a log record: a guess that costs nothing, and a closer one that compares words.
    [[nodiscard]] std::uint64_t changed_bytes_guess() const { return touched_.size() * 2 * node_bytes + bitmap_.changed_bytes_bound(); }
    [[nodiscard]] std::uint64_t changed_bytes_bound() const;
    void forget_changes();
    void undo_changes();

private:
    using Copy = std::array<std::byte, node_bytes>;
    void drop_copies();
    const std::byte* cells_;
    PramAddress home_;
    std::uint32_t nodes_;
    std::uint32_t next_free_hint_ = 0;
    PramBitmap bitmap_;
    std::vector<std::uint16_t> copy_of_; ///< by node: index of its copy + 1, 0 = none
    std::vector<std::unique_ptr<Copy>> copies_;
    std::vector<std::uint32_t> touched_; ///< node of each copy in use
};

} // namespace flashlab

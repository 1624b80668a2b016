/// The ordered tree over NodeSpace: look-up, insertion with splits, removal with merges, walks in both directions.
///
/// Idea       Each operation keeps its path from root to leaf on the stack. A split adds one entry to the parent node, a merge takes one away. Nodes
///            have no sibling or parent pointers.
/// Invariant  S1, S2, S4, S5 of pram_metadata_store.h. A node is merged with a sibling when it is under half full and both together fill at most 3/4.
/// Cost       O(height * log fan-out) key compares; height is 3 or 4 at a million records.
/// Power cut  The tree works on private copies of nodes: see NodeSpace.
/// Source     Bayer, McCreight 1972. A record appended behind the last one of a full leaf starts a new leaf, so that rising keys fill their leaves.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fs/metadata_store.h"
#include "fs/node_space.h"

namespace flashlab {

class BTree {
public:
    struct Root {
        std::uint32_t node = 0; ///< 0: empty
        std::uint32_t height = 0;
        friend bool operator==(const Root&, const Root&) = default;
    };
    enum class PutResult : std::uint8_t { done, no_space };

    BTree(NodeSpace& nodes, Root root) : nodes_{nodes}, root_{root} {}

    [[nodiscard]] Root root() const { return root_; }
    void set_root(Root root) { root_ = root; }

    [[nodiscard]] bool get(const RecordKey& key, std::span<const std::byte>& value) const;
    /// Leaves at least `nodes_to_spare` nodes free. When it answers no_space, nothing has changed.
    [[nodiscard]] PutResult put(const RecordKey& key, std::span<const std::byte> value, std::uint32_t nodes_to_spare);
    [[nodiscard]] bool erase(const RecordKey& key);
    void scan(const RecordKey& from, const RecordKey& to, const MetadataStore::Visitor& visit) const;
    [[nodiscard]] bool find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found, std::span<const std::byte>& value) const;

    /// Checks S1 to S5, node by node. A damaged node is reported, and its children are not visited.
    void check(std::vector<CheckProblem>& problems) const;

private:
    static constexpr std::uint32_t max_height = 12;
    static constexpr RecordKey smallest_key{Ino{0}, static_cast<RecordKind>(0), 0};
    struct Step {
        std::uint32_t node;
        std::uint32_t index; ///< of the child taken, or of the record in the leaf
    };
    struct Path {
        std::array<Step, max_height> steps;
        std::uint32_t depth = 0;
        [[nodiscard]] Step& leaf() { return steps[depth - 1]; }
    };

    [[nodiscard]] NodeView node_at(std::uint32_t node, std::uint32_t level) const {
        const NodeView view = nodes_.read(node);
        ensure(view.is(node, level), "a metadata node is what the tree says it is");
        return view;
    }
    [[nodiscard]] NodeView descend(const RecordKey& key, Path& path) const;
    [[nodiscard]] bool next_leaf(Path& path) const;
    [[nodiscard]] bool previous_leaf(Path& path) const;
    void split_and_insert(Path& path, std::uint32_t depth, const RecordKey& key, std::span<const std::byte> value);
    void grow_root(const RecordKey& separator, std::uint32_t right);
    void remove_at(Path& path, std::uint32_t depth);
    void shrink(Path& path, std::uint32_t depth);
    [[nodiscard]] bool merge_children(std::uint32_t parent, std::uint32_t left_index);
    struct CheckRun;
    void check_node(CheckRun& run, std::uint32_t node, std::uint32_t level, const RecordKey& low, const RecordKey* high) const;

    NodeSpace& nodes_;
    Root root_;
};

} // namespace flashlab

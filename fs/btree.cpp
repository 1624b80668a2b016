#include "fs/btree.h"

#include "base/contract.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

/// The shortest key that is greater than the last key of the left node and not greater than the first key of the right node.
RecordKey separator_between(const RecordKey& left, const RecordKey& right) {
    if (left.ino != right.ino) return {right.ino, static_cast<RecordKind>(0), 0};
    if (left.kind != right.kind) return {right.ino, right.kind, 0};
    return right;
}

/// How many of the count + 1 records (the new one is at `index`) stay in the left node, so that both halves have about the same size.
/// When the new record comes last, no record moves: rising keys leave full nodes behind.
std::uint32_t records_staying_left(const NodeView& node, std::uint32_t index, std::uint32_t new_bytes) {
    const std::uint32_t count = node.count();
    if (index == count) return count;
    const auto bytes_of = [&](std::uint32_t i) {
        if (i == index) return new_bytes + slot_bytes;
        return static_cast<std::uint32_t>(node.record(i < index ? i : i - 1).size()) + slot_bytes;
    };
    const std::uint32_t half = (node.live_bytes() + new_bytes + slot_bytes) / 2;
    std::uint32_t left = 0, bytes = 0;
    while (left < count) {
        const std::uint32_t next = bytes_of(left);
        if (left > 0 && bytes + next / 2 > half) break; // this one would make it worse
        bytes += next;
        ++left;
    }
    return left;
}

/// Inserts an entry of an interior node: a key and its child.
void insert_child(NodeEditor& to, std::uint32_t index, const RecordKey& key, std::uint32_t child_number) {
    std::array<std::byte, 4> child;
    store_le(std::span{child}, child_number);
    to.insert(index, key, child);
}

} // namespace

NodeView BTree::descend(const RecordKey& key, Path& path) const {
    path.depth = root_.height;
    ensure(path.depth >= 1 && path.depth <= max_height, "the tree has a sane height");
    std::uint32_t node = root_.node;
    for (std::uint32_t depth = 0; depth + 1 < path.depth; ++depth) {
        const NodeView view = node_at(node, path.depth - 1 - depth);
        const std::uint32_t index = view.child_index(key);
        path.steps[depth] = {node, index};
        node = view.child(index);
    }
    const NodeView leaf = node_at(node, 0);
    path.leaf() = {node, leaf.lower_bound(key)};
    return leaf;
}

bool BTree::next_leaf(Path& path) const {
    for (std::uint32_t depth = path.depth - 1; depth-- > 0;) {
        Step& step = path.steps[depth];
        if (step.index + 1 >= nodes_.read(step.node).count()) continue;
        ++step.index;
        for (std::uint32_t down = depth; down + 1 < path.depth; ++down) {
            const std::uint32_t child = nodes_.read(path.steps[down].node).child(path.steps[down].index);
            (void)node_at(child, path.depth - 2 - down);
            path.steps[down + 1] = {child, 0};
        }
        return true;
    }
    return false;
}

/// Leaves path.leaf() at the last record of the leaf before.
bool BTree::previous_leaf(Path& path) const {
    for (std::uint32_t depth = path.depth - 1; depth-- > 0;) {
        if (path.steps[depth].index == 0) continue;
        --path.steps[depth].index;
        for (std::uint32_t down = depth; down + 1 < path.depth; ++down) {
            const std::uint32_t child = nodes_.read(path.steps[down].node).child(path.steps[down].index);
            path.steps[down + 1] = {child, node_at(child, path.depth - 2 - down).count() - 1};
        }
        return true;
    }
    return false;
}

bool BTree::get(const RecordKey& key, std::span<const std::byte>& value) const {
    value = {};
    if (root_.node == 0) return false;
    std::uint32_t node = root_.node;
    for (std::uint32_t level = root_.height - 1; level > 0; --level) {
        const NodeView view = node_at(node, level);
        node = view.child(view.child_index(key));
    }
    const NodeView leaf = node_at(node, 0);
    const std::uint32_t index = leaf.lower_bound(key);
    if (index == leaf.count() || leaf.key(index) != key) return false;
    value = leaf.value(index);
    return true;
}

void BTree::scan(const RecordKey& from, const RecordKey& to, const MetadataStore::Visitor& visit) const {
    if (root_.node == 0 || !(from < to)) return;
    Path path;
    (void)descend(from, path);
    do {
        const NodeView leaf = nodes_.read(path.leaf().node);
        const std::uint32_t count = leaf.count();
        for (std::uint32_t i = path.leaf().index; i < count; ++i) {
            const RecordKey key = leaf.key(i);
            if (!(key < to) || !visit(key, leaf.value(i))) return;
        }
    } while (next_leaf(path));
}

bool BTree::find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found, std::span<const std::byte>& value) const {
    value = {};
    if (root_.node == 0) return false;
    Path path;
    NodeView leaf = descend(key, path);
    std::uint32_t index = path.leaf().index;
    if (index == leaf.count() || leaf.key(index) != key) {
        if (index > 0) {
            --index;
        } else {
            if (!previous_leaf(path)) return false;
            leaf = nodes_.read(path.leaf().node);
            index = path.leaf().index;
        }
    }
    const RecordKey candidate = leaf.key(index);
    if (candidate < floor) return false;
    found = candidate;
    value = leaf.value(index);
    return true;
}

BTree::PutResult BTree::put(const RecordKey& key, std::span<const std::byte> value, std::uint32_t nodes_to_spare) {
    const std::uint32_t bytes = encoded_bytes(key, value.size());
    if (root_.node == 0) {
        if (nodes_.free_nodes() < nodes_to_spare + 1) return PutResult::no_space;
        root_ = {nodes_.allocate(0), 1};
        nodes_.edit(root_.node).insert(0, key, value);
        return PutResult::done;
    }
    Path path;
    const NodeView leaf = descend(key, path);
    const Step at = path.leaf();
    const bool present = at.index < leaf.count() && leaf.key(at.index) == key;
    const std::uint32_t old_bytes = present ? static_cast<std::uint32_t>(leaf.record(at.index).size()) : 0;
    const std::uint32_t needed = present ? bytes : bytes + slot_bytes;
    if (leaf.live_bytes() - old_bytes + needed <= node_capacity) {
        NodeEditor edit = nodes_.edit(at.node);
        if (present) {
            edit.replace(at.index, value);
        } else {
            edit.insert(at.index, key, value);
        }
        return PutResult::done;
    }
    // One node a level, and a new root: the most that one insertion can take.
    if (nodes_.free_nodes() < nodes_to_spare + root_.height + 1) return PutResult::no_space;
    if (present) nodes_.edit(at.node).remove(at.index);
    split_and_insert(path, path.depth - 1, key, value);
    return PutResult::done;
}

void BTree::split_and_insert(Path& path, std::uint32_t depth, const RecordKey& key, std::span<const std::byte> value) {
    const Step at = path.steps[depth];
    NodeEditor left = nodes_.edit(at.node);
    const std::uint32_t bytes = encoded_bytes(key, value.size());
    if (left.fits(bytes)) return left.insert(at.index, key, value);

    const std::uint32_t count = left.count(), staying = records_staying_left(left, at.index, bytes);
    const std::uint32_t kept = at.index < staying ? staying - 1 : staying; // of the old records
    const std::uint32_t right_node = nodes_.allocate(left.level());
    NodeEditor right = nodes_.edit(right_node);
    for (std::uint32_t i = kept; i < count; ++i) right.insert_record(i - kept, left.record(i));
    left.truncate(kept);
    if (at.index < staying) {
        left.insert(at.index, key, value);
    } else {
        right.insert(at.index - kept, key, value);
    }
    const RecordKey first = right.key(0);
    const RecordKey separator = left.level() > 0 ? first : separator_between(left.key(left.count() - 1), first);
    if (left.level() > 0) { // its key goes up; S2
        const std::uint32_t child = right.child(0);
        right.remove(0);
        insert_child(right, 0, smallest_key, child);
    }
    if (depth == 0) return grow_root(separator, right_node);
    std::array<std::byte, 4> child;
    store_le(std::span{child}, right_node);
    ++path.steps[depth - 1].index; // behind the entry of the left half
    split_and_insert(path, depth - 1, separator, child);
}

void BTree::grow_root(const RecordKey& separator, std::uint32_t right) {
    ensure(root_.height < max_height, "the tree has a sane height");
    const std::uint32_t left = root_.node;
    root_ = {nodes_.allocate(root_.height), root_.height + 1};
    NodeEditor top = nodes_.edit(root_.node);
    insert_child(top, 0, smallest_key, left);
    insert_child(top, 1, separator, right);
}

bool BTree::erase(const RecordKey& key) {
    if (root_.node == 0) return false;
    Path path;
    const NodeView leaf = descend(key, path);
    const std::uint32_t index = path.leaf().index;
    if (index == leaf.count() || leaf.key(index) != key) return false;
    nodes_.edit(path.leaf().node).remove(index);
    shrink(path, path.depth - 1);
    return true;
}

/// Takes the entry steps[depth].index out of an interior node. The neighbour with the lower keys inherits its range (S2).
void BTree::remove_at(Path& path, std::uint32_t depth) {
    const Step at = path.steps[depth];
    NodeEditor edit = nodes_.edit(at.node);
    if (at.index == 0 && edit.count() > 1) {
        edit.set_child(0, edit.child(1)); // the first entry keeps its key (S2)
        edit.remove(1);
    } else {
        edit.remove(at.index);
    }
}

/// Call after a removal in the node of steps[depth]. Frees the node when it is empty, merges it when it is small, and repeats this in the parent as
/// long as the parent changed.
void BTree::shrink(Path& path, std::uint32_t depth) {
    for (;; --depth) {
        const std::uint32_t node = path.steps[depth].node;
        const NodeView view = nodes_.read(node);
        if (depth == 0) break;
        const Step& above = path.steps[depth - 1];
        if (view.count() == 0) {
            nodes_.release(node);
            remove_at(path, depth - 1);
            continue;
        }
        if (view.live_bytes() >= node_capacity / 2) return;
        const std::uint32_t siblings = nodes_.read(above.node).count();
        const bool merged = (above.index + 1 < siblings && merge_children(above.node, above.index)) ||
                            (above.index > 0 && merge_children(above.node, above.index - 1));
        if (!merged) return;
    }
    if (nodes_.read(root_.node).count() == 0) {
        nodes_.release(root_.node);
        root_ = {};
    }
    while (root_.height > 1 && nodes_.read(root_.node).count() == 1) {
        const std::uint32_t only = nodes_.read(root_.node).child(0);
        nodes_.release(root_.node);
        root_ = {only, root_.height - 1};
    }
}

/// The records of the emptier node move into the fuller one, so that fewer words are written.
bool BTree::merge_children(std::uint32_t parent, std::uint32_t left_index) {
    const NodeView above = nodes_.read(parent);
    const std::uint32_t left = above.child(left_index), right = above.child(left_index + 1);
    const std::uint32_t level = above.level() - 1;
    const std::uint32_t left_bytes = node_at(left, level).live_bytes(), right_bytes = node_at(right, level).live_bytes();
    if (left_bytes + right_bytes > node_capacity / 4 * 3) return false;
    const bool keep_left = left_bytes >= right_bytes;
    const std::uint32_t kept = keep_left ? left : right, gone = keep_left ? right : left;
    NodeEditor to = nodes_.edit(kept);
    const NodeView from = nodes_.read(gone);
    const std::uint32_t base = keep_left ? to.count() : 0;
    std::uint32_t i = 0;
    if (level > 0) { // the right one's first entry gets the key that stood above it
        const RecordKey separator = above.key(left_index + 1);
        const NodeView right_view = keep_left ? from : to;
        const std::uint32_t child = right_view.child(0);
        if (!keep_left) to.remove(0);
        insert_child(to, base, separator, child);
        i = keep_left ? 1 : 0;
    }
    for (; i < from.count(); ++i) to.insert_record(base + i, from.record(i));
    NodeEditor edit = nodes_.edit(parent);
    edit.set_child(left_index, kept);
    edit.remove(left_index + 1);
    nodes_.release(gone);
    return true;
}

} // namespace flashlab

#include "fs/btree.h"

#include <fmt/format.h>

namespace flashlab {

struct BTree::CheckRun {
    std::vector<CheckProblem>& problems;
    std::vector<bool> reached; ///< by node number

    void report(const char* invariant, std::uint32_t node, std::string detail) {
        constexpr std::size_t enough = 1000; // of a wrecked tree
        if (problems.size() < enough) problems.push_back({invariant, fmt::format("metadata node {}", node), std::move(detail)});
    }
};

namespace {

std::string text(const RecordKey& key) { return fmt::format("({}, {}, {:x})", key.ino.value(), static_cast<unsigned>(key.kind), key.subkey); }

} // namespace

void BTree::check_node(CheckRun& run, std::uint32_t node, std::uint32_t level, const RecordKey& low, const RecordKey* high) const {
    if (node == 0 || node > nodes_.nodes()) return run.report("S3", node, "no such node, yet the tree names it");
    if (run.reached[node]) return run.report("S3", node, "reached twice from the root");
    run.reached[node] = true;
    if (!nodes_.in_use(node)) run.report("S3", node, "in the tree, but its bit in the node bitmap is clear");
    const NodeView view = nodes_.read(node);
    if (view.magic() != node_magic || view.self() != node)
        return run.report("S4", node, fmt::format("its header says node {} with magic {:08x}", view.self(), view.magic()));
    if (view.level() != level) return run.report("S5", node, fmt::format("level {} where the tree needs {}", view.level(), level));
    if (std::string wrong = view.problem(); !wrong.empty()) return run.report("S4", node, std::move(wrong));
    // An interior node's first key is the same everywhere and no bound (S2): its first child has the node's own.
    const std::uint32_t first_bounded = level == 0 ? 0 : 1;
    if (first_bounded < view.count()) {
        const RecordKey first = view.key(first_bounded), last = view.key(view.count() - 1);
        if (first < low) run.report("S1", node, fmt::format("key {} lies below its bound {}", text(first), text(low)));
        if (high != nullptr && !(last < *high)) run.report("S1", node, fmt::format("key {} lies above its bound {}", text(last), text(*high)));
    }
    if (level == 0) return;
    if (view.key(0) != smallest_key) run.report("S2", node, fmt::format("its first entry has the key {}", text(view.key(0))));
    for (std::uint32_t i = 0; i < view.count(); ++i) {
        const RecordKey child_low = i == 0 ? low : view.key(i);
        const bool is_last = i + 1 == view.count();
        const RecordKey child_high = is_last ? child_low : view.key(i + 1);
        check_node(run, view.child(i), level - 1, child_low, is_last ? high : &child_high);
    }
}

void BTree::check(std::vector<CheckProblem>& problems) const {
    CheckRun run{problems, std::vector<bool>(std::size_t{nodes_.nodes()} + 1)};
    if (root_.node != 0) {
        if (root_.height == 0 || root_.height > max_height) {
            run.report("S5", root_.node, fmt::format("the tree is {} levels high", root_.height));
        } else {
            check_node(run, root_.node, root_.height - 1, {Ino{0}, static_cast<RecordKind>(0), 0}, nullptr);
        }
    }
    for (std::uint32_t node = 1; node <= nodes_.nodes(); ++node)
        if (nodes_.in_use(node) && !run.reached[node]) run.report("S3", node, "its bit is set, but the tree does not reach it");
}

} // namespace flashlab

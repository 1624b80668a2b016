#include "crash/fs/tree_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace flashlab {

namespace {

using Kind = ModelOp::Kind;

/// Every version that may be seen, through what was done to the file since. Those that it does not touch are shared.
template <class Touches, class Change>
void rewrite(ModelNode& node, const Touches& touches, const Change& change) {
    for (ModelNode::Version& version : node.versions) {
        if (!touches(*version.bytes)) continue;
        std::string bytes = *version.bytes;
        change(bytes);
        version.bytes = std::make_shared<const std::string>(std::move(bytes));
    }
}

void forget_older(ModelNode& node, std::size_t since) {
    if (node.versions.empty()) return;
    const auto first_newer = std::ranges::find_if(node.versions, [since](const auto& v) { return v.op >= since; });
    const auto keep = first_newer == node.versions.begin() ? first_newer : first_newer - 1;
    node.set_size = std::max<std::uint64_t>(node.set_size, keep->bytes->size());
    node.versions.erase(node.versions.begin(), keep);
}

bool punches(FallocateMode mode) {
    return mode == FallocateMode::punch_hole || mode == FallocateMode::zero_range || mode == FallocateMode::zero_range_keep_size;
}

} // namespace

bool ModelNode::is_directory() const { return S_ISDIR(mode); }
bool ModelNode::is_regular() const { return S_ISREG(mode); }

TreeModel::TreeModel(std::uint32_t unit_bytes, bool answered_is_durable, JudgeSet judges)
    : unit_bytes_{unit_bytes}, answered_is_durable_{answered_is_durable}, judges_{judges} {
    ModelNode root;
    root.mode = S_IFDIR | 0755;
    root.links = 2;
    root.parent = root_ino;
    past_.emplace(root_ino, root);
    now_ = past_;
}

std::size_t TreeModel::note(ModelOp op) {
    ops_.push_back(std::move(op));
    apply(now_, ops_.back(), ops_.size(), sim_never, judges_);
    return ops_.size();
}

ModelNode TreeModel::new_node(const ModelOp& op, std::size_t number) {
    ModelNode node;
    node.mode = op.mode;
    node.uid = op.uid;
    node.gid = op.gid;
    node.rdev = op.rdev;
    node.target = op.name2;
    node.links = op.kind == Kind::unnamed ? 0 : node.is_directory() ? 2 : 1;
    node.parent = op.parent;
    node.modified = op.wall;
    if (node.is_regular()) node.versions.push_back({number, std::make_shared<const std::string>()});
    return node;
}

void TreeModel::apply_name(Nodes& nodes, const ModelOp& op, std::size_t number) const {
    ModelNode& above = nodes.at(op.parent);
    above.modified = op.wall;
    if (op.kind == Kind::unlink) {
        const Ino ino = above.entries.at(op.name);
        above.entries.erase(op.name);
        ModelNode& node = nodes.at(ino);
        if (node.is_directory()) --above.links;
        if (node.is_directory() || --node.links == 0) nodes.erase(ino);
        return;
    }
    above.entries.insert_or_assign(op.name, op.ino);
    if (op.kind == Kind::link) {
        ++nodes.at(op.ino).links;
        return;
    }
    ModelNode node = new_node(op, number);
    if (node.is_directory()) ++above.links;
    nodes.emplace(op.ino, std::move(node));
}

void TreeModel::apply_rename(Nodes& nodes, const ModelOp& op, JudgeSet judges) const {
    ModelNode& from = nodes.at(op.parent);
    ModelNode& to = nodes.at(op.parent2);
    from.modified = to.modified = op.wall;
    const Ino moved = from.entries.at(op.name);
    const auto there = to.entries.find(op.name2);
    const auto move_directory = [&](Ino ino, ModelNode& old_parent, ModelNode& new_parent, Ino parent) {
        ModelNode& node = nodes.at(ino);
        if (!node.is_directory()) return;
        --old_parent.links;
        ++new_parent.links;
        node.parent = parent;
    };
    if (op.rename == RenameMode::exchange) {
        const Ino other = there->second;
        there->second = moved;
        from.entries.at(op.name) = other;
        move_directory(moved, from, to, op.parent2);
        move_directory(other, to, from, op.parent);
        return;
    }
    if (there != to.entries.end()) {
        if (judges.has(Judge::fsync)) forget_older(nodes.at(moved), op.since);
        const Ino gone = there->second;
        ModelNode& node = nodes.at(gone);
        if (node.is_directory()) --to.links;
        if (node.is_directory() || --node.links == 0) nodes.erase(gone);
    }
    from.entries.erase(op.name);
    to.entries.insert_or_assign(op.name2, moved);
    move_directory(moved, from, to, op.parent2);
}

void TreeModel::apply_attribute(Nodes& nodes, const ModelOp& op) const {
    ModelNode& node = nodes.at(op.ino);
    switch (op.kind) {
    case Kind::mode:
        node.mode = (node.mode & S_IFMT) | op.mode;
        break;
    case Kind::owner:
        node.uid = op.uid, node.gid = op.gid;
        break;
    case Kind::times:
        node.modified = op.modified;
        break;
    case Kind::set_xattr:
        node.xattrs.insert_or_assign(op.name, op.name2);
        break;
    case Kind::remove_xattr:
        node.xattrs.erase(op.name);
        break;
    case Kind::truncate:
        rewrite(
            node, [&](const std::string& bytes) { return bytes.size() > op.bytes; },
            [&](std::string& bytes) { bytes.resize(static_cast<std::size_t>(op.bytes)); });
        node.set_size = op.bytes;
        node.modified = op.wall;
        break;
    case Kind::allocate:
        if (punches(op.allocate)) {
            rewrite(
                node, [&](const std::string& bytes) { return bytes.size() > op.offset; },
                [&](std::string& bytes) {
                    for (std::uint64_t i = op.offset; i < std::min<std::uint64_t>(bytes.size(), op.offset + op.bytes); ++i) bytes[i] = '\0';
                });
        }
        if (op.allocate == FallocateMode::allocate || op.allocate == FallocateMode::zero_range) {
            // The size is set when it grows; otherwise nothing is promised of it.
            if (op.offset + op.bytes == op.after->size()) node.set_size = std::max<std::uint64_t>(node.set_size, op.offset + op.bytes);
        }
        node.modified = op.wall;
        break;
    default:
        break;
    }
}

void TreeModel::apply(Nodes& nodes, const ModelOp& op, std::size_t number, SimTime at, JudgeSet judges) const {
    switch (op.kind) {
    case Kind::create:
    case Kind::link:
    case Kind::unlink:
        return apply_name(nodes, op, number);
    case Kind::rename:
        return apply_rename(nodes, op, judges);
    case Kind::unnamed:
        nodes.emplace(op.ino, new_node(op, number));
        return;
    case Kind::drop:
        nodes.erase(op.ino);
        return;
    default:
        break;
    }
    const auto found = nodes.find(op.ino);
    if (found == nodes.end()) return; // has no name any more
    ModelNode& node = found->second;
    if (op.kind == Kind::sync_end && op.done <= at && judges.has(Judge::fsync)) forget_older(node, op.since);
    if (op.is_ordered()) apply_attribute(nodes, op);
    if (op.after) {
        node.versions.push_back({number, op.after});
        if (!op.is_ordered()) node.modified.reset();
    }
}

/// The state with the first `prefix` ordered operations. Of the others only written bytes can be there, which may have reached their pages; but
/// nothing that came after a truncate which is not there: the pages that it keeps hold old bytes behind its end.
TreeModel::Nodes TreeModel::state_of(std::size_t prefix, SimTime at, JudgeSet judges) const {
    Nodes nodes = past_;
    std::set<Ino> waiting; // for their truncate
    std::size_t ordered = 0;
    for (std::size_t i = 0; i < ops_.size() && ops_[i].issued <= at; ++i) {
        const ModelOp& op = ops_[i];
        const bool is_there = !op.is_ordered() || ordered++ < prefix;
        if (op.after && waiting.contains(op.ino)) continue;
        if (is_there) {
            apply(nodes, op, i + 1, at, judges);
        } else if (op.after && nodes.contains(op.ino)) {
            ModelNode& node = nodes.at(op.ino);
            if (op.kind == Kind::truncate && op.after->size() < node.content().size()) waiting.insert(op.ino);
            if (op.kind != Kind::allocate) continue;
            node.versions.push_back({i + 1, op.after}); // not atomic: its zeros arrive page by page, before the rest
            node.modified.reset();
        }
    }
    std::erase_if(nodes, [](const auto& node) { return node.second.is_unnamed(); });
    return nodes;
}

} // namespace flashlab

// Compares the state seen after a cut with the allowed states.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "crash/fs/tree_model.h"

namespace flashlab {

namespace {

constexpr std::uint64_t page_bytes = 4096; ///< sizes in the middle of a commit are whole pages

/// Behind its end a version is zeros. `to` is not beyond the end of `seen`.
bool same_slice(const std::string& version, const std::string& seen, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t both = std::clamp<std::uint64_t>(version.size(), from, to);
    if (std::memcmp(version.data() + std::min<std::uint64_t>(from, version.size()), seen.data() + from, both - from) != 0) return false;
    return std::all_of(seen.begin() + static_cast<std::ptrdiff_t>(both), seen.begin() + static_cast<std::ptrdiff_t>(to),
                       [](char c) { return c == '\0'; });
}

} // namespace

std::string TreeModel::operations_text() const {
    static constexpr std::string_view kinds[] = {"create", "unnamed",   "drop",         "link",     "unlink",   "rename", "mode",       "owner",
                                                 "times",  "set_xattr", "remove_xattr", "truncate", "allocate", "write",  "sync_begin", "sync_end"};
    std::string text;
    for (const ModelOp& op : ops_) {
        text += fmt::format("\n  {:>12}..{:<12} {} inode {}", ns_since_start(op.issued), ns_since_start(op.done),
                            kinds[static_cast<std::size_t>(op.kind)], op.ino.value());
        if (!op.name.empty()) text += fmt::format(" {}/{}", op.parent.value(), op.name);
        if (op.kind == ModelOp::Kind::rename) text += fmt::format(" to {}/{} mode {}", op.parent2.value(), op.name2, static_cast<int>(op.rename));
        if (op.kind == ModelOp::Kind::allocate) text += fmt::format(" mode {}", static_cast<int>(op.allocate));
        if (op.offset != 0 || op.bytes != 0) text += fmt::format(" at {} +{}", op.offset, op.bytes);
        if (op.after) text += fmt::format(" -> {} bytes", op.after->size());
        text += fmt::format(" mtime {}", op.wall.nanoseconds);
    }
    return text;
}

std::optional<std::string> TreeModel::read_back(FileSystem& fs, SimTime now, Observed& out) {
    const FsCall call{.now = now, .wall = FileTime{.seconds = 1}};
    std::vector<Ino> waiting{root_ino};
    std::optional<std::string> trouble;
    while (!waiting.empty()) {
        const Ino ino = waiting.back();
        waiting.pop_back();
        if (out.contains(ino)) continue;
        const auto a = fs.attributes(call, ino);
        if (!a) return fmt::format("inode {} has a name but no attributes", ino.value());
        ModelNode& node = out[ino];
        node.mode = a->value.mode;
        node.uid = a->value.uid;
        node.gid = a->value.gid;
        node.rdev = a->value.rdev;
        node.links = a->value.links;
        node.modified = a->value.modified;
        node.set_size = a->value.size;
        if (const auto names = fs.list_xattrs(call, ino); names && !names->value.empty()) {
            for (std::size_t at = 0; at < names->value.size();) {
                const std::string name = names->value.c_str() + at;
                at += name.size() + 1;
                const auto value = fs.get_xattr(call, ino, name);
                if (!value) return fmt::format("inode {}: xattr {} is listed and cannot be read", ino.value(), name);
                node.xattrs.emplace(name, std::string{reinterpret_cast<const char*>(value->value.data()), value->value.size()});
            }
        }
        if (S_ISLNK(node.mode)) node.target = fs.read_link(call, ino)->value;
        if (node.is_regular()) {
            std::string bytes(static_cast<std::size_t>(a->value.size), '?');
            const auto got = fs.read(call, ino, 0, std::as_writable_bytes(std::span{bytes}));
            if (!got || got->value != bytes.size())
                return fmt::format("inode {} of {} bytes cannot be read: errno {}", ino.value(), bytes.size(), got ? 0 : got.error().error_number);
            node.versions.push_back({0, std::make_shared<const std::string>(std::move(bytes))});
        }
        if (!node.is_directory()) continue;
        const auto listed = fs.read_directory(call, ino, 0, [&](std::string_view name, Ino child, std::uint32_t, std::uint64_t) {
            if (name == "..") node.parent = child;
            if (name == "." || name == "..") return true;
            node.entries.emplace(name, child);
            waiting.push_back(child);
            return true;
        });
        if (!listed) return fmt::format("directory {} cannot be listed", ino.value());
        for (const auto& [name, child] : node.entries) {
            const auto found = fs.lookup(call, ino, name);
            if (!found || found->value.ino != child) return fmt::format("directory {}: {} is listed and not found", ino.value(), name);
            fs.forget(child, 1, now);
        }
    }
    return trouble;
}

std::optional<std::string> TreeModel::compare_content(const ModelNode& allowed, const std::string& seen) const {
    const std::uint64_t size = seen.size();
    if (size < allowed.set_size) return fmt::format("{} bytes, {} were set or synced (R4)", size, allowed.set_size);
    std::size_t grown = 0;
    if (size > allowed.set_size) {
        while (grown < allowed.versions.size() && allowed.versions[grown].bytes->size() < size) ++grown;
        if (grown == allowed.versions.size()) return fmt::format("{} bytes were never written (R4)", size);
        if (allowed.versions[grown].bytes->size() != size && size % page_bytes != 0)
            return fmt::format("{} bytes is no size that it ever had (R4)", size);
    }
    for (std::uint64_t from = 0; from < size; from += unit_bytes_) {
        const std::uint64_t to = std::min<std::uint64_t>(size, from + unit_bytes_);
        const std::size_t first = to > allowed.set_size ? grown : 0;
        bool hit = false;
        for (std::size_t v = first; v < allowed.versions.size() && !hit; ++v) hit = same_slice(*allowed.versions[v].bytes, seen, from, to);
        if (hit) continue;
        std::string why = "no version ever";
        for (std::size_t v = 0; v < first; ++v)
            if (same_slice(*allowed.versions[v].bytes, seen, from, to))
                why = fmt::format("only version {}, older than {} which made the size", v, first);
        return fmt::format("bytes {}..{} of {}: {} (R2, R3; {} versions, set size {})", from, to, size, why, allowed.versions.size(),
                           allowed.set_size);
    }
    return std::nullopt;
}

std::optional<std::string> TreeModel::compare(const Nodes& allowed, const Observed& seen, JudgeSet judges) const {
    for (const auto& [ino, node] : seen)
        if (!allowed.contains(ino)) return fmt::format("inode {} must not be there", ino.value());
    for (const auto& [ino, node] : allowed) {
        const auto at = seen.find(ino);
        if (at == seen.end()) return fmt::format("inode {} is missing", ino.value());
        const ModelNode& is = at->second;
        const auto differs = [&](std::string_view what, auto is_value, auto must) {
            return fmt::format("inode {}: {} is {}, must be {}", ino.value(), what, is_value, must);
        };
        if (is.mode != node.mode) return differs("mode", is.mode, node.mode);
        if (is.uid != node.uid) return differs("uid", is.uid, node.uid);
        if (is.gid != node.gid) return differs("gid", is.gid, node.gid);
        if (is.rdev != node.rdev) return differs("rdev", is.rdev, node.rdev);
        if (is.links != node.links) return differs("links", is.links, node.links);
        if (is.target != node.target) return fmt::format("inode {}: another target", ino.value());
        if (is.xattrs != node.xattrs)
            return fmt::format("inode {}: other xattrs: {} instead of {}", ino.value(), is.xattrs.size(), node.xattrs.size());
        if (is.entries != node.entries)
            return fmt::format("inode {}: other names: {} instead of {}", ino.value(), is.entries.size(), node.entries.size());
        if (node.is_directory() && is.parent != node.parent) return differs("parent", is.parent.value(), node.parent.value());
        if (node.modified && is.modified != node.modified) return differs("mtime", is.modified->nanoseconds, node.modified->nanoseconds);
        if (!node.is_regular() || !judges.has(Judge::file_contents)) continue;
        if (const auto wrong = compare_content(node, is.content())) return fmt::format("inode {}: {}", ino.value(), *wrong);
    }
    return std::nullopt;
}

std::optional<TreeModel::Nodes> TreeModel::find_allowed(const Observed& seen, SimTime at, JudgeSet judges, std::string& story) const {
    std::size_t answered = 0;
    std::size_t issued = 0;
    std::size_t synced = 0; // operations below this number were there when a sync that is done began
    for (const ModelOp& op : ops_)
        if ((op.kind == ModelOp::Kind::sync_end || op.kind == ModelOp::Kind::sync_begin) && op.done <= at) synced = std::max(synced, op.since);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
        const ModelOp& op = ops_[i];
        if (!op.is_ordered() || op.issued > at) continue;
        ++issued;
        if (judges.has(Judge::names) && (answered_is_durable_ ? op.done <= at : i + 1 < synced)) answered = issued;
    }
    story = fmt::format("no allowed state ({} answered):", answered);
    for (std::size_t prefix = answered; prefix <= issued; ++prefix) {
        Nodes state = state_of(prefix, at, judges);
        const auto wrong = compare(state, seen, judges);
        if (!wrong) return state;
        story += fmt::format("\n  with {} of {} ordered operations: {}", prefix, issued, *wrong);
    }
    return std::nullopt;
}

Verdict TreeModel::settle_after_cut(FileSystem& fs, SimTime at, SimTime now) {
    Observed seen;
    if (auto trouble = read_back(fs, now, seen)) return Finding{Judge::tree, *trouble};
    std::string story, ignored;
    auto state = find_allowed(seen, at, judges_, story);
    if (!state) {
        story += fmt::format("\ncut at {}; since the last one:{}", ns_since_start(at), operations_text());
        // Whose promise is it? The one without which all is well.
        for (const Judge judge : {Judge::fsync, Judge::names, Judge::file_contents})
            if (judges_.has(judge) && find_allowed(seen, at, judges_.without(judge), ignored)) return Finding{judge, std::move(story)};
        return Finding{Judge::tree, std::move(story)};
    }
    const FsUsage usage = fs.usage();
    if (usage.inodes != state->size() && judges_.has(Judge::space))
        return Finding{Judge::space, fmt::format("{} inodes are counted, {} are there (C15)", usage.inodes, state->size())};
    for (auto& [ino, node] : *state) {
        ModelNode& is = seen.at(ino);
        node.modified = is.modified;
        node.set_size = is.set_size;
        node.versions = std::move(is.versions);
    }
    past_ = now_ = std::move(*state);
    ops_.clear();
    return std::nullopt;
}

std::optional<std::string> TreeModel::compare_now(FileSystem& fs, SimTime now) const {
    Observed seen;
    if (auto trouble = read_back(fs, now, seen)) return trouble;
    Nodes exact = now_;
    std::erase_if(exact, [](const auto& node) { return node.second.is_unnamed(); });
    for (auto& [ino, node] : exact) {
        if (!node.is_regular()) continue;
        node.versions.erase(node.versions.begin(), node.versions.end() - 1);
        node.set_size = node.content().size();
    }
    return compare(exact, seen, judges_);
}

} // namespace flashlab

// The operations of the random program: each picks its objects by the seed, issues one call, and notes what was answered.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "crash/fs/crash_rig.h"

namespace flashlab {

namespace {

using Kind = ModelOp::Kind;
constexpr std::uint64_t largest_offset = 90'000;

std::string padded(const std::string& content, std::uint64_t size) {
    std::string bytes;
    bytes.reserve(std::max<std::size_t>(content.size(), size));
    bytes = content;
    bytes.resize(std::max<std::size_t>(bytes.size(), size));
    return bytes;
}

} // namespace

ModelOp CrashRig::base(Kind kind, const FsCall& at) const {
    ModelOp op;
    op.kind = kind;
    op.issued = op.done = at.now;
    op.wall = at.wall;
    return op;
}

template <class Work>
auto CrashRig::patient(FsCall call, const Work& work) {
    for (;;) {
        auto result = work(call);
        if (result || !result.error().is_again()) return result;
        now_ = call.now = std::max(now_, result.error().again);
        moments_.push_back(now_);
        step_pending();
        (void)stack_->fs().tick(now_);
    }
}

template <class Good>
Ino CrashRig::pick(const Good& good) {
    std::vector<Ino> fit;
    for (const auto& [ino, node] : model_.now())
        if (good(node)) fit.push_back(ino);
    return fit.empty() ? Ino{0} : fit[static_cast<std::size_t>(random_.below(fit.size()))];
}
Ino CrashRig::pick_directory() {
    return pick([](const ModelNode& n) { return n.is_directory(); });
}
Ino CrashRig::pick_any_file() {
    return pick([](const ModelNode& n) { return n.is_regular(); });
}
Ino CrashRig::pick_file() { return hurried_ != Ino{0} ? hurried_ : pick_any_file(); }
std::string CrashRig::name() { return std::string(1, static_cast<char>('a' + random_.below(7))); }

void CrashRig::make() {
    const FsCall c = call();
    ModelOp op = base(Kind::create, c);
    op.parent = pick_directory();
    op.name = name();
    const std::uint64_t what = random_.below(10);
    const auto bits = static_cast<std::uint32_t>(random_.below(0777));
    FileSystem& fs = stack_->fs();
    FsResult<Timed<Attributes>> made = std::unexpected(FsError{ENOENT});
    if (what < 5) {
        made = fs.make_node(c, op.parent, op.name, S_IFREG | bits, 0);
    } else if (what < 7) {
        made = fs.make_directory(c, op.parent, op.name, bits);
    } else if (what < 8) {
        op.name2 = std::string(1 + random_.below(random_.chance(1, 4) ? 3000 : 30), 't');
        made = fs.make_symlink(c, op.parent, op.name, op.name2);
    } else if (what < 9) {
        made = fs.make_node(c, op.parent, op.name, S_IFCHR | bits, static_cast<std::uint32_t>(random_.next()));
    } else {
        op.ino = pick([](const ModelNode& n) { return !n.is_directory(); });
        if (op.ino == Ino{0}) return;
        made = fs.link(c, op.ino, op.parent, op.name);
        op.kind = Kind::link;
    }
    if (!made) return;
    const Attributes& a = made->value;
    op.ino = a.ino;
    op.mode = a.mode;
    op.uid = a.uid;
    op.gid = a.gid;
    op.rdev = a.rdev;
    op.done = made->done;
    (void)model_.note(op);
    if (random_.chance(3, 4)) fs.forget(a.ino, 1, now_);
    pass(op.done);
}

void CrashRig::link(Ino ino) {
    const FsCall c = call();
    ModelOp op = base(Kind::link, c);
    op.ino = ino;
    op.parent = pick_directory();
    op.name = name();
    const auto linked = stack_->fs().link(c, op.ino, op.parent, op.name);
    if (!linked) return;
    op.done = linked->done;
    (void)model_.note(op);
    stack_->fs().forget(ino, 1, now_);
    pass(op.done);
}

/// Other operations take it as any file.
void CrashRig::make_or_drop_unnamed() {
    const FsCall c = call();
    FileSystem& fs = stack_->fs();
    if (!unnamed_files_.empty() && random_.chance(1, 3)) {
        ModelOp op = base(Kind::drop, c);
        op.ino = unnamed_files_.back();
        unnamed_files_.pop_back();
        fs.close_file(c, op.ino, true);
        fs.forget(op.ino, 1, now_);
        const auto node = model_.now().find(op.ino);
        if (node != model_.now().end() && node->second.is_unnamed()) (void)model_.note(op);
        return pass(now_);
    }
    ModelOp op = base(Kind::unnamed, c);
    op.parent = pick_directory();
    const auto made = fs.make_unnamed(c, op.parent, static_cast<std::uint32_t>(random_.below(0777)), random_.chance(3, 4));
    if (!made || !fs.open_file(c, made->value.ino, {.writes = true})) return;
    unnamed_files_.push_back(made->value.ino);
    op.ino = made->value.ino;
    op.mode = made->value.mode;
    keep(op, made->done);
}

/// Puts a name of any directory into `op`. Returns the inode that it names; 0 when there is no name at all.
Ino CrashRig::pick_entry(ModelOp& op) {
    op.parent = pick([](const ModelNode& n) { return n.is_directory() && !n.entries.empty(); });
    if (op.parent == Ino{0}) return op.parent;
    const auto& entries = model_.now().at(op.parent).entries;
    auto at = entries.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(entries.size())));
    op.name = at->first;
    return at->second;
}

void CrashRig::take_away() {
    const FsCall c = call();
    ModelOp op = base(Kind::unlink, c);
    const Ino taken = pick_entry(op);
    if (taken == Ino{0}) return;
    const bool is_directory = model_.now().at(taken).is_directory();
    const auto done = is_directory ? stack_->fs().remove_directory(c, op.parent, op.name) : stack_->fs().unlink(c, op.parent, op.name);
    if (!done) return;
    keep(op, *done);
}

void CrashRig::rename() {
    const FsCall c = call();
    ModelOp op = base(Kind::rename, c);
    const Ino moved = pick_entry(op);
    if (moved == Ino{0}) return;
    op.parent2 = pick_directory();
    op.name2 = name();
    const auto& there = model_.now().at(op.parent2).entries;
    const auto target = there.find(op.name2);
    if (target != there.end() && target->second == moved) return;
    if (target != there.end() && random_.chance(1, 4)) op.rename = RenameMode::exchange;
    // In the model the versions that were there when the call began are what must be durable.
    op.since = model_.operations() + 1;
    auto begun = stack_->fs().begin_rename(c, op.parent, op.name, op.parent2, op.name2, op.rename);
    if (!begun) return;
    // Names may change while the rename waits. It would then move another file, and the model could not tell.
    ModelOp now = op;
    for (int steps = 0; steps < 20; ++steps) {
        now.issued = now_;
        moments_.push_back(now_);
        const StepResult stepped = (*begun)->step(now_);
        if (!stepped) return;
        if (const auto* done = std::get_if<Done>(&*stepped)) {
            now.done = done->at;
            (void)model_.note(now);
            return pass(now.done);
        }
        now_ = std::max(now_, std::get<ResumeAt>(*stepped).at);
        step_pending();
        if (random_.chance(1, 2)) (void)stack_->fs().tick(now_);
        // Data of the moved file may change meanwhile: newer versions are as good.
        if (random_.chance(1, 3)) write();
    }
}

void CrashRig::change_attribute() {
    const FsCall c = call();
    AttributeChange change;
    const std::uint64_t what = random_.below(3);
    ModelOp op = base(what == 0 ? Kind::mode : what == 1 ? Kind::owner : Kind::times, c);
    op.ino = pick([](const ModelNode&) { return true; });
    if (what == 0) {
        change.which = AttributeChange::mode;
        change.new_mode = op.mode = static_cast<std::uint32_t>(random_.below(0777));
        if (S_ISLNK(model_.now().at(op.ino).mode)) return;
    } else if (what == 1) {
        change.which = AttributeChange::uid | AttributeChange::gid;
        change.new_uid = op.uid = static_cast<std::uint32_t>(random_.below(1000));
        change.new_gid = op.gid = static_cast<std::uint32_t>(random_.below(1000));
    } else {
        change.which = AttributeChange::mtime;
        change.new_mtime = op.modified = FileTime{.seconds = static_cast<std::int64_t>(random_.below(1u << 30)),
                                                  .nanoseconds = static_cast<std::uint32_t>(random_.below(1'000'000'000))};
    }
    const auto done = stack_->fs().change_attributes(c, op.ino, change);
    if (!done) return;
    keep(op, done->done);
}

void CrashRig::change_xattr() {
    const FsCall c = call();
    ModelOp op = base(Kind::set_xattr, c);
    op.ino = pick([](const ModelNode&) { return true; });
    op.name = "user." + name();
    FsResult<SimTime> done;
    if (random_.chance(1, 4)) {
        op.kind = Kind::remove_xattr;
        done = stack_->fs().remove_xattr(c, op.ino, op.name);
    } else {
        op.name2 = std::string(random_.below(random_.chance(1, 6) ? 5000 : 40), static_cast<char>('A' + random_.below(26)));
        done = stack_->fs().set_xattr(c, op.ino, op.name, std::as_bytes(std::span{op.name2}), XattrMode::any);
    }
    if (!done) return;
    keep(op, *done);
}

void CrashRig::write() {
    const FsCall c = call();
    ModelOp op = base(Kind::write, c);
    op.ino = pick_file();
    if (op.ino == Ino{0}) return;
    const std::string& content = model_.now().at(op.ino).content();
    // Appends, overwrites, and now and then a hole.
    op.offset = random_.chance(1, 2) ? content.size() : random_.below(random_.chance(1, 6) ? largest_offset : content.size() + 1);
    op.bytes = 1 + random_.below(random_.chance(1, 5) ? 20'000 : 3'000);
    if (op.offset + op.bytes > largest_offset) return;
    std::string piece(static_cast<std::size_t>(op.bytes), '\0');
    // Every write has bytes of its own, so that foreign or old bytes are noticed.
    Random fill{(model_.operations() << 20) ^ op.ino.value() ^ random_.next()};
    for (std::size_t at = 0; at < piece.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t bytes = fill.next() | 0x0101010101010101u; // none is 0: holes are told apart
        std::memcpy(piece.data() + at, &bytes, std::min(sizeof bytes, piece.size() - at));
    }
    const auto done = patient(c, [&](const FsCall& at) { return stack_->fs().write(at, op.ino, op.offset, std::as_bytes(std::span{piece})); });
    if (!done) return;
    op.bytes = done->value; // fewer when the drive is full
    piece.resize(done->value);
    std::string after = padded(content, op.offset + op.bytes);
    after.replace(static_cast<std::size_t>(op.offset), piece.size(), piece);
    op.after = std::make_shared<const std::string>(std::move(after));
    keep(op, done->done);
}

void CrashRig::truncate() {
    const FsCall c = call();
    ModelOp op = base(Kind::truncate, c);
    op.ino = pick_file();
    if (op.ino == Ino{0}) return;
    const std::string& content = model_.now().at(op.ino).content();
    const bool shortens = hurried_ != Ino{0};
    op.bytes = !shortens && random_.chance(1, 4) ? 0 : random_.below(shortens || random_.chance(2, 3) ? content.size() + 1 : largest_offset);
    AttributeChange change;
    change.which = AttributeChange::size;
    change.new_size = op.bytes;
    const auto done = patient(c, [&](const FsCall& at) { return stack_->fs().change_attributes(at, op.ino, change); });
    if (!done) return;
    std::string after = op.bytes < content.size() ? content.substr(0, static_cast<std::size_t>(op.bytes)) : padded(content, op.bytes);
    op.after = std::make_shared<const std::string>(std::move(after));
    keep(op, done->done);
}

void CrashRig::allocate() {
    const FsCall c = call();
    ModelOp op = base(Kind::allocate, c);
    op.ino = pick_file();
    if (op.ino == Ino{0}) return;
    const std::string& content = model_.now().at(op.ino).content();
    op.allocate = static_cast<FallocateMode>(random_.below(5));
    op.offset = random_.below(content.size() + 5000);
    op.bytes = 1 + random_.below(30'000);
    if (op.offset + op.bytes > largest_offset) return;
    const auto done = patient(c, [&](const FsCall& at) { return stack_->fs().allocate(at, op.ino, op.allocate, op.offset, op.bytes); });
    if (!done) return;
    std::string after = content;
    if (op.allocate == FallocateMode::allocate || op.allocate == FallocateMode::zero_range) after = padded(after, op.offset + op.bytes);
    if (op.allocate != FallocateMode::allocate && op.allocate != FallocateMode::keep_size)
        for (std::uint64_t i = op.offset; i < std::min<std::uint64_t>(after.size(), op.offset + op.bytes); ++i)
            after[static_cast<std::size_t>(i)] = '\0';
    op.after = std::make_shared<const std::string>(std::move(after));
    keep(op, *done);
}

/// Of all files: 0.
void CrashRig::sync(Ino ino) {
    const FsCall c = call();
    FileSystem& fs = stack_->fs();
    if (ino == Ino{0}) {
        if (auto begun = fs.begin_sync_all(c)) {
            ModelOp op = base(Kind::sync_begin, c);
            op.since = model_.operations() + 1;
            begin_pending(std::move(*begun), op);
        }
        return pass(now_);
    }
    auto begun = fs.begin_sync(c, ino, random_.chance(1, 2) ? SyncScope::data_only : SyncScope::data_and_metadata);
    if (!begun) return;
    ModelOp op = base(Kind::sync_end, c);
    op.ino = ino;
    op.since = model_.operations() + 1;
    begin_pending(std::move(*begun), op);
    pass(now_);
}

void CrashRig::open_or_close() {
    const FsCall c = call();
    if (!open_files_.empty() && random_.chance(1, 2)) {
        stack_->fs().close_file(c, open_files_.back(), true);
        open_files_.pop_back();
        return pass(now_);
    }
    const Ino ino = pick_file();
    if (ino == Ino{0} || !stack_->fs().open_file(c, ino, {.writes = true})) return;
    open_files_.push_back(ino);
    pass(now_);
}

void CrashRig::step() {
    ++operations_;
    if (hurried_ != Ino{0}) return hurry();
    if (random_.chance(1, 16)) {
        hurried_ = pick_file();
        hurried_calls_ = 5 + random_.below(11);
        if (hurried_ != Ino{0}) return hurry();
    }
    switch (random_.below(unnamed_ ? 26 : 22)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return make();
    case 4:
    case 5:
        return take_away();
    case 6:
    case 7:
        return rename();
    case 8:
        return change_attribute();
    case 9:
        return change_xattr();
    case 10:
    case 11:
        return truncate();
    case 12:
        return allocate();
    case 13:
    case 14:
    case 15:
        return sync(random_.chance(1, 8) ? Ino{0} : pick_file());
    case 16:
        return open_or_close();
    case 22:
    case 23:
    case 24:
        return make_or_drop_unnamed();
    case 25: { // an unnamed file gets a name
        const Ino ino = pick([](const ModelNode& n) { return n.is_unnamed(); });
        return ino == Ino{0} ? make_or_drop_unnamed() : link(ino);
    }
    default:
        return write();
    }
}

} // namespace flashlab

#include "crash/apps/recording_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include "crash/apps/history_base.h"
#include "crash/apps/past.h"

namespace flashlab {

namespace {

constexpr std::uint64_t largest_recorded = std::uint64_t{0xffffffff} * page_bytes; ///< as in ext4: a page has a number of 32 bits

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Operation made_line(const Attributes& made, Ino parent, std::string_view name) {
    return {.act = Act::make,
            .ino = made.ino.value(),
            .parent = parent.value(),
            .mode = made.mode,
            .name = std::string{name},
            .uid = made.uid,
            .gid = made.gid};
}

/// A call in steps that is written down when it is done.
class NotedCall final : public SlowCall {
public:
    NotedCall(std::unique_ptr<SlowCall> below, const RecordingFileSystem::Sink& sink, const RecordingFileSystem::LineCount& lines,
              Operation operation)
        : below_{std::move(below)}, sink_{sink}, lines_{lines}, operation_{std::move(operation)}, lines_at_begin_{lines()} {}
    StepResult step(SimTime now) override {
        auto result = below_->step(now);
        if (result && std::holds_alternative<flashlab::Done>(*result)) {
            operation_.done_ns = ns_since_start(std::get<flashlab::Done>(*result).at);
            if (is_sync(operation_.act)) operation_.bytes = lines_() - lines_at_begin_;
            sink_(std::move(operation_));
        }
        return result;
    }

private:
    std::unique_ptr<SlowCall> below_;
    const RecordingFileSystem::Sink& sink_;
    const RecordingFileSystem::LineCount& lines_;
    Operation operation_;
    std::uint64_t lines_at_begin_;
};

} // namespace

void RecordingFileSystem::before(const FsCall& call, const Operation& operation) {
    const Planned planned{call, operation, false};
    (void)before_call_(&planned);
}

std::optional<FsError> RecordingFileSystem::before_or_again(const FsCall& call, const Operation& operation) {
    const std::uint64_t from = operation.act == Act::truncate ? 0 : operation.offset; // a hole may be punched as far as the caller likes
    if (operation.act != Act::zero && (from > largest_recorded || operation.bytes > largest_recorded - from)) return FsError{EFBIG};
    const Planned planned{call, operation, true};
    return before_call_(&planned);
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::note_at_end(FsResult<std::unique_ptr<SlowCall>> call, Operation operation) {
    if (!call) return call;
    return std::make_unique<NotedCall>(std::move(*call), sink_, lines_, std::move(operation));
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_node(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode,
                                                           std::uint32_t rdev) {
    before(call, {.act = Act::make, .parent = parent.value(), .name = std::string{name}});
    auto made = below_.make_node(call, parent, name, mode, rdev);
    if (made) sink_(made_line(made->value, parent, name));
    return made;
}

/// In the history it has a name in the folder that no path leads to.
FsResult<Timed<Attributes>> RecordingFileSystem::make_unnamed(const FsCall& call, Ino parent, std::uint32_t mode, bool may_be_linked) {
    before(call, {.act = Act::make, .parent = nameless_folder});
    auto made = below_.make_unnamed(call, parent, mode, may_be_linked);
    if (made) sink_(made_line(made->value, Ino{nameless_folder}, fmt::format("#{}", made->value.ino.value())));
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_directory(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode) {
    before(call, {.act = Act::make, .parent = parent.value(), .name = std::string{name}});
    auto made = below_.make_directory(call, parent, name, mode);
    if (made) sink_(made_line(made->value, parent, name));
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_symlink(const FsCall& call, Ino parent, std::string_view name, std::string_view target) {
    before(call, {.act = Act::make, .parent = parent.value(), .name = std::string{name}});
    auto made = below_.make_symlink(call, parent, name, target);
    if (made) {
        Operation line = made_line(made->value, parent, name);
        line.data = target;
        sink_(std::move(line));
    }
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::link(const FsCall& call, Ino ino, Ino parent, std::string_view name) {
    Operation line{.act = Act::link, .ino = ino.value(), .parent = parent.value(), .name = std::string{name}};
    before(call, line);
    auto made = below_.link(call, ino, parent, name);
    if (made) sink_(std::move(line));
    return made;
}

FsResult<SimTime> RecordingFileSystem::unlink(const FsCall& call, Ino parent, std::string_view name) {
    Operation line{.act = Act::unlink, .parent = parent.value(), .name = std::string{name}};
    before(call, line);
    auto done = below_.unlink(call, parent, name);
    if (done) sink_(std::move(line));
    return done;
}

FsResult<SimTime> RecordingFileSystem::remove_directory(const FsCall& call, Ino parent, std::string_view name) {
    Operation line{.act = Act::rmdir, .parent = parent.value(), .name = std::string{name}};
    before(call, line);
    auto done = below_.remove_directory(call, parent, name);
    if (done) sink_(std::move(line));
    return done;
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_rename(const FsCall& call, Ino from_parent, std::string_view from, Ino to_parent,
                                                                      std::string_view to, RenameMode mode) {
    Operation line{.act = mode == RenameMode::exchange ? Act::exchange : Act::rename,
                   .parent = from_parent.value(),
                   .to_parent = to_parent.value(),
                   .name = std::string{from},
                   .to_name = std::string{to}};
    before(call, line);
    return note_at_end(below_.begin_rename(call, from_parent, from, to_parent, to, mode), std::move(line));
}

FsResult<Timed<Attributes>> RecordingFileSystem::change_attributes(const FsCall& call, Ino ino, const AttributeChange& change) {
    if ((change.which & AttributeChange::size) != 0)
        if (const auto wait = before_or_again(call, {.act = Act::truncate, .ino = ino.value(), .bytes = change.new_size}))
            return std::unexpected(*wait);
    if ((change.which & AttributeChange::mode) != 0) before(call, {.act = Act::chmod, .ino = ino.value()});
    auto done = below_.change_attributes(call, ino, change);
    if (done && (change.which & AttributeChange::size) != 0) sink_({.act = Act::truncate, .ino = ino.value(), .bytes = change.new_size});
    if (done && (change.which & AttributeChange::mode) != 0) sink_({.act = Act::chmod, .ino = ino.value(), .mode = done->value.mode});
    return done;
}

FsResult<SimTime> RecordingFileSystem::set_xattr(const FsCall& call, Ino ino, std::string_view name, std::span<const std::byte> value,
                                                 XattrMode mode) {
    before(call, {.act = Act::set_xattr, .ino = ino.value(), .name = std::string{name}});
    auto done = below_.set_xattr(call, ino, name, value, mode);
    if (done) sink_({.act = Act::set_xattr, .ino = ino.value(), .name = std::string{name}, .data = text_of(value)});
    return done;
}

FsResult<SimTime> RecordingFileSystem::remove_xattr(const FsCall& call, Ino ino, std::string_view name) {
    before(call, {.act = Act::drop_xattr, .ino = ino.value(), .name = std::string{name}});
    auto done = below_.remove_xattr(call, ino, name);
    if (done) sink_({.act = Act::drop_xattr, .ino = ino.value(), .name = std::string{name}});
    return done;
}

void RecordingFileSystem::close_file(const FsCall& call, Ino ino, bool for_writing) {
    if (for_writing) before(call, {.act = Act::close, .ino = ino.value()});
    below_.close_file(call, ino, for_writing);
    if (for_writing) sink_({.act = Act::close, .ino = ino.value(), .bytes = lines_() - std::min(lines_(), call.close_began)});
}

std::optional<std::uint64_t> RecordingFileSystem::close_begins() {
    (void)before_call_(nullptr);
    return lines_();
}

FsResult<Timed<std::size_t>> RecordingFileSystem::write(const FsCall& call, Ino ino, std::uint64_t offset, std::span<const std::byte> from) {
    if (const auto wait = before_or_again(call, {.act = Act::write, .ino = ino.value(), .offset = offset, .bytes = from.size()}))
        return std::unexpected(*wait);
    auto done = below_.write(call, ino, offset, from);
    if (done && done->value != 0) sink_({.act = Act::write, .ino = ino.value(), .offset = offset, .data = text_of(from.first(done->value))});
    return done;
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_sync(const FsCall& call, Ino ino, SyncScope scope, WriteErrorMark* mark) {
    Operation line{.act = scope == SyncScope::data_only ? Act::fdatasync : Act::fsync, .ino = ino.value()};
    before(call, line);
    return note_at_end(below_.begin_sync(call, ino, scope, mark), std::move(line));
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_sync_all(const FsCall& call) {
    before(call, {.act = Act::sync_all});
    return note_at_end(below_.begin_sync_all(call), {.act = Act::sync_all});
}

FsResult<SimTime> RecordingFileSystem::allocate(const FsCall& call, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) {
    const bool zeroes = mode == FallocateMode::punch_hole || mode == FallocateMode::zero_range || mode == FallocateMode::zero_range_keep_size;
    if (const auto wait = before_or_again(call, {.act = zeroes ? Act::zero : Act::extend, .ino = ino.value(), .offset = offset, .bytes = bytes}))
        return std::unexpected(*wait);
    auto done = below_.allocate(call, ino, mode, offset, bytes);
    if (!done) return done;
    if (zeroes) sink_({.act = Act::zero, .ino = ino.value(), .offset = offset, .bytes = bytes});
    const bool keeps = mode == FallocateMode::keep_size || mode == FallocateMode::zero_range_keep_size;
    if (mode != FallocateMode::punch_hole)
        sink_({.act = Act::extend, .ino = ino.value(), .offset = offset, .bytes = offset + bytes, .mode = keeps ? FALLOC_FL_KEEP_SIZE : 0u});
    return done;
}

FsResult<Timed<std::uint64_t>> RecordingFileSystem::copy_range(const FsCall& call, Ino from, std::uint64_t from_offset, Ino to,
                                                               std::uint64_t to_offset, std::uint64_t bytes) {
    if (const auto wait = before_or_again(call, {.act = Act::write, .ino = to.value(), .offset = to_offset, .bytes = bytes}))
        return std::unexpected(*wait);
    auto done = below_.copy_range(call, from, from_offset, to, to_offset, bytes);
    if (!done || done->value == 0) return done;
    std::vector<std::byte> copied(done->value);
    const auto got = below_.read(call, to, to_offset, copied);
    if (got) sink_({.act = Act::write, .ino = to.value(), .offset = to_offset, .data = text_of(std::span{copied}.first(got->value))});
    return done;
}

SimTime RecordingFileSystem::tick(SimTime now) {
    (void)before_call_(nullptr);
    return below_.tick(now);
}

} // namespace flashlab

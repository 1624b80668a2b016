#include "crash/apps/recording_file_system.h"

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

namespace flashlab {

namespace {

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// A call in steps that is written down when it is done.
class NotedCall final : public SlowCall {
public:
    NotedCall(std::unique_ptr<SlowCall> below, const RecordingFileSystem::Sink& sink, Operation operation)
        : below_{std::move(below)}, sink_{sink}, operation_{std::move(operation)} {}
    StepResult step(SimTime now) override {
        auto result = below_->step(now);
        if (result && std::holds_alternative<flashlab::Done>(*result)) sink_(std::move(operation_));
        return result;
    }

private:
    std::unique_ptr<SlowCall> below_;
    const RecordingFileSystem::Sink& sink_;
    Operation operation_;
};

} // namespace

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::note_at_end(FsResult<std::unique_ptr<SlowCall>> call, Operation operation) {
    if (!call) return call;
    return std::make_unique<NotedCall>(std::move(*call), sink_, std::move(operation));
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_node(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode,
                                                           std::uint32_t rdev) {
    before_call_();
    auto made = below_.make_node(call, parent, name, mode, rdev);
    if (made)
        sink_({.act = Act::make, .ino = made->value.ino.value(), .parent = parent.value(), .mode = made->value.mode, .name = std::string{name}});
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_directory(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode) {
    before_call_();
    auto made = below_.make_directory(call, parent, name, mode);
    if (made)
        sink_({.act = Act::make, .ino = made->value.ino.value(), .parent = parent.value(), .mode = made->value.mode, .name = std::string{name}});
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::make_symlink(const FsCall& call, Ino parent, std::string_view name, std::string_view target) {
    before_call_();
    auto made = below_.make_symlink(call, parent, name, target);
    if (made)
        sink_({.act = Act::make,
               .ino = made->value.ino.value(),
               .parent = parent.value(),
               .mode = made->value.mode,
               .name = std::string{name},
               .data = std::string{target}});
    return made;
}

FsResult<Timed<Attributes>> RecordingFileSystem::link(const FsCall& call, Ino ino, Ino parent, std::string_view name) {
    before_call_();
    auto made = below_.link(call, ino, parent, name);
    if (made) sink_({.act = Act::link, .ino = ino.value(), .parent = parent.value(), .name = std::string{name}});
    return made;
}

FsResult<SimTime> RecordingFileSystem::unlink(const FsCall& call, Ino parent, std::string_view name) {
    before_call_();
    auto done = below_.unlink(call, parent, name);
    if (done) sink_({.act = Act::unlink, .parent = parent.value(), .name = std::string{name}});
    return done;
}

FsResult<SimTime> RecordingFileSystem::remove_directory(const FsCall& call, Ino parent, std::string_view name) {
    before_call_();
    auto done = below_.remove_directory(call, parent, name);
    if (done) sink_({.act = Act::rmdir, .parent = parent.value(), .name = std::string{name}});
    return done;
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_rename(const FsCall& call, Ino from_parent, std::string_view from, Ino to_parent,
                                                                      std::string_view to, RenameMode mode) {
    before_call_();
    return note_at_end(below_.begin_rename(call, from_parent, from, to_parent, to, mode),
                       {.act = mode == RenameMode::exchange ? Act::exchange : Act::rename,
                        .parent = from_parent.value(),
                        .to_parent = to_parent.value(),
                        .name = std::string{from},
                        .to_name = std::string{to}});
}

FsResult<Timed<Attributes>> RecordingFileSystem::change_attributes(const FsCall& call, Ino ino, const AttributeChange& change) {
    before_call_();
    auto done = below_.change_attributes(call, ino, change);
    if (done && (change.which & AttributeChange::size) != 0) sink_({.act = Act::truncate, .ino = ino.value(), .bytes = change.new_size});
    if (done && (change.which & AttributeChange::mode) != 0) sink_({.act = Act::chmod, .ino = ino.value(), .mode = done->value.mode});
    return done;
}

FsResult<SimTime> RecordingFileSystem::set_xattr(const FsCall& call, Ino ino, std::string_view name, std::span<const std::byte> value,
                                                 XattrMode mode) {
    before_call_();
    auto done = below_.set_xattr(call, ino, name, value, mode);
    if (done) sink_({.act = Act::set_xattr, .ino = ino.value(), .name = std::string{name}, .data = text_of(value)});
    return done;
}

FsResult<SimTime> RecordingFileSystem::remove_xattr(const FsCall& call, Ino ino, std::string_view name) {
    before_call_();
    auto done = below_.remove_xattr(call, ino, name);
    if (done) sink_({.act = Act::drop_xattr, .ino = ino.value(), .name = std::string{name}});
    return done;
}

FsResult<SimTime> RecordingFileSystem::open_file(const FsCall& call, Ino ino, const OpenMode& mode) {
    before_call_();
    auto done = below_.open_file(call, ino, mode);
    if (done && mode.truncates) sink_({.act = Act::truncate, .ino = ino.value(), .bytes = 0});
    return done;
}

void RecordingFileSystem::close_file(const FsCall& call, Ino ino, bool for_writing) {
    before_call_();
    below_.close_file(call, ino, for_writing);
    if (for_writing) sink_({.act = Act::close, .ino = ino.value()});
}

FsResult<Timed<std::size_t>> RecordingFileSystem::write(const FsCall& call, Ino ino, std::uint64_t offset, std::span<const std::byte> from) {
    before_call_();
    auto done = below_.write(call, ino, offset, from);
    if (done && done->value != 0) sink_({.act = Act::write, .ino = ino.value(), .offset = offset, .data = text_of(from.first(done->value))});
    return done;
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_sync(const FsCall& call, Ino ino, SyncScope scope, WriteErrorMark* mark) {
    before_call_();
    return note_at_end(below_.begin_sync(call, ino, scope, mark),
                       {.act = scope == SyncScope::data_only ? Act::fdatasync : Act::fsync, .ino = ino.value()});
}

FsResult<std::unique_ptr<SlowCall>> RecordingFileSystem::begin_sync_all(const FsCall& call) {
    before_call_();
    return note_at_end(below_.begin_sync_all(call), {.act = Act::sync_all});
}

FsResult<SimTime> RecordingFileSystem::allocate(const FsCall& call, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) {
    before_call_();
    auto done = below_.allocate(call, ino, mode, offset, bytes);
    if (!done) return done;
    const bool zeroes = mode == FallocateMode::punch_hole || mode == FallocateMode::zero_range || mode == FallocateMode::zero_range_keep_size;
    if (zeroes) sink_({.act = Act::zero, .ino = ino.value(), .offset = offset, .bytes = bytes});
    if (mode == FallocateMode::allocate || mode == FallocateMode::zero_range)
        sink_({.act = Act::extend, .ino = ino.value(), .bytes = offset + bytes});
    return done;
}

FsResult<Timed<std::uint64_t>> RecordingFileSystem::copy_range(const FsCall& call, Ino from, std::uint64_t from_offset, Ino to,
                                                               std::uint64_t to_offset, std::uint64_t bytes) {
    before_call_();
    auto done = below_.copy_range(call, from, from_offset, to, to_offset, bytes);
    if (!done || done->value == 0) return done;
    std::vector<std::byte> copied(done->value);
    const auto got = below_.read(call, to, to_offset, copied);
    if (got) sink_({.act = Act::write, .ino = to.value(), .offset = to_offset, .data = text_of(std::span{copied}.first(got->value))});
    return done;
}

SimTime RecordingFileSystem::tick(SimTime now) {
    before_call_();
    return below_.tick(now);
}

} // namespace flashlab

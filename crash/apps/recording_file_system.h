/// A file system that writes down every change that it answers.
///
/// Idea       All calls go to the file system below. A call that succeeded and changed something becomes an Operation of the history.
/// Invariant  Operations are handed to the sink in the order in which they took effect. A call in steps is written down with its last step; a sync
///            says how many lines of others came since its first one (Act::fsync), a close how many since it was called.
/// Cost       One copy of the data.
/// Threading  As the file system below: callers hold their monitor.
#pragma once

#include <functional>
#include <optional>

#include "crash/apps/history.h"
#include "fs/file_system.h"

namespace flashlab {

class RecordingFileSystem final : public FileSystem {
public:
    using Sink = std::function<void(Operation&&)>;
    using LineCount = std::function<std::uint64_t()>;
    /// What a call is about to do, without data: a write has `bytes` instead.
    struct Planned {
        const FsCall& call;
        const Operation& operation;
        bool may_wait; ///< the call may be answered "again"
    };
    using BeforeCall = std::function<std::optional<FsError>(const Planned*)>;
    /// `before_call` runs at the beginning of each call that changes or syncs something, also of one that then fails or is made again; and with each
    /// tick, then without a plan. A call that may wait is not made when it returns "again".
    /// `lines`: how many lines the history has had so far, those that the sink's owner adds included.
    RecordingFileSystem(FileSystem& below, Sink sink, LineCount lines, BeforeCall before_call)
        : below_{below}, sink_{std::move(sink)}, lines_{std::move(lines)}, before_call_{std::move(before_call)} {}

    /// Called with what each look-up found.
    void watch_lookups(std::function<void(Ino parent, std::string_view name, Ino found)> watch) { watch_ = std::move(watch); }

    FsResult<Timed<Attributes>> lookup(const FsCall& c, Ino parent, std::string_view name) override {
        auto found = below_.lookup(c, parent, name);
        if (found && watch_) watch_(parent, name, found->value.ino);
        return found;
    }
    void forget(Ino ino, std::uint64_t references, SimTime now) override { below_.forget(ino, references, now); }
    FsResult<Timed<Attributes>> make_node(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t rdev) override;
    FsResult<Timed<Attributes>> make_unnamed(const FsCall&, Ino parent, std::uint32_t mode, bool may_be_linked) override;
    FsResult<Timed<Attributes>> make_directory(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode) override;
    FsResult<Timed<Attributes>> make_symlink(const FsCall&, Ino parent, std::string_view name, std::string_view target) override;
    FsResult<Timed<Attributes>> link(const FsCall&, Ino ino, Ino parent, std::string_view name) override;
    FsResult<SimTime> unlink(const FsCall&, Ino parent, std::string_view name) override;
    FsResult<SimTime> remove_directory(const FsCall&, Ino parent, std::string_view name) override;
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall&, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                     RenameMode mode) override;
    FsResult<Timed<std::string>> read_link(const FsCall& c, Ino ino) override { return below_.read_link(c, ino); }
    FsResult<SimTime> read_directory(const FsCall& c, Ino ino, std::uint64_t offset, const EntrySink& sink) override {
        return below_.read_directory(c, ino, offset, sink);
    }
    FsResult<Timed<Attributes>> attributes(const FsCall& c, Ino ino) override { return below_.attributes(c, ino); }
    FsResult<Timed<Attributes>> change_attributes(const FsCall&, Ino ino, const AttributeChange& change) override;
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall& c, Ino ino, std::string_view name) override {
        return below_.get_xattr(c, ino, name);
    }
    FsResult<SimTime> set_xattr(const FsCall&, Ino ino, std::string_view name, std::span<const std::byte> value, XattrMode mode) override;
    FsResult<SimTime> remove_xattr(const FsCall&, Ino ino, std::string_view name) override;
    FsResult<Timed<std::string>> list_xattrs(const FsCall& c, Ino ino) override { return below_.list_xattrs(c, ino); }
    FsResult<SimTime> set_file_flags(const FsCall& c, Ino ino, std::uint32_t flags) override { return below_.set_file_flags(c, ino, flags); }
    FsResult<SimTime> open_file(const FsCall& c, Ino ino, const OpenMode& mode) override { return below_.open_file(c, ino, mode); }
    void close_file(const FsCall&, Ino ino, bool for_writing) override;
    std::optional<std::uint64_t> close_begins() override;
    FsResult<Timed<std::size_t>> read(const FsCall& c, Ino ino, std::uint64_t offset, std::span<std::byte> to) override {
        return below_.read(c, ino, offset, to);
    }
    FsResult<Timed<std::size_t>> write(const FsCall&, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override;
    WriteErrorMark write_error_mark(Ino ino) override { return below_.write_error_mark(ino); }
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino ino, SyncScope scope, WriteErrorMark* mark) override;
    FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall&) override;
    FsResult<SimTime> allocate(const FsCall&, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) override;
    FsResult<std::uint64_t> seek(const FsCall& c, Ino ino, std::uint64_t offset, SeekWhat what) override { return below_.seek(c, ino, offset, what); }
    FsResult<std::unique_ptr<BlockDevice>> device_of(Ino ino) override { return below_.device_of(ino); }
    FsResult<Timed<std::uint64_t>> copy_range(const FsCall&, Ino from, std::uint64_t from_offset, Ino to, std::uint64_t to_offset,
                                              std::uint64_t bytes) override;
    FsUsage usage() const override { return below_.usage(); }
    HostCache host_cache() const override { return below_.host_cache(); }
    std::string label() const override { return below_.label(); }
    FsResult<SimTime> set_label(const FsCall& c, std::string_view label) override { return below_.set_label(c, label); }
    FsResult<Timed<std::uint64_t>> trim_free(const FsCall& c, std::uint64_t offset, std::uint64_t bytes, std::uint64_t min_bytes) override {
        return below_.trim_free(c, offset, bytes, min_bytes);
    }
    SimTime tick(SimTime now) override;
    std::vector<UnsyncedRange> unsynced() const override { return below_.unsynced(); }
    FsResult<SimTime> shut_down(SimTime now) override { return below_.shut_down(now); }
    std::vector<FsckProblem> check() override { return below_.check(); }
    DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) override { return below_.check_data(go_on, now); }
    std::vector<std::string> paths_of(Ino ino, std::size_t most) const override { return below_.paths_of(ino, most); }

private:
    void before(const FsCall& call, const Operation& operation);
    [[nodiscard]] std::optional<FsError> before_or_again(const FsCall& call, const Operation& operation);
    FsResult<std::unique_ptr<SlowCall>> note_at_end(FsResult<std::unique_ptr<SlowCall>> call, Operation operation);

    FileSystem& below_;
    Sink sink_;
    LineCount lines_;
    BeforeCall before_call_;
    std::function<void(Ino, std::string_view, Ino)> watch_;
};

} // namespace flashlab

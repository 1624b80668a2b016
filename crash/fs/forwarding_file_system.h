/// A file system that passes every call on. A seeded bug derives from it and overrides one function.
///
/// Idea       Forwarding, nothing else. It owns what it wraps.
/// Invariant  Without an override it behaves as the file system that it wraps.
/// Cost       A second virtual call a request.
/// Power cut  The file system's.
#pragma once

#include <memory>

#include "fs/file_system.h"

namespace flashlab {

class ForwardingFileSystem : public FileSystem {
public:
    explicit ForwardingFileSystem(std::unique_ptr<FileSystem> real) : real_{std::move(real)} {}

    FsResult<Timed<Attributes>> lookup(const FsCall& c, Ino parent, std::string_view name) override { return real_->lookup(c, parent, name); }
    void forget(Ino ino, std::uint64_t references, SimTime now) override { real_->forget(ino, references, now); }
    FsResult<Timed<Attributes>> make_node(const FsCall& c, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t rdev) override {
        return real_->make_node(c, parent, name, mode, rdev);
    }
    FsResult<Timed<Attributes>> make_unnamed(const FsCall& c, Ino parent, std::uint32_t mode, bool may_be_linked) override {
        return real_->make_unnamed(c, parent, mode, may_be_linked);
    }
    FsResult<Timed<Attributes>> make_directory(const FsCall& c, Ino parent, std::string_view name, std::uint32_t mode) override {
        return real_->make_directory(c, parent, name, mode);
    }
    FsResult<Timed<Attributes>> make_symlink(const FsCall& c, Ino parent, std::string_view name, std::string_view target) override {
        return real_->make_symlink(c, parent, name, target);
    }
    FsResult<Timed<Attributes>> link(const FsCall& c, Ino ino, Ino parent, std::string_view name) override {
        return real_->link(c, ino, parent, name);
    }
    FsResult<SimTime> unlink(const FsCall& c, Ino parent, std::string_view name) override { return real_->unlink(c, parent, name); }
    FsResult<SimTime> remove_directory(const FsCall& c, Ino parent, std::string_view name) override {
        return real_->remove_directory(c, parent, name);
    }
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall& c, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                     RenameMode mode) override {
        return real_->begin_rename(c, from_parent, from, to_parent, to, mode);
    }
    FsResult<Timed<std::string>> read_link(const FsCall& c, Ino ino) override { return real_->read_link(c, ino); }
    FsResult<SimTime> read_directory(const FsCall& c, Ino ino, std::uint64_t offset, const EntrySink& sink) override {
        return real_->read_directory(c, ino, offset, sink);
    }
    FsResult<Timed<Attributes>> attributes(const FsCall& c, Ino ino) override { return real_->attributes(c, ino); }
    FsResult<Timed<Attributes>> change_attributes(const FsCall& c, Ino ino, const AttributeChange& change) override {
        return real_->change_attributes(c, ino, change);
    }
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall& c, Ino ino, std::string_view name) override {
        return real_->get_xattr(c, ino, name);
    }
    FsResult<SimTime> set_xattr(const FsCall& c, Ino ino, std::string_view name, std::span<const std::byte> value, XattrMode mode) override {
        return real_->set_xattr(c, ino, name, value, mode);
    }
    FsResult<SimTime> remove_xattr(const FsCall& c, Ino ino, std::string_view name) override { return real_->remove_xattr(c, ino, name); }
    FsResult<Timed<std::string>> list_xattrs(const FsCall& c, Ino ino) override { return real_->list_xattrs(c, ino); }
    FsResult<SimTime> set_file_flags(const FsCall& c, Ino ino, std::uint32_t flags) override { return real_->set_file_flags(c, ino, flags); }
    FsResult<SimTime> open_file(const FsCall& c, Ino ino, const OpenMode& mode) override { return real_->open_file(c, ino, mode); }
    void close_file(const FsCall& c, Ino ino, bool for_writing) override { real_->close_file(c, ino, for_writing); }
    std::optional<std::uint64_t> close_begins() override { return real_->close_begins(); }
    FsResult<Timed<std::size_t>> read(const FsCall& c, Ino ino, std::uint64_t offset, std::span<std::byte> to) override {
        return real_->read(c, ino, offset, to);
    }
    FsResult<Timed<std::size_t>> write(const FsCall& c, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override {
        return real_->write(c, ino, offset, from);
    }
    WriteErrorMark write_error_mark(Ino ino) override { return real_->write_error_mark(ino); }
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall& c, Ino ino, SyncScope scope, WriteErrorMark* mark) override {
        return real_->begin_sync(c, ino, scope, mark);
    }
    FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall& c) override { return real_->begin_sync_all(c); }
    FsResult<SimTime> allocate(const FsCall& c, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) override {
        return real_->allocate(c, ino, mode, offset, bytes);
    }
    FsResult<std::uint64_t> seek(const FsCall& c, Ino ino, std::uint64_t offset, SeekWhat what) override { return real_->seek(c, ino, offset, what); }
    FsResult<std::unique_ptr<BlockDevice>> device_of(Ino ino) override { return real_->device_of(ino); }
    FsResult<Timed<std::uint64_t>> copy_range(const FsCall& c, Ino from, std::uint64_t from_offset, Ino to, std::uint64_t to_offset,
                                              std::uint64_t bytes) override {
        return real_->copy_range(c, from, from_offset, to, to_offset, bytes);
    }
    FsUsage usage() const override { return real_->usage(); }
    HostCache host_cache() const override { return real_->host_cache(); }
    std::string label() const override { return real_->label(); }
    FsResult<SimTime> set_label(const FsCall& c, std::string_view label) override { return real_->set_label(c, label); }
    FsResult<Timed<std::uint64_t>> trim_free(const FsCall& c, std::uint64_t offset, std::uint64_t bytes, std::uint64_t min_bytes) override {
        return real_->trim_free(c, offset, bytes, min_bytes);
    }
    SimTime tick(SimTime now) override { return real_->tick(now); }
    std::vector<UnsyncedRange> unsynced() const override { return real_->unsynced(); }
    FsResult<SimTime> shut_down(SimTime now) override { return real_->shut_down(now); }
    std::vector<FsckProblem> check() override { return real_->check(); }
    DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) override { return real_->check_data(go_on, now); }
    std::vector<std::string> paths_of(Ino ino, std::size_t most) const override { return real_->paths_of(ino, most); }

protected:
    std::unique_ptr<FileSystem> real_;
};

} // namespace flashlab

/// A raw drive as a file: a directory with one regular file, `disk`, as large as the drive. A loop device or a virtual machine takes it for a disk.
///
/// Idea       What a mount asks of a file system is answered by the drive itself: write = write, fsync = flush, hole = trim, synced write = FUA.
///            So session, clock, faults, control and log of a mount serve a drive without a file system, too.
/// Invariant  Nothing is kept between the kernel and the drive: what was answered is the drive's. No name is made, moved or removed; the size
///            stays.
/// Cost       A call of the drive for each call; where a write covers a sector in part, a read before it.
/// Power cut  The drive's contract (ftl/block_device.h). Owner, mode and times of the file are the mount's: they end with it.
#pragma once

#include "fs/file_system.h"

namespace flashlab {

class DiskFile final : public FileSystem {
public:
    static constexpr const char* name = "disk";
    static constexpr Ino ino{2};

    /// The device outlives it.
    DiskFile(BlockDevice& device, const FsOptions& options);

    /// write() that is durable when it is answered.
    [[nodiscard]] FsResult<Timed<std::size_t>> write_durably(const FsCall& call, std::uint64_t offset, std::span<const std::byte> from) {
        return put(call, offset, from, WriteDurability::fua);
    }

    FsResult<Timed<Attributes>> lookup(const FsCall&, Ino parent, std::string_view of) override;
    void forget(Ino, std::uint64_t, SimTime) override {}
    FsResult<Timed<Attributes>> make_node(const FsCall&, Ino, std::string_view, std::uint32_t, std::uint32_t) override { return refused(); }
    FsResult<Timed<Attributes>> make_unnamed(const FsCall&, Ino, std::uint32_t, bool) override { return refused(EOPNOTSUPP); }
    FsResult<Timed<Attributes>> make_directory(const FsCall&, Ino, std::string_view, std::uint32_t) override { return refused(); }
    FsResult<Timed<Attributes>> make_symlink(const FsCall&, Ino, std::string_view, std::string_view) override { return refused(); }
    FsResult<Timed<Attributes>> link(const FsCall&, Ino, Ino, std::string_view) override { return refused(); }
    FsResult<SimTime> unlink(const FsCall&, Ino, std::string_view) override { return refused(); }
    FsResult<SimTime> remove_directory(const FsCall&, Ino, std::string_view) override { return refused(); }
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall&, Ino, std::string_view, Ino, std::string_view, RenameMode) override {
        return refused();
    }
    FsResult<Timed<std::string>> read_link(const FsCall&, Ino) override { return refused(EINVAL); }
    FsResult<SimTime> read_directory(const FsCall&, Ino, std::uint64_t offset, const EntrySink& sink) override;

    FsResult<Timed<Attributes>> attributes(const FsCall&, Ino of) override;
    FsResult<Timed<Attributes>> change_attributes(const FsCall&, Ino of, const AttributeChange& change) override;
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall&, Ino, std::string_view) override { return refused(ENODATA); }
    FsResult<SimTime> set_xattr(const FsCall&, Ino, std::string_view, std::span<const std::byte>, XattrMode) override { return refused(EOPNOTSUPP); }
    FsResult<SimTime> remove_xattr(const FsCall&, Ino, std::string_view) override { return refused(ENODATA); }
    FsResult<Timed<std::string>> list_xattrs(const FsCall& call, Ino) override { return Timed<std::string>{{}, call.now}; }
    FsResult<SimTime> set_file_flags(const FsCall&, Ino, std::uint32_t) override { return refused(EOPNOTSUPP); }

    FsResult<SimTime> open_file(const FsCall&, Ino, const OpenMode& mode) override;
    void close_file(const FsCall&, Ino, bool) override {}
    FsResult<Timed<std::size_t>> read(const FsCall&, Ino of, std::uint64_t offset, std::span<std::byte> to) override;
    FsResult<Timed<std::size_t>> write(const FsCall& call, Ino, std::uint64_t offset, std::span<const std::byte> from) override {
        return put(call, offset, from, WriteDurability::volatile_ok);
    }
    WriteErrorMark write_error_mark(Ino) override { return {}; }
    /// No flush where nothing is unflushed: the kernel syncs after each O_DSYNC write, which FUA has made durable.
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino, SyncScope, WriteErrorMark*) override;
    FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall& call) override { return begin_sync(call, ino, SyncScope::data_only, nullptr); }
    /// A hole and a range of zeros are trimmed; what of them is no whole sector is written. Room is always there.
    FsResult<SimTime> allocate(const FsCall&, Ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) override;
    FsResult<std::uint64_t> seek(const FsCall&, Ino, std::uint64_t offset, SeekWhat what) override;
    FsResult<std::unique_ptr<BlockDevice>> device_of(Ino of) override;
    FsResult<Timed<std::uint64_t>> copy_range(const FsCall&, Ino, std::uint64_t, Ino, std::uint64_t, std::uint64_t) override {
        return refused(EOPNOTSUPP); // the kernel then copies by reading and writing
    }

    FsUsage usage() const override;
    HostCache host_cache() const override { return options_.host_cache; }
    std::string label() const override { return {}; }
    FsResult<SimTime> set_label(const FsCall&, std::string_view) override { return refused(EOPNOTSUPP); }
    FsResult<Timed<std::uint64_t>> trim_free(const FsCall&, std::uint64_t, std::uint64_t, std::uint64_t) override { return refused(EOPNOTSUPP); }
    SimTime tick(SimTime now) override { return device_.tick(now); }
    /// One range around all that no flush has reached.
    std::vector<UnsyncedRange> unsynced() const override;
    FsResult<SimTime> shut_down(SimTime now) override { return flush(now); }
    std::vector<FsckProblem> check() override { return {}; }
    DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) override;
    std::vector<std::string> paths_of(Ino of, std::size_t most) const override;

private:
    /// EPERM is what calls say of a file system that cannot do such a thing at all.
    [[nodiscard]] static std::unexpected<FsError> refused(int error = EPERM) { return std::unexpected(FsError{error}); }
    [[nodiscard]] FsResult<Timed<std::size_t>> put(const FsCall&, std::uint64_t offset, std::span<const std::byte> from, WriteDurability durability);
    [[nodiscard]] FsResult<SimTime> trim(const FsCall&, std::uint64_t offset, std::uint64_t end);
    [[nodiscard]] FsResult<SimTime> flush(SimTime now);
    void note_unflushed(std::uint64_t first_sector, std::uint64_t end_sector);
    [[nodiscard]] FsResult<SimTime> read_sectors(std::uint64_t first, std::span<std::byte> to, SimTime now);
    /// The file's, or the directory's, with the time of the first look as birth.
    [[nodiscard]] Attributes& known(Ino of, const FileTime& wall);

    BlockDevice& device_;
    FsOptions options_;
    std::uint64_t size_;
    Attributes directory_, disk_;
    std::uint64_t unflushed_from_ = UINT64_MAX, unflushed_to_ = 0; ///< all that was written or trimmed since the last flush lies between
    SimTime flushed_at_ = sim_start; ///< the flushes so far end by then: one that has nothing to do waits for what another is doing
    std::vector<std::byte> edges_;   ///< whole sectors around a request that covers some in part
};

} // namespace flashlab

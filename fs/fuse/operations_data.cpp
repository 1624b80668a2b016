// open, read, write, fsync and the other calls on a file's bytes.
#include <memory>
#include <utility>

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include "fs/disk_file.h"
#include "fs/file_system.h"
#include "fs/fuse/open_handle.h"
#include "fs/fuse/operations.h"
#include "fs/fuse/read_buffer.h"

namespace flashlab {

namespace {

/// A change of a file's bytes and then its sync, as one slow call: O_DSYNC, O_SYNC, chattr +S, host_cache=writethrough.
///
/// Idea       The change is repeated until the file system takes it ("again": the page cache is full).
///            Then the file is synced, then the caller is answered.
/// Invariant  The monitor is not released between the change and the begin of the sync.
/// Cost       One allocation beside the sync's own.
/// Power cut  Before the answer, as after an unsynced change.
/// work(const FsCall&) -> FsResult<Timed<Amount>>; it owns what it needs. The amount goes to `amount`, since the sync says nothing of it.
/// `mark` as for FileSystem::begin_sync.
template <class Work, class Amount>
class SyncedChange final : public SlowCall {
public:
    SyncedChange(FileSystem& fs, const FsCall& call, Ino ino, Work work, SyncScope scope, WriteErrorMark* mark, std::shared_ptr<Amount> amount)
        : fs_{fs}, call_{call}, ino_{ino}, work_{std::move(work)}, scope_{scope}, mark_{mark}, amount_{std::move(amount)} {
        if constexpr (requires { work_.keep(); }) work_.keep();
    }
    StepResult step(SimTime now) override {
        if (sync_ == nullptr) {
            call_.now = now;
            const auto changed = work_(std::as_const(call_));
            if (!changed && changed.error().is_again()) return ResumeAt{changed.error().again};
            if (!changed) return std::unexpected(changed.error());
            *amount_ = changed->value;
            auto sync = fs_.begin_sync(call_, ino_, scope_, mark_);
            if (!sync) return std::unexpected(sync.error());
            sync_ = std::move(*sync);
        }
        return sync_->step(now);
    }

private:
    FileSystem& fs_;
    FsCall call_;
    Ino ino_;
    Work work_;
    SyncScope scope_;
    WriteErrorMark* mark_;
    std::shared_ptr<Amount> amount_;
    std::unique_ptr<SlowCall> sync_;
};

bool is_for_writing(const fuse_file_info* file) { return (file->flags & O_ACCMODE) != O_RDONLY; }

bool is_direct(const fuse_file_info* file) { return (file->flags & O_DIRECT) != 0; }

/// Does the kernel keep the data of this request in its page cache? Only a request of a program that bypasses the cache names its program. A mapping
/// of an O_DIRECT descriptor is read through the cache.
bool goes_through_page_cache(const fuse_file_info* file) { return !is_direct(file) || file->writepage != 0 || file->lock_owner == 0; }

void on_open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
    Service& service = service_of(request);
    const fuse_file_info opened = *file;
    auto handle = std::make_unique<OpenHandle>();
    OpenHandle& file_handle = *handle;
    auto answer = [opened, ino, handle = std::move(handle)](fuse_req_t to, Nothing&) mutable {
        Service& again = service_of(to);
        fuse_file_info reply = opened;
        reply.keep_cache = again.access_times() != AccessTimes::strict; // nobody changes data behind the kernel
        again.open_handles().give(std::move(handle), reply);
        if (fuse_reply_open(to, &reply) != -ENOENT) return;
        again.open_handles().take_back(reply);
        again.serve_silently({.op = FsOp::release, .ino = Ino{ino}}, // interrupted: no release will come
                             [&](const FsCall& call) { again.fs().close_file(call, Ino{ino}, is_for_writing(&opened)); });
    };
    service.serve(
        request, {.op = FsOp::open, .ino = Ino{ino}},
        [&](const FsCall& call) {
            auto done = service.fs().open_file(call, Ino{ino}, open_mode_of(opened.flags));
            note_opened(service, call, Ino{ino}, opened.flags, file_handle);
            return done;
        },
        std::move(answer));
}

/// Each close(2) of a descriptor waits for this one; the release comes after the last of them, and nobody waits for it.
void on_flush(fuse_req_t request, fuse_ino_t, fuse_file_info* file) {
    bool is_asked_for = false;
    service_of(request).with_monitor([&](SimTime) {
        const auto began = service_of(request).fs().close_begins();
        is_asked_for = began.has_value();
        if (began) OpenHandle::of(file)->close_began = *began;
    });
    fuse_reply_err(request, is_asked_for ? 0 : ENOSYS); // after ENOSYS no other one comes
}

void on_release(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
    Service& service = service_of(request);
    service.serve_silently({.op = FsOp::release, .ino = Ino{ino}}, [&](FsCall call) {
        call.close_began = OpenHandle::of(file)->close_began;
        service.fs().close_file(call, Ino{ino}, is_for_writing(file));
        if (is_direct(file) && is_for_writing(file)) service.kernel_pages().forget(Ino{ino}); // another direct writer begins anew
    });
    service.open_handles().take_back(*file);
    fuse_reply_err(request, 0);
}

struct ReadAnswer {
    ReadBuffer buffer;
    std::size_t bytes;
};

void on_read(fuse_req_t request, fuse_ino_t ino, std::size_t bytes, off_t offset, fuse_file_info* file) {
    Service& service = service_of(request);
    const auto at = static_cast<std::uint64_t>(offset);
    const auto work = [&](FsCall call) -> FsResult<Timed<ReadAnswer>> {
        if ((file->flags & O_NOATIME) != 0) call.access_times = AccessTimes::kept;
        ReadBuffer buffer{bytes};
        const auto got = service.fs().read(call, Ino{ino}, at, buffer.first(bytes));
        if (!got) return std::unexpected(got.error());
        if (goes_through_page_cache(file)) service.kernel_pages().note_cached(Ino{ino}, at, bytes);
        return Timed<ReadAnswer>{{std::move(buffer), got->value}, got->done};
    };
    service.serve(request, {.op = FsOp::read, .ino = Ino{ino}, .offset = at, .bytes = bytes}, work, [](fuse_req_t to, ReadAnswer& answer) {
        fuse_reply_buf(to, reinterpret_cast<const char*>(answer.buffer.first(answer.bytes).data()), answer.bytes);
    });
}

/// What was written, and whether the kernel must drop its pages of that range before the write is answered.
struct Written {
    std::uint64_t bytes = 0;
    bool leaves_stale_pages = false;
};

/// A write that may be answered "again". The request's buffer is then copied, since the write outlives the request.
class WriteWork {
public:
    /// `disk`: the raw drive that makes this write durable; null: whoever has to, syncs.
    WriteWork(Service& service, Ino ino, std::uint64_t offset, std::span<const std::byte> from, const fuse_file_info* file, DiskFile* disk)
        : service_{&service}, disk_{disk}, ino_{ino}, offset_{offset}, from_{from}, from_page_cache_{file->writepage != 0}, direct_{is_direct(file)},
          is_cached_{goes_through_page_cache(file)} {}

    FsResult<Timed<Written>> operator()(FsCall call) const {
        call.from_page_cache = from_page_cache_;
        call.is_direct = direct_ && !from_page_cache_;
        if (from_page_cache_) call.may_override_suid = true; // the kernel dropped suid when the page was dirtied, and the caller is its flusher
        const auto done = disk_ != nullptr ? disk_->write_durably(call, offset_, from_) : service_->fs().write(call, ino_, offset_, from_);
        if (!done) return std::unexpected(done.error());
        KernelPages& pages = service_->kernel_pages();
        const bool stale = direct_ && !from_page_cache_ && pages.note_direct_write(ino_, offset_, done->value);
        if (is_cached_) pages.note_cached(ino_, offset_, done->value);
        return Timed<Written>{{done->value, stale}, done->done};
    }
    void keep() {
        copy_.assign(from_.begin(), from_.end());
        from_ = copy_; // stays valid when the work moves: a vector's bytes do not
    }

private:
    Service* service_;
    DiskFile* disk_;
    Ino ino_;
    std::uint64_t offset_;
    std::span<const std::byte> from_;
    std::vector<std::byte> copy_;
    bool from_page_cache_;
    bool direct_;
    bool is_cached_;
};

void reply_written(fuse_req_t to, Ino ino, std::uint64_t offset, const Written& written) {
    if (written.leaves_stale_pages) {
        context_of(to).page_dropper.drop_and_answer(to, {ino, offset, written.bytes});
    } else {
        fuse_reply_write(to, written.bytes);
    }
}

/// How a change of this file's bytes must be synced before it is answered; nullopt: not at all. `flags`: the flags of the open that made the change.
std::optional<SyncScope> sync_before_answer(Service& service, Ino ino, int flags, bool from_page_cache) {
    if (service.synced_files().has(ino)) return SyncScope::data_and_metadata;
    // O_SYNC includes the bit of O_DSYNC; after page-cache writes the kernel sends an fsync.
    const bool by_open = (flags & O_DSYNC) != 0 && !from_page_cache;
    if (!by_open && service.host_cache() != HostCache::writethrough) return std::nullopt;
    return (flags & O_SYNC) == O_SYNC ? SyncScope::data_and_metadata : SyncScope::data_only;
}

/// Answers how much was written, once it is synced.
template <class Work>
void serve_synced(fuse_req_t request, const RequestInfo& info, Work work, SyncScope scope, WriteErrorMark* mark) {
    Service& service = service_of(request);
    const auto amount = std::make_shared<Written>();
    const auto begin = [&](const FsCall& call) -> FsResult<std::unique_ptr<SlowCall>> {
        return std::make_unique<SyncedChange<Work, Written>>(service.fs(), call, info.ino, std::move(work), scope, mark, amount);
    };
    service.serve_slow(request, info, begin, [amount, ino = info.ino, at = info.offset](fuse_req_t to) { reply_written(to, ino, at, *amount); });
}

void on_write(fuse_req_t request, fuse_ino_t ino, const char* from, std::size_t bytes, off_t offset, fuse_file_info* file) {
    Service& service = service_of(request);
    const auto at = static_cast<std::uint64_t>(offset);
    const RequestInfo info{.op = FsOp::write, .ino = Ino{ino}, .mutates = true, .offset = at, .bytes = bytes};
    const bool from_page_cache = file->writepage != 0;
    const auto scope = sync_before_answer(service, Ino{ino}, file->flags, from_page_cache);
    DiskFile* disk = scope ? service.disk() : nullptr;
    WriteWork write{service, Ino{ino}, at, std::as_bytes(std::span{from, bytes}), file, disk};
    if (!scope || disk != nullptr) {
        service.serve_patient(request, info, std::move(write),
                              [file_ino = info.ino, at](fuse_req_t to, Written& written) { reply_written(to, file_ino, at, written); });
        return;
    }
    serve_synced(request, info, std::move(write), *scope, from_page_cache ? nullptr : &OpenHandle::of(file)->errors);
}

void on_fsync(fuse_req_t request, fuse_ino_t ino, int data_only, fuse_file_info* file) {
    Service& service = service_of(request);
    const auto scope = data_only != 0 ? SyncScope::data_only : SyncScope::data_and_metadata;
    WriteErrorMark* mark = &OpenHandle::of(file)->errors; // the handle outlives the call: it is open
    service.serve_slow(
        request, {.op = FsOp::fsync, .ino = Ino{ino}, .mutates = true},
        [&](const FsCall& call) { return service.fs().begin_sync(call, Ino{ino}, scope, mark); }, [](fuse_req_t to) { fuse_reply_err(to, 0); });
}

std::optional<FallocateMode> fallocate_mode(int mode) {
    switch (mode) {
    case 0:
        return FallocateMode::allocate;
    case FALLOC_FL_KEEP_SIZE:
        return FallocateMode::keep_size;
    case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE:
        return FallocateMode::punch_hole;
    case FALLOC_FL_ZERO_RANGE:
        return FallocateMode::zero_range;
    case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE:
        return FallocateMode::zero_range_keep_size;
    default:
        return std::nullopt;
    }
}

void on_fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length, fuse_file_info*) {
    const auto known = fallocate_mode(mode);
    if (!known) {
        fuse_reply_err(request, EOPNOTSUPP);
        return;
    }
    Service& service = service_of(request);
    const auto at = static_cast<std::uint64_t>(offset);
    const auto bytes = static_cast<std::uint64_t>(length);
    service.serve_patient(
        request, {.op = FsOp::fallocate, .ino = Ino{ino}, .mutates = true, .offset = at, .bytes = bytes},
        [fs = &service.fs(), file = Ino{ino}, known = *known, at, bytes](const FsCall& call) { return fs->allocate(call, file, known, at, bytes); },
        [](fuse_req_t to, Nothing&) { fuse_reply_err(to, 0); });
}

void on_lseek(fuse_req_t request, fuse_ino_t ino, off_t offset, int whence, fuse_file_info*) {
    if (whence != SEEK_DATA && whence != SEEK_HOLE) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    Service& service = service_of(request);
    const auto work = [&](const FsCall& call) -> FsResult<Timed<std::uint64_t>> {
        const auto found =
            service.fs().seek(call, Ino{ino}, static_cast<std::uint64_t>(offset), whence == SEEK_DATA ? SeekWhat::data : SeekWhat::hole);
        if (!found) return std::unexpected(found.error());
        return Timed<std::uint64_t>{*found, call.now};
    };
    service.serve(request, {.op = FsOp::lseek, .ino = Ino{ino}, .offset = static_cast<std::uint64_t>(offset)}, work,
                  [](fuse_req_t to, std::uint64_t& at) { fuse_reply_lseek(to, static_cast<off_t>(at)); });
}

/// A copy inside the file system. One call may copy less than asked; callers loop, as copy_file_range(2) asks them to.
struct CopyWork {
    FileSystem* fs;
    Ino from;
    std::uint64_t from_offset;
    Ino to;
    std::uint64_t to_offset;
    std::uint64_t bytes;

    FsResult<Timed<Written>> operator()(const FsCall& call) const {
        const auto done = fs->copy_range(call, from, from_offset, to, to_offset, bytes);
        if (!done) return std::unexpected(done.error());
        return Timed<Written>{{done->value, false}, done->done}; // when a copy is answered, the kernel drops its pages itself
    }
};

void on_copy_file_range(fuse_req_t request, fuse_ino_t from, off_t from_offset, fuse_file_info*, fuse_ino_t to, off_t to_offset,
                        fuse_file_info* to_file, std::size_t bytes, int flags) {
    if (flags != 0) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    Service& service = service_of(request);
    const CopyWork copy{&service.fs(), Ino{from}, static_cast<std::uint64_t>(from_offset), Ino{to}, static_cast<std::uint64_t>(to_offset), bytes};
    const RequestInfo info{.op = FsOp::copy_file_range, .ino = copy.to, .mutates = true, .offset = copy.to_offset, .bytes = copy.bytes};
    OpenHandle* handle = OpenHandle::of(to_file);
    if (const auto scope = sync_before_answer(service, copy.to, handle->flags, false)) {
        serve_synced(request, info, copy, *scope, &handle->errors);
        return;
    }
    service.serve_patient(request, info, copy, [](fuse_req_t answer, Written& copied) { fuse_reply_write(answer, copied.bytes); });
}

} // namespace

void add_data_operations(fuse_lowlevel_ops& table, bool kernel_writeback) {
    table.open = on_open;
    table.flush = on_flush;
    table.release = on_release;
    table.read = on_read;
    table.write = on_write;
    table.fsync = on_fsync;
    table.fallocate = on_fallocate;
    table.copy_file_range = on_copy_file_range;
    // With its write-back cache the kernel asks without flushing first, so that our answer would be wrong on dirty data.
    // ENOSYS means "all data", which is right.
    if (!kernel_writeback) table.lseek = on_lseek;
}

} // namespace flashlab

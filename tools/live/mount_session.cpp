#include "tools/live/mount_session.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include <fmt/format.h>

#include "fs/file_system.h"

namespace flashlab {
namespace {

/// The root directory of a new file system, for a user who is not root.
///
/// Idea       mkfs gives the root directory to root, so that the same options give the same images. An ordinary user's first mount of it takes it, as
///            mke2fs does with root_owner.
/// Invariant  Only a root directory that belongs to root and is empty, but for what mkfs --precondition wrote, is taken.
/// Cost       One look at the directory a mount.
/// Power cut  The change is as durable as any chown.
///
/// Does nothing for root. A raw drive's file and directory keep no owner: they are always taken.
void take_new_root(FileSystem& fs, bool is_raw, SimTime now) {
    if (::geteuid() == 0) return;
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    const FsCall call{.now = now, .wall = {.seconds = wall.tv_sec, .nanoseconds = static_cast<std::uint32_t>(wall.tv_nsec)}};
    AttributeChange change;
    change.which = AttributeChange::uid | AttributeChange::gid;
    change.new_uid = ::geteuid();
    change.new_gid = ::getegid();
    if (is_raw) static_cast<void>(fs.change_attributes(call, DiskFile::ino, change));
    const auto root = fs.attributes(call, root_ino);
    if (!root || root->value.uid != 0) return;
    bool is_new = true;
    std::optional<Ino> preconditioned;
    const auto listed = fs.read_directory(call, root_ino, 0, [&](std::string_view name, Ino ino, std::uint32_t, std::uint64_t) {
        if (name == precondition_file) preconditioned = ino;
        is_new = name == "." || name == ".." || name == precondition_file;
        return is_new;
    });
    if (!listed || (!is_new && !is_raw)) return;
    for (const Ino ino : {preconditioned.value_or(root_ino), root_ino}) static_cast<void>(fs.change_attributes(call, ino, change));
}

} // namespace

std::expected<std::unique_ptr<MountSession>, std::string> MountSession::make(const MountSessionConfig& config) {
    std::unique_ptr<MountSession> session{new MountSession};
    OpenOptions open = config.open;
    open.fs.write_back_faults = &session->faults_.plan();
    auto opened = DeviceDirectory::open(config.directory, open);
    if (!opened) return std::unexpected(opened.error());
    session->opened_ = std::move(*opened);
    session->directory_ = config.directory;
    session->complain_ = config.open.complain ? config.open.complain : [](const std::string&) {};
    Device& device = session->opened_->device();
    MountConfig mount_config = config.mount;
    mount_config.clock_start = device.ready_at();
    MountSession* self = session.get();
    session->faults_.attach(*session->opened_, session->complain_);
    mount_config.use = session->opened_->use();
    mount_config.faults = &session->faults_.plan();
    mount_config.streams = &session->streams_;
    if (const auto set = session->faults_.set(config.faults, device.ready_at()); !set) {
        (void)session->opened_->close(device.ready_at(), {});
        return std::unexpected(set.error());
    }
    if (!config.mount.read_only || config.as_file) take_new_root(device.fs(), config.as_file, device.ready_at());
    if (config.record.empty()) mount_config.disk = device.disk_file(); // a recording sees a write and a sync
    mount_config.host_errno = [self] { return self->opened_->host_errno(); };
    if (!config.record.empty()) {
        auto recording = Recording::open(config.record, device.fs());
        if (!recording) {
            const auto closed = session->opened_->close(device.ready_at(), {});
            return std::unexpected(closed ? recording.error() : fmt::format("{}; {}", recording.error(), closed.error()));
        }
        session->recording_ = std::move(*recording);
    }
    FileSystem* served = session->recording_ ? &session->recording_->fs() : &device.fs();
    if (config.persistence && !config.mount.read_only) {
        session->persistence_ = std::make_unique<LivePersistence>(*config.persistence, *served);
        session->reopen_ = config.open;
        served = &session->persistence_->fs();
    }
    auto mount = Mount::make(*served, device, session->opened_->events(), mount_config,
                             [self](std::string_view request) { return self->control_->answer(request); });
    if (!mount) {
        const auto closed = session->opened_->close(device.ready_at(), {});
        return std::unexpected(closed ? mount.error() : fmt::format("{}; {}", mount.error(), closed.error()));
    }
    session->mount_ = std::move(*mount);
    session->faults_.set_mount(*session->mount_);
    session->control_.emplace(config.directory, *session->opened_, *session->mount_, session->faults_, session->streams_, session->persistence_,
                              device.ready_at(), [self] { self->sample_once(); });
    return session;
}

MountSession::~MountSession() { stop_sampler(); }

std::expected<MountEnd, std::string> MountSession::serve(const std::function<void()>& ready) {
    sampler_ = std::thread{[this] { sample_until_stopped(); }};
    const MountEnd end = mount_->run(ready);
    stop_sampler();
    tell_full_host();
    const auto latency = latency_rows();
    const SimTime now = mount_->clock_now();
    if (end != MountEnd::power_cut) {
        mount_.reset();
        recording_.reset(); // the file is whole before anybody can see that the device is free
    }
    if (end == MountEnd::broken) {
        opened_->abandon();
        return std::unexpected(
            fmt::format("{}: the mount stopped at an internal error. Data that were not synced are lost. Check the rest with: flashlab fsck {}",
                        directory_, directory_));
    }
    const auto closed = end == MountEnd::power_cut && persistence_ ? close_after_cut(now, latency) : opened_->close(now, latency);
    if (end == MountEnd::power_cut) mount_->refuse_the_rest();
    mount_.reset();
    if (!closed) return std::unexpected(closed.error());
    return end;
}

/// What the weaker file system left is made of what the drive left. A cut that nobody asked for here (an ioctl) has drawn nothing yet.
std::expected<void, std::string> MountSession::close_after_cut(SimTime now, const std::vector<FsLatencyRow>& latency) {
    const SimTime at = opened_->device().last_cut().at;
    const auto seed = static_cast<std::uint64_t>(ns_since_start(at));
    if (!persistence_->has_chosen()) (void)persistence_->choose(at, seed);
    const auto held = persistence_->hold(directory_);
    const auto closed = opened_->close(now, latency);
    if (!closed) return closed;
    const auto settled = held ? persistence_->settle(directory_, reopen_, seed) : held;
    if (!settled)
        complain_(fmt::format("{}: -o persistence had no effect on this cut: {}. The files are as FlashLab's own file system leaves them", directory_,
                              settled.error()));
    persistence_.reset(); // others may have the device
    return {};
}

std::vector<FsLatencyRow> MountSession::latency_rows() {
    std::vector<FsLatencyRow> rows;
    for (const auto& o : mount_->stats().operations)
        if (o.count != 0) rows.push_back(FsLatencyRow{o.op, o.count, o.errors, o.p50_ns, o.p99_ns, o.max_ns});
    return rows;
}

void MountSession::sample_once() {
    const auto latency = latency_rows();
    std::optional<DeviceHistory> history;
    mount_->with_monitor([&](SimTime now) {
        if (opened_->device().was_cut()) return;
        opened_->sample(now, latency);
        history = opened_->history_now();
        history->clock_ns = ns_since_start(now);
    });
    if (history) opened_->save_history(*history);
    tell_full_host();
}

/// Says once that the host's disk is full: the failing calls return ENOSPC, which does not say whose disk it is.
void MountSession::tell_full_host() {
    int host_errno = 0;
    mount_->with_monitor([&](SimTime) { host_errno = opened_->host_errno(); });
    if (host_errno == 0 || told_host_errno_.exchange(true)) return;
    const bool is_full = is_host_full(host_errno);
    complain_(fmt::format("{}/nand.img cannot be written: {}; the drive takes no more writes until the next mount, calls get {}; {}", directory_,
                          is_full ? "the host's disk is full" : std::strerror(host_errno), is_full ? "ENOSPC" : "EIO or EROFS",
                          is_full ? "make room there, then unmount and mount again" : "unmount, and look at the host's disk"));
}

void MountSession::sample_until_stopped() {
    std::unique_lock lock{mutex_};
    while (!wake_.wait_for(lock, std::chrono::seconds{1}, [&] { return stopping_; })) {
        lock.unlock();
        sample_once();
        lock.lock();
    }
}

void MountSession::stop_sampler() {
    if (!sampler_.joinable()) return;
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    wake_.notify_all();
    sampler_.join();
}

} // namespace flashlab

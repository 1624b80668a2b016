#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fs/fuse/awake_processors.h"
#include "fs/fuse/control_socket.h"
#include "fs/fuse/mount.h"
#include "fs/fuse/mount_point.h"
#include "fs/fuse/mount_question.h"
#include "fs/fuse/mount_table_watch.h"
#include "fs/fuse/operations.h"
#include "fs/fuse/service.h"
#include "fs/fuse/session_loop.h"
#include "fs/fuse/signal_watch.h"

namespace flashlab {

/// The Mount, assembled: service, session, workers, control socket, and the thread that waits for the end.
///
/// Idea       run() starts the workers. Then its thread is the ticker: it sleeps until background work is due or something ends the mount.
/// Invariant  The session outlives its workers. The control socket ends before both.
/// Cost       See Service.
/// Power cut  The workers leave and the mount point is detached; after FS_IOC_SHUTDOWN the mount stays. When the device is closed, one worker comes
///            back and answers EIO. Closing /dev/fuse then aborts the calls that programs still wait for.
class MountImpl final : public Mount {
public:
    MountImpl(FileSystem& fs, DevicePower& power, EventSink& events, const MountConfig& config);
    ~MountImpl() override;

    [[nodiscard]] std::expected<void, std::string> set_up(ControlHandler control);

    [[nodiscard]] MountEnd run(const std::function<void()>& ready) override;
    void refuse_the_rest() override;
    void with_monitor(const std::function<void(SimTime)>& work) override;
    [[nodiscard]] FsResult<void> sync_all() override;
    [[nodiscard]] FsResult<void> follow_remount() override;
    [[nodiscard]] FsResult<Duration> run_background() override;
    [[nodiscard]] CutSummary power_cut(std::uint64_t seed, CutAt at) override;
    void set_latency(LatencyMode mode) override;
    [[nodiscard]] bool uses_io_uring() const override { return context_.ring.serves(); }
    void drop_kernel_pages(Ino ino, std::uint64_t offset, std::uint64_t bytes) override { page_dropper_.drop({ino, offset, bytes}); }
    void stop() override;
    [[nodiscard]] MountStats stats() override;
    [[nodiscard]] SimTime clock_now() override;

private:
    void serve_until_end(const SessionLoop& loop, const std::function<void()>& ready);
    void wait_for_unmount(const SessionLoop& loop);
    void calibrate();
    void look_for_rings();
    [[nodiscard]] std::string device_path() const;

    MountConfig config_;
    SignalWatch signals_;
    Service service_;
    PageDropper page_dropper_;
    SessionContext context_;
    fuse_session* session_ = nullptr;
    std::unique_ptr<ControlSocket> control_;
    std::atomic<bool> answering_{false};
    std::atomic<bool> stop_asked_{false};
    std::atomic<bool> stays_mounted_{false}; ///< cut by FS_IOC_SHUTDOWN
    MountTableWatch table_;
    int device_folder_ = -1; ///< names the folder wherever it is moved
};

namespace {

constexpr unsigned default_threads = 2;
constexpr auto patience_with_open_files = std::chrono::milliseconds{300};
constexpr auto refusing_after_cut = std::chrono::seconds{10}; ///< programs with files open see EIO; a daemon that never ended would be a burden

/// The complaints of libfuse while mounting, for our own message. libfuse has one log function for the whole process.
std::string& collected_complaints() {
    static std::string text;
    return text;
}

void collect_complaint(fuse_log_level, const char* format, va_list arguments) {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    collected_complaints() += line;
}

std::string last_complaint() {
    std::string text = collected_complaints();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    return text.empty() ? std::string{std::strerror(errno)} : text;
}

/// Collects libfuse's complaints as long as the object lives.
class ComplaintCollector {
public:
    ComplaintCollector() {
        collected_complaints().clear();
        fuse_set_log_func(collect_complaint);
    }
    ~ComplaintCollector() { fuse_set_log_func(nullptr); }
    ComplaintCollector(const ComplaintCollector&) = delete;
    ComplaintCollector& operator=(const ComplaintCollector&) = delete;
};

} // namespace

std::expected<std::unique_ptr<Mount>, std::string> Mount::make(FileSystem& fs, DevicePower& power, EventSink& events, const MountConfig& config,
                                                               ControlHandler control) {
    if (const auto sound = check_host_fuse(); !sound) return std::unexpected(sound.error());
    if (const auto sound = check_mount_point(config.mount_point); !sound) return std::unexpected(sound.error());
    if (config.io_ring == IoRingUse::on && !config.latency.off)
        return std::unexpected("-o io_uring=on serves mounts with latency off only: libfuse lets no answer of a ring wait; leave one of the two out");
    auto mount = std::make_unique<MountImpl>(fs, power, events, config);
    if (const auto done = mount->set_up(std::move(control)); !done) return std::unexpected(done.error());
    return mount;
}

MountImpl::MountImpl(FileSystem& fs, DevicePower& power, EventSink& events, const MountConfig& config)
    : config_{config}, service_{fs, power, events, config.use, config.latency, config.clock_start},
      page_dropper_{[this](Ino ino) { service_.with_monitor([this, ino](SimTime) { service_.kernel_pages().note_dropped(ino); }); }},
      context_{.service = service_,
               .page_dropper = page_dropper_,
               .on_ready =
                   [this] {
                       answering_ = true;
                       signals_.wake();
                   },
               .on_power_cut = [this] { signals_.wake(); },
               .on_shutdown = [this] { stays_mounted_ = true; },
               .device_path = [this] { return device_path(); },
               .kernel_writeback = config.kernel_writeback,
               .strict_access_times = config.access_times == AccessTimes::strict},
      device_folder_{open(config.device_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)} {
    service_.ask_for_host_errno(config_.host_errno);
    service_.set_faults(config_.faults);
    service_.set_streams(config_.streams);
    service_.set_disk(config_.disk);
    service_.set_access(config_.read_only, config_.access_times);
    if (char* real = realpath(config_.mount_point.c_str(), nullptr)) { // the daemon may change its directory
        config_.mount_point = real;
        std::free(real);
    }
}

std::expected<void, std::string> MountImpl::set_up(ControlHandler control) {
    const ComplaintCollector collector;
    if (control && !config_.control_socket.empty()) {
        auto socket = ControlSocket::make(config_.control_socket, std::move(control));
        if (!socket) return std::unexpected(socket.error());
        control_ = std::move(*socket);
    }
    std::vector<std::string> words = session_arguments(config_, geteuid() == 0);
    if (config_.io_ring == IoRingUse::on) {
        context_.ring.ask_for();
        words.back() += IoRing::session_options();
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    fuse_args args = FUSE_ARGS_INIT(static_cast<int>(words.size()), arguments.data());
    const fuse_lowlevel_ops table = operation_table(context_);
    session_ = fuse_session_new(&args, &table, sizeof table, &context_);
    fuse_opt_free_args(&args);
    if (session_ == nullptr) {
        return std::unexpected(fmt::format("the mount options are not accepted: {}: see mount.fuse3(8) for those that are", last_complaint()));
    }
    context_.session = session_;
    if (fuse_session_mount(session_, config_.mount_point.c_str()) != 0) {
        const std::string why = last_complaint();
        fuse_session_destroy(session_);
        session_ = nullptr;
        return std::unexpected(fmt::format("mounting on {} failed: {}: you must own the directory or be root; allow_other for others than root needs "
                                           "user_allow_other in /etc/fuse.conf",
                                           config_.mount_point, why));
    }
    return {};
}

MountImpl::~MountImpl() {
    if (control_ != nullptr) control_->stop();
    service_.finish();
    if (device_folder_ >= 0) close(device_folder_);
    if (session_ == nullptr) return;
    context_.ring.end(session_);
    if (service_.is_powered() || stays_mounted_) fuse_session_unmount(session_); // after a cut somebody else may have the name
    fuse_session_destroy(session_);
}

/// Measures round trips, but only where answers are timed. The getxattr that it sends is answered without the monitor.
void MountImpl::calibrate() {
    if (service_.stats().latency.off) return;
    AwakeProcessors awake; // as they are while answers wait
    awake.hold();
    service_.set_round_trips(measure_round_trips(config_.mount_point));
}

/// Programs may use the mount before this is known: they do not see which way their requests take.
void MountImpl::look_for_rings() {
    context_.ring.look(config_.mount_point);
    if (const std::string why = context_.ring.why_not(); !why.empty())
        std::fprintf(stderr, "flashlab: -o io_uring=on: %s; requests come through /dev/fuse\n", why.c_str());
}

void MountImpl::serve_until_end(const SessionLoop& loop, const std::function<void()>& ready) {
    bool told = false;
    while (service_.is_powered() && !stop_asked_ && !signals_.signalled() && !loop.has_ended()) {
        if (answering_ && !told) {
            told = true;
            look_for_rings();
            calibrate();
            set_read_ahead(config_.mount_point, largest_request); // the kernel takes less than it was offered at the start: the 128 KiB of any device
            table_.begin(config_.mount_point);
            if (control_ != nullptr) control_->start();
            if (ready) ready();
        }
        if (!signals_.wait_until(service_.tick(), table_.descriptor())) continue;
        if (const auto followed = follow_remount(); !followed)
            std::fprintf(stderr, "flashlab: the mount became read-only, and could not be written back: %s\n",
                         std::strerror(followed.error().error_number));
    }
}

/// Ends a mount that is still mounted: first the kernel writes its dirty pages back, then the mount point is detached, then the workers see the end
/// of the connection. Files that programs keep open would hold the connection for ever, so they get only a short time.
void MountImpl::wait_for_unmount(const SessionLoop& loop) {
    flush_kernel_pages(config_.mount_point);
    detach(config_.mount_point);
    const WallTime latest = WallClock::now() + patience_with_open_files;
    while (!loop.has_ended() && service_.is_powered() && WallClock::now() < latest) {
        signals_.wait_until(std::min(latest, WallClock::now() + std::chrono::milliseconds{20}));
    }
}

MountEnd MountImpl::run(const std::function<void()>& ready) {
    const unsigned threads = config_.threads == 0 ? default_threads : config_.threads;
    SessionLoop loop{session_, threads, [this] { signals_.wake(); }};
    page_dropper_.start(session_);
    loop.start();
    serve_until_end(loop, ready);
    if (service_.is_powered() && !loop.has_ended()) wait_for_unmount(loop);
    if (control_ != nullptr) control_->stop();
    page_dropper_.finish(); // while the workers serve: it may wait for a page that they are asked to read
    loop.stop();
    service_.finish();
    if (service_.is_powered()) context_.ring.end(session_);
    if (!service_.is_powered()) { // the next mount may take the name from here on; the session lives on for who has something open
        if (!stays_mounted_) detach(config_.mount_point);
        return MountEnd::power_cut;
    }
    {
        const ComplaintCollector quiet; // the name may be gone already: nothing to tell
        fuse_session_unmount(session_); // closes /dev/fuse: what programs still wait for is aborted
    }
    if (!service_.is_sound()) return MountEnd::broken;
    if (loop.error() != 0) {
        std::fprintf(stderr, "flashlab: /dev/fuse failed: %s\n", std::strerror(loop.error()));
        return MountEnd::failed;
    }
    if (const auto synced = service_.sync_all(); !synced) {
        std::fprintf(stderr, "flashlab: the last sync failed: %s\n", std::strerror(synced.error().error_number));
        return service_.is_sound() ? MountEnd::failed : MountEnd::broken;
    }
    return MountEnd::clean;
}

std::string MountImpl::device_path() const {
    DevicePath path{};
    const std::string link = fmt::format("/proc/self/fd/{}", device_folder_);
    return device_folder_ >= 0 && readlink(link.c_str(), path.data(), path.size() - 1) > 0 ? std::string{path.data()} : config_.device_directory;
}

void MountImpl::refuse_the_rest() {
    if (device_folder_ >= 0) close(std::exchange(device_folder_, -1));
    fuse_session_reset(session_); // the workers that have left ended it
    SessionLoop loop{session_, 1, [this] { signals_.wake(); }};
    loop.start();
    const WallTime latest = stays_mounted_ ? WallTime::max() : WallClock::now() + refusing_after_cut;
    while (!loop.has_ended() && !signals_.signalled() && !stop_asked_ && WallClock::now() < latest)
        signals_.wait_until(WallClock::now() + std::chrono::seconds{1});
    const bool is_still_there = stays_mounted_ && !loop.has_ended();
    loop.stop();
    if (is_still_there) detach(config_.mount_point);
    context_.ring.end(session_);
    fuse_session_destroy(session_); // without libfuse's unmount, which would take a mount that has the name by now
    session_ = nullptr;
}

void MountImpl::with_monitor(const std::function<void(SimTime)>& work) { service_.with_monitor(work); }

FsResult<void> MountImpl::sync_all() { return service_.sync_all(); }

FsResult<void> MountImpl::follow_remount() {
    const auto now = table_.look();
    if (!now) return {};
    const bool became_read_only = now->read_only && !service_.is_read_only();
    const bool strict = now->access_times == AccessTimes::relative && config_.access_times == AccessTimes::strict; // libfuse cannot tell the kernel
    service_.set_access(now->read_only, strict ? AccessTimes::strict : now->access_times);
    return became_read_only ? service_.sync_all() : FsResult<void>{};
}

FsResult<Duration> MountImpl::run_background() { return service_.run_background(); }

CutSummary MountImpl::power_cut(std::uint64_t seed, CutAt at) {
    const CutSummary summary = service_.cut(seed, at);
    signals_.wake();
    return summary;
}

void MountImpl::set_latency(LatencyMode mode) {
    service_.set_latency(mode);
    if (answering_) calibrate();
}

void MountImpl::stop() {
    stop_asked_ = true;
    signals_.wake();
}

MountStats MountImpl::stats() { return service_.stats(); }

SimTime MountImpl::clock_now() { return service_.clock_now(); }

} // namespace flashlab

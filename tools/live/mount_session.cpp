#include "tools/live/mount_session.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/drive/block_report.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_report.h"
#include "tools/live/cut_report.h"
#include "tools/live/mount_report.h"
#include "tools/live/root_owner.h"
#include "tools/log/event_level.h"

namespace flashlab {
namespace {

Json failure(std::string text) { return Json::object({{"error", std::move(text)}}); }
Json good() { return Json::object({{"ok", true}}); }

} // namespace

std::optional<LatencyMode> parse_latency(const std::string& text) {
    if (text == "off") return LatencyMode{};
    if (text == "real") return LatencyMode{false, 1.0};
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error != std::errc{} || std::string_view{end, static_cast<std::size_t>(text.data() + text.size() - end)} != "x" ||
        !(rate >= 0.001 && rate <= 1e6))
        return std::nullopt;
    return LatencyMode{false, rate};
}

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
    session->started_ = device.ready_at();
    MountConfig mount_config = config.mount;
    mount_config.clock_start = device.ready_at();
    MountSession* self = session.get();
    session->faults_.attach(*session->opened_, session->complain_);
    mount_config.faults = &session->faults_.plan();
    if (const auto set = session->faults_.set(config.faults, device.ready_at()); !set) {
        (void)session->opened_->close(device.ready_at(), {});
        return std::unexpected(set.error());
    }
    if (!config.mount.read_only) take_new_root(device.fs(), device.ready_at());
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
    auto mount =
        Mount::make(*served, device, session->opened_->events(), mount_config, [self](std::string_view request) { return self->answer(request); });
    if (!mount) {
        const auto closed = session->opened_->close(device.ready_at(), {});
        return std::unexpected(closed ? mount.error() : fmt::format("{}; {}", mount.error(), closed.error()));
    }
    session->mount_ = std::move(*mount);
    session->faults_.set_mount(*session->mount_);
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
            fmt::format("{}: after an internal error nothing more was written, unsynced data are lost; look at it with: flashlab fsck {}", directory_,
                        directory_));
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
        complain_(
            fmt::format("{}: the cut left what the drive's own file system leaves, not what -o persistence says: {}", directory_, settled.error()));
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
    const bool is_full = host_errno == ENOSPC || host_errno == EDQUOT;
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

std::string MountSession::answer(std::string_view request) {
    const auto json = Json::parse(request);
    return (json ? dispatch(*json) : failure("the request is not valid JSON")).dump();
}

Json MountSession::dispatch(const Json& request) {
    const std::string command = request["cmd"].text();
    if (command == "stats") return stats();
    if (command == "unsynced") return unsynced();
    if (command == "use") return use();
    if (command == "blocks") {
        Json blocks;
        mount_->with_monitor([&](SimTime) { blocks = block_report(opened_->device(), request["cells"].number(64)); });
        return blocks;
    }
    if (command == "set") return set(request);
    if (command == "idle") return run_idle();
    if (command == "fault") return faults_.answer(request);
    if (command == "flush") {
        const auto done = mount_->sync_all();
        return done ? good() : failure(std::strerror(done.error().error_number));
    }
    if (command == "flush_log") {
        sample_once();
        mount_->with_monitor([&](SimTime) {
            if (!opened_->device().was_cut()) opened_->note_wear();
        });
        opened_->log().flush();
        return good();
    }
    if (command == "config") return Json::object({{"toml", to_toml(opened_->device().config())}, {"config", to_json(opened_->device().config())}});
    if (command == "powercut") return power_cut(request);
    Json report;
    if (command == "info")
        mount_->with_monitor([&](SimTime) { report = info_report(opened_->device()); });
    else if (command == "smart")
        mount_->with_monitor([&](SimTime now) {
            DeviceHistory history = opened_->history_now();
            history.clock_ns = ns_since_start(now);
            report = smart_report(opened_->device(), history);
        });
    else
        return failure(fmt::format("unknown request '{}'", command));
    if (command == "info") add_failure_log(report, directory_);
    return report;
}

Json MountSession::stats() {
    const Json operations = to_json(mount_->stats());
    Json report;
    mount_->with_monitor([&](SimTime now) { report = stats_report(opened_->device(), now, now - started_); });
    for (const auto& [key, value] : operations.members()) report.add(key, value);
    report.add("log_failure", opened_->log().failure());
    add_failure_log(report, directory_);
    return report;
}

Json MountSession::use() {
    constexpr std::size_t most = 1000;
    Json report;
    mount_->with_monitor(
        [&](SimTime) { report = opened_->use() == nullptr ? failure("use is not counted; mount with -o use") : opened_->use()->report(most); });
    return report;
}

Json MountSession::power_cut(const Json& request) {
    const auto at = parse_cut_at(request["at"].text("work"));
    if (!at) return failure(fmt::format("at {}: allowed: {}", request["at"].text(), fmt::join(cut_at_names, ", ")));
    if (persistence_) mount_->with_monitor([&](SimTime) { persistence_->begin_cut(); });
    const std::uint64_t seed = request["seed"].number(1);
    const CutSummary cut = mount_->power_cut(seed, *at);
    Json report = to_json(cut);
    if (persistence_ && !persistence_->has_chosen())
        mount_->with_monitor([&](SimTime) { report.add("persistence", persistence_->choose(cut.at, seed)); });
    return report;
}

/// By file and range, in order. Names where a model keeps account of them.
Json MountSession::unsynced() {
    Json report;
    mount_->with_monitor([&](SimTime now) {
        if (persistence_) {
            report = persistence_->unsynced(now);
            return;
        }
        std::map<Ino, Json> ranges;
        for (const auto& range : opened_->device().fs().unsynced())
            ranges.try_emplace(range.ino, Json::Array{}).first->second.push(Json::object({{"offset", range.offset}, {"bytes", range.bytes}}));
        Json files{Json::Array{}};
        for (auto& [ino, of_file] : ranges)
            files.push(Json::object(
                {{"ino", ino.value()}, {"path", ""}, {"ranges", std::move(of_file)}, {"changes", Json{Json::Array{}}}, {"call", "fdatasync"}}));
        report = Json::object({{"persistence", "strict"}, {"files", std::move(files)}, {"names", Json{Json::Array{}}}});
    });
    report.add("metadata", opened_->device().config().in_journal() ? "journal" : "pram");
    return report;
}

Json MountSession::set(const Json& request) {
    std::optional<LatencyMode> latency;
    std::optional<EventLevel> level;
    if (const std::string text = request["latency"].text(); !text.empty()) {
        latency = parse_latency(text);
        if (!latency) return failure(fmt::format("latency={}: allowed: off, real, or a factor such as 10x", text));
    }
    if (const std::string text = request["log"].text(); !text.empty()) {
        level = parse_event_level(text);
        if (!level) return failure(fmt::format("log={}: allowed: none, summary, requests, all", text));
    }
    if (level && !opened_->log().failure().empty()) // otherwise events until the log runs again would be lost without being counted
        mount_->with_monitor([&](SimTime) { opened_->log().change_level(EventLevel::none); });
    if (level && *level != EventLevel::none)
        if (const auto ready = opened_->log().make_ready(); !ready) return failure(ready.error());
    if (level) mount_->with_monitor([&](SimTime) { opened_->log().change_level(*level); });
    if (level == EventLevel::none) opened_->log().flush();
    if (latency) mount_->set_latency(*latency);
    return good();
}

/// Does background work, one wake-up after the other, until nothing is due within a second.
Json MountSession::run_idle() {
    if (const auto synced = mount_->sync_all(); !synced) return failure(std::strerror(synced.error().error_number));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (std::chrono::steady_clock::now() < give_up) {
        const auto rest = mount_->run_background();
        if (!rest) return failure(std::strerror(rest.error().error_number));
        if (*rest > std::chrono::seconds{1}) return good();
        std::this_thread::sleep_for(std::min<Duration>(*rest, std::chrono::milliseconds{2}));
    }
    return failure("background work is still going on after 30 s");
}

} // namespace flashlab

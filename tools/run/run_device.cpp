#include "tools/run/run_device.h"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "fs/retry.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/host/interruption.h"
#include "tools/log/event_level.h"
#include "tools/run/virtual_calls.h"
#include "tools/run/virtual_device.h"

namespace flashlab {
namespace {

constexpr std::uint64_t whole_log = std::uint64_t{1} << 62; ///< who names a file for the events of one run wants all of them

std::string errno_text(const char* what, const FsError& error) {
    return fmt::format("{} {}: {}", precondition_file, what, std::strerror(error.error_number));
}

/// Finds the file, or makes it out of all free space except a reserve for metadata and other files. A raw drive is its own file.
std::expected<Ino, std::string> find_or_make_file(FileSystem& fs, FsCall& call) {
    if (dynamic_cast<const DiskFile*>(&fs) != nullptr) return DiskFile::ino;
    if (const auto found = fs.lookup(call, root_ino, precondition_file)) return found->value.ino;
    const auto made = fs.make_node(call, root_ino, precondition_file, 0100600, 0);
    if (!made) return std::unexpected(errno_text("cannot be made", made.error()));
    const Ino ino = made->value.ino;
    const FsUsage usage = fs.usage();
    const std::uint64_t kept = 64 + usage.data_pages_free / 32;
    const std::uint64_t pages = usage.data_pages_free > kept ? usage.data_pages_free - kept : 0;
    if (pages == 0) return std::unexpected(fmt::format("{} finds no room: the drive is full of other files", precondition_file));
    const auto taken = until_done(call, [&](const FsCall& c) { return fs.allocate(c, ino, FallocateMode::allocate, 0, pages * usage.block_bytes); });
    if (!taken) return std::unexpected(errno_text("finds no room", taken.error()));
    return ino;
}

} // namespace

std::expected<std::unique_ptr<RunDevice>, RunDevice::Error> RunDevice::open(const DeviceChoice& choice, const RunDeviceOptions& options) {
    std::unique_ptr<RunDevice> run{new RunDevice};
    const bool logs = choice.events_file || (choice.directory && choice.log);
    if (choice.log && !logs) return std::unexpected(Error{"--log wants --events FILE to write to", exit_usage});
    const auto level = parse_event_level(choice.log.value_or(logs ? "requests" : "none"));
    if (!level) return std::unexpected(Error{fmt::format("--log {}: none, summary, requests or all is wanted", *choice.log), exit_usage});
    run->level_ = *level;
    const auto log_path = logs ? run->place_log(choice) : std::string{};
    if (!log_path) return std::unexpected(log_path.error());
    DeviceChoice placed = choice;
    if (choice.events_file) placed.events_file = *log_path;
    if (auto there = choice.directory ? run->take(placed, options) : run->make(placed, options); !there) return std::unexpected(there.error());
    run->load_ = options.load;
    run->log().pause();
    return run;
}

RunDevice::~RunDevice() {
    if ((directory_ || log_) && has_log()) log().mark_partial();
}

std::expected<std::string, RunDevice::Error> RunDevice::place_log(const DeviceChoice& choice) {
    if (!choice.events_file) return std::string{};
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(*choice.events_file, ignored);
    if (std::filesystem::exists(*choice.events_file, ignored) && bytes != 0) // also if the name is no file: SQLite reports that
        return *choice.events_file;
    auto made = AsideFile::make(*choice.events_file, bytes == 0 ? AsideFile::Existing::replaced : AsideFile::Existing::refused);
    if (!made) return std::unexpected(Error{made.error()});
    new_log_.emplace(std::move(*made));
    return new_log_->path();
}

std::expected<void, RunDevice::Error> RunDevice::make(const DeviceChoice& choice, const RunDeviceOptions& options) {
    const auto plan = plan_virtual_device(choice, options.default_bytes);
    if (!plan) return std::unexpected(Error{plan.error(), exit_usage});
    if (options.with_file_system && plan->config.is_raw())
        return std::unexpected(Error{"fs.metadata = none: a load on a file wants a file system; leave it out, or load the device", exit_usage});
    for (const std::string& warning : plan->ftl.warnings)
        if (options.tells_warnings) complain(fmt::format("{}: warning: {}", options.kind, warning));
    auto log = SqliteEventLog::open({.path = choice.events_file.value_or(""),
                                     .level = level_,
                                     .keep_bytes = whole_log,
                                     .kind = options.kind,
                                     .config_toml = to_toml(plan->config),
                                     .config_hash = config_hash(plan->config),
                                     .seed = plan->config.ssd.nand.seed,
                                     .page_bytes = plan->config.ssd.nand.geometry.page_bytes,
                                     .complain = [](const std::string& text) { complain(text); }});
    if (!log) return std::unexpected(Error{log.error()});
    log_ = std::move(*log);
    log_->pause();
    if (choice.events_file && !new_log_ && options.tells_warnings)
        complain(
            fmt::format("{}: warning: {} has a run of before; this one is added behind it, and views without a column run, as v_waf, speak of all",
                        options.kind, *choice.events_file));
    const bool in_journal = options.with_file_system && plan->config.in_journal();
    auto device = make_virtual_device(*plan, in_journal ? Payload::keep : Payload::none, *log_); // metadata that lie on the flash must be readable
    if (!device) return std::unexpected(Error{device.error()});
    memory_ = std::move(*device);
    std::expected<void, std::string> done;
    if (options.with_file_system && !in_journal) done = memory_->format(options.kind, FileTime{});
    if (done) done = memory_->start(sim_start);
    if (done && in_journal) done = memory_->format(options.kind, FileTime{});
    if (done && options.with_file_system) done = memory_->open_file_system(FsOptions{});
    if (!done) return std::unexpected(Error{done.error()});
    return {};
}

std::expected<void, RunDevice::Error> RunDevice::take(const DeviceChoice& choice, const RunDeviceOptions& options) {
    if (choice.preset || choice.config_file || choice.ftl || choice.size_bytes)
        return std::unexpected(Error{"--device names a drive that is made already: no --preset, --config, --ftl, --size with it", exit_usage});
    OpenOptions open;
    open.log = std::min(level_, EventLevel::summary); // the mount and its recovery are logged, but not what they did on the flash
    open.log_path = choice.events_file.value_or("");
    if (choice.events_file) open.log_keep_bytes = whole_log;
    open.kind = options.kind;
    open.past = DevicePast::final; // a run in virtual time is not cut
    open.settings = choice.settings;
    open.environment = flashlab_environment();
    open.complain = [](const std::string& text) { complain(text); };
    auto opened = DeviceDirectory::open(*choice.directory, open);
    if (!opened) return std::unexpected(Error{opened.error()});
    directory_ = std::move(*opened);
    directory_name_ = *choice.directory;
    return {};
}

std::expected<RunSpace, std::string> RunDevice::sectors() {
    if (!directory_) return RunSpace{device()};
    FileSystem& fs = device().fs();
    FsCall call = call_at(device().ready_at());
    const auto ino = find_or_make_file(fs, call);
    if (!ino) return std::unexpected(ino.error());
    if (const auto done = sync_all(fs, call.now); !done) return std::unexpected(errno_text("cannot be synced", done.error()));
    auto file = fs.device_of(*ino);
    if (!file) return std::unexpected(errno_text("is no file of a replay: remove it", file.error()));
    file_ = std::move(*file);
    RunSpace space{device()};
    space.disk = file_.get();
    space.payload = &payload_;
    space.begin = std::max(device().ready_at(), device().last_reserved_end());
    return space;
}

void RunDevice::begin_log(SimTime now) {
    if (!has_log()) return;
    log().change_level(level_, now);
    log().begin_run_at(device().ssd().sample(now), device().sample_details(now));
    if (!load_.name.empty()) log().add_load(load_);
    sample(now);
}

void RunDevice::sample(SimTime now) {
    if (has_log()) log().add_sample(device().ssd().sample(now), device().sample_details(now));
}

std::expected<void, std::string> RunDevice::close(SimTime now) {
    if (Interruption::came() && has_log()) log().mark_partial();
    auto closed = close_device(now);
    log_.reset();
    std::error_code ignored;
    const bool is_there = new_log_ && std::filesystem::file_size(new_log_->path(), ignored) != 0; // empty: the log could not be begun
    if (is_there && Interruption::came())
        complain(fmt::format("interrupted: the event log {} is not made", new_log_->target()));
    else if (is_there && closed)
        closed = new_log_->commit();
    new_log_.reset();
    return closed;
}

std::expected<void, std::string> RunDevice::close_device(SimTime now) {
    file_.reset();
    const SimTime at_rest = std::max(now, device().last_reserved_end()); // flash may work on after the last answer
    sample(at_rest);
    if (has_log()) log().add_wear(device().wear_and_blocks());
    if (directory_) {
        if (has_log()) log().pause(); // the run is over: what closing the drive writes is no part of it
        auto closed = directory_->close(at_rest, {});
        if (const std::string why = log().failure(); closed && has_log() && !why.empty())
            closed = std::unexpected(fmt::format("the event log is not complete: {}", why));
        directory_.reset();
        return closed;
    }
    log_->close();
    const std::string why = log_->failure();
    memory_.reset();
    if (!why.empty()) return std::unexpected(fmt::format("the event log is not complete: {}", why));
    return {};
}

} // namespace flashlab

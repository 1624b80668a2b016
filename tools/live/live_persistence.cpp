#include "tools/live/live_persistence.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/whole_file_lock.h"
#include "crash/apps/state_order.h"
#include "crash/apps/tree_settler.h"
#include "crash/apps/unsynced_report.h"

namespace flashlab {

namespace {

constexpr std::uint64_t most_bytes = 128u << 20;
constexpr std::size_t most_lost_told = 50;
constexpr auto patience = std::chrono::seconds{10}; // with somebody who looks at the device

} // namespace

LivePersistence::LivePersistence(const Persistence& model, FileSystem& below)
    : model_{model}, history_{below, most_bytes, [this] {
                                  const auto since = std::chrono::steady_clock::now() - began_;
                                  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
                              }} {}

LivePersistence::~LivePersistence() {
    if (held_ >= 0) ::close(held_);
}

Json LivePersistence::choose(SimTime at, std::uint64_t seed) {
    past_ = std::make_unique<Past>(history_.history(at));
    const UnsyncedLines unsynced = find_unsynced(*past_, model_, past_->size());
    state_ = std::make_unique<LeftState>(*past_, model_, unsynced.durable, StateOrder{*past_, model_, seed}.draw_at(past_->size()));
    Json lost{Json::Array{}};
    std::uint64_t lines = 0;
    std::uint32_t last = no_line;
    for (const Loss& loss : state_->lost()) {
        if (loss.line == last) continue;
        last = loss.line;
        const bool whole = loss.part == Loss::Part::all;
        if (++lines <= most_lost_told) lost.push(fmt::format("{}{}", past_->told(loss.line), whole ? "" : ", a part"));
    }
    return Json::object({{"model", std::string{model_.name}},
                         {"changes_unsynced", static_cast<std::uint64_t>(unsynced.names.size() + unsynced.writes.size())},
                         {"changes_lost", lines},
                         {"lost", std::move(lost)}});
}

Json LivePersistence::unsynced(SimTime now) const {
    const Past past{history_.history(now)};
    const UnsyncedReport report = report_unsynced(past, model_);
    Json files{Json::Array{}}, names{Json::Array{}};
    for (const UnsyncedFile& file : report.files) {
        Json ranges{Json::Array{}}, changes{Json::Array{}};
        for (const auto& range : file.ranges) ranges.push(Json::object({{"offset", range.offset}, {"bytes", range.bytes}}));
        for (const std::string& change : file.changes) changes.push(change);
        files.push(Json::object({{"ino", file.ino},
                                 {"path", ""}, // it may have moved since: who asks looks
                                 {"ranges", std::move(ranges)},
                                 {"changes", std::move(changes)},
                                 {"call", file.is_data_only ? "fdatasync" : "fsync"}}));
    }
    for (const UnsyncedName& name : report.names) {
        Json calls{Json::Array{}};
        for (const std::string& directory : name.directories) calls.push(fmt::format("fsync({})", directory));
        names.push(Json::object({{"change", name.change}, {"calls", std::move(calls)}}));
    }
    return Json::object({{"persistence", std::string{model_.name}}, {"files", std::move(files)}, {"names", std::move(names)}});
}

std::expected<void, std::string> LivePersistence::hold(const std::string& directory) {
    const std::string file = directory + "/device.toml";
    held_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    const int error = held_ < 0 ? errno : lock_whole_file(held_, WholeFileLock::exclusive);
    if (error == 0) return {};
    return std::unexpected(fmt::format("{} cannot be locked: {}", file, std::strerror(error)));
}

std::expected<void, std::string> LivePersistence::settle(const std::string& directory, OpenOptions options, std::uint64_t seed) {
    options.access = DeviceAccess::check;
    options.log = EventLevel::none;
    options.kind = "settle";
    options.counts_use = false;
    options.fs.write_back_faults = nullptr;
    auto opened = DeviceDirectory::open(directory, options);
    for (const auto until = std::chrono::steady_clock::now() + patience; !opened && std::chrono::steady_clock::now() < until;) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        opened = DeviceDirectory::open(directory, options);
    }
    if (!opened) return std::unexpected(opened.error());
    Device& device = (*opened)->device();
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    const FsCall call{.now = device.ready_at(), .wall = {.seconds = wall.tv_sec, .nanoseconds = static_cast<std::uint32_t>(wall.tv_nsec)}};
    TreeSettler settler{device.fs(), *past_, *state_, call};
    const std::string failure = settler.run();
    const SimTime end = std::max(settler.now(), device.last_reserved_end());
    static_cast<void>(device.cut(end, seed));
    const auto closed = (*opened)->close(end, {});
    if (!failure.empty()) return std::unexpected(failure);
    return closed;
}

} // namespace flashlab

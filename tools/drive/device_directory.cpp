#include "tools/drive/device_directory.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/contract.h"
#include "ftl/make_ftl.h"
#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_report.h"
#include "tools/drive/fdp_pages.h"
#include "tools/drive/kept_logs.h"
#include "tools/drive/scheme_keys.h"
#include "tools/host/interruption.h"
#include "tools/host/new_name.h"
#include "tools/host/private_file.h"
#include "tools/host/unfinished_directory.h"
#include "tools/text/shell_word.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

constexpr std::array<const char*, 3> locked_files{"nand.img", "pram.img", "device.toml"}; // the last by a mount that settles a cut
constexpr std::array<const char*, 10> all_files{"device.toml",   "nand.img",      "pram.img",          "events.db", "events.db-wal",
                                                "events.db-shm", "counters.json", "counters.json.new", "mount.log", "block_trace.db"};

/// DIR/ and DIR are the same name.
files::path directory_named(const std::string& name) {
    const files::path directory = files::path{name}.lexically_normal();
    return directory.has_filename() ? directory : directory.parent_path();
}

std::string is_taken(const files::path& directory) {
    return fmt::format("{}: a device is here already; --force replaces it and loses its data", directory.string());
}

std::expected<void, std::string> check_target(const files::path& directory, ExistingDevice existing) {
    std::error_code error;
    const auto status = files::status(directory, error);
    if (status.type() == files::file_type::not_found) return {};
    if (error) return std::unexpected(fmt::format("{}: {}", directory.string(), error.message()));
    if (status.type() != files::file_type::directory)
        return std::unexpected(fmt::format("{}: exists and is no directory; name a new or empty one", directory.string()));
    files::directory_iterator entries{directory, error};
    if (error) return std::unexpected(fmt::format("{}: {}", directory.string(), error.message()));
    if (entries == files::directory_iterator{}) return {};
    if (!files::exists(directory / "device.toml") && !files::exists(directory / "nand.img"))
        return std::unexpected(fmt::format("{}: is not empty and holds no FlashLab device; name a new or empty directory", directory.string()));
    if (is_in_use(directory.string())) return std::unexpected(said_in_use(directory.string()));
    if (existing == ExistingDevice::refuse) return std::unexpected(is_taken(directory));
    return {};
}

Uuid random_uuid() {
    Uuid uuid{};
    if (::getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size())) uuid[0] = std::byte{1};
    return uuid;
}

FileTime wall_now() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return FileTime{now.tv_sec, static_cast<std::uint32_t>(now.tv_nsec)};
}

/// Images, file system and device.toml into an empty directory.
std::expected<void, std::string> fill(const files::path& directory, const DevicePlan& plan, const std::string& label) {
    const Uuid uuid = random_uuid();
    const auto geometry = Geometry::make(plan.config.ssd.nand.geometry);
    auto nand = ImagePageStore::create(directory / "nand.img", *geometry, uuid);
    if (!nand) return std::unexpected(nand.error().message);
    if (auto made = ImagePramStore::create(directory / "pram.img", plan.config.ssd.pram, uuid); !made) return std::unexpected(made.error());
    auto pram = ImagePramStore::open(directory / "pram.img");
    if (!pram) return std::unexpected(pram.error());
    NullEventSink events;
    auto device = Device::assemble(plan.config, std::move(*nand), std::move(*pram), events, DevicePast::final);
    if (!device) return std::unexpected(device.error());
    const bool in_journal = plan.config.in_journal();
    if (in_journal)
        if (auto started = (*device)->start(sim_start); !started) return started;
    if (auto formatted = (*device)->format(label, wall_now()); !formatted) return std::unexpected(formatted.error());
    if (in_journal)
        if (auto closed = (*device)->shut_down((*device)->ready_at()); !closed) return closed;
    if (auto done = DeviceHistory{}.write(directory.string()); !done) return done;
    DeviceConfig config = plan.config;
    config.checksum = checksum_of_images_keys(config, [](std::string_view) { return true; });
    return write_private_file((directory / "device.toml").string(), to_toml(config));
}

/// Renames to names that are free, undone unless they are kept.
class Moves {
public:
    explicit Moves(const files::path& directory) : directory_{directory} {}
    Moves(const Moves&) = delete;
    Moves& operator=(const Moves&) = delete;
    ~Moves() {
        std::error_code ignored;
        for (auto move = moves_.rbegin(); move != moves_.rend(); ++move) files::rename(move->second, move->first, ignored);
    }
    [[nodiscard]] std::expected<void, std::string> move(const files::path& from, const files::path& to) {
        if (!rename_to_new_name(from, to)) // taken: another mkfs was sooner
            return std::unexpected(errno == EEXIST ? is_taken(directory_) : fmt::format("{}: {}", to.string(), std::strerror(errno)));
        moves_.emplace_back(from, to);
        return {};
    }
    void keep() { moves_.clear(); }

private:
    const files::path& directory_; ///< of the device
    std::vector<std::pair<files::path, files::path>> moves_;
};

/// Moves the old device aside, if it is to be replaced, and the new one into its place, device.toml last. A failure in between brings the old one
/// back. Of two that make a device here at once, the second finds its names taken.
std::expected<void, std::string> move_into_place(const files::path& made, const files::path& directory, ExistingDevice existing) {
    Moves moves{directory};
    if (!files::exists(directory)) {
        auto moved = moves.move(made, directory);
        moves.keep();
        return moved;
    }
    const files::path aside = made / "replaced";
    std::error_code error;
    if (!files::create_directory(aside, error)) return std::unexpected(fmt::format("{}: {}", aside.string(), error.message()));
    for (const char* name : all_files)
        if (existing == ExistingDevice::replace && files::exists(directory / name, error))
            if (auto moved = moves.move(directory / name, aside / name); !moved) return moved;
    for (const char* name : {"counters.json", "nand.img", "pram.img", "device.toml"})
        if (auto moved = moves.move(made / name, directory / name); !moved) return moved;
    moves.keep();
    return {};
}

/// A contract that breaks here was broken by the images: by a part that no checksum covers, or by damage that the user wants to look at.
std::expected<void, std::string> bring_up(Device& device, SimTime start, const FsOptions& options) {
    try {
        if (auto started = device.start(start); !started) return started;
        return device.open_file_system(options);
    } catch (const ContractViolation& broken) {
        return std::unexpected(fmt::format(
            "the metadata in its images are damaged; put back copies of both images that were made together, or make the device anew ({})",
            broken.what()));
    }
}

} // namespace

std::string said_in_use(const std::string& directory) {
    return fmt::format("{}: the device is in use; unmount it first: flashlab umount {}", directory, shell_word(directory));
}

std::expected<void, std::string> check_device_target(const std::string& name, ExistingDevice existing) {
    return check_target(directory_named(name), existing);
}

std::expected<void, std::string> make_device_directory(const std::string& name, const DevicePlan& plan, const std::string& label,
                                                       ExistingDevice existing, const FinishDevice& finish) {
    const files::path directory = directory_named(name);
    if (auto good = check_target(directory, existing); !good) return good;
    // The device is built beside its place and moved there when it is complete, so that a failure or a kill leaves no half device. If the directory
    // exists, the device is built inside it, to be on the same disk.
    UnfinishedDirectory::remove_those_of_the_dead(directory, ".mkfs-");
    const files::path made = files::exists(directory) ? directory / fmt::format(".mkfs-{}", ::getpid())
                                                      : files::path{fmt::format("{}.mkfs-{}", directory.string(), ::getpid())};
    std::error_code error;
    if (!files::create_directory(made, error))
        return std::unexpected(fmt::format("{}: {}", directory.string(), error ? error.message() : "cannot be made"));
    files::permissions(made, files::perms::owner_all, error); // only the owner may read what lies in it
    UnfinishedDirectory half{made};
    if (auto filled = fill(made, plan, label); !filled) return filled;
    if (auto finished = finish ? finish(made.string()) : std::expected<void, std::string>{}; !finished) return finished;
    if (Interruption::came()) return std::unexpected(fmt::format("{}: interrupted: it is as it was before", directory.string()));
    const bool renamed_whole = !files::exists(directory);
    if (!renamed_whole) give_folder_to_owner_of(directory.string(), made.string());
    auto moved = move_into_place(made, directory, existing);
    if (moved && renamed_whole) half.keep();
    return moved;
}

std::string failure_log_path(const std::string& directory) { return directory + "/mount.log"; }

void add_failure_log(Json& report, const std::string& directory) {
    std::error_code error;
    const auto bytes = files::file_size(failure_log_path(directory), error);
    report.add("failure_log", failure_log_path(directory));
    report.add("failure_log_bytes", error ? 0 : static_cast<std::uint64_t>(bytes));
}

ImageUse use_of_images(const std::string& directory) {
    for (const char* image : locked_files) {
        const int fd = ::open((directory + "/" + image).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) continue;
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        const bool locked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        ::close(fd);
        if (locked) return lock.l_type == F_WRLCK ? ImageUse::written : ImageUse::looked_at;
    }
    return ImageUse::none;
}

std::expected<DeviceConfig, std::string> DeviceDirectory::effective_config(const std::string& name, const OpenOptions& options) {
    auto config = read_device_toml(name);
    if (!config) return config;
    if (auto done = apply_environment(*config, options.environment, true); !done) return std::unexpected(done.error());
    if (auto done = apply_settings(*config, options.settings, true); !done) return std::unexpected(done.error());
    if (auto done = check_settings_of_scheme(options.settings, config->ssd); !done) return std::unexpected(done.error());
    return config;
}

/// A log that cannot be opened is complained of, and no reason not to mount.
void DeviceDirectory::open_log(const DeviceConfig& config, const OpenOptions& options) {
    std::error_code not_found; // SQLite follows no link of the whole path when it is told to follow none
    const files::path folder = files::canonical(directory_, not_found);
    EventLogConfig log{.path = options.log_path.empty() ? ((not_found ? files::path{directory_} : folder) / "events.db").string() : options.log_path,
                       .is_of_device = options.log_path.empty(),
                       .level = options.log,
                       .keep_bytes = options.log_keep_bytes,
                       .kind = options.kind,
                       .config_toml = to_toml(config),
                       .config_hash = config_hash(config),
                       .seed = config.ssd.nand.seed,
                       .start = sim_time_from_ns(history_.clock_ns),
                       .page_bytes = config.ssd.nand.geometry.page_bytes,
                       .yields = options.kind == "mount",
                       .complain = complain_};
    auto events = SqliteEventLog::open(log);
    if (!events) {
        complain_(fmt::format("event log {}; mounted without a log", events.error()));
        log.level = EventLevel::none;
        events = SqliteEventLog::open(log);
    }
    log_ = std::move(*events);
    if (options.counts_use) use_ = std::make_unique<UseLedger>(*log_, program_of_thread);
}

/// Device and file system over the images; afterwards the history says that the device is in use.
std::expected<void, std::string> DeviceDirectory::start(const DeviceConfig& config, DeviceImages stores, const OpenOptions& options) {
    const bool damaged = !stores.damage.empty();
    if (access_ != DeviceAccess::look) image_ = stores.nand;
    auto device = Device::assemble(config, std::move(stores.pages), std::move(stores.cells), events(), options.past);
    if (!device) return std::unexpected(device.error());
    device_ = std::move(*device);
    if (use_) {
        const std::uint32_t unit = device_->ssd().identify().atomic_unit_bytes;
        use_->begin(unit, std::max(unit, 4096u), config.ssd.nand.geometry.page_bytes); // 4096: as the file system takes its pages
    }
    if (access_ != DeviceAccess::look) {
        nand_ = stores.nand;
        pram_ = stores.pram;
        evidence_ = std::move(stores.evidence);
        if (auto vouched = vouch(*nand_, *pram_, evidence_, Vouched::or_later, 0); !vouched) return vouched;
        if (nand_->keeps_evidence()) nand_->tally_into(pram_->nand_tally(), evidence_.blocks);
    }
    FsOptions fs = options.fs;
    if (options.kind == "mount") fs.unreadable = [this](Ino ino, std::uint64_t offset, std::uint64_t bytes) { tell_unreadable(ino, offset, bytes); };
    if (damaged)
        complain_(fmt::format("warning: {} is damaged and only looked at: what it returns may be wrong, copy out what you can check ({})", directory_,
                              to_text(stores.damage)));
    fs.use = use_.get();
    fs.streams = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, placement_handles_of(config.ssd)));
    fs.read_only = fs.read_only || damaged;
    if (auto up = bring_up(*device_, sim_time_from_ns(history_.clock_ns), fs); !up) return up;
    if (access_ != DeviceAccess::use) return {};
    ++history_.power_cycles;
    if (history_.in_use) ++history_.unsafe_shutdowns;
    history_.in_use = true;
    history_.clock_ns = ns_since_start(device_->ready_at());
    save_history(history_);
    return {};
}

std::expected<std::unique_ptr<DeviceDirectory>, std::string> DeviceDirectory::open(const std::string& name, const OpenOptions& options) {
    const auto config = effective_config(name, options);
    if (!config) return std::unexpected(config.error());
    auto stores = open_device_images(name, *config, options.access);
    if (!stores) return std::unexpected(stores.error());
    const bool damaged = !stores->damage.empty();
    if (options.damage != nullptr) *options.damage = stores->damage;
    if (damaged && !options.tolerate_damage)
        return std::unexpected(
            fmt::format("{0}: {1}; what it holds cannot be trusted: 'flashlab fsck {0}' lists the damage, 'mount -o recovery' "
                        "lets you copy out what can be read where the metadata can, 'flashlab fsck --repair {0}' mends what it can, "
                        "and a copy of both images brings the device back",
                        name, to_text(stores->damage)));

    std::unique_ptr<DeviceDirectory> opened{new DeviceDirectory};
    opened->directory_ = name;
    opened->folder_ = FolderHandle{name};
    opened->access_ = damaged ? DeviceAccess::look : options.access;
    opened->complain_ = options.complain ? options.complain : [](const std::string&) {};
    if (const auto history = DeviceHistory::read(name); history)
        opened->history_ = *history;
    else
        opened->complain_(history.error());
    if (opened->access_ != DeviceAccess::look) KeptLogs::bring_back(name);
    opened->open_log(*config, options);
    if (auto started = opened->start(*config, std::move(*stores), options); !started)
        return std::unexpected(fmt::format("{}: {}", name, started.error()));
    return opened;
}

/// Called inside the monitor, and inside a call of the file system.
void DeviceDirectory::tell_unreadable(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t most_told = 100;
    const bool is_told = ++unreadable_ <= most_told;
    const auto paths = is_told ? device_->fs().paths_of(ino, 1) : std::vector<std::string>{}; // paths_of() walks the whole tree
    log_->add_unreadable_file({.ino = ino, .offset = offset, .bytes = bytes, .path = paths.empty() ? std::string{} : paths.front()});
    if (!is_told) return;
    complain_(fmt::format("{}, offset {}: {} bytes are lost: the flash has more bit errors there than can be corrected. Reads fail with EIO. "
                          "List all such places with: flashlab fsck --data {}{}",
                          paths.empty() ? fmt::format("inode {}", ino.value()) : paths.front(), offset, bytes, directory_,
                          unreadable_ == most_told ? " (no more are listed here)" : ""));
}

void DeviceDirectory::tell_outcomes(const CutSummary& cut) {
    for (std::size_t outcome = 0; outcome < cut.outcomes.size(); ++outcome)
        if (cut.outcomes[outcome] != 0) log_->add_cut_outcome({cut.at, static_cast<CutOutcomeNumber>(outcome), cut.outcomes[outcome]});
}

int DeviceDirectory::host_errno() const { return device_ == nullptr || image_ == nullptr ? 0 : image_->host_errno(); }

void DeviceDirectory::set_image_faults(std::function<int()> faults) {
    if (device_ != nullptr && image_ != nullptr) image_->set_write_faults(std::move(faults));
}

DeviceHistory DeviceDirectory::history_now() {
    if (access_ == DeviceAccess::look) return history_;
    const SampleEvent sample = device_->ssd().sample(device_->ready_at());
    return history_.plus(sample, device_->ftl().counters(), counters_as_json(own_counters(device_->ftl())), BitErrorCounters::of(*device_).since({}),
                         device_->ssd().counters());
}

void DeviceDirectory::sample(SimTime now, const std::vector<FsLatencyRow>& latency) {
    SampleDetails details = device_->sample_details(now);
    details.latency = latency;
    log_->add_sample(device_->ssd().sample(now), std::move(details));
}

void DeviceDirectory::note_wear() {
    if (log_->wants(EventLevel::summary)) log_->add_wear(device_->wear_and_blocks());
}

void DeviceDirectory::save_history(const DeviceHistory& history) {
    if (access_ == DeviceAccess::look) return;
    if (auto written = history.write(folder_.path()); !written) complain_(fmt::format("the counters of smart were not saved: {}", written.error()));
}

std::expected<void, std::string> DeviceDirectory::close(SimTime now, const std::vector<FsLatencyRow>& latency) {
    std::expected<void, std::string> closed;
    const bool cut = device_->was_cut();
    if (!cut && access_ != DeviceAccess::look) closed = device_->shut_down(now);
    const SimTime end = cut ? device_->ready_at() : std::max(now, device_->ready_at());
    sample(end, latency);
    if (cut) tell_outcomes(device_->last_cut());
    note_wear();
    DeviceHistory history = history_now();
    history.clock_ns = ns_since_start(end);
    history.in_use = access_ == DeviceAccess::use ? cut || !closed : history_.in_use;
    log_->close();
    save_history(history);
    if (nand_ != nullptr) {
        const auto vouched = vouch_at_close(static_cast<std::uint64_t>(history.clock_ns) ^ history.totals.host_write_bytes << 1);
        if (!vouched && closed) closed = std::unexpected(vouched.error());
    }
    device_.reset(); // gives the locks back: umount returns, and the next mount may begin
    return closed;
}

std::expected<void, std::string> DeviceDirectory::vouch_at_close(std::uint64_t history) {
    // An image of an older version that cannot grow, because the host is full, stays what it is.
    const bool is_known = nand_->upgrade() && nand_->survey_changed(evidence_.blocks);
    if (!evidence_.parts.empty()) evidence_.parts = pram_->survey();
    return vouch(*nand_, *pram_, evidence_, is_known ? Vouched::is : Vouched::or_later, history);
}

void DeviceDirectory::abandon() {
    nand_ = nullptr;
    pram_ = nullptr;
    log_->close();
    device_.reset();
}

} // namespace flashlab

/// flashlab info, smart and fsck: on a device that is not mounted they open it themselves, otherwise the daemon answers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/log_target.h"
#include "tools/cli/progress.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_check.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_presets.h"
#include "tools/drive/device_repair.h"
#include "tools/drive/device_report.h"
#include "tools/drive/fdp_pages.h"
#include "tools/drive/scheme_keys.h"
#include "tools/drive/smart_fields.h"
#include "tools/grade/scheme_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/text/printable.h"
#include "tools/text/shell_word.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

/// Whose names smart uses: all of ours, or exactly those that nvme-cli prints with -o json.
enum class SmartNames : std::uint8_t { all, nvme, ocp, fdp };

struct InfoOptions {
    std::string target;
    bool config = false, keys = false;
    OutputFormat format = OutputFormat::table;
};
struct SmartOptions {
    std::string target;
    SmartNames names = SmartNames::all;
    std::string fdp; ///< page
    std::optional<std::uint64_t> bytes_per_day;
    OutputFormat format = OutputFormat::table;
};

struct FsckOptions {
    std::string directory;
    bool look_only = false, repair = false, data = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

constexpr int fsck_clean = 0;
constexpr int fsck_corrected = 1;
constexpr int fsck_uncorrected = 4;
constexpr int fsck_operational = 8;

int print_report(const Json& report, OutputFormat format) {
    fmt::print("{}", shown(format, report));
    return exit_done;
}

OpenOptions options_for(DeviceAccess access) {
    OpenOptions options;
    options.access = access;
    options.environment = flashlab_environment();
    options.complain = [](const std::string& text) { complain(text); };
    return options;
}

std::expected<std::unique_ptr<DeviceDirectory>, std::string> open_unmounted(const std::string& directory, DeviceAccess access) {
    const OpenOptions options = options_for(access);
    if (const auto free = wait_for_images(directory, access, options.complain); !free) return std::unexpected(free.error());
    return DeviceDirectory::open(directory, options);
}

int print_shaped(const std::string&, const Json& report, OutputFormat format) { return print_report(report, format); }
int print_shaped(const std::string& command, const std::expected<Json, std::string>& report, OutputFormat format) {
    if (!report) return complain(fmt::format("{}: {}", command, report.error()));
    return print_report(*report, format);
}

/// Asks the daemon, or opens the device, reports and closes it.
template <class Report, class Shape>
int report_on(const std::string& target, const std::string& command, OutputFormat format, const Report& report, const Shape& shape) {
    if (const auto mounted = find_mount(target)) {
        auto answer = ask_mount(*mounted, Json::object({{"cmd", command}}));
        if (!answer) return complain(fmt::format("{}: the mount on {} did not answer: {}", command, mounted->mount_point, answer.error()));
        if (const std::uint64_t bytes = (*answer)["unsynced_bytes"].number(0); bytes != 0)
            complain(not_on_flash(command, bytes, mounted->mount_point, ((*answer)["critical_warning"].number(0) & 8) == 0)); // NVMe: read-only
        return print_shaped(command, shape(std::move(*answer)), format);
    }
    auto opened = open_unmounted(target, DeviceAccess::look);
    if (!opened) return complain(fmt::format("{}: {}", command, opened.error()));
    return print_shaped(command, shape(report(**opened)), format);
}

int show_config(const std::string& target, OutputFormat format) {
    if (const auto mounted = find_mount(target)) { // what was set for this mount alone is known to its daemon only
        const auto answer = ask_mount(*mounted, Json::object({{"cmd", "config"}}));
        if (!answer) return complain(fmt::format("info: the mount on {} did not answer: {}", mounted->mount_point, answer.error()));
        fmt::print("{}", format != OutputFormat::table ? shown(format, (*answer)["config"]) : (*answer)["toml"].text());
        return exit_done;
    }
    auto config = read_device_toml(device_directory_of(target));
    if (!config) return complain(fmt::format("info: {}", config.error()));
    if (auto done = apply_environment(*config, flashlab_environment(), true); !done)
        return complain(fmt::format("info: {}", done.error()), exit_usage);
    fmt::print("{}", format != OutputFormat::table ? shown(format, to_json(*config)) : to_toml(*config));
    return exit_done;
}

std::string what_was_read(const CheckedDevice& checked, bool asked) {
    if (!asked) return fmt::format("read the spare areas of {} written pages, not the data of files (--data reads those)", checked.oob_pages);
    return fmt::format("read the OOB of {} written pages and the data of {} pages of files{}", checked.oob_pages, checked.data_pages,
                       checked.data_checked ? "" : "; interrupted, the rest was not read");
}

/// --repair of a device with problems; the exit code where nothing can be done is `otherwise`. What was found has been printed, unless in JSON, which
/// has all of it.
int mend(const FsckOptions& o, const Json& problems, int otherwise) {
    const auto repair = repair_device(o.directory);
    Json lost{Json::Array{}};
    if (repair)
        for (const LostPart& part : repair->lost) lost.push(Json::object({{"path", part.path}, {"what", part.what}}));
    if (o.format != OutputFormat::table) {
        Json report = Json::object({{"clean", repair.has_value()}, {"repaired", repair.has_value()}, {"problems", problems}, {"lost", lost}});
        if (repair) {
            report.add("snapshot", repair->snapshot);
            report.add("in_place", repair->is_in_place);
            report.add("bits_mended", repair->bits_mended);
        }
        fmt::print("{}", shown(o.format, report));
    }
    if (!repair) return complain(fmt::format("fsck: {}: it cannot be mended, and was left as it is: {}", o.directory, repair.error()), otherwise);
    if (o.format != OutputFormat::table) return fsck_corrected;
    for (const LostPart& part : repair->lost) fmt::print("{}\n", printable_line(fmt::format("lost: {}: {}", part.path, part.what)));
    if (repair->is_in_place)
        fmt::print("{}: repaired in place: {} flipped bits were turned back, every page reads, {} parts are lost; the images as they were are the "
                   "snapshot {}\n",
                   o.directory, repair->bits_mended, repair->lost.size(), repair->snapshot);
    else
        fmt::print("{}: repaired: {} files and {} directories are whole or renamed to NAME.damaged, {} parts are lost, and erase counts, clock and "
                   "counters begin again; the images as they were are the snapshot {}\n",
                   o.directory, repair->salvage.files, repair->salvage.directories, repair->lost.size(), repair->snapshot);
    return fsck_corrected;
}

/// Every page's OOB, or all data, which may take long.
CheckedDevice look_through(Device& device, const FsckOptions& o) {
    if (!o.data && !o.repair) return check_device(device, DeviceCheckDepth::oob, {});
    const Interruption interruption;
    Progress progress{"pages of data"};
    return check_device(device, DeviceCheckDepth::data, [&](std::uint64_t pages) {
        progress.at(pages);
        return !Interruption::came();
    });
}

/// A device that was looked at and found clean: the next mount need not recover it.
std::expected<void, std::string> recover_for_good(const std::string& directory, DeviceDirectory& looked) {
    if (const auto closed = looked.close(looked.device().ready_at(), {}); !closed) return closed;
    const auto opened = DeviceDirectory::open(directory, options_for(DeviceAccess::check));
    if (!opened) return std::unexpected(opened.error());
    return (*opened)->close((*opened)->device().ready_at(), {});
}

std::string found_as_data(OutputFormat format, const CheckedDevice& checked) {
    Table table{{"kind", "where", "detail"}};
    for (const auto& p : checked.problems.items()) table.add({p["kind"].text(), p["where"].text(), p["detail"].text()});
    return shown(format,
                 Json::object({{"clean", checked.problems.items().empty()},
                               {"problems", checked.problems},
                               {"oob_pages_read", checked.oob_pages},
                               {"data_pages_read", checked.data_pages},
                               {"data_checked", checked.data_checked}}),
                 table);
}

int run_info(const InfoOptions& o) {
    if (o.keys) {
        if (is_scheme_file(o.target)) // its keys, too
            if (const auto loaded = load_scheme(o.target); !loaded) return complain(fmt::format("info: {}", loaded.error()), exit_usage);
        if (o.format == OutputFormat::table)
            fmt::print("Defaults are those of a configuration that names nothing. flashlab mkfs without options takes the preset {}: {}.\n\n",
                       default_preset_name, "flashlab presets lists them");
        fmt::print("{}", shown(o.format, config_keys_as_json(), describe_config_keys()));
        Table counters{{"counter", "unit", "scheme", "meaning"}};
        const Json declared = counters_of_schemes();
        for (const Json& c : declared.items()) counters.add({c["counter"].text(), c["unit"].text(), c["scheme"].text(), c["meaning"].text()});
        if (o.format == OutputFormat::table && !counters.is_empty()) fmt::print("\n{}", counters.to_text());
        return exit_done;
    }
    if (o.target.ends_with(".so"))
        return complain(fmt::format("info: {} is a translation layer, no drive: add --keys for its options and counters", o.target), exit_usage);
    if (o.config) return show_config(o.target, o.format);
    return report_on(
        o.target, "info", o.format,
        [&](DeviceDirectory& opened) {
            Json report = info_report(opened.device());
            add_failure_log(report, o.target);
            return report;
        },
        std::identity{});
}

int run_smart(const SmartOptions& o) {
    const auto report = [](DeviceDirectory& opened) { return smart_report(opened.device(), opened.history_now()); };
    return report_on(o.target, "smart", o.format, report, [&](Json smart) -> std::expected<Json, std::string> {
        if (o.names == SmartNames::fdp) return fdp_page(smart, o.fdp);
        if (o.names == SmartNames::nvme) return nvme_smart_log(smart);
        if (o.names == SmartNames::ocp) return ocp_smart_log(smart);
        if (o.bytes_per_day) add_remaining_years(smart, *o.bytes_per_day);
        return smart;
    });
}

int run_fsck(const FsckOptions& o) {
    if (const auto mounted = find_mount(o.directory))
        return complain(fmt::format("fsck: {} is mounted on {}; unmount it first: flashlab umount {}", mounted->source, mounted->mount_point,
                                    shell_word(mounted->mount_point)),
                        fsck_operational);
    OpenOptions options = options_for(DeviceAccess::look); // a device with problems is left as it is
    std::vector<ImageDamage> damage;
    options.damage = &damage;
    options.tolerate_damage = true;
    if (const auto free = wait_for_images(o.directory, o.look_only ? DeviceAccess::look : DeviceAccess::check, options.complain); !free)
        return complain(fmt::format("fsck: {}", free.error()), fsck_operational);
    auto opened = DeviceDirectory::open(o.directory, options);
    if (!opened && damage.empty()) damage = damaged_page_records(o.directory);
    const bool is_unreadable = !opened && damage.empty(); // a header, the length of an image, or a metadata structure
    if (is_unreadable && !o.repair) return complain(fmt::format("fsck: {}", opened.error()), fsck_operational);
    CheckedDevice checked;
    add_damage(damage, checked);
    if (is_unreadable) checked.problems.push(Json::object({{"kind", "device-unreadable"}, {"where", o.directory}, {"detail", opened.error()}}));
    bool recovered = false;
    if (!opened) {
        complain(fmt::format("fsck: {}", opened.error()));
    } else if (damage.empty()) { // what a damaged image says of itself means nothing
        recovered = !(*opened)->device().recovery().was_clean;
        checked = look_through((*opened)->device(), o);
    }
    const Json& problems = checked.problems;
    const bool clean = problems.items().empty();
    if (!opened) {
        // nothing is open
    } else if (!clean) {
        (*opened)->abandon();
    } else if (const auto closed = o.look_only ? (*opened)->close((*opened)->device().ready_at(), {}) : recover_for_good(o.directory, **opened);
               !closed) {
        return complain(fmt::format("fsck: {}", closed.error()), fsck_operational);
    }
    const bool mends = !clean && o.repair && !Interruption::came();
    const int otherwise = is_unreadable ? fsck_operational : fsck_uncorrected;
    if (mends && opened) opened->reset();
    if (mends && o.format != OutputFormat::table) return mend(o, problems, otherwise);
    if (o.format != OutputFormat::table) {
        fmt::print("{}", found_as_data(o.format, checked));
    } else {
        for (const auto& p : problems.items())
            fmt::print("{}\n", printable_line(fmt::format("{}: {}: {}", p["kind"].text(), p["where"].text(), p["detail"].text())));
        if (!o.quiet && damage.empty() && opened && *opened != nullptr) fmt::print("{}: {}\n", o.directory, what_was_read(checked, o.data));
        if (clean && !o.quiet)
            fmt::print("{}: clean{}\n", o.directory,
                       !recovered    ? ""
                       : o.look_only ? " once recovered, which the next mount does"
                                     : "; it was not unmounted cleanly and has been recovered");
    }
    if (mends) return mend(o, problems, otherwise);
    if (!clean)
        complain(fmt::format("fsck: {}: {} problems that recovery does not mend; 'fsck --repair' turns flipped bits back and keeps what reads; or {}",
                             o.directory, problems.items().size(),
                             damage.empty() ? "copy the files out of a --read-only mount"
                                            : "put back copies of both images, or copy out with 'mount -o recovery' what can be read"));
    return clean ? fsck_clean : fsck_uncorrected;
}

} // namespace

void add_fsck(CLI::App& app, Action& action) {
    auto [c, o] =
        add_command(app, action, run_fsck, "fsck",
                    "Check a drive: flash, map, file system. Exit code as fsck(8): 0 clean, 1 mended, 4 damaged, 8 could not look, 16 wrong usage",
                    "flashlab fsck /tmp/disk --json");
    c.add_option("DIR", o.directory, "Device directory, not mounted")->required();
    auto* look = c.add_flag("-n,--no-change", o.look_only, "Look only. After a power cut the recovery runs on a copy in memory");
    c.add_flag("--repair", o.repair,
               "Mend images that the host damaged: what still reads goes into new images, what does not is listed, the old ones stay as a snapshot. "
               "Implies --data")
        ->excludes(look);
    c.add_flag("--data", o.data, "Read every page of data as well, and name file and offset of what does not read");
    add_format(c, o.format, "One JSON object: clean, problems, and what was read");
    c.add_flag("-q,--quiet", o.quiet, "Only problems");
}

void add_info(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_info, "info", "What a drive is: geometry, translation layer, room, configuration",
                              "flashlab info /tmp/disk --config", [](const InfoOptions& given) {
                                  if (!given.keys && given.target.empty()) throw CLI::RequiredError("DIR");
                              });
    c.add_option("DIR", o.target, "Device directory or mount point");
    auto* as_config = c.add_flag("--config", o.config, "The effective configuration as TOML");
    c.add_flag("--keys", o.keys, "Every configuration key with its default, range and meaning")->excludes(as_config);
    add_format(c, o.format, "One JSON object");
}

void add_smart(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_smart, "smart", "Health: SMART log fields, write amplification, wear, spare, bad blocks, lifetime",
                              "flashlab smart /mnt --json\n  flashlab smart /mnt --bytes-per-day 20G\n  flashlab smart /mnt --as ocp --json");
    c.add_option("DIR", o.target, "Device directory or mount point")->required();
    auto* names = c.add_option_function<std::string>(
        "--as",
        [&o](const std::string& as) {
            o.names = as == "nvme" ? SmartNames::nvme : as == "ocp" ? SmartNames::ocp : SmartNames::fdp;
            if (o.names == SmartNames::fdp) o.fdp = as.substr(4);
        },
        "Only the fields of one log page, named as nvme-cli prints them with -o json: nvme (smart-log), ocp (ocp smart-add-log), fdp-configs, "
        "fdp-usage, fdp-stats, fdp-status, fdp-events (fdp; ftl.separation = host)");
    names->check(CLI::IsMember({"nvme", "ocp", "fdp-configs", "fdp-usage", "fdp-stats", "fdp-status", "fdp-events"}));
    c.add_option_function<std::string>(
         "--bytes-per-day",
         [&o](const std::string& text) {
             const auto bytes = parse_size(text);
             if (!bytes || *bytes == 0) throw CLI::ValidationError("--bytes-per-day", bytes ? "at least 1 byte is wanted" : bytes.error());
             o.bytes_per_day = *bytes;
         },
         "What the host writes a day: adds remaining_years, the flash's life at the write amplification so far")
        ->type_name("SIZE")
        ->excludes(names);
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

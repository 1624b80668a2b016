/// flashlab ls, cat and cp: into a drive that is not mounted, read only.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/drive/drive_files.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/text/printable.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct LsOptions {
    std::string target;
    bool is_long = false, recursive = false;
    OutputFormat format = OutputFormat::table;
};
struct CatOptions {
    std::vector<std::string> targets;
};
struct CpOptions {
    std::string from, to;
    bool recursive = false;
};

std::expected<DriveFiles, std::string> open_files(const std::string& directory) {
    if (const auto mounted = find_mount(directory))
        return std::unexpected(fmt::format("{}: it is mounted on {}: look there", directory, mounted->mount_point));
    const auto say = [](const std::string& text) { complain(text); };
    if (const auto free = wait_for_images(directory, DeviceAccess::look, say); !free) return std::unexpected(free.error());
    return DriveFiles::open(directory, say);
}

char type_letter(std::uint32_t mode) {
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return 'd';
    case S_IFLNK:
        return 'l';
    case S_IFCHR:
        return 'c';
    case S_IFBLK:
        return 'b';
    case S_IFIFO:
        return 'p';
    case S_IFSOCK:
        return 's';
    default:
        return '-';
    }
}

/// "drwxr-xr-x", as ls(1) writes it.
std::string mode_text(std::uint32_t mode) {
    std::string text{type_letter(mode)};
    constexpr const char* letters = "rwx";
    for (int bit = 8; bit >= 0; --bit) text += (mode >> bit & 1) != 0 ? letters[(8 - bit) % 3] : '-';
    const auto mark = [&](std::uint32_t bit, std::size_t at, char with_x, char without) {
        if ((mode & bit) != 0) text[at] = text[at] == 'x' ? with_x : without;
    };
    mark(S_ISUID, 3, 's', 'S');
    mark(S_ISGID, 6, 's', 'S');
    mark(S_ISVTX, 9, 't', 'T');
    return text;
}

std::string time_text(const FileTime& time) {
    const std::time_t seconds = time.seconds;
    std::tm utc{};
    if (::gmtime_r(&seconds, &utc) == nullptr) return fmt::format("@{}", time.seconds); // its year does not fit an int
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", std::int64_t{utc.tm_year} + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min);
}

/// null where 64 bits do not hold it: behind the year 2262, and before 1677.
Json nanoseconds_of(const FileTime& time) {
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(time.seconds, std::int64_t{1'000'000'000}, &ns) || __builtin_add_overflow(ns, std::int64_t{time.nanoseconds}, &ns))
        return {};
    return ns;
}

Json as_json(const DriveEntry& entry, const std::string& path) {
    const Attributes& a = entry.attributes;
    Json json = Json::object({{"path", path},
                              {"inode", static_cast<std::uint64_t>(a.ino.value())},
                              {"mode", fmt::format("{:o}", a.mode)},
                              {"links", a.links},
                              {"uid", a.uid},
                              {"gid", a.gid},
                              {"size_bytes", a.size},
                              {"allocated_bytes", a.blocks_512 * 512},
                              {"modified_ns", nanoseconds_of(a.modified)}});
    if (!entry.target.empty()) json.add("target", entry.target);
    return json;
}

/// The rows of one listing, and of the folders below.
class Listing {
public:
    explicit Listing(const LsOptions& options) : options_{options} {
        if (options_.is_long) table_ = Table{{"mode", "links", "uid", "gid", "size", "modified (UTC)", "name"}};
    }
    std::expected<void, std::string> add_folder(DriveFiles& drive, const DriveEntry& folder, const std::string& path) {
        const auto entries = drive.list(folder, path);
        if (!entries) return std::unexpected(entries.error());
        for (const DriveEntry& entry : *entries) {
            if (Interruption::came()) return std::unexpected(std::string{"interrupted"});
            const std::string full = path + (path.ends_with('/') ? "" : "/") + entry.name;
            add(entry, options_.recursive ? full : entry.name, full);
            if (options_.recursive && S_ISDIR(entry.attributes.mode))
                if (auto done = add_folder(drive, entry, full); !done) return done;
        }
        return {};
    }
    void add(const DriveEntry& entry, const std::string& name, const std::string& path) {
        const Attributes& a = entry.attributes;
        json_.push(as_json(entry, path));
        names_ += name + "\n";
        const std::string shown = entry.target.empty() ? name : name + " -> " + entry.target;
        if (options_.is_long || options_.format == OutputFormat::csv)
            table_.add({mode_text(a.mode), fmt::format("{}", a.links), fmt::format("{}", a.uid), fmt::format("{}", a.gid), fmt::format("{}", a.size),
                        time_text(a.modified), shown});
    }
    [[nodiscard]] std::string text() const {
        if (options_.format == OutputFormat::table && !options_.is_long) return ::isatty(STDOUT_FILENO) != 0 ? printable(names_) : names_;
        return shown(options_.format, json_, table_);
    }

private:
    const LsOptions& options_;
    Table table_{{"mode", "links", "uid", "gid", "size", "modified (UTC)", "name"}};
    Json json_{Json::Array{}};
    std::string names_;
};

int run_ls(const LsOptions& o) {
    const Interruption interruption;
    const DrivePath at = parse_drive_path(o.target);
    auto drive = open_files(at.directory);
    if (!drive) return complain("ls: " + drive.error());
    const auto entry = drive->find(at.path);
    if (!entry) return complain("ls: " + entry.error());
    Listing listing{o};
    if (!S_ISDIR(entry->attributes.mode))
        listing.add(*entry, at.path, at.path);
    else if (auto done = listing.add_folder(*drive, *entry, at.path); !done)
        return complain("ls: " + done.error());
    const std::string text = listing.text();
    (void)!std::fwrite(text.data(), 1, text.size(), stdout); // names may hold any bytes
    return exit_done;
}

int run_cat(const CatOptions& o) {
    const Interruption interruption;
    for (const std::string& target : o.targets) {
        const DrivePath at = parse_drive_path(target);
        auto drive = open_files(at.directory);
        if (!drive) return complain("cat: " + drive.error());
        const auto entry = drive->find(at.path);
        if (!entry) return complain("cat: " + entry.error());
        const auto done = drive->read(*entry, at.path, [](std::span<const std::byte> data) -> std::expected<void, std::string> {
            if (std::fwrite(data.data(), 1, data.size(), stdout) != data.size()) return std::unexpected(std::string{"standard output takes no more"});
            return {};
        });
        if (!done) return complain("cat: " + done.error());
    }
    return exit_done;
}

int run_cp(const CpOptions& o) {
    const Interruption interruption;
    const DrivePath at = parse_drive_path(o.from);
    if (const DrivePath into = parse_drive_path(o.to); into.path != "/" && std::filesystem::is_directory(into.directory))
        return complain(fmt::format("cp: {}: files are only copied out of a drive: mount it to write", o.to), exit_usage);
    auto drive = open_files(at.directory);
    if (!drive) return complain("cp: " + drive.error());
    const auto entry = drive->find(at.path);
    if (!entry) return complain("cp: " + entry.error());
    if (S_ISDIR(entry->attributes.mode) && !o.recursive) return complain(fmt::format("cp: {} is a folder: copy it with -r", at.path), exit_usage);
    std::string to = o.to;
    std::error_code ignored;
    if (std::filesystem::is_directory(to, ignored))
        to += "/" + (entry->name == "/" ? std::filesystem::path{at.directory}.filename().string() : entry->name);
    const auto made = copy_out(*drive, *entry, at.path, to, [](const std::string& text) { complain("cp: " + text); });
    if (!made) return complain("cp: " + made.error());
    return *made == 0 ? exit_failed : exit_done;
}

} // namespace

void add_ls(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_ls, "ls", "List a folder of a drive that is not mounted", "flashlab ls /tmp/disk:/home -l");
    c.add_option("TARGET", o.target, "DIR, or DIR:PATH")->required();
    c.add_flag("-l,--long", o.is_long, "Mode, links, owner, size and time, too");
    c.add_flag("-R,--recursive", o.recursive, "The folders below, too");
    add_format(c, o.format, "An array of objects", "Comma-separated values");
}

void add_cat(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_cat, "cat", "Print files of a drive that is not mounted", "flashlab cat /tmp/disk:/etc/motd");
    c.add_option("TARGETS", o.targets, "DIR:PATH of each")->required();
}

void add_cp(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_cp, "cp", "Copy files out of a drive that is not mounted", "flashlab cp -r /tmp/disk:/home saved");
    c.add_option("FROM", o.from, "DIR:PATH")->required();
    c.add_option("TO", o.to, "A new name, or a folder; nothing that is there is replaced")->required();
    c.add_flag("-r,--recursive", o.recursive, "A folder with all that is in it");
}

} // namespace flashlab

/// flashlab blocktrace: runs a program on a kernel's file system over a raw drive, and keeps which process and which sync wrote what.
///
/// Idea       The kernel's trace (tools/live/kernel_trace.h) and the drive's log are joined, and lie in block_trace.db beside the log. `query`
///            attaches it, with views of its own.
/// Invariant  The exit code is the program's. The file is replaced whole, or stays as it was.
/// Cost       tools/live/block_trace.h; the drive's log at the level all.
/// Power cut  Keeps nothing on the drive.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/private_file.h"
#include "tools/host/subprocess.h"
#include "tools/live/kernel_trace.h"
#include "tools/live/live_mount.h"
#include "tools/log/sqlite.h"
#include "tools/text/shell_word.h"

namespace flashlab {
namespace {

namespace fs = std::filesystem;

struct BlocktraceOptions {
    std::string target;
    std::vector<std::string> command;
};

std::string first_line_of(const fs::path& file) {
    std::ifstream in{file};
    std::string line;
    std::getline(in, line);
    return line;
}

/// The loop device over this file. The error names the remedy.
std::expected<std::string, std::string> loop_over(const std::string& disk) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{"/sys/block", error}) {
        if (first_line_of(entry.path() / "loop/backing_file") != disk) continue;
        const std::string loop = "/dev/" + entry.path().filename().string();
        if (first_line_of(entry.path() / "loop/dio") != "1")
            return std::unexpected(fmt::format("{0} writes through the kernel's copy of {1}, which puts writes together: losetup --direct-io=on {0}",
                                               loop, shell_word(disk)));
        return loop;
    }
    return std::unexpected(fmt::format("no loop device lies over {0}: losetup -f --show --direct-io=on {0}", shell_word(disk)));
}

/// What the file systems on the disk have not written yet reaches the drive.
void sync_file_systems_on(const std::string& loop) {
    for (const std::string& place : mount_points_on(loop))
        if (const int fd = ::open(place.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) {
            (void)::syncfs(fd);
            ::close(fd);
        }
    if (const int fd = ::open(loop.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) {
        (void)::fsync(fd);
        ::close(fd);
    }
}

/// The log that the mount has written whole.
std::expected<SqliteConnection, std::string> flushed_log(const MountEntry& mounted) {
    const auto flushed = ask_mount(mounted, Json::object({{"cmd", "flush_log"}}));
    if (!flushed) return std::unexpected(flushed.error());
    if ((*flushed)["level"].text() != "all")
        return std::unexpected(fmt::format("the drive's log has the level {}, which tells of no erase: flashlab ctl {} set log=all",
                                           (*flushed)["level"].text(), shell_word(mounted.mount_point)));
    return SqliteConnection::open(mounted.source + "/events.db", SqliteAccess::read_only);
}

/// Ids of requests and collections come from one sequence.
constexpr std::string_view newest_id = "SELECT max((SELECT ifnull(max(id), 0) FROM host_request), (SELECT ifnull(max(id), 0) FROM gc_job))";

std::expected<std::vector<LoggedWrite>, std::string> writes_since(SqliteConnection& log, std::int64_t before) {
    const auto rows = log.prepare(
        fmt::format("SELECT id, first_sector, sectors FROM host_request WHERE id > {} AND op = (SELECT op FROM host_op_name WHERE name = 'write') "
                    "ORDER BY id",
                    before));
    if (!rows) return std::unexpected(rows.error());
    std::vector<LoggedWrite> writes;
    while (sqlite3_step(rows->get()) == SQLITE_ROW)
        writes.push_back({sqlite3_column_int64(rows->get(), 0), static_cast<std::uint64_t>(sqlite3_column_int64(rows->get(), 1)),
                          static_cast<std::uint32_t>(sqlite3_column_int64(rows->get(), 2))});
    return writes;
}

/// The newest run of a log: another log's numbers mean other requests.
struct LogRun {
    std::int64_t start_ns = 0;
    std::string config_hash;
};
std::expected<LogRun, std::string> newest_run(SqliteConnection& log) {
    const auto row = log.prepare("SELECT start_ns, config_hash FROM run ORDER BY run DESC LIMIT 1");
    if (!row || sqlite3_step(row->get()) != SQLITE_ROW) return std::unexpected(log.error());
    const auto* hash = reinterpret_cast<const char*>(sqlite3_column_text(row->get(), 1));
    return LogRun{sqlite3_column_int64(row->get(), 0), hash == nullptr ? "" : hash};
}

struct TracedRun {
    const BlockTrace& trace;
    std::vector<JoinedWrite> joined;
    std::int64_t before = 0, last = 0; ///< ids of the log
    LogRun log;
};

/// In the place of the one before, when it is whole.
std::expected<void, std::string> write_database(const std::string& path, const TracedRun& run) {
    const std::string unfinished = path + ".new";
    std::error_code error;
    fs::remove(unfinished, error);
    {
        auto db = SqliteConnection::open(unfinished, SqliteAccess::create_no_link);
        if (!db) return std::unexpected(db.error());
        if (auto made = db->execute("BEGIN;"
                                    "CREATE TABLE traced(before INTEGER, last INTEGER, start_ns INTEGER, config_hash TEXT);"
                                    "CREATE TABLE sync_call(n INTEGER PRIMARY KEY, call TEXT, pid INTEGER, command TEXT, path TEXT);"
                                    "CREATE TABLE block_write(n INTEGER PRIMARY KEY, pid INTEGER, command TEXT, flags TEXT, first_sector INTEGER, "
                                    "sectors INTEGER, sync INTEGER);"
                                    "CREATE TABLE block_request(request INTEGER, write INTEGER);");
            !made)
            return made;
        auto traced = db->prepare("INSERT INTO traced VALUES (?, ?, ?, ?)"), sync = db->prepare("INSERT INTO sync_call VALUES (?, ?, ?, ?, ?)"),
             write = db->prepare("INSERT INTO block_write VALUES (?, ?, ?, ?, ?, ?, nullif(?, -1))"),
             request = db->prepare("INSERT INTO block_request VALUES (?, ?)");
        bool good = traced && sync && write && request && traced->run(run.before, run.last, run.log.start_ns, run.log.config_hash);
        for (std::size_t i = 0; good && i < run.trace.syncs().size(); ++i) {
            const TracedSync& s = run.trace.syncs()[i];
            good = sync->run(static_cast<std::uint64_t>(i), s.call, s.pid, s.command, s.path);
        }
        for (std::size_t i = 0; good && i < run.trace.writes().size(); ++i) {
            const TracedWrite& w = run.trace.writes()[i];
            const std::int64_t within = w.sync ? static_cast<std::int64_t>(*w.sync) : -1;
            good = write->run(static_cast<std::uint64_t>(i), w.pid, w.command, w.flags, w.first_sector, w.sectors, within);
        }
        for (std::size_t i = 0; good && i < run.joined.size(); ++i)
            good = request->run(run.joined[i].request, static_cast<std::uint64_t>(run.joined[i].write));
        if (!good || !db->execute("CREATE INDEX of_request ON block_request(request); COMMIT"))
            return std::unexpected(fmt::format("{}: {}", unfinished, db->error()));
    }
    if (const int file = ::open(unfinished.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC); file >= 0) {
        give_to_owner_of_folder(file, unfinished);
        ::close(file);
    }
    fs::rename(unfinished, path, error);
    if (error) return std::unexpected(fmt::format("{}: {}", path, error.message()));
    return {};
}

int failed(const std::string& why) { return complain("blocktrace: " + why); }

int run_blocktrace(const BlocktraceOptions& o) {
    const auto mounted = find_mount(o.target);
    if (!mounted)
        return failed(
            fmt::format("{}: no raw drive is mounted here; mount one with: flashlab mount --as-file --log all DIR MNT", shell_word(o.target)));
    const std::string disk = mounted->mount_point + "/disk";
    const auto loop = loop_over(disk);
    if (!loop) return failed(loop.error());
    sync_file_systems_on(*loop);
    const auto before = [&]() -> std::expected<std::int64_t, std::string> {
        auto log = flushed_log(*mounted);
        if (!log) return std::unexpected(log.error());
        return log->number(newest_id);
    }();
    if (!before) return failed(before.error());
    const Interruption interruption; // nothing of the trace is left behind
    auto trace = KernelTrace::begin(*loop);
    if (!trace) return failed(trace.error());
    const int code = run_to_end({.words = o.command, .directory = {}, .output = {}, .environment = {}}, AtSignal::end_it);
    if (Interruption::came()) return Interruption::exit_code();
    sync_file_systems_on(*loop);
    const BlockTrace& traced = (*trace)->end();
    if (traced.has_gaps()) return failed("the kernel lost some of its trace; nothing is kept: trace a shorter run");
    auto log = flushed_log(*mounted);
    const auto logged = log ? writes_since(*log, *before) : std::unexpected(log.error());
    if (!logged) return failed(logged.error());
    if (traced.writes().empty() && !logged->empty())
        return failed(
            fmt::format("the drive was written, and the trace names no write of {}: file systems on a partition of it cannot be told", *loop));
    const auto of = newest_run(*log);
    if (!of) return failed(of.error());
    const TracedRun run{traced, join_writes(traced.writes(), *logged), *before, log->number(newest_id).value_or(0), *of};
    const std::string path = mounted->source + "/block_trace.db";
    if (const auto written = write_database(path, run); !written) return failed(written.error());
    complain(fmt::format(
        "blocktrace: {} writes within {} syncs lie in {} requests of the drive. Which sync caused which erase: flashlab query {} 'SELECT * "
        "FROM v_erase_by_sync'",
        traced.writes().size(), traced.syncs().size(), logged->size(), shell_word(o.target)));
    return code;
}

} // namespace

void add_blocktrace(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_blocktrace, "blocktrace",
                              "Run a program on a kernel's file system over a raw drive (root), and keep which sync wrote what",
                              "flashlab blocktrace /mnt -- git -C /media/repo commit -m x");
    c.add_option("MNT", o.target, "Where the raw drive is mounted (--as-file --log all), or its device directory; a loop device lies over MNT/disk")
        ->required();
    c.add_option("COMMAND", o.command, "After '--': the program and its arguments")->required();
}

} // namespace flashlab

#include "tools/sweep/sweep_shard.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/host/child_process.h"
#include "tools/host/interruption.h"
#include "tools/sweep/sweep_database.h"
#include "tools/sweep/sweep_journal.h"

namespace flashlab {
namespace {

/// One run of a sweep in a process of its own, and what it printed.
///
/// Idea       The child prints into two files in memory, which the parent reads when the child has ended: no pipe can fill up, and none has to be
///            watched.
/// Invariant  The child holds no descriptor of the parent, reads nothing, and ends when the parent does.
/// Cost       fork, two files in memory.
struct SweepChild {
    SweepRun run;
    pid_t process = -1;
    int out = -1, error = -1;
    double begin = 0; ///< seconds of a clock that only runs forward
};

[[noreturn]] void live_as_child(const SweepChild& child, const std::function<int(const std::vector<std::string>&)>& command) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(child.out, STDOUT_FILENO) < 0 || ::dup2(child.error, STDERR_FILENO) < 0) ::_exit(1);
    ::close_range(STDERR_FILENO + 1, ~0u, 0); // the journal's lock among them
    const int code = command(child.run.command);
    ::_exit(std::fflush(nullptr) == 0 ? code : 1);
}

std::expected<SweepChild, std::string> start_sweep_child(const SweepRun& run, const std::function<int(const std::vector<std::string>&)>& command) {
    SweepChild child{.run = run};
    child.out = ::memfd_create("out", MFD_CLOEXEC);
    child.error = ::memfd_create("error", MFD_CLOEXEC);
    child.begin = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    if (child.out >= 0 && child.error >= 0) child.process = start_child([&] { live_as_child(child, command); });
    if (child.process > 0) return child;
    const int why = errno;
    for (const int file : {child.out, child.error})
        if (file >= 0) ::close(file);
    return std::unexpected(fmt::format("no process can be started: {}: give a smaller -j", std::strerror(why)));
}

namespace files = std::filesystem;

/// The message of a failed command, without the program's name.
std::string said(const std::string& text, int status) {
    if (WIFSIGNALED(status))
        return fmt::format("ended by signal {}{}", WTERMSIG(status), WTERMSIG(status) == SIGKILL ? ": had the host no memory left?" : "");
    const std::string own = "flashlab: ";
    const std::size_t end = text.find_last_not_of('\n');
    const std::size_t begin = text.rfind('\n', end == std::string::npos ? 0 : end);
    const std::string line = text.substr(begin == std::string::npos ? 0 : begin + 1);
    return fmt::format("exit code {}: {}", WEXITSTATUS(status), line.starts_with(own) ? line.substr(own.size()) : line);
}

SweepRecord record_of(const SweepChild& child, int status) {
    const std::string out = take_text(child.out), error = take_text(child.error);
    const bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const auto& words = child.run.command;
    const bool leaves_out = std::ranges::find(words, "--level") != words.end() && std::ranges::find(words, "ftl") != words.end();
    SweepRecord record = is_done ? SweepRecord::of_report(child.run, out, !child.run.config_hash.empty() && !leaves_out)
                                 : SweepRecord::of_failure(child.run, said(error, status));
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    record.host.add("wall_run_seconds", now - child.begin);
    return record;
}

/// The children that are at work. Those that are left at the end are killed.
class Children {
public:
    Children() = default;
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;
    ~Children() {
        for (const auto& [process, child] : working_) ::kill(process, SIGKILL);
        for (const auto& [process, child] : working_) (void)wait_for(process);
    }
    [[nodiscard]] std::size_t size() const { return working_.size(); }
    void add(SweepChild child) { working_.emplace(child.process, std::move(child)); }
    /// Waits for one. Nothing: a signal came.
    [[nodiscard]] std::optional<SweepRecord> next() {
        int status = 0;
        const pid_t process = ::waitpid(-1, &status, 0);
        const auto at = working_.find(process);
        if (process < 0 || at == working_.end()) return std::nullopt;
        SweepRecord record = record_of(at->second, status);
        working_.erase(at);
        return record;
    }

private:
    std::map<pid_t, SweepChild> working_;
};

/// That program and traces are those of the plan.
std::expected<void, std::string> check_sources(const std::vector<SweepRun>& shard) {
    std::set<std::string> traces;
    for (const SweepRun& run : shard) {
        if (run.version != FLASHLAB_VERSION)
            return std::unexpected(fmt::format("the plan is of version {}, this is {}: plan the sweep anew", run.version, FLASHLAB_VERSION));
        if (run.trace_hash.empty() || !traces.insert(run.trace).second) continue;
        const auto hash = hash_file(run.trace);
        if (!hash) return std::unexpected(hash.error());
        if (*hash != run.trace_hash) return std::unexpected(fmt::format("{}: it is not the trace that was planned: plan the sweep anew", run.trace));
    }
    return {};
}

/// What is known: in the database, and in the journal.
std::expected<SweepRecords, std::string> known_records(const std::string& output, const SweepJournal& journal) {
    SweepRecords known;
    std::error_code ignored;
    if (files::exists(output, ignored)) {
        auto before = read_sweep_database(output);
        if (!before) return std::unexpected(before.error());
        known = std::move(*before);
    }
    for (const SweepRecord& record : journal.records())
        if (auto added = add_record(known, record); !added) return std::unexpected(added.error());
    return known;
}

} // namespace

std::string sweep_journal_path(const std::string& output, const std::string& scratch) {
    if (scratch.empty()) return output + ".part";
    std::error_code ignored;
    const std::string whole = files::absolute(output, ignored).string(); // shards of two sweeps may have one name
    return fmt::format("{}/{}-{}.part", scratch, files::path{output}.filename().string(), hash_text(whole));
}

std::expected<SweepShardResult, std::string> run_sweep_shard(const std::vector<SweepRun>& shard, const SweepShardOptions& options,
                                                             const CommandRunner& command, const std::function<void(std::uint64_t)>& progress) {
    if (auto good = check_sources(shard); !good) return std::unexpected(good.error());
    auto journal = SweepJournal::open(sweep_journal_path(options.output, options.scratch));
    if (!journal) return std::unexpected(journal.error());
    auto known = known_records(options.output, *journal);
    if (!known) return std::unexpected(known.error());
    SweepShardResult result;
    std::vector<const SweepRun*> to_make;
    for (const SweepRun& run : shard) {
        const auto at = known->find(run.id);
        if (at == known->end() || !at->second.is_done) to_make.push_back(&run);
    }
    result.known = shard.size() - to_make.size();
    Children children;
    for (std::size_t next = 0; next < to_make.size() || children.size() != 0;) {
        if (next < to_make.size() && children.size() < std::max(options.jobs, 1u) && !Interruption::came()) {
            auto child = start_sweep_child(*to_make[next++], command);
            if (!child) return std::unexpected(child.error());
            children.add(std::move(*child));
            continue;
        }
        auto record = Interruption::came() ? std::nullopt : children.next();
        if (Interruption::came()) break; // a signal from the terminal ends the children, too: that is no result
        if (!record) continue;
        ++result.made;
        if (!record->is_done && result.failed++ == 0)
            result.first_failure = fmt::format("flashlab {}: {}", fmt::join(record->run.command, " "), record->error);
        known->erase(record->run.id); // of a failure before
        if (auto added = add_record(*known, *record); !added) return std::unexpected(added.error());
        if (auto done = journal->append(std::move(*record)); !done) return std::unexpected(done.error());
        progress(result.known + result.made);
    }
    if (Interruption::came()) {
        result.was_interrupted = true;
        return result;
    }
    if (auto done = write_sweep_database(options.output, *known, HostColumns::kept); !done) return std::unexpected(done.error());
    if (result.failed == 0) journal->remove(); // else it stays, for callers that throw away the output of a command that fails
    return result;
}

} // namespace flashlab

#include "tools/cli/commands/recorded_run.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/host/complaint.h"
#include "tools/host/interruption.h"

namespace flashlab {

namespace {

std::unexpected<RecordedRunFailure> failed(std::string why, int code = exit_failed) {
    return std::unexpected(RecordedRunFailure{std::move(why), code});
}

/// The words of a shell that pipes the command's output through the oracle, and the oracle's into the promises.
std::vector<std::string> through_oracle(const std::vector<std::string>& command) {
    std::vector<std::string> words{"sh", "-c", R"({ "$@"; echo $? > "$FLASHLAB_STATUS"; } | sh -c "$FLASHLAB_ORACLE" >&"$FLASHLAB_ACK_FD")",
                                   "torture"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

/// Straight into the promises: behind a pipe a line would come after calls that it does not speak of.
std::vector<std::string> promising_output(const std::vector<std::string>& command) {
    std::vector<std::string> words{"sh", "-c", R"(exec "$@" > "$FLASHLAB_PROMISES")", "torture"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

/// Numbers less those of the row of the same name before.
Json less(const Json& after, const Json& before) {
    Json out = Json::object({});
    for (const auto& [key, value] : after.members()) {
        if (value.is_number()) {
            out.add(key, value.number() - std::min(before[key].number(), value.number()));
            continue;
        }
        if (key != "files" && key != "syncs_by_caller") {
            out.add(key, value);
            continue;
        }
        Json rows{Json::Array{}};
        for (const Json& row : value.items()) {
            const auto is_same = [&](const Json& other) {
                return row["path"].text() == other["path"].text() && row["process"].text() == other["process"].text();
            };
            const auto& old = before[key].items();
            const auto found = std::ranges::find_if(old, is_same);
            rows.push(found == old.end() ? row : less(row, *found));
        }
        out.add(key, std::move(rows));
    }
    return out;
}

} // namespace

RecordedRun::RecordedRun(const RecordedRunConfig& config, const std::filesystem::path& work)
    : config_{config}, history_{(work / "history").string()}, drive_{work} {}

std::unexpected<RecordedRunFailure> RecordedRun::ended_with(const char* what, int code) const {
    const char* signal = code > 128 ? ::strsignal(code - 128) : nullptr; // as a shell says it, too
    const std::string named = signal == nullptr ? "" : fmt::format(" ({})", signal);
    return failed(fmt::format("{} ended with {}{}, without any cut:\n    {}", what, code, named, drive_.last_words()), exit_usage); // no finding
}

RecordedRun::Step RecordedRun::mount() {
    std::vector<std::string> options;
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) options.insert(options.end(), {option, value});
    };
    add("--ftl", config_.ftl);
    add("--metadata", config_.metadata);
    add("--size", config_.size);
    const auto refused = [&](const std::string& why) { return failed(why, drive_.is_wrong_usage() ? exit_usage : exit_failed); };
    if (const auto why = drive_.make(options)) return refused(*why);
    if (::mkfifo((history_ + ".acks").c_str(), 0600) != 0) return failed(fmt::format("{}.acks: {}", history_, std::strerror(errno)));
    std::vector<std::string> how{"--latency", "off", "--log", "none", "--record", history_};
    if (config_.counts_use) how.insert(how.end(), {"-o", "use"});
    if (const auto why = drive_.mount(how)) return refused(*why);
    return {};
}

/// What the preparation leaves is durable: the flush at its end is where cuts begin.
RecordedRun::Step RecordedRun::prepare() {
    if (!config_.setup.empty()) {
        const int code = run_to_end(drive_.in_mount({"sh", "-c", config_.setup}, {}), AtSignal::end_it);
        if (code != 0) return ended_with("the preparation (--setup)", code);
    }
    const auto flushed = drive_.ask(Json::object({{"cmd", "flush"}}));
    if (!flushed) return failed(fmt::format("the preparation could not be made durable: {}", flushed.error()));
    return count_use();
}

RecordedRun::Step RecordedRun::count_use() {
    if (!config_.counts_use) return {};
    if (const auto flushed = use_.is_null() ? std::expected<Json, std::string>{} : drive_.ask(Json::object({{"cmd", "flush"}})); !flushed)
        return failed(flushed.error());
    const auto use = drive_.ask(Json::object({{"cmd", "use"}}));
    if (!use) return failed(use.error());
    use_ = less(*use, use_);
    return {};
}

RecordedRun::Step RecordedRun::run_command() {
    const std::string status = history_ + ".status"; // a pipe ends with the code of its last program
    SubprocessCall call =
        drive_.in_mount(!config_.oracle.empty()   ? through_oracle(config_.command)
                        : config_.output_promises ? promising_output(config_.command)
                                                  : config_.command,
                        {{"FLASHLAB_ORACLE", config_.oracle}, {"FLASHLAB_STATUS", status}, {"FLASHLAB_PROMISES", history_ + ".acks"}});
    const int promises = ::open((history_ + ".acks").c_str(), O_WRONLY); // inherited by the command
    if (promises < 0) return failed(fmt::format("{}.acks: {}", history_, std::strerror(errno)));
    (void)::fcntl(promises, F_SETPIPE_SZ, 1 << 20);
    call.environment.emplace_back("FLASHLAB_ACK_FD", fmt::format("{}", promises));
    auto command = Subprocess::start(call);
    ::close(promises);
    if (!command) return failed(command.error(), exit_usage); // there is no such program
    for (;;) {
        if (Interruption::came()) return failed("interrupted"); // its group ends with `command`
        if (auto code = command->poll()) {
            if (*code != 0 && !config_.oracle.empty()) return ended_with("the oracle", *code);
            if (std::ifstream file{status}; !config_.oracle.empty()) file >> *code;
            return *code == 0 ? Step{} : ended_with("the command", *code);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

RecordedRun::Step RecordedRun::unmount() {
    const auto why = drive_.unmount();
    return why ? failed(*why, drive_.is_wrong_usage() ? exit_usage : exit_failed) : Step{};
}

std::expected<std::vector<Operation>, RecordedRunFailure> RecordedRun::run() {
    for (Step (RecordedRun::*step)() :
         {&RecordedRun::mount, &RecordedRun::prepare, &RecordedRun::run_command, &RecordedRun::count_use, &RecordedRun::unmount})
        if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    std::ifstream file{history_, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto history = read_history(text);
    if (!history) return failed(fmt::format("{} {}", history_, history.error()));
    const auto flushes = std::ranges::count(*history, Act::sync_all, &Operation::act);
    const long ours = config_.counts_use ? 2 : 1; // of umount, and before counting
    for (long i = 0; i < std::min(ours, flushes - 1) && history->back().act == Act::sync_all; ++i) history->pop_back();
    return std::move(*history);
}

} // namespace flashlab

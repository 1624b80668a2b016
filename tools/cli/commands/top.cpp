/// flashlab top: what a mount is doing, again and again.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/top_screen.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/live/mount_sample.h"

namespace flashlab {

namespace {

struct TopOptions {
    std::string target;
    double interval_s = 1;
    std::optional<std::uint64_t> samples; ///< none: until a key, a signal or the end of the mount
    bool json = false;                    ///< one object a line
};

using Clock = std::chrono::steady_clock;
constexpr std::size_t cells = 2048; ///< of the block map; a screen shows as many as it has room for

/// Sleeps in short steps, so that a signal ends it soon.
void sleep_for(double seconds) {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (auto now = Clock::now(); !Interruption::came() && now < until; now = Clock::now())
        std::this_thread::sleep_for(std::min<Clock::duration>(until - now, std::chrono::milliseconds{100}));
}

double seconds_between(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

int run_top(const TopOptions& o) {
    const auto mounted = find_mount(o.target);
    if (!mounted)
        return complain(fmt::format("top: {}: no FlashLab device is mounted here; mount one with: flashlab mount DIR {}", o.target, o.target));
    if (!o.json && ::isatty(STDOUT_FILENO) != 1) return complain("top: standard output is no terminal; --json prints a line a sample", exit_usage);
    const auto ask = [&](const char* command) { return ask_mount(*mounted, Json::object({{"cmd", command}, {"cells", std::uint64_t{cells}}})); };
    const auto about = ask("info");
    auto before = ask("stats");
    if (!about || !before) return complain(fmt::format("top: {}", about ? before.error() : about.error()));
    const Interruption interruption;
    std::unique_ptr<TopScreen> screen;
    if (!o.json && (screen = TopScreen::make(stdout, stdin)) == nullptr)
        return complain("top: the terminal is of a kind that is not known here; set TERM, such as TERM=xterm, or use --json", exit_usage);
    std::string gone;
    auto then = Clock::now();
    for (std::uint64_t n = 0; !Interruption::came() && (!o.samples || n < *o.samples); ++n) {
        if (screen == nullptr) {
            sleep_for(o.interval_s);
        } else if (!screen->wait(n == 0 ? std::min(0.2, o.interval_s) : o.interval_s)) {
            break;
        }
        if (Interruption::came()) break;
        auto now = ask("stats");
        const auto blocks = ask("blocks");
        if (!now || !blocks) { // unmounted: that is no failure of ours
            gone = now ? blocks.error() : now.error();
            break;
        }
        const auto at = Clock::now();
        Json sample = mount_sample(*before, *now, seconds_between(then, at));
        if (screen != nullptr) {
            screen->show(
                top_lines({"flashlab top (q quits)", mounted->mount_point, "mount", ""}, *about, sample, *blocks, screen->columns(), screen->rows()));
        } else {
            sample.add("sample", n + 1);
            sample.add("blocks", (*blocks)["blocks"]);
            sample.add("wear", (*blocks)["wear"]);
            fmt::print("{}\n", sample.dump());
            std::fflush(stdout);
        }
        before = std::move(now);
        then = at;
    }
    screen.reset();
    if (!gone.empty()) return find_mount(o.target) ? complain(fmt::format("top: the mount does not answer: {}", gone)) : exit_done;
    return exit_done;
}

} // namespace

void add_top(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_top, "top", "Watch a mount live: rates, write amplification, latencies, busy chips, wear",
                              "flashlab top /mnt\n  flashlab top /mnt --json --samples 10 --interval 0.5");
    c.add_option("MNT", o.target, "Mount point or device directory")->required();
    c.add_option("--interval", o.interval_s, "Seconds between two looks")->check(CLI::Range(0.05, 3600.0))->capture_default_str();
    c.add_option("--samples", o.samples, "Stop after so many; default: at q, a signal, or the end of the mount")->check(at_least_one());
    c.add_flag("--json", o.json, "One object a line instead of a screen");
}

} // namespace flashlab

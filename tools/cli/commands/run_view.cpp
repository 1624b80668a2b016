#include "tools/cli/commands/run_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/cli/commands/known_terminal.h"
#include "tools/drive/block_report.h"
#include "tools/drive/device_report.h"
#include "tools/drive/waf_parts.h"
#include "tools/live/mount_sample.h"

namespace flashlab {

namespace {

constexpr std::size_t cells = 2048; ///< of the block map; a screen shows as many as it has room for
constexpr std::chrono::milliseconds between_screens{500};

/// As a mount tells of its calls.
Json operations_of(const RunTally& tally) {
    Json out{Json::Array{}};
    for (const auto& [op, latency] : {std::pair{"read", &tally.read}, std::pair{"write", &tally.write}}) {
        if (latency->count() == 0) continue;
        const Json us = latency->to_json();
        out.push(Json::object({{"op", op}, {"calls", latency->count()}, {"p50_us", us["p50"]}, {"p99_us", us["p99"]}, {"max_us", us["max"]}}));
    }
    return out;
}

std::uint64_t grown(const Json& before, const Json& now) { return now.number() - std::min(now.number(), before.number()); }

} // namespace

RunView::RunView(const RunViewSubject& subject, bool top) : subject_{subject}, progress_{"requests", subject.requests} {
    if (!top || ::isatty(STDERR_FILENO) != 1) return;
    keys_.reset(std::fopen("/dev/tty", "re"));
    if (keys_ == nullptr) keys_.reset(std::fopen("/dev/null", "re")); // no terminal of its own: no keys
    if (keys_ == nullptr || (screen_ = TopScreen::make(stderr, keys_.get())) == nullptr) return;
    first_ = before_ = look_at(subject_.begin, nullptr);
}

std::string RunView::why_no_top(bool top) {
    if (!top || ::isatty(STDERR_FILENO) != 1 || is_known_terminal()) return {};
    return "--top: the terminal is of a kind that is not known here; set TERM, such as TERM=xterm, or leave --top out";
}

RunWatch RunView::over(RunWatch watch) {
    if (screen_ == nullptr) return watch;
    RunWatch seen{.every = watch.every, .counts_from = std::move(watch.counts_from)};
    seen.look = [this, inner = std::move(watch.look)](const RunTally& tally) {
        if (screen_ != nullptr && Clock::now() >= next_) draw(tally);
        return inner(tally);
    };
    return seen;
}

void RunView::close() {
    screen_.reset();
    keys_.reset();
    progress_.clear();
}

RunView::Look RunView::look_at(SimTime now, const RunTally* tally) const {
    Look look{stats_report(subject_.device, now, now - subject_.begin), subject_.device.ssd().sample(now), now};
    look.stats.add("operations", tally == nullptr ? Json{Json::Array{}} : operations_of(*tally));
    look.stats.add("waiting_answers", subject_.depth == 0 ? Json{} : Json{subject_.depth});
    return look;
}

/// The rates of a mount's sample. What such a sample counts from the mount on counts from the beginning of the run here.
Json RunView::sample_of(const Look& now) const {
    const double seconds = static_cast<double>((now.at - before_.at).count()) / 1e9;
    const Json whole = mount_sample(first_.stats, now.stats, static_cast<double>((now.at - first_.at).count()) / 1e9);
    std::uint64_t programs[cause_count];
    for (std::size_t c = 0; c < cause_count; ++c) programs[c] = now.sample.nand_programs[c] - first_.sample.nand_programs[c];
    const WafParts parts = WafParts::of(programs, now.stats["page_bytes"].number(), now.sample.host_write_bytes - first_.sample.host_write_bytes);
    const Json of_run = Json::object({{"sim_seconds", static_cast<double>((now.at - subject_.begin).count()) / 1e9},
                                      {"waf_since_mount", whole["waf"]},
                                      {"waf_user", parts.user},
                                      {"waf_gc", parts.gc},
                                      {"waf_merge", parts.merge},
                                      {"waf_map", parts.map},
                                      {"waf_parity", parts.parity},
                                      {"gc_jobs", grown(first_.stats["gc_jobs"], now.stats["gc_jobs"])},
                                      {"gc_page_copies", grown(first_.stats["gc_page_copies"], now.stats["gc_page_copies"])}});
    Json out;
    const Json rates = mount_sample(before_.stats, now.stats, seconds);
    for (const auto& [key, value] : rates.members()) {
        const auto own = std::ranges::find(of_run.members(), key, &Json::Member::first);
        out.add(key, own == of_run.members().end() ? value : own->second);
    }
    return out;
}

void RunView::draw(const RunTally& tally) {
    next_ = Clock::now() + between_screens;
    if (screen_->was_asked_to_go()) return close();
    Look now = look_at(tally.end, &tally);
    const Device& device = subject_.device;
    const Json about = Json::object({{"ftl", std::string{subject_.device.ftl().name()}},
                                     {"preset", device.config().ssd.preset},
                                     {"device_bytes", subject_.device.ssd().identify().sectors * sector_bytes}});
    const TopText text{.title = fmt::format("flashlab {} (q leaves)", subject_.command),
                       .place = {},
                       .since = "run",
                       .progress = Progress::line(done_, subject_.requests, "requests", progress_.seconds())};
    screen_->show(top_lines(text, about, sample_of(now), block_report(subject_.device, cells), screen_->columns(), screen_->rows()));
    before_ = std::move(now);
}

} // namespace flashlab

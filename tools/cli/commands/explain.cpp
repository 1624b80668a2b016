/// flashlab explain: a few requests on a tiny drive, told and drawn step by step.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_options.h"
#include "tools/explain/story.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/terminal.h"
#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

struct ExplainOptions {
    std::vector<std::string> script; ///< steps, or nothing where a trace is told
    std::string ftl = "page_map", html, until;
    std::uint32_t blocks = 8, pages_per_block = 4;
    std::uint64_t seed = 1;
    bool levels_wear = false, brief = false;
    TraceInput trace;
    OutputFormat format = OutputFormat::table;
};

constexpr std::uint64_t longest_trace = 200, drawn_page_bytes = 4096;
constexpr std::size_t narrowest = 80;

/// The requests as steps. Pages get numbers in the order of their first touch, since a story's drive is small.
std::expected<std::string, std::string> script_of(const TraceInput& input) {
    auto trace = TraceStream::open(input);
    if (!trace) return std::unexpected(trace.error());
    std::map<std::uint64_t, std::uint64_t> numbers;
    std::vector<std::string> steps;
    TraceRequest request;
    for (;;) {
        const auto got = trace->next(request);
        if (!got) return std::unexpected(got.error());
        if (!*got) break;
        if (steps.size() >= longest_trace)
            return std::unexpected(fmt::format("{}: a story has {} requests at most; --limit {} takes the first ones, --skip N others", input.path,
                                               longest_trace, longest_trace));
        if (request.op == TraceOp::flush) {
            steps.emplace_back("f");
            continue;
        }
        const char letter = request.op == TraceOp::read ? 'g' : request.op == TraceOp::write ? 'w' : 't';
        const std::uint64_t first = request.offset / drawn_page_bytes,
                            last = (request.offset + std::max<std::uint64_t>(1, request.bytes) - 1) / drawn_page_bytes;
        const std::uint64_t number = numbers.try_emplace(first, numbers.size()).first->second;
        const std::uint64_t pages = std::min<std::uint64_t>(last - first + 1, 1'000'000);
        for (std::uint64_t i = 1; i < pages && i < longest_trace; ++i) numbers.try_emplace(first + i, numbers.size());
        steps.push_back(fmt::format("{}{}x{}", letter, number, pages));
    }
    if (auto given = trace->check_given(); !given) return std::unexpected(given.error());
    return fmt::format("{}", fmt::join(steps, "."));
}

std::string sum_of(const StoryTotals& t) {
    std::string text = fmt::format("so far: host wrote {} pages, flash programmed {}, read {}, erased {}", t.host_pages, t.nand_programs,
                                   t.nand_reads, t.nand_erases);
    if (t.host_pages != 0) text += fmt::format("; WAF {:.2f}", static_cast<double>(t.nand_programs) / static_cast<double>(t.host_pages));
    return text + "\n";
}

std::string told(const Story& story, bool brief) {
    const std::size_t columns = std::max(narrowest, terminal_columns());
    std::string text = fmt::format("{} on {} blocks of {} pages; the host sees {} pages\n{}", story.scheme, story.blocks, story.pages_per_block,
                                   story.units, legend());
    for (std::size_t i = 0; i < story.frames.size(); ++i) {
        const StoryFrame& frame = story.frames[i];
        const bool is_last = i + 1 == story.frames.size();
        text += fmt::format("\n{}. {}\n", i, frame.title);
        for (const std::string& line : frame.lines) text += fmt::format("   - {}\n", line);
        if (!brief || is_last) text += draw(story, frame, columns) + sum_of(frame.totals);
    }
    return text;
}

int run_explain(const ExplainOptions& o) {
    std::string script = fmt::format("{}", fmt::join(o.script, "."));
    if (!o.trace.path.empty()) {
        if (!script.empty()) return complain("explain: a script or --trace, not both", exit_usage);
        if (auto wrong = check_usage(o.trace); !wrong) return complain(fmt::format("explain: {}", wrong.error()), exit_usage);
        auto steps = script_of(o.trace);
        if (!steps) return complain(fmt::format("explain: {}", steps.error()), exit_usage);
        script = std::move(*steps);
    }
    if (script.empty() && o.until.empty())
        return complain("explain: which requests? Such as: flashlab explain w0x4.w1.w1.g1, or --trace FILE", exit_usage);
    const auto story = tell_story(script, {.scheme = o.ftl,
                                           .blocks = o.blocks,
                                           .pages_per_block = o.pages_per_block,
                                           .seed = o.seed,
                                           .levels_wear = o.levels_wear,
                                           .until = o.until,
                                           .folds_pages = !o.trace.path.empty()});
    if (!story) return complain(fmt::format("explain: {}", story.error()), exit_usage);
    if (!o.html.empty()) {
        auto file = AsideFile::make(o.html, AsideFile::Existing::replaced, {o.trace.path});
        auto written = file ? file->write(to_html(*story)) : std::unexpected(file.error());
        if (written) written = file->commit();
        if (!written) return complain(fmt::format("explain: {}", written.error()));
        if (o.format == OutputFormat::table) return exit_done;
    }
    fmt::print("{}", o.format == OutputFormat::table  ? told(*story, o.brief || !o.until.empty())
                     : o.format == OutputFormat::json ? to_json(*story).dump() + "\n"
                                                      : shown(o.format, to_json(story->frames.back().totals)));
    return exit_done;
}

} // namespace

void add_explain(CLI::App& app, Action& action) {
    auto [c, o] = add_command(
        app, action, run_explain, "explain", "See what a drive does with a few requests: each step told and the flash drawn, on a tiny drive",
        "flashlab explain w0x4.w1.w1.g1\n  flashlab explain --ftl fast --html fast.html w0x8.r7x20\n  flashlab explain w0x8.w3.c\n\n"
        "Steps are joined by '.': w3 writes page 3, w0x4 pages 0 to 3 (W: durable when answered), t3 trims, g3 reads, r7x20 overwrites\n"
        "20 random pages of seed 7, f flushes, i is a pause, and c fails the power in the midst of the step before.");
    c.add_option("SCRIPT", o.script, "Steps, joined by '.': the text below says which there are");
    c.add_option("--ftl", o.ftl, translation_layers())->capture_default_str();
    c.add_option("--trace", o.trace.path,
                 "Tell this trace instead, 200 requests at most; its pages of 4 KiB are numbered as they come, from 0 "
                 "again where the drive ends");
    c.add_option("--format", o.trace.format, "of --trace, as for replay")->capture_default_str();
    c.add_option("--limit", o.trace.limit, "of --trace: at most this many requests");
    c.add_option("--skip", o.trace.skip, "of --trace: leave out this many at the beginning");
    c.add_option("--blocks", o.blocks, "Blocks of the tiny drive; a translation layer that needs more gets more")
        ->check(CLI::Range(4, 256))
        ->capture_default_str();
    c.add_option("--pages", o.pages_per_block, "Pages of a block")->check(CLI::Range(4, 32))->capture_default_str();
    c.add_flag("--wear-levelling", o.levels_wear, "Let the drive level wear: little-worn blocks with cold pages are moved");
    c.add_option("--seed", o.seed, "Number from which it is drawn what step c, the power cut, leaves half-written")->capture_default_str();
    c.add_option("--html", o.html, "Write one page with step, back and play to this file instead");
    c.add_option("--until", o.until,
                 "End with the step of the first one, and draw that; without SCRIPT the drive is filled and overwritten till then")
        ->check(CLI::IsMember({"collection", "merge", "cut"}));
    c.add_flag("--brief", o.brief, "Draw the flash at the end only");
    add_format(c, o.format, "One JSON object with every step", "The totals: key,value");
}

} // namespace flashlab

#include "tools/cli/commands/top_screen.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#define NCURSES_NOMACROS // macros called move and erase would meet std:: names
#include <ncurses.h>

#include "tools/host/interruption.h"
#include "tools/text/sizes.h"

namespace flashlab {

namespace {

/// A share of 0 to 1 as a bar.
std::string bar(double share, std::size_t width) {
    const auto full = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
    return std::string(full, '#') + std::string(width - full, '.');
}

std::string number(const Json& value) { return value.is_number() ? fmt::format("{:.2f}", value.real()) : "-"; }

void add_latencies(std::vector<std::string>& lines, const Json& latency, const std::string& since) {
    lines.push_back(fmt::format("{:<8}{:>10} {:>11} {:>11} {:>11}  since the {}", "call", "calls", "p50", "p99", "max", since));
    for (const auto& [op, l] : latency.members())
        lines.push_back(fmt::format("{:<8}{:>10} {:>11} {:>11} {:>11}", op, l["calls"].dump(), human_micros(l["p50"].real()),
                                    human_micros(l["p99"].real()), human_micros(l["max"].real())));
}

void add_channels(std::vector<std::string>& lines, const Json& busy, std::size_t columns, std::size_t most) {
    constexpr std::size_t in_a_row = 4, around_bar = 12; // "ch0  " and " 100%  "
    const std::size_t width = std::max(columns / in_a_row, around_bar + 2) - around_bar;
    const auto& channels = busy.items();
    for (std::size_t first = 0; first < channels.size() && first / in_a_row < most; first += in_a_row) {
        std::string line;
        for (std::size_t c = first; c < std::min(channels.size(), first + in_a_row); ++c)
            line += fmt::format("ch{:<3}{} {:>3.0f}%  ", c, bar(channels[c].real(), width), 100 * channels[c].real());
        lines.push_back(line);
    }
}

void add_memory(std::vector<std::string>& lines, const Json& s, std::size_t columns) {
    if (s["write_buffer_pages"].is_number()) {
        const double hits = s["write_buffer_read_hits"].real() + s["write_buffer_write_hits"].real();
        const double all = hits + s["write_buffer_read_misses"].real() + s["write_buffer_write_misses"].real();
        lines.push_back(fmt::format("buffer  {} pages, {:.1f} % hits", s["write_buffer_pages"].dump(), all <= 0 ? 0 : 100 * hits / all));
    }
    if (s["dram_bytes"].is_number()) {
        const double share = s["dram_map_bytes"].real() / std::max(1.0, s["dram_bytes"].real());
        lines.push_back(fmt::format("DRAM    maps {} {} buffer {}, {}", human_size(s["dram_map_bytes"].number()), bar(share, columns / 3),
                                    human_size(s["dram_buffer_bytes"].number()), s["dram_partition"].text()));
    }
}

/// Blocks as characters: free ones as blanks, others by how much of them is valid.
void add_block_map(std::vector<std::string>& lines, const Json& blocks, std::size_t columns, std::size_t most) {
    constexpr std::string_view shades = ".:-=+*%#";
    const auto& cells = blocks["cells"].items();
    std::string line;
    for (std::size_t i = 0; i < cells.size() && most != 0; ++i) {
        const double free = cells[i]["free_percent"].real(), valid = cells[i]["valid_percent"].real();
        const auto shade = static_cast<std::size_t>(std::clamp(valid / 100.0 * static_cast<double>(shades.size()), 0.0, 7.0));
        line += free >= 99 ? ' ' : shades[shade];
        if (line.size() < columns && i + 1 < cells.size()) continue;
        lines.push_back(std::exchange(line, {}));
        --most;
    }
}

std::string wear_line(const Json& blocks, std::size_t columns) {
    const auto& wear = blocks["wear"].items();
    if (wear.empty()) return "wear    -";
    double all = 0, sum = 0;
    for (const Json& row : wear) {
        all += row["blocks"].real();
        sum += row["blocks"].real() * row["erases"].real();
    }
    std::string text = fmt::format("wear    {} to {} erases, mean {:.2f}; blocks by erases:", wear.front()["erases"].dump(),
                                   wear.back()["erases"].dump(), sum / std::max(1.0, all));
    for (const Json& row : wear) {
        const std::string one = fmt::format(" {}:{}", row["erases"].dump(), row["blocks"].dump());
        if (text.size() + one.size() + 4 > columns) return text + " ...";
        text += one;
    }
    return text;
}

} // namespace

std::vector<std::string> top_lines(const TopText& text, const Json& about, const Json& s, const Json& blocks, std::size_t columns, std::size_t rows) {
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{}  {} on {}, {}, simulated {:.3f} s{}{}", text.title, about["ftl"].text(), about["preset"].text(),
                                human_size(about["device_bytes"].number()), s["sim_seconds"].real(), text.place.empty() ? "" : ", ", text.place));
    if (!text.progress.empty()) lines.push_back(text.progress);
    lines.push_back(fmt::format("read {:>8.0f} IOPS {:>8.2f} MB/s  write {:>8.0f} IOPS {:>8.2f} MB/s  queue {}", s["read_iops"].real(),
                                s["read_mb_s"].real(), s["write_iops"].real(), s["write_mb_s"].real(),
                                s["queue"].is_number() ? s["queue"].dump() : "-"));
    lines.push_back(fmt::format("flash programs {:>8.2f} MB/s, WAF {} now, {} since the {}:", s["nand_write_mb_s"].real(), number(s["waf"]),
                                number(s["waf_since_mount"]), text.since));
    const bool has_parity = s["waf_parity"].real() > 0;
    lines.push_back(fmt::format("    user {}, collections {}, merges {}, the map {}{}", number(s["waf_user"]), number(s["waf_gc"]),
                                number(s["waf_merge"]),
                                has_parity ? number(Json{s["waf_map"].real() - s["waf_parity"].real()}) : number(s["waf_map"]),
                                has_parity ? ", parity " + number(s["waf_parity"]) : ""));
    lines.emplace_back();
    add_latencies(lines, s["latency_us"], text.since);
    lines.emplace_back();
    lines.push_back(fmt::format("busy    chips {} {:.0f}% of the time on the mean; below, the bus of each channel",
                                bar(s["planes_busy"].real(), columns / 4), 100 * s["planes_busy"].real()));
    add_channels(lines, s["channel_busy"], columns, rows / 8 + 1);
    add_memory(lines, s, columns);
    const double all = std::max(1.0, blocks["blocks"].real());
    lines.push_back(fmt::format("free    {} {} of {} blocks; {} collections, {} copies", bar(s["free_blocks"].real() / all, columns / 4),
                                s["free_blocks"].dump(), blocks["blocks"].dump(), s["gc_jobs"].dump(), s["gc_page_copies"].dump()));
    lines.push_back(wear_line(blocks, columns));
    if (lines.size() + 2 < rows) {
        lines.push_back("blocks  (blank: free, . to #: more and more of it valid)");
        add_block_map(lines, blocks, columns, rows - lines.size() - 1);
    }
    if (lines.size() > rows) lines.resize(rows);
    for (std::string& line : lines)
        if (line.size() > columns) line.resize(columns);
    return lines;
}

std::unique_ptr<TopScreen> TopScreen::make(std::FILE* output, std::FILE* input) {
    SCREEN* terminal = ::newterm(nullptr, output, input); // initscr() would end the process where TERM is wrong
    if (terminal == nullptr) return nullptr;
    ::set_term(terminal);
    ::cbreak();
    ::noecho();
    ::curs_set(0);
    ::keypad(stdscr, TRUE);
    return std::unique_ptr<TopScreen>{new TopScreen{terminal}};
}

TopScreen::~TopScreen() {
    ::endwin();
    ::delscreen(static_cast<SCREEN*>(terminal_));
}

std::size_t TopScreen::columns() const { return static_cast<std::size_t>(std::max(20, getmaxx(stdscr))); }
std::size_t TopScreen::rows() const { return static_cast<std::size_t>(std::max(5, getmaxy(stdscr))); }

void TopScreen::show(const std::vector<std::string>& lines) {
    ::werase(stdscr);
    for (std::size_t row = 0; row < lines.size(); ++row) ::mvwaddnstr(stdscr, static_cast<int>(row), 0, lines[row].c_str(), getmaxx(stdscr));
    ::wrefresh(stdscr);
}

bool TopScreen::wait(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!Interruption::came()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        if (left <= 0) return true;
        ::wtimeout(stdscr, static_cast<int>(std::min<long long>(left, 200)));
        const int key = ::wgetch(stdscr);
        if (key == 'q' || key == 'Q') return false;
        if (key == KEY_RESIZE) return true;
    }
    return true;
}

bool TopScreen::was_asked_to_go() {
    ::wtimeout(stdscr, 0);
    for (int key = ::wgetch(stdscr); key != ERR; key = ::wgetch(stdscr))
        if (key == 'q' || key == 'Q') return true;
    return false;
}

} // namespace flashlab

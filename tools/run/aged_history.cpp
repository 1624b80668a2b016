#include "tools/run/aged_history.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace flashlab {
namespace {

constexpr std::uint64_t most_segments = 1024;

struct Part {
    double pages = 0, live = 0;
};

/// Rounds the numbers so that their running sums stay right to the page.
std::vector<AgeSegment> rounded(const std::deque<Part>& parts, std::uint64_t live_at_all) {
    std::vector<AgeSegment> out;
    double pages = 0, live = 0, all_live = 0;
    for (const Part& part : parts) all_live += part.live;
    std::uint64_t pages_given = 0, live_given = 0;
    for (const Part& part : parts) {
        pages += part.pages;
        live += part.live;
        AgeSegment segment;
        segment.pages = static_cast<std::uint64_t>(std::llround(pages)) - pages_given;
        const auto live_by_here = static_cast<std::uint64_t>(std::llround(live / all_live * static_cast<double>(live_at_all)));
        segment.live = std::min(segment.pages, live_by_here - live_given);
        pages_given += segment.pages;
        live_given += segment.live;
        out.push_back(segment);
    }
    for (auto segment = out.rbegin(); live_given < live_at_all && segment != out.rend(); ++segment) {
        const std::uint64_t more = std::min(live_at_all - live_given, segment->pages - segment->live);
        segment->live += more;
        live_given += more;
    }
    return out;
}

/// What a segment of new pages takes from all other segments, so that `span` pages stay alive in all.
void overwrite(std::deque<Part>& parts, double live_before, double live_after) {
    for (Part& part : parts) part.live *= live_after / live_before;
}

} // namespace

std::vector<AgeSegment> page_map_ages(std::uint64_t span, std::uint64_t places, std::uint64_t overwrites) {
    if (span == 0 || span + overwrites <= places || places <= span) return {};
    const auto all = static_cast<double>(span), room = static_cast<double>(places);
    const double step = room / static_cast<double>(std::clamp<std::uint64_t>(places / 64, 16, most_segments));
    const double filled = std::ceil(all / step);
    std::deque<Part> parts(static_cast<std::size_t>(filled), Part{all / filled, all / filled});
    double used = all, left = static_cast<double>(overwrites);
    while (left > 0.5) {
        Part fresh{step, step};
        double copied = 0;
        if (used + step <= room) {
            used += step;
        } else {
            fresh.pages = fresh.live = parts.front().pages;
            copied = parts.front().live;
            parts.pop_front();
        }
        const double written = fresh.pages - copied;
        overwrite(parts, all - copied, all - fresh.live);
        parts.push_back(fresh);
        left -= std::max(written, 1e-3 * fresh.pages);
    }
    return rounded(parts, span);
}

std::vector<AgeSegment> shared_log_ages(std::uint64_t span, std::uint64_t places, std::uint64_t pages_per_block) {
    if (span == 0 || places == 0) return {};
    // v live pages in the oldest log block lead to v merges. A page must survive the merges of all blocks before its own:
    // v = block * exp(-places * (v + 1) / span).
    const auto all = static_cast<double>(span), log = static_cast<double>(places), block = static_cast<double>(pages_per_block);
    double low = 0, high = block;
    for (int i = 0; i < 60; ++i) {
        const double v = (low + high) / 2;
        (block * std::exp(-log * (v + 1) / all) > v ? low : high) = v;
    }
    const std::uint64_t segments = std::clamp<std::uint64_t>(places / 64, 1, most_segments);
    std::deque<Part> parts;
    double live = 0;
    for (std::uint64_t i = 0; i < segments; ++i) {
        const double pages = log / static_cast<double>(segments), age = log - (static_cast<double>(i) + 0.5) * pages;
        parts.push_back({pages, pages * std::exp(-age * (low + 1) / all)});
        live += parts.back().live;
    }
    return rounded(parts, std::min(span, static_cast<std::uint64_t>(live)));
}

AgedHistory::AgedHistory(std::uint64_t span, std::vector<AgeSegment> ages, std::uint64_t seed)
    : ages_{std::move(ages)}, order_{span}, span_{span}, begin_{Random{seed}.below(span)}, random_{seed ^ 0x61676564} {
    for (const AgeSegment& segment : ages_) last_times_ += segment.live;
}

std::optional<std::uint64_t> AgedHistory::next() {
    while (segment_ < ages_.size() && ages_[segment_].pages == 0) ++segment_;
    if (segment_ == ages_.size()) return std::nullopt;
    AgeSegment& here = ages_[segment_];
    const bool stays = random_.below(here.pages) < here.live || done_ == last_times_;
    --here.pages;
    if (!stays) return page(done_ + random_.below(last_times_ - done_));
    here.live -= here.live > 0 ? 1 : 0;
    if (done_ == last_times_) return page(random_.below(last_times_)); // nothing is left to become stale: one more overwrite
    return page(done_++);
}

} // namespace flashlab

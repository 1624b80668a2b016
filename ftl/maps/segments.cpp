#include "ftl/maps/segments.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <ranges>
#include <utility>

#include "base/contract.h"

namespace flashlab {

namespace slope {

namespace {

/// 2 to that power.
constexpr double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

constexpr double value_of(std::uint32_t bits) {
    const std::uint32_t exponent = bits >> 10, fraction = bits & 1023;
    return exponent == 0 ? fraction * power_of_two(-24) : (1024 + fraction) * power_of_two(static_cast<int>(exponent) - 25);
}

/// The least that is not below.
constexpr std::uint32_t first_at_least(double wanted) {
    std::uint32_t from = 0, end = last + 1u;
    while (from < end) {
        const std::uint32_t middle = (from + end) / 2;
        if (value_of(middle) < wanted)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

// Each look-up asks for a stride, and each cut: by table.
constexpr auto stride_of_slope = [] {
    std::array<std::uint32_t, last + 1> of{};
    for (std::uint32_t bits = 1; bits <= last; ++bits) of[bits] = static_cast<std::uint32_t>(1 / value_of(bits) + 0.5);
    return of;
}();
constexpr auto slope_of_stride = [] {
    std::array<std::uint16_t, 256> of{};
    for (std::uint32_t n = 1; n < of.size(); ++n) of[n] = static_cast<std::uint16_t>((first_at_least(1.0 / n) | 1u) & ~1u); // a neighbour of 1 / n
    return of;
}();

} // namespace

double value(std::uint16_t bits) { return value_of(bits); }

std::optional<std::uint16_t> at_least(double wanted) {
    const std::uint32_t found = first_at_least(wanted);
    return found > last ? std::nullopt : std::optional{static_cast<std::uint16_t>(found | 1u)};
}

std::uint16_t of_stride(std::uint32_t n) { return slope_of_stride[n]; }

std::uint32_t stride(std::uint16_t bits) { return stride_of_slope[bits]; }

} // namespace slope

bool Segment::holds(std::uint8_t page) const {
    if (page < start || page > end()) return false;
    if (is_hole() || length == 0) return true;
    return is_exact() ? (page - start) % slope::stride(slope) == 0 : std::ranges::binary_search(names, page);
}

std::uint32_t Segment::predict(std::uint8_t page) const {
    if (length == 0) return intercept;
    const int from_start = page - start;
    if (is_exact()) return intercept + static_cast<std::uint32_t>(from_start) / slope::stride(slope);
    return intercept + static_cast<std::uint32_t>(slope::value(slope) * from_start + 0.5);
}

std::size_t exact_run(std::span<const PlacedPage> placed) {
    std::size_t n = 1;
    while (n < placed.size() && placed[n].unit == placed[n - 1].unit + 1 && placed[n].page - placed[n - 1].page == placed[1].page - placed[0].page)
        ++n;
    return n;
}

Segment exact_segment(std::span<const PlacedPage> run) {
    Segment s{.start = run.front().page, .length = static_cast<std::uint8_t>(run.back().page - run.front().page), .intercept = run.front().unit};
    if (run.size() > 1) s.slope = slope::of_stride(run[1].page - run[0].page);
    return s;
}

/// Each page narrows the slopes that serve: round(slope x dx) within dv - gamma .. dv + gamma.
LongestLine longest_line(std::span<const PlacedPage> placed, std::uint32_t gamma) {
    LongestLine longest;
    double least = 0, beyond = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < placed.size(); ++i) {
        const double dx = placed[i].page - placed[0].page;
        const double dv = static_cast<double>(placed[i].unit) - static_cast<double>(placed[0].unit);
        least = std::max(least, (dv - gamma - 0.5) / dx);
        beyond = std::min(beyond, (dv + gamma + 0.5) / dx);
        const auto serves = slope::at_least(least);
        if (!serves || slope::value(*serves) >= beyond) break;
        longest = {i + 1, *serves};
    }
    return longest;
}

/// It ends before a page whose prediction would lead to a unit that does not know it.
std::optional<Segment> smaller_line(std::span<const PlacedPage> placed, std::uint32_t gamma, const NamesPage& names, std::size_t exact) {
    const LongestLine longest = longest_line(placed, gamma);
    if (longest.pages <= exact) return std::nullopt;
    Segment s{.start = placed.front().page, .slope = longest.slope, .intercept = placed.front().unit};
    for (const PlacedPage& p : placed.first(longest.pages)) {
        s.length = static_cast<std::uint8_t>(p.page - s.start);
        if (!names(p, s.predict(p.page))) break;
        s.names.push_back(p.page);
    }
    if (s.names.empty()) return std::nullopt;
    s.length = static_cast<std::uint8_t>(s.names.back() - s.start);
    std::size_t exact_ones = 0;
    for (auto left = placed.first(s.names.size()); !left.empty(); ++exact_ones) left = left.subspan(exact_run(left));
    return 9 + s.names.size() < 8 * exact_ones ? std::optional{std::move(s)} : std::nullopt;
}

namespace {

/// The first segment of a level that starts there or behind. No start comes twice, so in a full level there are few places to look at.
auto first_from(auto& level, std::uint32_t start) {
    const std::size_t before = std::min<std::size_t>(level.size(), start), behind = std::min<std::size_t>(level.size(), 256 - start);
    return std::ranges::lower_bound(level.end() - static_cast<std::ptrdiff_t>(behind), level.begin() + static_cast<std::ptrdiff_t>(before), start, {},
                                    &Segment::start);
}

} // namespace

std::optional<SegmentLevels::Found> SegmentLevels::find(std::uint8_t page) const {
    for (const Level& level : levels_) {
        const auto behind = first_from(level, page + 1u);
        if (behind == level.begin()) continue;
        const Segment& s = *std::prev(behind);
        if (page > s.end()) continue;
        if (s.is_single()) return Found{s.intercept}; // what most are of a drive that is written at random
        if (!s.holds(page)) continue;
        return s.is_hole() ? Found{.is_hole = true} : Found{s.predict(page), s.is_exact()};
    }
    return std::nullopt;
}

SegmentLevels::Pages SegmentLevels::pages_of(const Segment& s) {
    Pages pages;
    if (s.is_approximate()) {
        for (const std::uint8_t page : s.names) pages.set(page);
        return pages;
    }
    const std::uint32_t step = s.is_hole() || s.length == 0 ? 1 : slope::stride(s.slope);
    if (step == 1) return ~pages >> (255u - s.length) << s.start;
    for (std::uint32_t page = s.start; page <= s.end(); page += step) pages.set(page);
    return pages;
}

bool SegmentLevels::cut(Segment& s, const Pages& gone) {
    if (s.is_approximate()) { // its start stays: predictions count from there
        s.names.erase_if([&](std::uint8_t page) { return gone.test(page); });
        if (!s.names.empty()) s.length = static_cast<std::uint8_t>(s.names.back() - s.start);
        return !s.names.empty();
    }
    if (s.length == 0) return !gone.test(s.start);
    const Pages left = pages_of(s) & ~gone;
    if (left.none()) return false;
    const auto first = static_cast<std::uint32_t>(left._Find_first());
    std::uint32_t last = s.end();
    while (!left.test(last)) --last;
    if (!s.is_hole()) s.intercept = s.predict(static_cast<std::uint8_t>(first));
    s.start = static_cast<std::uint8_t>(first);
    s.length = static_cast<std::uint8_t>(last - first);
    if (s.length == 0 && !s.is_hole()) s.slope = 0;
    return true;
}

bool SegmentLevels::has_place(const Level& level, const Segment& s) {
    const auto at = first_from(level, s.start);
    return (at == level.end() || at->start > s.end()) && (at == level.begin() || std::prev(at)->end() < s.start);
}

void SegmentLevels::place(Level& level, Segment s) {
    const auto at = first_from(level, s.start);
    level.insert(at, std::move(s));
}

void SegmentLevels::insert(Segment segment) {
    if (levels_.empty()) levels_.emplace_back();
    has_lines_ = has_lines_ || segment.is_approximate();
    Level& top = levels_.front();
    auto first = first_from(top, segment.start);
    if (first != top.begin() && std::prev(first)->end() >= segment.start) --first;
    if (!has_lines_) { // what most insertions are costs no more than a search
        if (first == top.end() || first->start > segment.end()) {
            top.insert(first, std::move(segment));
            ++segments_;
            return;
        }
        if (segment.length == 0 && first->length == 0) {
            *first = std::move(segment);
            return;
        }
        if (segment.length == 0) return insert_into(first, std::move(segment));
    }
    const Pages taken = pages_of(segment);
    Level kept, pushed;
    auto behind = first;
    for (; behind != top.end() && behind->start <= segment.end(); ++behind) {
        if (!cut(*behind, taken)) continue;
        const bool overlaps = behind->start <= segment.end() && behind->end() >= segment.start;
        (overlaps ? pushed : kept).push_back(std::move(*behind));
    }
    top.erase(first, behind);
    for (Segment& s : kept) place(top, std::move(s));
    place(top, std::move(segment));
    Level between;
    for (Segment& s : pushed) {
        if (levels_.size() > 1 && has_place(levels_[1], s))
            place(levels_[1], std::move(s));
        else
            between.push_back(std::move(s));
    }
    if (!between.empty()) levels_.insert(levels_.begin() + 1, std::move(between));
    // No page is named twice.
    if (approximate_ != 0)
        for (auto level = levels_.begin() + 1; level < levels_.end(); ++level)
            std::erase_if(*level, [&](Segment& s) { return s.is_approximate() && !cut(s, taken); });
    count();
}

/// A page within the range of a longer segment, which is cut, or goes a level down.
void SegmentLevels::insert_into(Level::iterator longer, Segment page) {
    Pages taken;
    taken.set(page.start);
    (void)cut(*longer, taken); // it has a page more
    ++segments_;
    if (longer->start > page.start) {
        levels_.front().insert(longer, std::move(page));
    } else if (longer->end() < page.start) {
        levels_.front().insert(std::next(longer), std::move(page));
    } else {
        std::swap(*longer, page);
        if (levels_.size() > 1 && has_place(levels_[1], page))
            place(levels_[1], std::move(page));
        else
            levels_.insert(levels_.begin() + 1, Level{})->push_back(std::move(page));
    }
}

void SegmentLevels::put_on_top(const SegmentLevels& newer) {
    for (const Level& level : newer.levels_ | std::views::reverse)
        for (const Segment& s : level) insert(s);
}

void SegmentLevels::compact(bool is_all) {
    if (levels_.size() < 2) return; // nothing is hidden
    std::vector<Level> old = std::exchange(levels_, {});
    std::array<Segment*, 256> left{}; // newest first; each holds a page that no other does
    std::size_t kept = 0;
    std::vector<Pages> own; // of holes
    Pages hidden, below;
    for (Level& level : old) {
        const Pages above = hidden;
        for (Segment& s : level) {
            if (s.is_single()) {
                if (above.test(s.start)) continue;
                hidden.set(s.start);
            } else {
                if (!cut(s, above)) continue;
                const Pages pages = pages_of(s) & ~above;
                if (s.is_hole()) own.push_back(pages);
                hidden |= pages;
            }
            left[kept++] = &s;
        }
    }
    for (std::size_t i = kept; is_all && !own.empty() && i-- > 0;) {
        Segment& s = *left[i];
        if (!s.is_hole()) {
            below |= pages_of(s);
            continue;
        }
        if (const Pages needed = own.back() & below; !cut(s, ~needed)) s = {.slope = 1}; // an approximate one without pages
        own.pop_back();
    }
    put_in_levels(std::span{left}.first(kept));
    count();
}

/// As high as the order allows, newest first; by start without a sort: each level has a start once.
void SegmentLevels::put_in_levels(std::span<Segment* const> newest_first) {
    static constexpr std::int16_t none = -1;
    std::array<std::int16_t, 256> depth{}; // levels that hide a page
    std::array<std::int16_t, 256> level, on_level{}, at_start, next;
    at_start.fill(none);
    for (std::size_t i = 0; i < newest_first.size(); ++i) {
        const Segment& s = *newest_first[i];
        if (s.is_approximate() && s.names.empty()) continue;
        std::int16_t deepest = 0;
        for (std::uint32_t page = s.start; page <= s.end(); ++page) deepest = std::max(deepest, depth[page]);
        for (std::uint32_t page = s.start; page <= s.end(); ++page) depth[page] = static_cast<std::int16_t>(deepest + 1);
        level[i] = deepest;
        ++on_level[static_cast<std::size_t>(deepest)];
        next[i] = std::exchange(at_start[s.start], static_cast<std::int16_t>(i));
    }
    for (const std::int16_t segments : on_level)
        if (segments != 0) levels_.emplace_back().reserve(static_cast<std::size_t>(segments));
    for (std::int16_t i : at_start)
        for (; i != none; i = next[static_cast<std::size_t>(i)])
            levels_[static_cast<std::size_t>(level[static_cast<std::size_t>(i)])].push_back(std::move(*newest_first[static_cast<std::size_t>(i)]));
}

void SegmentLevels::count() {
    std::erase_if(levels_, [](const Level& level) { return level.empty(); });
    segments_ = 0;
    for (const Level& level : levels_) segments_ += static_cast<std::uint32_t>(level.size());
    if (!has_lines_) return;
    approximate_ = names_ = 0;
    for_each([this](const Segment& s) {
        if (!s.is_approximate()) return;
        ++approximate_;
        names_ += static_cast<std::uint32_t>(s.names.size()) + 1;
    });
    has_lines_ = approximate_ != 0;
}

void SegmentLevels::encode(LittleEndianWriter& out) const {
    out.u16(static_cast<std::uint16_t>(segments_));
    out.u16(static_cast<std::uint16_t>(names_));
    for_each([&](const Segment& s) {
        out.u8(s.start);
        out.u8(s.length);
        out.u16(s.slope);
        out.u32(s.intercept);
    });
    for_each([&](const Segment& s) {
        if (!s.is_approximate()) return;
        out.u8(static_cast<std::uint8_t>(s.names.size() - 1));
        for (const std::uint8_t page : s.names) out.u8(page);
    });
}

/// Each segment goes a level deeper than the last one, unless it lies behind it: that keeps the order of those that overlap.
std::optional<SegmentLevels> SegmentLevels::decode(LittleEndianReader& in) {
    SegmentLevels of;
    std::vector<Segment> all(in.u16());
    const std::uint32_t names = in.u16();
    if (in.failed() || in.left() < 8 * all.size() + names) return std::nullopt;
    for (Segment& s : all) {
        s.start = in.u8();
        s.length = in.u8();
        s.slope = in.u16();
        s.intercept = in.u32();
        if (s.end() > 255 || (!s.is_hole() && (s.slope > slope::last || (s.is_exact() && s.length != 0 && s.slope < slope::of_stride(255)))))
            return std::nullopt;
    }
    for (Segment& s : all) {
        if (!s.is_approximate()) continue;
        for (std::size_t left = in.u8() + std::size_t{1}; left-- != 0;) s.names.push_back(in.u8());
        if (!std::ranges::is_sorted(s.names) || s.names.front() < s.start || s.names.back() > s.end()) return std::nullopt;
    }
    for (Segment& s : all) {
        if (of.levels_.empty() || of.levels_.back().back().end() >= s.start) of.levels_.emplace_back();
        of.has_lines_ = of.has_lines_ || s.is_approximate();
        of.levels_.back().push_back(std::move(s));
    }
    of.count();
    if (in.failed() || of.names_ != names) return std::nullopt;
    return of;
}

bool SegmentLevels::is_sound() const {
    return std::ranges::all_of(levels_, [](const Level& level) {
        for (std::size_t i = 1; i < level.size(); ++i)
            if (level[i - 1].end() >= level[i].start) return false;
        return true;
    });
}

} // namespace flashlab

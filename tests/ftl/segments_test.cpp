/// Learned segments against searches that try everything.
#include <algorithm>
#include <map>

#include "base/random.h"
#include "ftl/maps/segments.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

const NamesPage all_name = [](const PlacedPage&, std::uint32_t) { return true; };

/// Some slope takes each page within gamma of its unit: all are tried.
bool some_slope_serves(std::span<const PlacedPage> placed, std::uint32_t gamma) {
    for (std::uint32_t code = 1; code <= slope::last; code += 2) {
        Segment s{.start = placed.front().page, .length = 255, .slope = static_cast<std::uint16_t>(code), .intercept = placed.front().unit};
        if (std::ranges::all_of(placed, [&](const PlacedPage& p) {
                const std::int64_t away = std::int64_t{s.predict(p.page)} - p.unit;
                return std::abs(away) <= gamma;
            }))
            return true;
    }
    return false;
}

std::size_t longest_by_trying(std::span<const PlacedPage> placed, std::uint32_t gamma) {
    std::size_t n = 1;
    while (n < placed.size() && some_slope_serves(placed.first(n + 1), gamma)) ++n;
    return n;
}

std::size_t exact_by_trying(std::span<const PlacedPage> placed) {
    std::size_t n = 1;
    const auto is_even = [&](std::size_t count) {
        const int step = placed[1].page - placed[0].page;
        for (std::size_t i = 0; i < count; ++i)
            if (placed[i].page != placed[0].page + static_cast<int>(i) * step || placed[i].unit != placed[0].unit + i) return false;
        return true;
    };
    while (n < placed.size() && is_even(n + 1)) ++n;
    return n;
}

/// Pages in order with gaps, in units in order with gaps and steps back: as sorted batches leave them.
std::vector<PlacedPage> drawn(Random& random, std::uint32_t page_gaps, std::uint32_t unit_gaps) {
    std::vector<PlacedPage> placed;
    std::uint32_t page = static_cast<std::uint32_t>(random.below(8)), unit = 1000 + static_cast<std::uint32_t>(random.below(1000));
    while (page < 256) {
        placed.push_back({static_cast<std::uint8_t>(page), unit, 1});
        page += 1 + (random.below(3) == 0 ? static_cast<std::uint32_t>(random.below(page_gaps)) : 0);
        unit += 1 + (random.below(4) == 0 ? static_cast<std::uint32_t>(random.below(unit_gaps)) : 0) - (random.below(9) == 0 ? 2 : 0);
    }
    return placed;
}

} // namespace

TEST_CASE("a slope holds each stride, and at_least finds the least that is not below", "[ftl][leaftl]") {
    for (std::uint32_t n = 1; n <= 255; ++n) CHECK(slope::stride(slope::of_stride(n)) == n);
    for (const double wanted : {0.0, 1e-6, 0.001, 1.0 / 3, 0.5, 0.99999, 1.0}) {
        const auto found = slope::at_least(wanted);
        REQUIRE(found);
        CHECK(slope::value(*found) >= wanted);
        CHECK((*found == 1 || slope::value(static_cast<std::uint16_t>(*found - 2)) < wanted));
    }
    CHECK(!slope::at_least(1.01));
}

TEST_CASE("the segments of a batch are those of a regression that tries every slope", "[ftl][leaftl]") {
    std::uint32_t approximate = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        Random random{seed};
        const std::uint32_t gamma = seed % 4 == 0 ? 0 : static_cast<std::uint32_t>(1 << seed % 4);
        CAPTURE(seed, gamma);
        const std::vector<PlacedPage> placed = drawn(random, static_cast<std::uint32_t>(2 + seed % 7), static_cast<std::uint32_t>(2 + seed % 3));
        std::span<const PlacedPage> left = placed;
        learn_segments(placed, gamma, all_name, [&](const Segment& s) {
            const std::size_t exact = exact_by_trying(left);
            const std::size_t line = gamma == 0 ? 1 : longest_by_trying(left, gamma);
            std::size_t exact_ones = 0;
            for (auto rest = left.first(line); !rest.empty(); ++exact_ones) rest = rest.subspan(exact_by_trying(rest));
            const bool is_line = line > exact && 9 + line < 8 * exact_ones;
            const std::size_t pages = is_line ? line : exact;
            CHECK(s.is_approximate() == is_line);
            approximate += is_line ? 1 : 0;
            REQUIRE(s.start == left.front().page);
            REQUIRE(s.end() == left[pages - 1].page);
            for (std::uint32_t page = s.start; page <= s.end(); ++page) {
                const auto at = std::ranges::find(left.first(pages), page, &PlacedPage::page);
                REQUIRE(s.holds(static_cast<std::uint8_t>(page)) == (at != left.begin() + static_cast<std::ptrdiff_t>(pages)));
                if (!s.holds(static_cast<std::uint8_t>(page))) continue;
                const std::int64_t away = std::int64_t{s.predict(static_cast<std::uint8_t>(page))} - at->unit;
                CHECK(std::abs(away) <= (is_line ? gamma : 0));
            }
            left = left.subspan(pages);
        });
        CHECK(left.empty());
    }
    CHECK(approximate > 20);
}

TEST_CASE("a line ends before a page whose prediction leads to a unit that does not name it", "[ftl][leaftl]") {
    Random random{3};
    const std::vector<PlacedPage> placed = drawn(random, 6, 2);
    std::uint32_t lines = 0;
    const NamesPage odd = [](const PlacedPage& p, std::uint32_t predicted) { return predicted == p.unit || p.page % 5 != 0; };
    learn_segments(placed, 4, odd, [&](const Segment& s) {
        lines += s.is_approximate() ? 1 : 0;
        for (const std::uint8_t page : s.names) CHECK(odd(*std::ranges::find(placed, page, &PlacedPage::page), s.predict(page)));
    });
    CHECK(lines > 0);
}

TEST_CASE("levels of segments say what was inserted last, also compacted, stacked, and after a way over the flash", "[ftl][leaftl]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        const std::uint32_t gamma = seed % 2 == 0 ? 4 : 0;
        SegmentLevels levels, news;
        std::map<std::uint32_t, std::uint32_t> truth; // unit by page
        const auto check = [&](const SegmentLevels& of) {
            CHECK(of.is_sound());
            for (std::uint32_t page = 0; page < 256; ++page) {
                const auto found = of.find(static_cast<std::uint8_t>(page));
                const bool is_mapped = found && !found->is_hole;
                REQUIRE(is_mapped == truth.contains(page));
                if (!is_mapped) continue;
                const std::int64_t away = std::int64_t{found->unit} - truth[page];
                REQUIRE(std::abs(away) <= (found->is_exact ? 0 : gamma));
            }
        };
        for (std::uint32_t turn = 0; turn < 60; ++turn) {
            SegmentLevels& to = turn < 40 ? levels : news;
            if (random.below(5) == 0) {
                const auto first = static_cast<std::uint32_t>(random.below(256));
                const auto last = std::min<std::uint32_t>(255, first + static_cast<std::uint32_t>(random.below(20)));
                to.insert(Segment::hole(first, last));
                for (std::uint32_t page = first; page <= last; ++page) truth.erase(page);
            } else {
                std::vector<PlacedPage> placed = drawn(random, static_cast<std::uint32_t>(2 + seed % 9), 2);
                placed.resize(std::min<std::size_t>(placed.size(), 1 + random.below(40)));
                learn_segments(placed, gamma, all_name, [&](Segment s) { to.insert(std::move(s)); });
                for (const PlacedPage& p : placed) truth[p.page] = p.unit;
            }
            if (turn < 40) check(levels);
            if (turn % 16 == 15) to.compact(turn < 40);
        }
        levels.put_on_top(news);
        check(levels);
        const std::uint32_t before = levels.bytes();
        levels.compact(true);
        check(levels);
        CHECK(levels.bytes() <= before);
        CHECK(levels.encoded_bytes() <= SegmentLevels::encoded_bytes_at_most(256));
        std::vector<std::byte> bytes(levels.encoded_bytes());
        LittleEndianWriter out{bytes};
        levels.encode(out);
        CHECK(out.full());
        LittleEndianReader in{bytes};
        const auto back = SegmentLevels::decode(in);
        REQUIRE(back);
        check(*back);
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
            LittleEndianReader part{std::span{bytes}.first(cut)};
            CHECK(!SegmentLevels::decode(part));
        }
    }
}

/// What a shorter log would have merged: against two logs that are kept page by page.
#include "ftl/blocks/shorter_log.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

constexpr std::uint32_t pages_a_block = 8;

/// Log blocks as a queue, with nothing left out.
class WholeLog {
public:
    explicit WholeLog(std::size_t blocks) : most_{blocks} {}
    std::uint64_t merges = 0;
    void write(std::uint32_t lpn, std::uint32_t now) {
        if (now % pages_a_block == 0) {
            if (blocks_.size() == most_) reclaim();
            blocks_.emplace_back();
        }
        blocks_.back().push_back({lpn, now});
        newest_[lpn] = now;
    }
    [[nodiscard]] bool will_reclaim(std::uint32_t now) const { return now % pages_a_block == 0 && blocks_.size() == most_; }
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> live(std::size_t block) const {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
        for (const auto& [lpn, at] : blocks_[block])
            if (const auto found = newest_.find(lpn); found != newest_.end() && found->second == at) all.push_back({lpn, at});
        return all;
    }
    [[nodiscard]] std::vector<std::uint32_t> times_of(std::uint32_t home) const {
        std::vector<std::uint32_t> times;
        for (const auto& [lpn, at] : newest_)
            if (lpn / pages_a_block == home) times.push_back(at);
        return times;
    }
    [[nodiscard]] std::size_t size() const { return blocks_.size(); }

private:
    void reclaim() {
        std::set<std::uint32_t> homes;
        for (const auto& [lpn, at] : live(0)) homes.insert(lpn / pages_a_block);
        for (const std::uint32_t home : homes) {
            ++merges;
            std::erase_if(newest_, [home](const auto& page) { return page.first / pages_a_block == home; });
        }
        blocks_.pop_front();
    }
    std::size_t most_;
    std::deque<std::vector<std::pair<std::uint32_t, std::uint32_t>>> blocks_;
    std::map<std::uint32_t, std::uint32_t> newest_;
};

struct Compared {
    double told = 0;
    std::uint64_t real = 0, shorter = 0;
    std::uint32_t records = 0;
};

/// A load on a log of 16 blocks and on one of 14, and what the records say of the first.
Compared compare(std::uint64_t bytes, std::uint32_t homes, std::uint32_t hot, std::uint64_t seed) {
    constexpr std::uint32_t blocks = 16, fewer = 14;
    WholeLog real{blocks}, shorter{fewer};
    ShorterLog records{bytes};
    records.set_pages(fewer * pages_a_block);
    Random random{seed};
    for (std::uint32_t now = 0; now < 40'000; ++now) {
        const std::uint32_t home =
            random.chance(3, 4) ? static_cast<std::uint32_t>(random.below(hot)) : static_cast<std::uint32_t>(random.below(homes));
        const std::uint32_t lpn = home * pages_a_block + static_cast<std::uint32_t>(random.below(pages_a_block));
        if (now % pages_a_block == 0) {
            if (real.size() >= fewer)
                for (const auto& [page, at] : real.live(real.size() - fewer)) records.page_at_end(LogicalBlock{page / pages_a_block}, at, now);
            if (real.will_reclaim(now)) {
                std::set<std::uint32_t> merged;
                for (const auto& [page, at] : real.live(0)) merged.insert(page / pages_a_block);
                for (const std::uint32_t h : merged) {
                    std::optional<std::uint32_t> oldest;
                    if (const auto until = records.merged_until(LogicalBlock{h}))
                        for (const std::uint32_t at : real.times_of(h))
                            if (at > *until) oldest = std::min(oldest.value_or(at), at);
                    records.merged(LogicalBlock{h}, oldest);
                }
            }
            records.settle(now, (blocks + 2) * pages_a_block);
            REQUIRE(records.broken_invariant() == 0);
        }
        real.write(lpn, now);
        shorter.write(lpn, now);
    }
    return {records.more_merges(), real.merges, shorter.merges, records.records()};
}

} // namespace

TEST_CASE("records of logical blocks tell what a shorter log merges more: at least that, and never twice as much", "[cache][partition]") {
    for (const auto& [homes, hot] : {std::pair{400u, 12u}, std::pair{60u, 20u}, std::pair{2000u, 4u}}) {
        const Compared seen = compare(1 << 14, homes, hot, 3);
        const double more = static_cast<double>(seen.shorter) - static_cast<double>(seen.real);
        CAPTURE(homes, hot, seen.told, seen.real, seen.shorter);
        REQUIRE(more > 100);
        CHECK(seen.told >= more * 0.95);
        CHECK(seen.told < more * 2); // once the real log has merged, nobody knows what the shorter one would have seen overwritten
    }
}

TEST_CASE("logical blocks that do not fit are sampled, and each counts for those that it stands for", "[cache][partition]") {
    const Compared whole = compare(1 << 14, 400, 40, 5);
    const Compared sampled = compare(128, 400, 40, 5); // sixteen records
    CHECK(sampled.records <= 12);
    CHECK(whole.records > 12);
    CHECK(sampled.told == Approx(whole.told).epsilon(0.5));
}

TEST_CASE("a logical block that both logs merge is forgotten, and a wrapped clock is no older time", "[cache][partition]") {
    ShorterLog records{1024};
    records.set_pages(100);
    constexpr std::uint32_t late = 0xffff'fff0;
    records.page_at_end(LogicalBlock{7}, late - 100, late);
    CHECK(records.more_merges() == 1);
    records.page_at_end(LogicalBlock{7}, late - 90, late + 10); // written before: merged with it
    CHECK(records.more_merges() == 1);
    records.page_at_end(LogicalBlock{7}, late + 1, late + 101); // wrapped, and written after
    CHECK(records.more_merges() == 2);
    records.merged_for_both(LogicalBlock{7});
    CHECK(records.records() == 0);
    CHECK(records.more_merges() == 2);
    records.merged(LogicalBlock{8}, std::nullopt); // nothing of it had come to the shorter log's end
    CHECK(records.more_merges() == 2);
    CHECK(records.broken_invariant() == 0);
}

TEST_CASE("a record goes when the real log can no longer hold a page that it tells of, and not before", "[cache][partition]") {
    constexpr std::uint32_t longest = 150;
    ShorterLog records{1024};
    records.set_pages(100);
    records.page_at_end(LogicalBlock{3}, 0, 100); // merged is what was written until 99
    records.settle(99 + longest, longest);
    CHECK(records.records() == 1);
    records.settle(99 + longest + 1, longest);
    CHECK(records.records() == 0);
    CHECK(records.more_merges() == 1);
}

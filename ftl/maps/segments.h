/// Learned segments: the places of many logical pages in eight bytes, and the levels of them that a group of logical pages has.
///
/// Idea       A segment says of the pages start .. start + length of its group: page x lies at intercept + slope (x - start). It is exact (every
///            n-th page, consecutive units), or approximate: right but for gamma units, and then its pages are named one by one (conflict
///            resolution buffer). New segments go on top. What they overlap is cut, or pushed a level down. A hole says that its pages are not
///            mapped.
/// Invariant  G1 segments of one level do not overlap. G2 of the segments that hold a page the one on the highest level is the newest. G3 a
///            prediction is within gamma of the page's unit, and of the same block.
/// Cost       Of the device: 8 bytes a segment; a byte a name, and one more for each approximate segment; 2 bytes a level. A look-up: a binary search
///            in each level. An insertion: O(segments of its level).
/// Power cut  RAM only; encode() is how they come to the flash.
/// Source     Sun et al., "LeaFTL: a learning-based flash translation layer for solid-state drives", ASPLOS 2023, 3.1 to 3.7. Differences:
///            ftl/DESIGN-leaftl.md.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/little_endian.h"

namespace flashlab {

/// A slope of a segment: a 16-bit float from 0 to a little more than 1.
namespace slope {
inline constexpr std::uint16_t last = 0x3c01;
inline constexpr std::uint16_t of_hole = 0xffff;
[[nodiscard]] double value(std::uint16_t bits);
/// The least approximate one that is not below; none: it is above `last`.
[[nodiscard]] std::optional<std::uint16_t> at_least(double wanted);
/// Exact: a unit for every n-th page.
[[nodiscard]] std::uint16_t of_stride(std::uint32_t n);
[[nodiscard]] std::uint32_t stride(std::uint16_t bits);
} // namespace slope

/// The pages of an approximate segment, ascending. One pointer, which exact segments leave empty: the others are walked and shifted by the hundred.
class PageNames {
public:
    PageNames() = default;
    PageNames(const PageNames& other) : pages_{other.pages_ ? std::make_unique<Pages>(*other.pages_) : nullptr} {}
    PageNames(PageNames&&) noexcept = default;
    PageNames& operator=(const PageNames& other) { return *this = PageNames{other}; }
    PageNames& operator=(PageNames&&) noexcept = default;
    ~PageNames() = default;

    [[nodiscard]] const std::uint8_t* begin() const { return pages_ ? pages_->data() : nullptr; }
    [[nodiscard]] const std::uint8_t* end() const { return begin() + size(); }
    [[nodiscard]] std::size_t size() const { return pages_ ? pages_->size() : 0; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::uint8_t front() const { return pages_->front(); }
    [[nodiscard]] std::uint8_t back() const { return pages_->back(); }
    void push_back(std::uint8_t page) {
        if (!pages_) pages_ = std::make_unique<Pages>();
        pages_->push_back(page);
    }
    template <class Condition>
    void erase_if(const Condition& gone) {
        if (pages_) std::erase_if(*pages_, gone);
    }

private:
    using Pages = std::vector<std::uint8_t>;
    std::unique_ptr<Pages> pages_;
};

struct Segment {
    std::uint8_t start = 0;
    std::uint8_t length = 0; ///< to the last page from the first
    std::uint16_t slope = 0; ///< the lowest bit says approximate
    std::uint32_t intercept = 0;
    PageNames names{}; ///< where it is approximate

    [[nodiscard]] bool is_hole() const { return slope == slope::of_hole; }
    [[nodiscard]] bool is_exact() const { return (slope & 1) == 0; }
    [[nodiscard]] bool is_approximate() const { return !is_exact() && !is_hole(); }
    [[nodiscard]] bool is_single() const { return length == 0 && is_exact(); }
    [[nodiscard]] std::uint32_t end() const { return std::uint32_t{start} + length; }
    [[nodiscard]] bool holds(std::uint8_t page) const;
    /// Of a page that it holds and that is mapped.
    [[nodiscard]] std::uint32_t predict(std::uint8_t page) const;
    [[nodiscard]] static Segment hole(std::uint32_t first, std::uint32_t last) {
        return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last - first), slope::of_hole, 0};
    }
};

/// A page of the group that was written, and where.
struct PlacedPage {
    std::uint8_t page = 0;
    std::uint32_t unit = 0;
    std::uint64_t write = 0; ///< the host's write it came with; 0: a copy
};

/// Which of the placed pages' units names the other one's page in its OOB (the page whose unit is predicted; the predicted unit).
using NamesPage = std::function<bool(const PlacedPage&, std::uint32_t)>;

/// The most pages, from the first on, that one approximate segment through the first holds within gamma; its slope.
struct LongestLine {
    std::size_t pages = 1;
    std::uint16_t slope = 1;
};
[[nodiscard]] LongestLine longest_line(std::span<const PlacedPage> placed, std::uint32_t gamma);
/// Greedy: again and again the segment that holds most of the pages left. `placed`: of one group and one block, by page. An approximate one is taken
/// where it is smaller than the exact ones in its place.
template <class Take>
void learn_segments(std::span<const PlacedPage> placed, std::uint32_t gamma, const NamesPage& names, const Take& take);

class SegmentLevels {
public:
    struct Found {
        std::uint32_t unit = 0;
        bool is_exact = true;
        bool is_hole = false;
    };
    /// What the newest segment says of the page; none: no segment holds it.
    [[nodiscard]] std::optional<Found> find(std::uint8_t page) const;
    void insert(Segment segment);
    /// All of `newer` are inserted, the oldest first.
    void put_on_top(const SegmentLevels& newer);
    /// Of several levels drops what newer segments hide, and, if nothing older lies elsewhere, holes above nothing; as few levels as the order
    /// allows.
    void compact(bool is_all);
    void clear() { *this = {}; }

    [[nodiscard]] bool is_empty() const { return segments_ == 0; }
    [[nodiscard]] std::uint32_t segments() const { return segments_; }
    [[nodiscard]] std::uint32_t levels() const { return static_cast<std::uint32_t>(levels_.size()); }
    [[nodiscard]] std::uint32_t approximate() const { return approximate_; }
    /// Of the device's DRAM.
    [[nodiscard]] std::uint32_t bytes() const { return 8 * segments_ + names_ + 2 * levels(); }
    // The simulator will ask for the page soon, or for all of it.
    void prefetch(std::uint8_t page) const {
        for (const Level& level : levels_) __builtin_prefetch(level.data() + level.size() * page / 256);
    }
    void prefetch() const {
        for (const Level& level : levels_)
            for (std::size_t i = 0; i < level.size(); i += 64 / sizeof(Segment)) __builtin_prefetch(level.data() + i);
    }
    template <class F>
    void for_each(F&& visit) const { ///< the highest level first
        for (const auto& level : levels_)
            for (const Segment& s : level) visit(s);
    }

    // On flash, and in a checkpoint (ftl/FORMAT.md).
    static constexpr std::uint32_t head_bytes = 4;
    [[nodiscard]] std::uint32_t encoded_bytes() const { return head_bytes + 8 * segments_ + names_; }
    /// Of a group of so many pages, once compacted: each segment holds a page that no other does, an approximate one two bytes for it.
    [[nodiscard]] static constexpr std::uint32_t encoded_bytes_at_most(std::uint32_t pages) { return head_bytes + 10 * pages; }
    void encode(LittleEndianWriter& out) const;
    /// None: that is no group.
    [[nodiscard]] static std::optional<SegmentLevels> decode(LittleEndianReader& in);
    /// G1.
    [[nodiscard]] bool is_sound() const;

private:
    using Pages = std::bitset<256>;
    using Level = std::vector<Segment>;
    [[nodiscard]] static Pages pages_of(const Segment& s);
    /// Without these pages; false: nothing is left of it.
    [[nodiscard]] static bool cut(Segment& s, const Pages& gone);
    [[nodiscard]] static bool has_place(const Level& level, const Segment& s);
    static void place(Level& level, Segment s);
    void insert_into(Level::iterator longer, Segment page);
    void put_in_levels(std::span<Segment* const> newest_first);
    void count();

    std::vector<Level> levels_; ///< by start
    std::uint32_t segments_ = 0, approximate_ = 0, names_ = 0;
    bool has_lines_ = false; ///< some may be approximate
};

// Learning

/// Consecutive units of every n-th page.
[[nodiscard]] std::size_t exact_run(std::span<const PlacedPage> placed);
/// The segment of these pages, which is exact, or goes by the slope.
[[nodiscard]] Segment exact_segment(std::span<const PlacedPage> run);
[[nodiscard]] std::optional<Segment> smaller_line(std::span<const PlacedPage> placed, std::uint32_t gamma, const NamesPage& names, std::size_t exact);

template <class Take>
void learn_segments(std::span<const PlacedPage> placed, std::uint32_t gamma, const NamesPage& names, const Take& take) {
    while (!placed.empty()) {
        const std::size_t exact = exact_run(placed);
        if (auto line = gamma == 0 ? std::nullopt : smaller_line(placed, gamma, names, exact)) {
            const std::size_t pages = line->names.size();
            take(std::move(*line));
            placed = placed.subspan(pages);
            continue;
        }
        take(exact_segment(placed.first(exact)));
        placed = placed.subspan(exact);
    }
}

} // namespace flashlab

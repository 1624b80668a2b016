/// A page table of learned segments: `leaftl` is PagedFtl with it.
///
/// Idea       Logical pages are in groups of 256. What was written since the last learning waits, eight bytes a page; sorted by block and logical
///            page it becomes segments (segments.h). A group lies in a translation page. One that is read comes into DRAM whole; new segments of one
///            that was not wait beside it. The least recently used group leaves: if something of it is new, its translation page is written anew with
///            all that is new of it. Batches of the host are sorted, and dealt so that each block takes a run (arranged()).
/// Invariant  L1 the newest of waiting page, new segment, and group says where a logical page is: exactly, or within gamma units of its block; no
///            other table is asked. Its unit is valid and its OOB names it, and no two pages are in one unit. L2 the directory names the newest
///            version of each translation page, which holds what is not new in DRAM. L3 a translation page starts after every data page that it names
///            has ended. L4 what is charged is what is there. G1 to G3 of segments.h, B1 to B5 of ftl/blocks/page_blocks.h, J1 to J4 of
///            ftl/recovery/page_journal.h.
/// Cost       DRAM of the device: segments, 8 bytes a group with any, 8 bytes a waiting page, 4 bytes a translation page, 1 bit a unit. A read miss:
///            one translation read. A wrong prediction: one read of the page that it led to. An eviction of something new: a read, and a program.
/// Power cut  Checkpoint = directory, what is new in DRAM, waiting pages. Recovery: that, the census of blocks programmed since, one read of each
///            translation page and of the OOB to which each approximate prediction leads.
/// Source     Sun et al., "LeaFTL", ASPLOS 2023. Differences: ftl/DESIGN-leaftl.md.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <fmt/format.h>

#include <deque>

#include "ftl/cache/ghost_bitmap.h"
#include "ftl/maps/demand_costs.h"
#include "ftl/maps/journaled_table.h"
#include "ftl/maps/segments.h"
#include "ftl/maps/translation_pages.h"

namespace flashlab {

struct LearnedConfig {
    std::uint64_t bytes = 0; ///< of DRAM, at most; one group is there whatever it says
    std::uint32_t gamma = 0;
    std::uint32_t batch_pages = 1;      ///< that wait before segments are learned; no more than a quarter of the DRAM holds
    std::uint64_t compaction_pages = 0; ///< written by the host between compactions; 0: never
};

struct LearnedCounters {
    std::uint64_t mispredictions = 0; ///< of pages that the host read
    std::uint64_t learned = 0;        ///< segments
    std::uint64_t learned_approximate = 0;
    std::uint64_t most_bytes = 0; ///< of DRAM, without the directory
};

/// How groups of a drive's shape lie in translation pages.
struct LearnedShape {
    explicit LearnedShape(const UnitGeometry& units);
    /// Where everything is new at once, beside a cache of so many bytes.
    [[nodiscard]] std::uint64_t checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups_of_blocks, std::uint64_t bytes) const;
    [[nodiscard]] std::uint32_t pages_a_translation() const { return pages * groups; }

    std::uint32_t pages = 256; ///< of a group; fewer where a translation page is too small
    std::uint32_t groups = 1;  ///< of a translation page
};

class LearnedTable final : public JournaledTable, public MappingSpace {
public:
    LearnedTable(const TableParts& parts, const PageJournalConfig& journal, const LearnedConfig& config);

    [[nodiscard]] const DemandCounters& counted() const { return counted_; }
    [[nodiscard]] const LearnedCounters& learned() const { return learned_; }
    [[nodiscard]] std::uint64_t bytes_used() const { return used_; }
    [[nodiscard]] std::uint64_t directory_bytes() const { return pages_.directory_bytes(); }
    [[nodiscard]] std::uint64_t cache_bytes() const { return directory_bytes() + bytes_; }
    /// What segments take, in DRAM and on flash, with names and levels.
    [[nodiscard]] std::uint64_t table_bytes() const;
    /// All segments of each group, those on flash too.
    template <class F>
    void for_each_group(F&& visit) const {
        for (const Group& group : groups_) {
            SegmentLevels whole = group.all;
            if (!group.news.is_empty()) whole.put_on_top(group.news);
            visit(whole);
        }
    }
    [[nodiscard]] std::uint64_t waiting_pages() const { return waiting_.size(); }
    /// What the model says, before any OOB was read; none: not mapped.
    [[nodiscard]] std::optional<SegmentLevels::Found> prediction(Lpn lpn) const;
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const;

    /// Sorted, and dealt to the blocks that are written side by side. Valid until the next call.
    [[nodiscard]] PagesToWrite arranged(const PagesToWrite& what);
    [[nodiscard]] std::uint32_t pages_a_batch() const { return batch_pages_; }
    [[nodiscard]] FtlResult<SimTime> look_up(Lpn first, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<void> begin_write(Lpn, const Io& io);
    [[nodiscard]] FtlResult<SimTime> before_row(const PagesToWrite&, std::uint32_t, std::uint32_t pages, const Io& io) {
        return make_room(waiting_bytes * pages, io);
    }
    void adopt(Lpn lpn, UnitId unit, const OpenColumn&, SimTime end);
    [[nodiscard]] FtlResult<void> after_row(std::uint32_t pages, const Io& io) { return keep_pace(pages, io); }
    void answered(SimTime at);
    [[nodiscard]] FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, const Io& io);
    void prefetch(Lpn lpn) const {
        if (group_of(lpn) < groups_.size()) groups_[group_of(lpn)].all.prefetch(in_group(lpn));
    }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn&, SimTime end);
    [[nodiscard]] FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job);
    [[nodiscard]] std::uint64_t own_pages() const { return pages_.existing(); }
    [[nodiscard]] BlockUse use_of(BlockId block) const {
        return parts_.blocks.kind_of(block) == TranslationDirectory::frontier.value() ? BlockUse::translation : BlockUse::data;
    }
    // Its share of the drive's DRAM: directory, and groups, waiting pages with them; unit: a group whose pages are a segment each.
    [[nodiscard]] MappingSpace* mapping_space() { return this; }
    MappingSpaceShape map_shape() const override;
    std::uint64_t map_bytes_used() const override { return directory_bytes() + used_; }
    FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) override;
    ProfitFactors profit_factors() override;
    void watch(GhostBitmap& ghost) override { ghost_ = &ghost; }
    void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) override;
    double take_misses(std::span<MissCount> counts) override { return curve_->take(counts); }
    [[nodiscard]] std::vector<CheckProblem> check();

private:
    static constexpr std::uint32_t group_bytes = 8, waiting_bytes = 8;
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Group {
        SegmentLevels all;  ///< in DRAM if it is there, else as its translation page has it
        SegmentLevels news; ///< of a group that is not in DRAM: newer than its translation page
        bool is_here = false;
        bool is_dirty = false; ///< it is here, and newer than its translation page
        bool leaves = false;   ///< when that is written, unless there is room
        std::uint32_t charged = 0;
        std::uint32_t moved = 0; ///< pages that collections moved since its translation page was written
        std::uint32_t colder = none, hotter = none;
        [[nodiscard]] bool has_news() const { return is_dirty || !news.is_empty(); }
        [[nodiscard]] SegmentLevels& newest() { return is_here ? all : news; }
    };
    struct Waiting {
        std::uint32_t unit = 0;
        std::uint64_t write = 0; ///< as PlacedPage's
    };

    [[nodiscard]] std::uint32_t group_of(Lpn lpn) const { return lpn.value() / shape_.pages; }
    [[nodiscard]] std::uint8_t in_group(Lpn lpn) const { return static_cast<std::uint8_t>(lpn.value() % shape_.pages); }
    [[nodiscard]] std::span<Group> groups_of(std::uint32_t page) {
        const std::size_t first = std::size_t{page} * shape_.groups;
        return std::span{groups_}.subspan(first, std::min<std::size_t>(shape_.groups, groups_.size() - first));
    }
    [[nodiscard]] std::uint32_t number_of(const Group& group) const { return static_cast<std::uint32_t>(&group - groups_.data()); }
    /// DRAM alone says where the page is, or that it is nowhere.
    [[nodiscard]] bool is_known(Lpn lpn) const;
    /// The unit near a prediction that is valid and whose OOB names the page.
    [[nodiscard]] std::optional<UnitId> near(Lpn lpn, std::uint32_t predicted) const;
    /// Reads where wrong predictions of these pages lead to.
    [[nodiscard]] FtlResult<SimTime> correct(Lpn first, std::uint32_t pages, const Io& io);
    /// The group comes into DRAM, where somebody used it or not; its translation page has been read.
    void bring(Group& group);
    void take_in(Group& group);
    void wait(Lpn lpn, UnitId unit, std::uint64_t write);
    void learn();
    void insert(Group& group, Segment segment);
    void learn_run(std::uint32_t group, std::span<const PlacedPage> run, std::uint32_t gamma);
    void compact();

    // DRAM
    void give(std::uint64_t bytes);
    [[nodiscard]] std::uint32_t bytes_of(const Group& group) const {
        const SegmentLevels& there = group.is_here ? group.all : group.news;
        return group.is_here || !there.is_empty() ? group_bytes + there.bytes() : 0;
    }
    [[nodiscard]] std::uint64_t most_bytes() const;
    void count_reads(Lpn first, std::uint32_t pages);
    /// The host wrote so many pages of the group, which was charged so much before.
    void count_learned(std::uint32_t group, std::size_t pages, std::uint32_t charged_before);
    /// Evicts until so many more bytes fit, as far as the flash lets it.
    [[nodiscard]] FtlResult<SimTime> make_room(std::uint64_t bytes, const Io& io);
    [[nodiscard]] std::uint64_t excused() const { return 2ull * waiting_bytes * std::min(moved_, most_moved_); }
    void charge(Group& group);
    void touch(Group& group);
    void link(Group& group, std::uint32_t colder);
    void unlink(Group& group);
    /// Writes the translation page with all that is new of it. An error of no_free_block when there is no room now.
    [[nodiscard]] FtlResult<SimTime> update(std::uint32_t page, const Io& io);
    [[nodiscard]] std::span<const std::byte> content(std::span<const Group> groups);
    void written(Group& group);
    [[nodiscard]] FtlResult<void> keep_pace(std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<SimTime> trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io);
    void forget_page(std::uint32_t page);

    // Checkpoint and recovery
    FtlResult<SimTime> before_checkpoint(const Io& io) override { return make_room(0, io); }
    std::span<const std::byte> recorded() override;
    FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report) override;
    bool idle_work(SimTime now) override { return keep_pace(parts_.blocks.groups(), {now, {Cause::map, no_event}}).has_value(); }
    [[nodiscard]] bool decode(std::span<const std::byte> scheme_part, bool directory);
    [[nodiscard]] FtlResult<std::vector<std::uint32_t>> resolved(PageJournal::Start& start, FtlRecovery& report);
    [[nodiscard]] FtlResult<std::uint32_t> resolve(Lpn lpn, std::uint32_t predicted, PageJournal::Start& start, SimTime& done, FtlRecovery& report);
    void learn_differences(std::span<const std::uint32_t> before, std::span<const std::uint32_t> now);

    const LearnedConfig config_;
    const LearnedShape shape_;
    std::uint64_t bytes_ = 0; ///< that it has now
    std::uint32_t batch_pages_ = 1;
    DemandCounters counted_;
    LearnedCounters learned_;
    TranslationDirectory pages_;
    std::vector<Group> groups_;
    std::uint32_t coldest_ = none, hottest_ = none; ///< of the groups that are charged
    std::uint64_t used_ = 0;                        ///< bytes
    boost::unordered_flat_map<std::uint32_t, Waiting> waiting_;
    std::uint64_t write_ = 0;
    std::uint64_t compact_at_ = 0;           ///< pages of the host
    std::uint64_t moved_ = 0, most_moved_;   ///< pages of Group::moved
    std::deque<std::uint32_t> moved_groups_; ///< the first waits longest
    struct Point {
        std::uint32_t block, lpn;
        Waiting where;
    };
    // For the partition of the DRAM
    DemandCosts costs_;
    std::uint64_t groups_missed_ = 0, pages_learned_ = 0; ///< groups that came with pages of the host; those pages
    GhostBitmap* ghost_ = nullptr;
    std::optional<ReuseCurve> curve_; ///< of groups

    std::vector<Point> points_;
    std::vector<PlacedPage> run_;
    std::vector<Lpn> order_; ///< of arranged()
    std::vector<std::uint32_t> from_;
    std::vector<std::byte> dealt_, page_;
    ZeroedVector<std::byte> checkpoint_;
};

} // namespace flashlab

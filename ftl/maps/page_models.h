/// Learned models beside translation pages: where pages lie that were written one after the other, so that no translation page is read for them.
///
/// Idea       A model is a few intervals of its translation page. One says of every run-th page from `first` to `last` that it lies `rise` virtual
///            units (virtual_units.h) behind the one before. A bit a page says that the model is right about it; only then is it asked. Models are
///            trained on what the host writes in order, and on what a collection has moved, as soon as it was written.
/// Invariant  M1 a bit is set only while the newest interval that holds the page names the page's unit: a page that is written, moved or trimmed
///            loses its bit, an interval that changes what is said of a page takes it. M2 models and pages that wait to be trained on take no more
///            bytes than they were given.
/// Cost       Of the device: head_bytes, a bit a page and interval_bytes an interval, for each translation page that has a model; point_bytes a page
///            that waits to be trained on; the virtual units' table, the groups. A look-up: the intervals, the newest first. Training: O(pages) for
///            each kind of number.
/// Power cut  RAM only: after a mount nothing is predicted until it is written or moved anew.
/// Source     Wang et al., "LearnedFTL: a learning-based page-level FTL for reducing double reads in flash-based SSDs", HPCA 2024. Differences:
///            ftl/DESIGN-learnedftl.md.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "ftl/blocks/row_writer.h"
#include "ftl/maps/page_groups.h"
#include "ftl/maps/page_table.h"
#include "ftl/maps/virtual_units.h"

namespace flashlab {

struct ModelConfig {
    std::uint32_t permille = 500;   ///< of the mapping cache, at most
    std::uint32_t intervals = 8;    ///< of a model, at most
    std::uint32_t train_pages = 32; ///< written one behind the other, or moved together, for training
    std::uint32_t groups = 0;       ///< page_groups.h; 0: none
};

struct ModelCounters {
    std::uint64_t predicted_reads = 0; ///< pages read that were not cached, and whose place a model knew
    std::uint64_t trainings = 0;       ///< intervals that were made or grew
    std::uint64_t pages_learned = 0;   ///< bits that were set
    std::uint64_t pages_sorted = 0;    ///< rewritten in order
    std::uint64_t pages_forgotten = 0; ///< bits that were lost for want of room or to another interval, not because the page was written
};

class PageModels {
public:
    using Config = ModelConfig;
    static constexpr bool are_there = true;
    static constexpr std::uint32_t interval_bytes = 16, head_bytes = 8, point_bytes = 8;

    PageModels(const TableParts& parts, std::uint32_t entries_per_page, const ModelConfig& config);

    void give(std::uint64_t mapping_cache_bytes);
    /// Of the models, and what waits for training; what they need besides, whether there are any or not.
    [[nodiscard]] std::uint64_t bytes_used() const { return used_; }
    [[nodiscard]] std::uint64_t fixed_bytes() const { return numbers_.device_bytes() + groups_.device_bytes(); }
    [[nodiscard]] std::uint64_t waiting_pages() const { return waiting_; }
    [[nodiscard]] const ModelCounters& counted() const { return counted_; }
    [[nodiscard]] std::uint32_t intervals_of(std::uint32_t page) const { return static_cast<std::uint32_t>(models_[page].intervals.size()); }

    /// Nothing is said of any page of it.
    [[nodiscard]] bool is_blank(std::uint32_t page) const { return models_[page].intervals.empty() && models_[page].exact == 0; }
    [[nodiscard]] bool knows(Lpn lpn) const { return is_exact_[lpn.value()]; }
    /// The model's word, if the page's bit is set.
    [[nodiscard]] std::optional<UnitId> predict(Lpn lpn) const { return knows(lpn) ? said_of(models_[page_of(lpn)], index_of(lpn)) : std::nullopt; }
    /// A read went by it.
    void read(Lpn lpn) {
        ++counted_.predicted_reads;
        touch(page_of(lpn));
    }

    /// What was said of the page is not so any more.
    void forget(Lpn lpn) {
        if (knows(lpn)) forget_known(lpn);
    }
    /// The host wrote it there; a run goes on, or ends.
    void placed(Lpn lpn, UnitId unit) {
        groups_.written(lpn);
        placed(host_run_, lpn, unit);
    }
    /// It was put in order there.
    void rewritten(Lpn lpn, UnitId unit) {
        ++counted_.pages_sorted;
        placed(sorted_run_, lpn, unit);
    }
    /// Pages to put in order next, known ones too: a block is emptied whole.
    template <class IsMapped>
    [[nodiscard]] std::optional<PageRun> next_to_rewrite(const IsMapped& is_mapped) {
        return groups_.next_in_order([&](const PageRun& run) {
            bool any = false;
            for (std::uint32_t l = run.first.value(); l < run.first.value() + run.pages && !any; ++l) any = is_mapped(Lpn{l});
            return any;
        });
    }
    [[nodiscard]] RowPlace place_to_rewrite(std::uint32_t pages) { return groups_.place_in_order(pages); }
    /// Where so many pages of the host go, from the i-th on; none: as they would without groups, since they come in order.
    [[nodiscard]] std::optional<RowPlace> place_to_write(const PagesToWrite& what, std::uint32_t i, std::uint32_t pages);
    /// A collection moved it there.
    void moved(Lpn lpn, UnitId to);
    /// A collection of that group has ended; nothing valid is left in the victim, which will be erased.
    void collected(GroupId group, BlockId victim);
    void opened(const OpenSuperblock& set) { numbers_.opened(set); }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Line {
        std::uint32_t first = 0, last = 0; ///< pages, counted in the translation page
        std::uint32_t run = 1, rise = 1;
        std::uint64_t number = 0;   ///< of `first`
        std::uint32_t pages = 0;    ///< of those trained on, that lie on it
        std::uint32_t grown = none; ///< the interval that it continues
        [[nodiscard]] bool is_on(std::uint32_t page, std::uint64_t at) const {
            return page >= first && (page - first) % run == 0 && number + std::uint64_t{(page - first) / run} * rise == at;
        }
    };
    struct Interval {
        std::uint32_t first = 0, last = 0, run = 1, rise = 1;
        std::uint32_t frontier = 0, chunk = 0; ///< which of the virtual units' chunks
        std::uint64_t number = 0;
        [[nodiscard]] bool holds(std::uint32_t page) const { return page >= first && page <= last && (page - first) % run == 0; }
        [[nodiscard]] std::uint64_t number_of(std::uint32_t page) const { return number + std::uint64_t{(page - first) / run} * rise; }
    };
    struct Model {
        std::vector<Interval> intervals; ///< the newest last
        std::uint32_t exact = 0;         ///< bits set
        bool is_here = false;            ///< takes room, and has its place in the order of use
        std::uint32_t colder = none, hotter = none;
    };
    struct Point {
        Lpn lpn;
        UnitId unit;
    };
    struct Placed {
        Lpn lpn;
        UnitId unit;
        VirtualUnits::Place place;
    };
    struct Numbered {
        std::uint32_t page;
        std::uint64_t number;
    };

    [[nodiscard]] std::uint32_t page_of(Lpn lpn) const { return lpn.value() / entries_per_page_; }
    [[nodiscard]] std::uint32_t index_of(Lpn lpn) const { return lpn.value() % entries_per_page_; }
    [[nodiscard]] Lpn lpn_at(std::uint32_t page, std::uint32_t index) const { return Lpn{page * entries_per_page_ + index}; }
    [[nodiscard]] std::optional<UnitId> said_of(const Model& model, std::uint32_t index) const;
    [[nodiscard]] std::optional<UnitId> said_by(const Interval& interval, std::uint32_t index) const {
        return numbers_.unit_at(numbers_.place(interval.frontier, interval.number_of(index), numbers_.chunks()[interval.chunk]));
    }
    struct Run {
        std::vector<Point> points; ///< since it was last trained on
        std::uint32_t last = 0;    ///< logical page
        std::uint64_t pages = 0;
    };
    void forget_known(Lpn lpn);
    void placed(Run& run, Lpn lpn, UnitId unit);
    void end(Run& run);
    void wait(std::vector<Point>& points, Lpn lpn, UnitId unit);
    [[nodiscard]] std::vector<Point>& most_moved() { return *std::ranges::max_element(moved_, {}, &std::vector<Point>::size); }
    void clear(std::vector<Point>& points);
    void clear_of(std::vector<Point>& points, BlockId victim);
    void train(std::vector<Point>& points);
    void train_page(std::uint32_t page, std::span<const Placed> points);
    void fit(const Model& model, std::span<const Placed> points, std::uint32_t chunk);
    void put_on_line(std::size_t i, std::uint32_t lines_at_most);
    [[nodiscard]] bool take(std::uint32_t page, const Line& line, std::uint32_t frontier, std::uint32_t chunk);
    void set_bits(std::uint32_t page, std::span<const Placed> points);
    [[nodiscard]] bool drop_least(std::uint32_t page, std::uint32_t below);
    [[nodiscard]] bool make_room_for_interval(std::uint32_t page);
    [[nodiscard]] std::uint32_t bytes_of_model() const { return head_bytes + (entries_per_page_ + 7) / 8; }
    template <class F>
    void each_known(std::uint32_t page, const F& visit) const {
        const std::uint32_t end = std::min(entries_per_page_, parts_.logical_pages - page * entries_per_page_);
        for (std::uint32_t index = 0; index < end; ++index)
            if (is_exact_[lpn_at(page, index).value()]) visit(index);
    }
    void lose(Model& model, Lpn lpn) {
        is_exact_[lpn.value()] = false;
        --model.exact;
        ++counted_.pages_forgotten;
    }
    void drop(std::uint32_t page);
    void touch(std::uint32_t page);
    void unlink(std::uint32_t page);

    const TableParts parts_;
    const ModelConfig config_;
    const std::uint32_t entries_per_page_;
    VirtualUnits numbers_;
    ModelCounters counted_;
    std::vector<Model> models_;  ///< by translation page
    std::vector<bool> is_exact_; ///< by logical page
    std::uint32_t coldest_ = none, hottest_ = none;
    std::uint64_t used_ = 0, given_ = 0;
    std::uint64_t waiting_ = 0, most_waiting_ = 0; ///< points of the runs and of what was moved
    Run host_run_, sorted_run_;
    PageGroups groups_;
    std::vector<std::vector<Point>> moved_; ///< by group: the copies of the collection under way
    std::vector<Placed> placed_;            ///< while training
    std::vector<Numbered> numbered_;
    std::vector<Line> lines_, best_;
    std::vector<std::uint32_t> answers_;
};

/// A table without models.
struct NoModels {
    struct Config {};
    static constexpr bool are_there = false;
    NoModels(const TableParts&, std::uint32_t, Config) {}
    static void give(std::uint64_t) {}
    [[nodiscard]] static constexpr std::uint64_t bytes_used() { return 0; }
    [[nodiscard]] static constexpr std::uint64_t fixed_bytes() { return 0; }
    [[nodiscard]] static constexpr bool is_blank(std::uint32_t) { return true; }
    [[nodiscard]] static constexpr bool knows(Lpn) { return false; }
    [[nodiscard]] static constexpr std::optional<UnitId> predict(Lpn) { return std::nullopt; }
    static void read(Lpn) {}
    static void forget(Lpn) {}
    static void placed(Lpn, UnitId) {}
    static void moved(Lpn, UnitId) {}
    static void collected(GroupId, BlockId) {}
    static void opened(const OpenSuperblock&) {}
};

} // namespace flashlab

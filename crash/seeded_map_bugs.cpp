/// Seeded bugs of maps that are learned.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/crc32c.h"
#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "crash/seeded_bugs.h"
#include "ftl/maps/node_entries.h"
#include "ftl/maps/segments.h"
#include "ftl/maps/spatial_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

/// What a translation page of leaftl holds is changed on its way to the cells, once its data are there.
class ChangedSegments : public Sabotage {
    struct Store : ForwardingPageStore {
        Store(PageStore& real, ChangedSegments& by) : ForwardingPageStore{real}, by_{by} {}
        std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
            const auto oob = PageOob::decode(record.oob);
            if (record.state != CellState::programmed || !oob || oob->kind != PageKind::translation) return real_.write_record(page, record);
            std::vector<std::byte> data(by_.page_bytes_);
            if (const auto read = real_.read_data(page, 0, data); !read) return read;
            LittleEndianReader in{data};
            const auto group = SegmentLevels::decode(in);
            if (!group) return real_.write_record(page, record);
            const SegmentLevels changed = by_.changed(*group);
            LittleEndianWriter out{data};
            changed.encode(out);
            out.zeros(data.size() - changed.encoded_bytes());
            if (const auto wrote = real_.write_data(page, data); !wrote) return wrote;
            PageRecord with = record;
            with.data_crc = crc32c(data);
            return real_.write_record(page, with);
        }
        ChangedSegments& by_;
    };

public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return ftl; }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<Store>(store, *this); }
    void change(SsdConfig& config) override {
        page_bytes_ = config.nand.geometry.page_bytes;
        gamma_ = config.ftl.options[leaftl_option::gamma];
    }

protected:
    std::uint32_t gamma_ = 0;

private:
    [[nodiscard]] virtual SegmentLevels changed(const SegmentLevels& group) const = 0;
    std::uint32_t page_bytes_ = 0;
};

/// Of segments that overlap the older ones come to lie on top: they outlive those of their pages that were written anew.
class OlderSegmentsOnTop final : public ChangedSegments {
    SegmentLevels changed(const SegmentLevels& group) const override {
        SegmentLevels turned;
        group.for_each([&](const Segment& s) { turned.insert(s); });
        return turned;
    }
};

/// An approximate segment leads a unit farther away than its error may be.
class SegmentsDrift final : public ChangedSegments {
    SegmentLevels changed(const SegmentLevels& group) const override {
        std::vector<Segment> all;
        group.for_each([&](const Segment& s) {
            all.push_back(s);
            if (s.is_approximate()) all.back().intercept += 2 * gamma_ + 1;
        });
        SegmentLevels drifted;
        for (auto s = all.rbegin(); s != all.rend(); ++s) drifted.insert(*s);
        return drifted;
    }
};

/// Some pages are read from units where they lay before.
class ReadsOldUnits : public Sabotage {
public:
    std::unique_ptr<PageStore> around(PageStore& store) override {
        store_ = &store;
        return nullptr;
    }
    void change(SsdConfig& config) override {
        page_bytes_ = config.nand.geometry.page_bytes;
        pages_a_unit_ = config.ftl.mapping_unit_pages;
        said_.clear(); // another drive
    }

protected:
    void read_unit(UnitId unit, std::span<std::byte> to) {
        for (std::uint32_t p = 0; p < pages_a_unit_; ++p)
            (void)store_->read_data(Ppn{unit.value() * pages_a_unit_ + p}, 0, to.subspan(std::size_t{p} * page_bytes_, page_bytes_));
    }
    std::map<std::uint32_t, UnitId> said_; ///< by logical page

private:
    PageStore* store_ = nullptr;
    std::uint32_t page_bytes_ = 0, pages_a_unit_ = 1;
};

/// What a model of learnedftl once said of a page is believed when it is right no more, wherever the entry is not cached.
class OutlivedPredictions : public ReadsOldUnits {
protected:
    using Table = DemandTable<NodeEntries, PageModels>;

private:
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, OutlivedPredictions& by) : LyingFtl{std::move(real)}, by_{by} {}
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) by_.writes(Lpn{l}, table().models().predict(Lpn{l}));
            by_.before_write(table(), logical_pages());
            const auto done = below().write(first, pages, from, io);
            by_.after_write(table(), {first, pages});
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l)
                if (const auto unit = table().models().predict(Lpn{l})) by_.learns(Lpn{l}, *unit);
            return done;
        }
        FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) by_.said_.erase(l);
            return below().trim(first, pages, io);
        }
        FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
            std::vector<std::optional<UnitId>> believed;
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
                const auto said = by_.said_.find(l);
                believed.push_back(said == by_.said_.end() || table().cache().peek(Lpn{l}) ? std::nullopt : std::optional{said->second});
            }
            const auto done = below().read(first, pages, to, io);
            const std::size_t bytes = logical_page_bytes();
            for (std::uint32_t i = 0; i < pages && done && !to.empty(); ++i)
                if (believed[i]) by_.read_unit(*believed[i], to.subspan(i * bytes, bytes));
            return done;
        }
        [[nodiscard]] const Table& table() const { return demand_table_of<NodeEntries, PageModels>(below().undecorated()); }
        OutlivedPredictions& by_;
    };

public:
    using ReadsOldUnits::around;
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override {
        mounted();
        return std::make_unique<Scheme>(std::move(ftl), *this);
    }

private:
    virtual void mounted() {}
    virtual void learns(Lpn, UnitId) {}
    virtual void writes(Lpn lpn, std::optional<UnitId> known) = 0;
    virtual void before_write(const Table&, std::uint32_t /*logical_pages*/) {}
    virtual void after_write(const Table&, const PageRun& /*written*/) {}
};

/// A page that is written anew keeps its bit.
class BitOutlivesWrite final : public OutlivedPredictions {
    void mounted() override { said_.clear(); }
    void learns(Lpn lpn, UnitId) override { said_.erase(lpn.value()); }
    void writes(Lpn lpn, std::optional<UnitId> known) override {
        if (known) said_.insert_or_assign(lpn.value(), *known);
    }
};

/// A page that a collection moves, or that a cut takes back, keeps its bit: its block was erased, or never held it.
class ModelOutlivesBlock final : public OutlivedPredictions {
    void learns(Lpn lpn, UnitId unit) override { said_.insert_or_assign(lpn.value(), unit); }
    void writes(Lpn lpn, std::optional<UnitId>) override { said_.erase(lpn.value()); }
};

/// A page that was put in order is still read where it lay before, until that block is erased.
class SortedPageKeepsPlace final : public OutlivedPredictions {
    void mounted() override { said_.clear(); }
    void writes(Lpn lpn, std::optional<UnitId>) override { said_.erase(lpn.value()); }
    void before_write(const Table& table, std::uint32_t logical_pages) override {
        places_.clear();
        for (std::uint32_t l = 0; l < logical_pages; ++l) places_.push_back(table.current(Lpn{l}));
        sorted_ = table.models().counted().pages_sorted;
    }
    void after_write(const Table& table, const PageRun& written) override {
        std::vector<std::uint32_t> moved;
        for (std::uint32_t l = 0; l < places_.size(); ++l) {
            const bool is_written = l >= written.first.value() && l < written.first.value() + written.pages;
            if (!is_written && places_[l] && table.current(Lpn{l}) != places_[l]) moved.push_back(l);
        }
        if (moved.size() != table.models().counted().pages_sorted - sorted_) return; // a collection moved some, too
        for (const std::uint32_t l : moved) said_.insert_or_assign(l, *places_[l]);
    }
    std::vector<std::optional<UnitId>> places_;
    std::uint64_t sorted_ = 0;
};

/// A write to a page whose translation page sftl has in DRAM does not end the run that led to it.
class RunOutlivesWrite final : public ReadsOldUnits {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, RunOutlivesWrite& by) : LyingFtl{std::move(real)}, by_{by} {}
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l)
                if (const auto old = table().current(Lpn{l}); old && is_cached(l)) by_.said_.emplace(l, *old);
            return below().write(first, pages, from, io);
        }
        FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
            for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) by_.said_.erase(l);
            return below().trim(first, pages, io);
        }
        FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
            std::erase_if(by_.said_, [this](const auto& said) { return !is_cached(said.first); });
            const auto done = below().read(first, pages, to, io);
            const std::size_t bytes = logical_page_bytes();
            for (std::uint32_t i = 0; i < pages && done && !to.empty(); ++i)
                if (const auto said = by_.said_.find(first.value() + i); said != by_.said_.end())
                    by_.read_unit(said->second, to.subspan(i * bytes, bytes));
            return done;
        }
        [[nodiscard]] const DemandTable<SpatialEntries>& table() const { return demand_table_of<SpatialEntries>(below().undecorated()); }
        [[nodiscard]] bool is_cached(std::uint32_t l) const { return table().cache().holds(Lpn{l}); }
        RunOutlivesWrite& by_;
    };

public:
    using ReadsOldUnits::around;
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override {
        said_.clear();
        return std::make_unique<Scheme>(std::move(ftl), *this);
    }
};

} // namespace

std::vector<SeededBug> seeded_map_bugs() {
    const auto bug = [](std::string_view name, std::string_view what, auto make, std::string_view devices, Judge judge = Judge::contents,
                        std::string_view schemes = "leaftl") {
        return SeededBug{name, what, make, SeededBug::Needs::nothing, "map", judge, schemes, devices};
    };
    return {bug(
                "segment_outlives_pages", "a segment stays for pages that a newer one holds", [] { return std::make_unique<OlderSegmentsOnTop>(); },
                "plane-slc near-slc uneven-slc"),
            bug(
                "segment_drifts", "an approximate segment leads farther away than its error may be", [] { return std::make_unique<SegmentsDrift>(); },
                "near-slc near-mlc"),
            bug(
                "bit_outlives_write", "a page that is written anew is still read where a model knew it",
                [] { return std::make_unique<BitOutlivesWrite>(); }, "trained-slc trained-mlc", Judge::running, "learnedftl"),
            bug(
                "model_outlives_block", "a page is read where a model knew it, though that block was collected or a cut took it back",
                [] { return std::make_unique<ModelOutlivesBlock>(); }, "trained-slc trained-mlc", Judge::running, "learnedftl"),
            bug(
                "sorted_page_keeps_place", "a page that was put in order is still read where it lay before",
                [] { return std::make_unique<SortedPageKeepsPlace>(); }, "grouped-slc grouped-mlc", Judge::running, "learnedftl"),
            bug(
                "run_outlives_write", "a page that is written anew is still read where the run of its translation page in DRAM led",
                [] { return std::make_unique<RunOutlivesWrite>(); }, "whole-slc whole-mlc", Judge::running, "sftl")};
}

} // namespace flashlab

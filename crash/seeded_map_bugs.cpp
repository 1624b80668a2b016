/// Seeded bugs of maps that are learned.
#include <algorithm>
#include <vector>

#include "base/crc32c.h"
#include "crash/forwarding_page_store.h"
#include "crash/seeded_bugs.h"
#include "ftl/maps/segments.h"
#include "ftl/schemes/demand_options.h"

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

} // namespace

std::vector<SeededBug> seeded_map_bugs() {
    const auto bug = [](std::string_view name, std::string_view what, auto make, std::string_view devices) {
        return SeededBug{name, what, make, SeededBug::Needs::nothing, "map", Judge::contents, "leaftl", devices};
    };
    return {bug(
                "segment_outlives_pages", "a segment stays for pages that a newer one holds", [] { return std::make_unique<OlderSegmentsOnTop>(); },
                "plane-slc near-slc uneven-slc"),
            bug(
                "segment_drifts", "an approximate segment leads farther away than its error may be", [] { return std::make_unique<SegmentsDrift>(); },
                "near-slc near-mlc")};
}

} // namespace flashlab

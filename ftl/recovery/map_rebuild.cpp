#include "ftl/recovery/map_rebuild.h"

#include <algorithm>
#include <tuple>

namespace flashlab {

namespace {

/// A page with two whole versions of one sequence.
struct Tie {
    std::uint32_t page;
    UnitId original;
};

} // namespace

void rebuild_map(std::span<std::uint32_t> map, PageKind kind, const UnitGeometry& units, const BlockCensus& census, const TrimHistory* trims,
                 std::uint64_t checkpoint_sequence) {
    for (std::uint32_t& entry : map)
        if (entry != 0 && (entry > units.units() || !census.is_known(units, UnitId{entry - 1}))) entry = 0;
    if (trims != nullptr)
        trims->for_each([&map](const TrimRange& r) {
            const std::size_t begin = std::min<std::size_t>(map.size(), r.first.value());
            std::fill(map.begin() + static_cast<std::ptrdiff_t>(begin),
                      map.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(map.size(), begin + r.pages)), 0u);
        });

    std::vector<FoundUnit> found;
    for (const FoundUnit& f : census.found()) {
        if (f.kind != kind || f.lpn.value() >= map.size()) continue;
        const auto trimmed = trims == nullptr ? std::nullopt : trims->last_trim(f.lpn);
        if (!trimmed || f.sequence > *trimmed) found.push_back(f);
    }
    // Newest first; of one version the copy made last first.
    std::ranges::sort(found, [](const FoundUnit& a, const FoundUnit& b) {
        return std::tuple{a.lpn, b.sequence, b.stamp, b.unit} < std::tuple{b.lpn, a.sequence, a.stamp, a.unit};
    });
    std::vector<Tie> ties;
    for (std::size_t i = 0; i < found.size();) {
        std::size_t last = i; // of the newest version
        while (last + 1 < found.size() && found[last + 1].lpn == found[i].lpn && found[last + 1].sequence == found[i].sequence) ++last;
        std::uint32_t& entry = map[found[i].lpn.value()];
        // What the checkpoint knew was the newest below its sequence: a found one below it is a copy of that.
        if (found[i].sequence.value() < checkpoint_sequence && entry != 0)
            ties.push_back({found[i].lpn.value(), UnitId{entry - 1}});
        else if (last != i)
            ties.push_back({found[i].lpn.value(), found[last].unit});
        entry = found[i].unit.value() + 1;
        const Lpn lpn = found[i].lpn;
        while (i < found.size() && found[i].lpn == lpn) ++i;
    }
    if (ties.empty()) return;
    std::vector<std::uint32_t> valid(units.geometry().blocks());
    for (const std::uint32_t entry : map)
        if (entry != 0) ++valid[units.block_of(UnitId{entry - 1}).value()];
    for (const Tie& tie : ties) {
        if (valid[units.block_of(tie.original).value()] == 0) continue;
        std::uint32_t& entry = map[tie.page];
        --valid[units.block_of(UnitId{entry - 1}).value()];
        ++valid[units.block_of(tie.original).value()];
        entry = tie.original.value() + 1;
    }
}

} // namespace flashlab

#include "ftl/recovery/open_block_scan.h"

namespace flashlab {

std::expected<OpenBlockScan, NandError> scan_open_block(NandArray& array, const UnitGeometry& units, BlockId block, std::uint32_t from_unit,
                                                        SimTime now, std::vector<FoundUnit>& found) {
    const Origin origin{Cause::recovery, no_event};
    OpenBlockScan scan;
    scan.done = now;
    scan.units_begun = units.units_per_block();
    for (std::uint32_t i = from_unit; i < units.units_per_block(); ++i) {
        const UnitId unit = units.unit_at(block, i);
        std::optional<PageOob> first;
        bool whole = true;
        for (std::uint32_t p = 0; p < units.pages_per_unit(); ++p) {
            const auto read = array.read_oob(units.page_of(unit, p), {scan.done, origin});
            if (!read) return std::unexpected(read.error());
            scan.done = read->done;
            ++scan.pages_read;
            if (read->state == CellState::erased) {
                if (p == 0) {
                    scan.units_begun = i;
                    return scan;
                }
                whole = false;
                break;
            }
            if (read->state != CellState::programmed || !read->oob)
                whole = false;
            else if (!first && p == 0)
                first = *read->oob;
            else if (!first || first->lpn != read->oob->lpn || first->sequence != read->oob->sequence)
                whole = false;
        }
        if (whole && first) found.push_back({first->lpn, first->sequence, unit, first->kind, first->scheme_word});
    }
    return scan;
}

} // namespace flashlab

/// Reads of logical pages through whatever map a scheme has.
///
/// Idea       The pages of one request are gathered and read together, so that planes and channels work side by side; unmapped pages are zeros.
/// Invariant  A failed read names the first logical page of the request that lies in the unit that could not be read.
/// Cost       No allocation in steady state; one call of the array a request.
/// Power cut  Reads only.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

class UnitReader {
public:
    UnitReader(NandArray& array, PageBlocks& blocks) : array_{array}, blocks_{blocks} {}

    /// `current(lpn)`: the unit, or none.
    template <class Current>
    [[nodiscard]] FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io, const Current& current) {
        const UnitGeometry& units = blocks_.units();
        const std::uint32_t page_bytes = units.geometry().page_bytes();
        const std::uint32_t unit_bytes = units.bytes_per_unit();
        reads_.clear();
        for (std::uint32_t i = 0; i < pages; ++i) {
            const auto part = to.empty() ? to : to.subspan(std::size_t{i} * unit_bytes, unit_bytes);
            const auto unit = current(Lpn{first.value() + i});
            if (!unit) {
                if (!part.empty()) std::memset(part.data(), 0, part.size());
                continue;
            }
            for (std::uint32_t p = 0; p < units.pages_per_unit(); ++p)
                reads_.push_back(
                    {units.page_of(*unit, p), 0, page_bytes, part.empty() ? part : part.subspan(std::size_t{p} * page_bytes, page_bytes)});
        }
        if (reads_.empty()) return io.when;
        const auto done = array_.read(reads_, io);
        if (done) return *done;
        const UnitId lost = units.unit_of(done.error().page);
        Lpn lpn = first;
        for (std::uint32_t i = pages; i-- > 0;)
            if (current(Lpn{first.value() + i}) == lost) lpn = Lpn{first.value() + i};
        return std::unexpected(blocks_.fail(done.error(), lpn));
    }

    /// Part of one logical page; only the pages and bytes asked for cross the bus.
    [[nodiscard]] FtlResult<SimTime> read_part(Lpn lpn, std::optional<UnitId> unit, std::uint32_t offset, std::uint32_t bytes,
                                               std::span<std::byte> to, const Io& io) {
        if (!unit) {
            if (!to.empty()) std::memset(to.data(), 0, to.size());
            return io.when;
        }
        const std::uint32_t page_bytes = blocks_.units().geometry().page_bytes();
        reads_.clear();
        for (std::uint32_t at = offset; at < offset + bytes;) {
            const std::uint32_t in_page = at % page_bytes;
            const std::uint32_t n = std::min(page_bytes - in_page, offset + bytes - at);
            reads_.push_back({blocks_.units().page_of(*unit, at / page_bytes), in_page, n, to.empty() ? to : to.subspan(at - offset, n)});
            at += n;
        }
        const auto done = array_.read(reads_, io);
        if (!done) return std::unexpected(blocks_.fail(done.error(), lpn));
        return *done;
    }

private:
    NandArray& array_;
    PageBlocks& blocks_;
    std::vector<PageRead> reads_;
};

} // namespace flashlab

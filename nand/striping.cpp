#include "nand/striping.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/contract.h"
#include "nand/join_results.h"

namespace flashlab {

namespace {

/// Joins the parts of a page: written if all parts parse and agree, erased if all parts are erased.
void join(StoredOob& all, const StoredOob& part) {
    const bool same = all.oob.has_value() == part.oob.has_value() && (!all.oob || *all.oob == *part.oob);
    if (!same) all.oob = std::unexpected(OobError::bad_checksum);
    if (same && all.state == part.state) return;
    const auto either = [&](CellState state) { return all.state == state || part.state == state; };
    const bool disagree = all.state == CellState::programmed && part.state == CellState::programmed;
    all.state = disagree || either(CellState::garbage) ? CellState::garbage : CellState::torn;
}

Geometry wide(const Geometry& chips, std::uint32_t width) {
    const auto geometry = chips.striped(width);
    ensure(geometry.has_value(), "NandArray: a striping that Geometry::striped() accepts");
    return *geometry;
}

} // namespace

NandArray::Striped::Striped(Impl& chips, std::uint32_t width)
    : chips_{chips}, width_{width}, stripe_{chips.config.stripe_bytes == 0 ? chips.geometry.page_bytes() : chips.config.stripe_bytes},
      geometry_{wide(chips.geometry, width)}, planes_{chips.geometry.planes() / chips.geometry.channels()},
      blocks_{chips.geometry.blocks() / chips.geometry.channels()}, pages_{chips.geometry.pages() / chips.geometry.channels()} {
    ensure(chips.geometry.page_bytes() % stripe_ == 0, "NandArray: stripes that fill a page");
}

std::span<std::byte> NandArray::Striped::target_of(const PageRead& page, Range range, std::uint32_t m) {
    if (page.to.empty()) return page.to;
    if (in_pages()) return page.to.subspan(m * stripe_ + range.begin - page.offset, range.bytes);
    scratch_.resize(chips_.geometry.page_bytes());
    return std::span{scratch_}.first(range.bytes);
}

/// From scratch_ to where the bytes belong: member m's stripes of the part that was read.
void NandArray::Striped::deal(const PageRead& page, std::uint32_t m) {
    if (page.to.empty() || in_pages()) return;
    const std::byte* from = scratch_.data();
    const std::uint32_t end = page.offset + page.bytes;
    for (std::uint32_t stripe = page.offset / stripe_; stripe * stripe_ < end; ++stripe) {
        if (stripe % width_ != m) continue;
        const std::uint32_t first = std::max(page.offset, stripe * stripe_);
        const std::uint32_t bytes = std::min(end, (stripe + 1) * stripe_) - first;
        std::memcpy(page.to.data() + (first - page.offset), from, bytes);
        from += bytes;
    }
}

std::span<const std::byte> NandArray::Striped::part_of(std::span<const std::byte> data, std::uint32_t m, std::size_t at) {
    const std::uint32_t part = chips_.geometry.page_bytes();
    if (data.empty()) return data;
    if (in_pages()) return data.subspan(std::size_t{m} * part, part);
    const auto to = std::span{scratch_}.subspan(at * part, part);
    for (std::uint32_t stripe = 0; stripe * stripe_ < part; ++stripe)
        std::memcpy(to.data() + stripe * stripe_, data.data() + (std::size_t{stripe} * width_ + m) * stripe_, stripe_);
    return to;
}

NandArray::Striped::Done NandArray::Striped::read(const PageRead& page, const Io& io) {
    ensure(page.offset <= geometry_.page_bytes() && page.bytes <= geometry_.page_bytes() - page.offset, "a read stays within its page");
    ensure(page.to.empty() || page.to.size() == page.bytes, "a read's target has the read's length");
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (range(page.offset, page.bytes, m).bytes == 0 && !(m == 0 && page.bytes == 0)) continue;
        join(all, read_part(page, m, io), page.page);
    }
    return all;
}

NandArray::Striped::Done NandArray::Striped::read_part(const PageRead& page, std::uint32_t m, const Io& io) {
    const Range part = range(page.offset, page.bytes, m);
    const Done done = chips_.read(PageRead{member(page.page, m), part.begin, part.bytes, target_of(page, part, m)}, io);
    deal(page, m);
    return done;
}

/// Member by member: a command where it has something of both pages.
NandArray::Striped::Done NandArray::Striped::read_two_plane(std::span<const PageRead, 2> pages, const Io& io) {
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        const std::array parts{range(pages[0].offset, pages[0].bytes, m), range(pages[1].offset, pages[1].bytes, m)};
        if (!in_pages() || parts[0].bytes == 0 || parts[1].bytes == 0) {
            for (std::size_t i = 0; i < 2; ++i)
                if (parts[i].bytes != 0) join(all, read_part(pages[i], m, io), pages[i].page);
            continue;
        }
        const auto part = [&](std::size_t i) {
            return PageRead{member(pages[i].page, m), parts[i].begin, parts[i].bytes, target_of(pages[i], parts[i], m)};
        };
        const std::array both{part(0), part(1)};
        const Done one = chips_.read_two_plane(both, io);
        join(all, one, !one && one.error().page == both[1].page ? pages[1].page : pages[0].page);
    }
    return all;
}

NandArray::Striped::Done NandArray::Striped::read(std::span<const PageRead> pages, const Io& io) {
    Done all = io.when;
    for (const PageRead& page : pages) {
        const Done one = read(page, io);
        if (!all) continue;
        all = one ? Done{std::max(*all, *one)} : one;
    }
    return all;
}

std::expected<OobRead, NandError> NandArray::Striped::read_oob(Ppn page, const Io& io) {
    StoredOob all;
    SimTime done = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        auto one = chips_.read_oob(member(page, m), io);
        if (!one) {
            one.error().page = page;
            return std::unexpected(one.error());
        }
        done = std::max(done, one->done);
        const StoredOob part{one->state, one->oob};
        if (m == 0)
            all = part;
        else
            join(all, part);
    }
    return OobRead{all.oob, all.state, done};
}

NandArray::Striped::Done NandArray::Striped::program(std::span<const PageProgram> pages, const Io& io) {
    const std::uint32_t part = chips_.geometry.page_bytes();
    ensure(!pages.empty(), "a program has one page a plane");
    for (const PageProgram& page : pages) {
        ensure(page.data.empty() || page.data.size() == geometry_.page_bytes(), "a program has a whole page of data");
        ensure(page.bytes <= geometry_.page_bytes(), "a partial program stays within its page");
    }
    if (!in_pages()) scratch_.resize(std::max(scratch_.size(), pages.size() * part));
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        parts_.clear();
        for (const PageProgram& page : pages) {
            const auto data = part_of(page.data, m, parts_.size());
            // A part without data is programmed, too: the page can be written only once, and all its parts must carry its OOB.
            const std::uint32_t bytes = page.bytes == 0 ? 0 : std::max(1u, share(page.bytes, m));
            parts_.push_back({member(page.page, m), data, page.oob, bytes});
        }
        Done one = chips_.program(parts_, io);
        Ppn failed = pages.front().page;
        for (std::size_t i = 0; !one && i < pages.size(); ++i) {
            if (parts_[i].page == one.error().page) failed = pages[i].page;
        }
        join(all, one, failed);
        if (has_failed_image(all)) return all;
    }
    return all;
}

std::expected<CopiedPage, NandError> NandArray::Striped::copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) {
    const auto whole = inspect_oob(from);
    if (!whole) return std::unexpected(whole.error());
    Done all = io.when;
    if (whole->state != CellState::programmed || !whole->oob) {
        for (std::uint32_t m = 0; m < width_; ++m) join(all, chips_.read(PageRead{member(from, m), 0, chips_.geometry.page_bytes(), {}}, io), from);
        return std::unexpected(all ? NandError{NandErrorKind::uncorrectable, from, *all} : all.error());
    }
    for (std::uint32_t m = 0; m < width_; ++m) {
        const auto one = chips_.copy(member(from, m), member(to, m), marks, io);
        join(all, one ? Done{one->done} : std::unexpected(one.error()), !one && one.error().page == member(to, m) ? to : from);
        if (has_failed_image(all)) break;
    }
    if (!all) return std::unexpected(all.error());
    return CopiedPage{*all, oob_of_copy(*whole->oob, marks)};
}

NandArray::Striped::Done NandArray::Striped::erase(BlockId block, CellType mode, const Io& io) {
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        join(all, chips_.erase(member(block, m), mode, io), geometry_.page_of(block, 0));
        if (has_failed_image(all)) return all;
    }
    return all;
}

NandArray::Striped::Done NandArray::Striped::erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) {
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        const std::array both{member(blocks[0], m), member(blocks[1], m)};
        const Done one = chips_.erase_two_plane(both, io);
        join(all, one, geometry_.page_of(!one && chips_.geometry.block_of(one.error().page) == both[1] ? blocks[1] : blocks[0], 0));
        if (has_failed_image(all)) return all;
    }
    return all;
}

NandArray::Striped::Done NandArray::Striped::mark_bad(BlockId block, SimTime now) {
    for (std::uint32_t m = 0; m < width_; ++m) now = chips_.busy_until(member(block, m), now); // all members' marks stand from one instant on
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (auto marked = chips_.mark_bad(member(block, m), now); !marked) return marked;
    }
    return now;
}

std::expected<StoredOob, NandError> NandArray::Striped::inspect_oob(Ppn page) {
    StoredOob all;
    for (std::uint32_t m = 0; m < width_; ++m) {
        const auto part = chips_.oob_of(member(page, m));
        if (!part) return std::unexpected(NandError{NandErrorKind::host_io, page, sim_start, part.error().error_number});
        if (m == 0)
            all = *part;
        else
            join(all, *part);
    }
    return all;
}

bool NandArray::Striped::is_bad(BlockId block) const {
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (chips_.blocks.is_bad(member(block, m))) return true;
    }
    return false;
}

bool NandArray::Striped::is_factory_bad(BlockId block) const {
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (chips_.blocks.is_factory_bad(member(block, m))) return true;
    }
    return false;
}

CellType NandArray::Striped::mode_of(BlockId block) const {
    CellType least = chips_.blocks.mode(member(block, 0));
    for (std::uint32_t m = 1; m < width_; ++m) least = std::min(least, chips_.blocks.mode(member(block, m)));
    return least;
}

std::uint32_t NandArray::Striped::erase_count(BlockId block) const {
    std::uint32_t most = 0;
    for (std::uint32_t m = 0; m < width_; ++m) most = std::max(most, chips_.blocks.erase_count(member(block, m)));
    return most;
}

/// A cut may leave one member a page behind the others. The pointer is the largest one of the members.
std::uint32_t NandArray::Striped::write_pointer(BlockId block) {
    std::uint32_t most = 0;
    for (std::uint32_t m = 0; m < width_; ++m) {
        most = std::max(most, chips_.blocks.write_pointer(member(block, m)).value_or(chips_.geometry.pages_per_block()));
    }
    return most;
}

SimTime NandArray::Striped::plane_free_at(PlaneId plane) const {
    SimTime latest = sim_start;
    for (std::uint32_t m = 0; m < width_; ++m) latest = std::max(latest, chips_.scheduler.plane_free_at(member(plane, m)));
    return latest;
}

} // namespace flashlab

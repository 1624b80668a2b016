#include "nand/striping.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {

/// The worst of the members' answers: an error of the image before one of the flash, otherwise the latest end.
void join(NandArray::Result& all, NandArray::Result one, Ppn page) {
    if (!one) one.error().page = page;
    if (!all && !one) {
        const SimTime done = std::max(all.error().done, one.error().done);
        if (one.error().kind == NandErrorKind::host_io) all = one;
        all.error().done = done;
    } else if (!all) {
        all.error().done = std::max(all.error().done, *one);
    } else if (!one) {
        one.error().done = std::max(one.error().done, *all);
        all = one;
    } else {
        all = std::max(*all, *one);
    }
}

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
    : chips_{chips}, width_{width}, geometry_{wide(chips.geometry, width)}, planes_{chips.geometry.planes() / chips.geometry.channels()},
      blocks_{chips.geometry.blocks() / chips.geometry.channels()}, pages_{chips.geometry.pages() / chips.geometry.channels()} {}

NandArray::Striped::Done NandArray::Striped::read(const PageRead& page, SimTime now, Origin origin) {
    ensure(page.offset <= geometry_.page_bytes() && page.bytes <= geometry_.page_bytes() - page.offset, "a read stays within its page");
    ensure(page.to.empty() || page.to.size() == page.bytes, "a read's target has the read's length");
    const std::uint32_t part = chips_.geometry.page_bytes();
    Done all = now;
    for (std::uint32_t m = 0; m < width_; ++m) {
        const std::uint32_t begin = std::clamp(page.offset, m * part, (m + 1) * part);
        const std::uint32_t end = std::clamp(page.offset + page.bytes, m * part, (m + 1) * part);
        if (begin == end && !(m == 0 && page.bytes == 0)) continue;
        const auto to = page.to.empty() ? page.to : page.to.subspan(begin - page.offset, end - begin);
        join(all, chips_.read(PageRead{member(page.page, m), begin - m * part, end - begin, to}, now, origin), page.page);
    }
    return all;
}

NandArray::Striped::Done NandArray::Striped::read(std::span<const PageRead> pages, SimTime now, Origin origin) {
    Done all = now;
    for (const PageRead& page : pages) {
        const Done one = read(page, now, origin);
        if (!all) continue;
        all = one ? Done{std::max(*all, *one)} : one;
    }
    return all;
}

std::expected<OobRead, NandError> NandArray::Striped::read_oob(Ppn page, SimTime now, Origin origin) {
    StoredOob all;
    SimTime done = now;
    for (std::uint32_t m = 0; m < width_; ++m) {
        auto one = chips_.read_oob(member(page, m), now, origin);
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

NandArray::Striped::Done NandArray::Striped::program(std::span<const PageProgram> pages, SimTime now, Origin origin) {
    const std::uint32_t part = chips_.geometry.page_bytes();
    ensure(!pages.empty(), "a program has one page a plane");
    for (const PageProgram& page : pages) {
        ensure(page.data.empty() || page.data.size() == geometry_.page_bytes(), "a program has a whole page of data");
        ensure(page.bytes <= geometry_.page_bytes(), "a partial program stays within its page");
    }
    Done all = now;
    for (std::uint32_t m = 0; m < width_; ++m) {
        parts_.clear();
        for (const PageProgram& page : pages) {
            const auto data = page.data.empty() ? page.data : page.data.subspan(std::size_t{m} * part, part);
            // A part without data is programmed, too: the page can be written only once, and all its parts must carry its OOB.
            const std::uint32_t bytes = page.bytes == 0 ? 0 : std::clamp(page.bytes, m * part + 1, (m + 1) * part) - m * part;
            parts_.push_back({member(page.page, m), data, page.oob, bytes});
        }
        Done one = chips_.program(parts_, now, origin);
        Ppn failed = pages.front().page;
        for (std::size_t i = 0; !one && i < pages.size(); ++i) {
            if (parts_[i].page == one.error().page) failed = pages[i].page;
        }
        join(all, one, failed);
        if (!all && all.error().kind == NandErrorKind::host_io) return all;
    }
    return all;
}

std::expected<CopiedPage, NandError> NandArray::Striped::copy(Ppn from, Ppn to, std::optional<std::uint32_t> scheme_word, SimTime now,
                                                              Origin origin) {
    const auto whole = inspect_oob(from);
    if (!whole) return std::unexpected(whole.error());
    Done all = now;
    if (whole->state != CellState::programmed || !whole->oob) {
        for (std::uint32_t m = 0; m < width_; ++m)
            join(all, chips_.read(PageRead{member(from, m), 0, chips_.geometry.page_bytes(), {}}, now, origin), from);
        return std::unexpected(all ? NandError{NandErrorKind::uncorrectable, from, *all} : all.error());
    }
    for (std::uint32_t m = 0; m < width_; ++m) {
        const auto one = chips_.copy(member(from, m), member(to, m), scheme_word, now, origin);
        join(all, one ? Done{one->done} : std::unexpected(one.error()), !one && one.error().page == member(to, m) ? to : from);
        if (!all && all.error().kind == NandErrorKind::host_io) break;
    }
    if (!all) return std::unexpected(all.error());
    PageOob oob = *whole->oob;
    if (scheme_word) oob.scheme_word = *scheme_word;
    return CopiedPage{*all, oob};
}

CopiedRun NandArray::Striped::copy_run(Ppn from, Ppn to, std::uint32_t pages, SimTime now, Origin origin) {
    CopiedRun run{.pages = 0, .done = now, .failed = std::nullopt};
    for (; run.pages < pages; ++run.pages) {
        const auto copied = copy(Ppn{from.value() + run.pages}, Ppn{to.value() + run.pages}, std::nullopt, run.done, origin);
        if (!copied) {
            run.failed = copied.error();
            break;
        }
        run.done = copied->done;
    }
    return run;
}

NandArray::Striped::Done NandArray::Striped::erase(BlockId block, SimTime now, Origin origin) {
    Done all = now;
    for (std::uint32_t m = 0; m < width_; ++m) {
        join(all, chips_.erase(member(block, m), now, origin), geometry_.page_of(block, 0));
        if (!all && all.error().kind == NandErrorKind::host_io) return all;
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

std::expected<PageRecord, NandError> NandArray::Striped::inspect(Ppn page) {
    const auto known = inspect_oob(page);
    if (!known) return std::unexpected(known.error());
    PageRecord record{.state = known->state};
    if (known->oob)
        known->oob->encode(record.oob);
    else if (known->state != CellState::erased)
        record.oob.fill(std::byte{0xff});
    return record;
}

std::expected<void, NandError> NandArray::Striped::inspect(BlockId block, std::span<PageRecord> to) {
    for (std::uint32_t page = 0; page < to.size(); ++page) {
        const auto record = inspect(geometry_.page_of(block, page));
        if (!record) return std::unexpected(record.error());
        to[page] = *record;
    }
    return {};
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

#include "ftl/maps/translation_pages.h"

#include <cstring>

namespace flashlab {

TranslationDirectory::TranslationDirectory(const TableParts& parts, DemandCounters& counted, std::uint32_t entries_per_page)
    : parts_{parts}, units_{parts.blocks.units()}, counted_{counted}, page_(units_.bytes_per_unit()), entries_per_page_{entries_per_page},
      to_page_{entries_per_page}, gtd_((parts.logical_pages + entries_per_page - 1) / entries_per_page, map_entry::unmapped) {}

FtlResult<SimTime> TranslationDirectory::read(std::uint32_t page, const Io& io) {
    const UnitId unit = *map_entry::unit(gtd_[page]);
    SimTime done = io.when;
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        const auto read = parts_.array.read(PageRead{units_.page_of(unit, p), 0, units_.geometry().page_bytes(), {}}, io.as(Cause::map));
        if (!read) return std::unexpected(parts_.blocks.fail(read.error(), Lpn{page * entries_per_page_}));
        done = std::max(done, *read);
    }
    ++counted_.translation_reads;
    return done;
}

FtlResult<std::optional<SimTime>> TranslationDirectory::program(std::uint32_t page, std::span<const std::byte> content, const Io& io) {
    PageBlocks& blocks = parts_.blocks;
    const auto placed = blocks.write_row({{Lpn{page}, 1, content}, PageKind::translation, frontier, 0, 0, home_of(page), true}, io.as(Cause::map));
    if (!placed) return std::unexpected(placed.error());
    if (placed->count == 0) return std::nullopt;
    const UnitId unit = blocks.unit_of(*placed, 0);
    if (const auto old = map_entry::unit(gtd_[page])) blocks.invalidate(*old, placed->end);
    blocks.validate(unit);
    gtd_[page] = map_entry::of(unit);
    ++counted_.translation_writes;
    return placed->end;
}

FtlResult<SimTime> TranslationDirectory::load_page(std::uint32_t page, SimTime now, FtlRecovery& report) {
    const std::uint32_t page_bytes = units_.geometry().page_bytes();
    const UnitId unit = *map_entry::unit(gtd_[page]);
    if (unit.value() >= units_.units()) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, now});
    SimTime done = now;
    for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
        const auto part = std::span{page_}.subspan(std::size_t{p} * page_bytes, page_bytes);
        const auto read = parts_.array.read(PageRead{units_.page_of(unit, p), 0, page_bytes, part}, {now, {Cause::recovery, no_event}});
        if (!read) return std::unexpected(parts_.blocks.fail(read.error(), Lpn{page * entries_per_page_}));
        done = std::max(done, *read);
        ++report.pages_scanned;
    }
    return done;
}

void TranslationDirectory::check(MapCheck& map, std::vector<CheckProblem>& out) const {
    const PageBlocks& blocks = parts_.blocks;
    for (std::uint32_t p = 0; p < count(); ++p)
        if (const auto unit = map_entry::unit(gtd_[p]))
            map.check({Lpn{p}, PageKind::translation, *unit}, blocks.valid().test(*unit), blocks.next_sequence(), out);
}

TranslationPages::TranslationPages(const TableParts& parts, DemandCounters& counted)
    : TranslationDirectory{parts, counted, entries_in(parts.blocks.units())}, stored_(std::size_t{count()} * entries_per_page()) {}

/// As it is to lie on flash; nothing where no payload is kept.
std::span<const std::byte> TranslationPages::content(std::uint32_t page, std::span<const NewEntry> changed) {
    if (!parts_.array.keeps_payload()) return {};
    std::memcpy(page_.data(), entries_of(page).data(), page_.size());
    for (const NewEntry& e : changed) std::memcpy(page_.data() + std::size_t{index_in_page(e.lpn)} * 4, &e.entry, 4);
    return page_;
}

FtlResult<std::optional<SimTime>> TranslationPages::write(std::uint32_t page, std::span<const NewEntry> changed, const Io& io, bool is_held) {
    SimTime at = io.when;
    if (exists(page) && !is_held) {
        const auto old = read(page, io);
        if (!old) return std::unexpected(old.error());
        at = *old;
    }
    for (const NewEntry& e : changed) at = std::max(at, programmed_by(e));
    const auto written = program(page, content(page, changed), io.at(at));
    if (written && *written)
        for (const NewEntry& e : changed) stored_[e.lpn.value()] = e.entry;
    return written;
}

std::optional<UnitId> TranslationPages::forget(std::uint32_t page) {
    const auto unit = TranslationDirectory::forget(page);
    if (unit) std::ranges::fill(entries_of(page), map_entry::unmapped);
    return unit;
}

FtlResult<void> TranslationPages::load(PageJournal::Start& start, FtlRecovery& report) {
    return TranslationDirectory::load(start, report, [this](std::uint32_t page, std::span<const std::byte> bytes) {
        std::memcpy(entries_of(page).data(), bytes.data(), bytes.size());
    });
}

} // namespace flashlab

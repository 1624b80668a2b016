/// Programs: what a call may ask for, and what it leaves in the store and in the undo log.
#include <algorithm>

#include "base/contract.h"
#include "base/crc32c.h"
#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

namespace {

/// What the event of one page says of a program of several: its share of the bus, and the cells of its plane, which the first page there has. So
/// what pages say adds up to what the flash did.
Scheduler::Reservation share_of(Scheduler::Reservation when, std::size_t page, std::size_t pages, bool shares_line) {
    const auto part = [&](std::size_t n) {
        return when.bus_in + (when.bus_in_end - when.bus_in) * static_cast<std::int64_t>(n) / static_cast<std::int64_t>(pages);
    };
    const SimTime from = part(page), until = part(page + 1);
    when.bus_in = from;
    when.bus_in_end = until;
    if (shares_line) when.cells_end = when.cells;
    return when;
}

} // namespace

/// Checks the contract of a call of program() and fills planes_ and addresses_. Returns the number of pages on each plane.
std::size_t NandArray::Impl::take_call(std::span<const PageProgram> pages) {
    ensure(!cut_, "no operation after a power cut");
    ensure(!pages.empty() && pages.size() <= addresses_.size(), "a program has one page a plane");
    const std::uint32_t page_bytes = geometry.page_bytes();
    std::size_t planes = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        ensure(page_.empty() || pages[i].data.size() == page_bytes, "a program has a whole page of data");
        ensure(pages[i].bytes <= page_bytes, "a partial program stays within its page");
        addresses_[i] = address_of(pages[i].page);
        const PlaneId plane = geometry.plane_of(addresses_[i].block);
        if (planes == 0 || pages_a_program == 1 || planes_[planes - 1] != plane) planes_[planes++] = plane;
    }
    planes_taken_ = {planes_.data(), planes};
    const std::size_t each = planes == pages.size() ? 1 : pages.size() / planes;
    if (pages.size() != 1 || config.options.subpages != 1) check_places(pages.size(), each);
    return each;
}

void NandArray::Impl::check_places(std::size_t pages, std::size_t each) const {
    ensure(planes_taken_.size() <= geometry.planes_per_die() && planes_taken_.size() * each == pages, "a program has as many pages on each plane");
    for (std::size_t i = 1; i < planes_taken_.size(); ++i) {
        ensure(geometry.die_of(planes_[i]) == geometry.die_of(planes_[0]), "a multi-plane program stays on one die");
        for (std::size_t j = 0; j < i; ++j) ensure(planes_[i] != planes_[j], "a multi-plane program has one page a plane");
    }
    const std::uint32_t first = addresses_[0].page;
    const CellType mode = blocks.mode(addresses_[0].block);
    const std::uint32_t at_most = config.pages_a_program(mode), subpages = config.options.subpages;
    ensure(first % subpages == 0 && each % subpages == 0, "a program takes whole pages of the chip (nand.subpages)");
    ensure(each == 1 || first % at_most + each <= at_most,
           "a program stays within a page of the chip, or a word line (nand.one_shot) of the cells' own mode");
    for (std::size_t i = 0, of_line = 0; i < pages; ++i) {
        ensure(addresses_[i].page == first + of_line, "a multi-plane program has one page offset, and pages of a word line follow each other");
        ensure(blocks.mode(addresses_[i].block) == mode, "a multi-plane program goes to blocks of one mode");
        ensure(of_line == 0 || addresses_[i].block == addresses_[i - 1].block, "a word line lies in one block");
        if (++of_line == each) of_line = 0;
    }
}

bool NandArray::Impl::any_fails(std::span<const PageProgram> pages) const {
    bool fails = false;
    for (const PageProgram& page : pages) fails = faults->program_fails(page.page) || fails;
    return fails;
}

NandArray::Impl::Done NandArray::Impl::program(std::span<const PageProgram> pages, const Io& io) {
    SimTime now = io.when;
    for (const PageProgram& page : pages) {
        if (!guard) break;
        const Done protected_at = guard->before_program(page.page, page.oob.kind, now);
        if (!protected_at) return protected_at;
        now = *protected_at;
    }
    const std::size_t each = take_call(pages);
    if (io.transfer != nullptr) {
        for (const PageProgram& page : pages)
            if (page.by == nullptr) now = std::max(now, io.transfer->arrival_of(page.oob.lpn));
    }
    if (faults != nullptr) [[unlikely]]
        now = faults->program_from(pages.front().page, now);
    SimTime cells_from = now;
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const auto& [block, at] = addresses_[i];
        if (const auto pointer = blocks.write_pointer(block); !pointer) return std::unexpected(host_error(pointer.error(), pages[i].page, now));
        blocks.check_program(block, at);
        cells_from = blocks.program_ready(block, cells_from);
        bytes = std::max(bytes, pages[i].bytes == 0 ? geometry.page_bytes() : pages[i].bytes);
    }
    const auto when = scheduler.program({planes_taken_, addresses_.front().page, static_cast<std::uint32_t>(each), bytes,
                                         io.origin.cause == Cause::user, io.is_behind, medium_of(addresses_.front().block)},
                                        now, cells_from);
    const PageProgram* failed = nullptr; ///< the first
    cause_ = io.origin.cause;
    bool fails = false;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const PageProgram& page = pages[i];
        const bool shares_line = each != 1 && i % each != 0;
        if (faults != nullptr && !shares_line) [[unlikely]]
            fails = any_fails(pages.subspan(i, each)); // pages of one word line fail together
        if (!shares_line) {
            const auto stored = put(pages.subspan(i, each), std::span{addresses_}.subspan(i, each), when, fails);
            if (!stored) return std::unexpected(host_error(stored.error(), page.page, when.end));
        }
        if (guard) guard->after_program(page.page, when.end);
        const Origin& by = page.by == nullptr ? io.origin : *page.by;
        ++counters.programs[static_cast<std::size_t>(by.cause)];
        if (events.wants(EventLevel::all))
            emit(NandOp::program, share_of(when, i, pages.size(), shares_line), by, addresses_[i].block, addresses_[i].page, &page.oob);
        if (fails && failed == nullptr) failed = &page;
    }
    if (planes_taken_.size() > 1) ++counters.multi_plane_programs;
    if (each != 1) counters.programs_along += pages.size() - planes_taken_.size();
    if (failed != nullptr) return std::unexpected(NandError{NandErrorKind::program_failed, failed->page, when.end});
    return when.end;
}

std::expected<bool, HostIoError> NandArray::Impl::is_weak(Ppn page, BlockId block) {
    if (!blocks.has_weak(block)) [[likely]]
        return false;
    const auto record = store.read_record(page);
    if (!record) return std::unexpected(record.error());
    return record->state == CellState::weak;
}

/// Of a page, or of a word line, whose pages follow each other. Order: the payload of the undo records, then the data, then the page records, which
/// make the data count.
std::expected<void, HostIoError> NandArray::Impl::put(std::span<const PageProgram> line, std::span<const PageAddress> at,
                                                      const Scheduler::Reservation& when, bool fails) {
    for (std::size_t i = 0; undo_policy == UndoPolicy::keep && i < line.size(); ++i) {
        const auto weak = is_weak(line[i].page, at[i].block);
        if (!weak) return std::unexpected(weak.error());
        const Cause cause = line[i].by == nullptr ? cause_ : line[i].by->cause;
        if (auto logged = log_program(line[i].page, when, *weak ? CellState::weak : CellState::erased, i != 0, cause); !logged) return logged;
    }
    if (!page_.empty()) { // payload is kept
        for (std::size_t i = 0; i < line.size(); ++i) data_[i] = line[i].data;
        if (auto wrote = store.write_run(line.front().page, std::span{data_}.first(line.size())); !wrote) return wrote;
    }
    for (std::size_t i = 0; i < line.size(); ++i)
        if (auto wrote = put_record(line[i], at[i], when.end, fails); !wrote) return wrote;
    return {};
}

/// Over weak cells the chip reports success and keeps garbage.
std::expected<void, HostIoError> NandArray::Impl::put_record(const PageProgram& page, PageAddress at, SimTime end, bool fails) {
    const auto weak = is_weak(page.page, at.block);
    if (!weak) return std::unexpected(weak.error());
    const std::uint32_t data_crc = page_.empty() ? 0 : crc32c(page.data);
    if (fails || *weak) [[unlikely]] {
        PageRecord garbage{.state = CellState::garbage, .data_crc = data_crc};
        garbage.oob.fill(std::byte{0xff});
        if (auto wrote = store.write_record(page.page, garbage); !wrote) return wrote;
    } else if (auto wrote = store.write_programmed(page.page, page.oob, data_crc); !wrote) {
        return wrote;
    }
    blocks.note_program(at.block, at.page, end, fails || *weak);
    if (!bit_errors || !blocks.note_programmed(at.block, end)) return {};
    return store.write_block(at.block, blocks.record_of(at.block));
}

/// Is there an erase in the log that, when undone, brings back a program of this page?
bool NandArray::Impl::erase_may_need_payload(Ppn page) const {
    const std::uint32_t at = geometry.page_in_block(page);
    for (std::uint64_t erase = last_erase_[geometry.block_of(page).value()]; log_.holds(erase); erase = log_.at(erase).previous_erase) {
        if (log_.at(erase).old_records[at].state != CellState::erased) return true;
    }
    return false;
}

std::expected<void, HostIoError> NandArray::Impl::log_program(Ppn page, const Scheduler::Reservation& when, CellState old_state, bool shares_line,
                                                              Cause cause) {
    UndoRecord record{.kind = UndoRecord::Kind::program,
                      .page = page,
                      .cells = when.cells,
                      .end = when.end,
                      .shares_line = shares_line,
                      .cause = cause,
                      .old_state = old_state};
    if (store.keeps_payload() && erase_may_need_payload(page)) {
        record.old_payload = log_.payload_buffer();
        record.old_payload.resize(geometry.page_bytes());
        if (auto read = store.read_data(page, 0, record.old_payload); !read) return read;
    }
    log_.push(std::move(record));
    return {};
}

NandArray::Impl::Done NandArray::Impl::program_backup(Ppn page, const BackupOob& oob, std::span<const std::byte> data, SimTime now) {
    const PageAddress at = address_of(page);
    if (const auto pointer = blocks.write_pointer(at.block); !pointer) return std::unexpected(host_error(pointer.error(), page, now));
    blocks.check_program(at.block, at.page);
    const PlaneId plane = geometry.plane_of(at.block);
    const auto when = scheduler.program({{&plane, 1}, at.page, 1, geometry.page_bytes(), false, true, medium_of(at.block)}, now,
                                        blocks.program_ready(at.block, now));
    const bool fails = faults != nullptr && faults->program_fails(page);
    cause_ = Cause::backup;
    const PageProgram program{page, data, oob.origin};
    const auto stored = put({&program, 1}, {&at, 1}, when, fails);
    if (!stored) return std::unexpected(host_error(stored.error(), page, when.end));
    if (!fails) {
        PageRecord record{.state = CellState::programmed, .oob = oob.encode(), .data_crc = data.empty() ? 0 : crc32c(data)};
        if (auto wrote = store.write_record(page, record); !wrote) return std::unexpected(host_error(wrote.error(), page, when.end));
    }
    ++counters.programs[static_cast<std::size_t>(Cause::backup)];
    if (events.wants(EventLevel::all)) emit(NandOp::program, when, {Cause::backup, no_event}, at.block, at.page, &oob.origin);
    if (fails) return std::unexpected(NandError{NandErrorKind::program_failed, page, when.end});
    return when.end;
}

} // namespace flashlab

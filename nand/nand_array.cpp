#include "nand/nand_array.h"

#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "base/crc32c.h"
#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

NandArray::Impl::Impl(const Geometry& geometry_, const NandConfig& config_, PageStore& store_, EventSink& events_, UndoPolicy undo_)
    : geometry{geometry_}, config{config_}, store{store_}, events{events_}, undo_policy{undo_}, media{config_},
      blocks{geometry_, config_, media, store_}, scheduler{geometry_, config_, media}, pairs{geometry_.config()},
      pages_a_program{config_.pages_a_program()}, page_(store_.keeps_payload() ? geometry_.page_bytes() : 0),
      planes_(std::size_t{geometry_.planes_per_die()} * pages_a_program, PlaneId{0}), addresses_(planes_.size(), PageAddress{BlockId{0}, 0}),
      data_(planes_.size()), copies_plainly_{undo_ == UndoPolicy::none && !config_.errors.are_on() && !store_.keeps_payload() &&
                                             config_.options.subpages == 1 && backup_blocks_per_die(config_) == 0 && scheduler.copies_runs()} {
    if (undo_ == UndoPolicy::keep) last_erase_.assign(geometry.blocks(), UndoRecord::no_index);
    if (config.errors.are_on()) bit_errors = std::make_unique<BitErrors>(geometry, config);
    if (backup_blocks_per_die(config) > 0) guard = std::make_unique<PairGuard>(*this);
}

NandArray::Impl::~Impl() = default;

Scheduler::Reservation NandArray::Impl::reserve_read(PageAddress page, std::uint32_t bytes, const Io& io, PagePart part) {
    ensure(!cut_, "no operation after a power cut");
    const auto when = scheduler.read(geometry.plane_of(page.block), medium_of(page.block), bytes, blocks.read_ready(page.block, page.page, io.when),
                                     io.origin.cause == Cause::user, part);
    blocks.note_read(page.block, when.end);
    if (bit_errors) note_sensed(page.block);
    return when;
}

void NandArray::Impl::note_sensed(BlockId block) {
    if (!blocks.note_sensed(block)) return;
    (void)store.write_block(block, blocks.record_of(block)); // the image remembers what it could not write, and takes nothing more
}

NandArray::Impl::Sensed NandArray::Impl::sense(Ppn page, PageAddress at, std::uint32_t bytes, const Io& io) {
    Sensed sensed{reserve_read(at, bytes, io, PagePart::data)};
    if (bit_errors) sense_again(sensed, page, at, bytes, io);
    return sensed;
}

void NandArray::Impl::sense_again(Sensed& sensed, Ppn page, PageAddress at, std::uint32_t bytes, const Io& io) {
    const bool is_written = at.page < blocks.write_pointer(at.block).value_or(0);
    const auto needed = is_written ? bit_errors->retries(page, at.block, blocks.record_of(at.block), io.when) : std::optional{0u};
    const std::uint32_t again = needed.value_or(config.errors.read_retries);
    for (std::uint32_t retry = 0; retry < again; ++retry) {
        ++counters.reads[static_cast<std::size_t>(io.origin.cause)];
        if (events.wants(EventLevel::all)) emit_read(sensed.when, io.origin, page);
        sensed.when = reserve_read(at, bytes, io.at(sensed.when.end + config.errors.ecc_decode), PagePart::data);
    }
    sensed.when.end += config.errors.ecc_decode;
    sensed.is_corrected = needed.has_value();
    counters.read_retries += again;
    if (!needed) ++counters.uncorrected_reads;
    if (again != 0 || !needed) note_tired(page, at.block, needed.value_or(again + 1));
}

/// Only where writing the data anew would help.
void NandArray::Impl::note_tired(Ppn page, BlockId block, std::uint32_t retries) {
    constexpr std::size_t most_tired = 64;
    if (tired.size() == most_tired || (!tired.empty() && tired.back().block == block)) return;
    if (bit_errors->retries_when_new(page, blocks.record_of(block)) < retries) tired.push_back({block, retries, blocks.erase_count(block)});
}

std::expected<void, HostIoError> NandArray::Impl::grow_older(Duration time) {
    if (!bit_errors) return {};
    for (const BlockId block : ids<BlockId>(geometry.blocks())) {
        blocks.grow_older(block, BlockAge::minutes_in(time));
        if (auto wrote = store.write_block(block, blocks.record_of(block)); !wrote) return wrote;
    }
    return {};
}

std::expected<CellState, HostIoError> NandArray::Impl::state_of(Ppn page, PageAddress at) {
    const auto pointer = blocks.write_pointer(at.block);
    if (!pointer) return std::unexpected(pointer.error());
    if (at.page >= *pointer) return CellState::erased;
    if (blocks.all_programmed(at.block)) [[likely]]
        return CellState::programmed;
    const auto record = store.read_record(page);
    if (!record) return std::unexpected(record.error());
    return as_read(record->state);
}

/// The data stay in the store for the read at hand, but the record no longer promises them.
std::expected<void, HostIoError> NandArray::Impl::use_up(Ppn page) {
    auto record = store.read_record(page);
    if (!record) return std::unexpected(record.error());
    record->state = CellState::garbage;
    record->oob.fill(std::byte{0xff});
    return store.write_record(page, *record);
}

std::expected<void, NandError> NandArray::Impl::fetch(const PageRead& page, SimTime done) {
    const auto record = store.read_record(page.page);
    if (!record) return std::unexpected(read_error(record.error(), page.page, done));
    const bool is_whole = page.bytes == geometry.page_bytes();
    const std::span<std::byte> whole = is_whole ? page.to : std::span{page_};
    if (auto read = store.read_data(page.page, 0, whole); !read) return std::unexpected(host_error(read.error(), page.page, done));
    if (crc32c(whole) != record->data_crc) return std::unexpected(NandError{NandErrorKind::uncorrectable, page.page, done});
    if (!is_whole) std::memcpy(page.to.data(), whole.data() + page.offset, page.bytes);
    return {};
}

NandArray::Impl::Done NandArray::Impl::read(const PageRead& page, const Io& io) {
    check_read_call(page);
    const PageAddress at = address_of(page.page);
    return finish_read(page, at, sense(page.page, at, page.bytes, io), io);
}

NandArray::Impl::Done NandArray::Impl::finish_read(const PageRead& page, PageAddress at, const Sensed& sensed, const Io& io) {
    const Scheduler::Reservation& when = sensed.when;
    ++counters.reads[static_cast<std::size_t>(io.origin.cause)];
    if (events.wants(EventLevel::all)) emit_read(when, io.origin, page.page);
    const auto state = state_of(page.page, at);
    if (!state) return std::unexpected(read_error(state.error(), page.page, when.end));
    if (*state == CellState::erased) return std::unexpected(NandError{NandErrorKind::erased_page, page.page, when.end});
    if (*state == CellState::garbage && guard) {
        if (const auto* backup = guard->backup_of(page.page)) return read(PageRead{backup->at, page.offset, page.bytes, page.to}, io.at(when.end));
    }
    if (!sensed.is_corrected || (faults != nullptr && faults->read_fails(page.page)))
        return std::unexpected(NandError{NandErrorKind::uncorrectable, page.page, when.end});
    if (io.transfer != nullptr) io.transfer->out.push_back({when.end, page.bytes});
    if (*state == CellState::unstable) [[unlikely]] {
        if (auto used = use_up(page.page); !used) return std::unexpected(host_error(used.error(), page.page, when.end));
    } else if (*state != CellState::programmed) {
        return std::unexpected(NandError{NandErrorKind::uncorrectable, page.page, when.end});
    }
    if (!page.to.empty() && store.keeps_payload()) {
        if (auto fetched = fetch(page, when.end); !fetched) return std::unexpected(fetched.error());
    }
    return when.end;
}

NandArray::Impl::Done NandArray::Impl::read(std::span<const PageRead> pages, const Io& io) {
    Done all = io.when;
    SimTime last = io.when;
    fetches_.clear();
    Sensed sensed;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const PageRead& page = pages[i];
        PageRead cells = page; // time and state one by one, the payload of whole pages together
        const bool together =
            page.bytes == geometry.page_bytes() && !page.to.empty() && store.keeps_payload() && !(guard && guard->backup_of(page.page) != nullptr);
        if (together) cells.to = {};
        const Done one = config.options.subpages == 1 ? read(cells, io) : read_subpage(cells, pages.subspan(i), sensed, io);
        if (one && together) fetches_.push_back({page.page, page.to});
        last = std::max(last, one ? *one : one.error().done);
        if (!all) continue;
        all = one ? Done{std::max(*all, *one)} : one;
    }
    if (fetches_.empty()) return all;
    const auto fetched = fetch_all(last);
    if (all && !fetched) return std::unexpected(fetched.error());
    return all;
}

/// Those of a page of the chip that follow each other are sensed, and cross the bus, with the first of them.
NandArray::Impl::Done NandArray::Impl::read_subpage(const PageRead& page, std::span<const PageRead> rest, Sensed& sensed, const Io& io) {
    check_read_call(page);
    const PageAddress at = address_of(page.page);
    if (sensed.along != 0) {
        --sensed.along;
        ++counters.reads_along;
        Scheduler::Reservation& when = sensed.when; // the first page's event has told of bus and cells
        when.bus_in = when.bus_in_end;
        when.cells_end = when.cells;
        when.bus_out = when.bus_out_end;
        return finish_read(page, at, sensed, io);
    }
    const std::uint32_t subpages = config.options.subpages, left = subpages - at.page % subpages;
    std::uint32_t bytes = page.bytes;
    std::size_t count = 1;
    for (; count < rest.size(); ++count) {
        const std::uint32_t next = rest[count].page.value();
        if (next <= rest[count - 1].page.value() || next - page.page.value() >= left) break;
        bytes += rest[count].bytes;
    }
    sensed = sense(page.page, at, bytes, io);
    sensed.along = count - 1;
    return finish_read(page, at, sensed, io);
}

std::expected<void, NandError> NandArray::Impl::fetch_all(SimTime done) {
    if (auto read = store.read_pages(fetches_); !read) return std::unexpected(host_error(read.error(), fetches_.front().page, done));
    for (const PageFetch& page : fetches_) {
        if (page.is_damaged || crc32c(page.to) != page.data_crc) return std::unexpected(NandError{NandErrorKind::uncorrectable, page.page, done});
    }
    return {};
}

std::expected<OobRead, NandError> NandArray::Impl::read_oob(Ppn page, const Io& io) {
    const auto when = reserve_read(address_of(page), geometry.config().spare_bytes, io, PagePart::spare);
    ++counters.reads[static_cast<std::size_t>(io.origin.cause)];
    if (events.wants(EventLevel::all)) emit_read(when, io.origin, page);
    if (faults != nullptr && faults->die_is_dead(geometry.die_of(geometry.plane_of(geometry.block_of(page))))) [[unlikely]]
        return OobRead{std::unexpected(OobError::bad_checksum), CellState::garbage, when.end};
    const auto record = store.read_oob(page);
    if (!record) return std::unexpected(host_error(record.error(), page, when.end));
    if (const auto* backup = guard && record->state == CellState::garbage ? guard->backup_of(page) : nullptr) {
        auto instead = read_oob(backup->at, io.at(when.end));
        if (instead && instead->state == CellState::programmed) instead->oob = backup->oob.origin;
        return instead;
    }
    return OobRead{record->oob, as_read(record->state), when.end};
}

std::expected<CopiedPage, NandError> NandArray::Impl::copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) {
    if (const auto plain = copy_plainly(from, to, marks, io)) return *plain;
    const auto page = PageRead{from, 0, geometry.page_bytes(), page_};
    const auto record = oob_of(from); // before the read, which may be the last that succeeds
    const Done got = read(page, io);
    if (!got) return std::unexpected(got.error());
    if (!record) return std::unexpected(read_error(record.error(), from, *got));
    if (!record->oob) return std::unexpected(NandError{NandErrorKind::uncorrectable, from, *got});
    const PageOob oob = oob_of_copy(*record->oob, marks);
    const PageProgram again{to, page_, oob};
    const Done done = program({&again, 1}, io.at(*got));
    if (!done) return std::unexpected(done.error());
    return CopiedPage{*done, oob};
}

std::expected<void, HostIoError> NandArray::Impl::log_erase(BlockId block, CellType mode, const Scheduler::Reservation& when) {
    UndoRecord record{.kind = UndoRecord::Kind::erase, .page = geometry.page_of(block, 0), .cells = when.cells, .end = when.end, .cause = cause_};
    record.old_erase_count = blocks.erase_count(block);
    record.old_mode = blocks.mode(block);
    record.old_age = blocks.age(block);
    record.new_mode = mode;
    record.previous_erase = last_erase_[block.value()];
    record.old_records = log_.records_buffer();
    record.old_records.resize(geometry.pages_per_block());
    if (auto read = store.read_block_records_leniently(record.page, block, record.old_records); !read) return read;
    last_erase_[block.value()] = log_.push(std::move(record));
    return {};
}

NandArray::Impl::Done NandArray::Impl::erase(BlockId block, CellType mode, const Io& io) {
    const Done done = erase_block(block, mode, io.at(guard ? guard->before_erase(io.when) : io.when));
    if (guard) guard->after_erase(block, done ? *done : done.error().done);
    return done;
}

NandArray::Impl::Done NandArray::Impl::erase_block(BlockId block, CellType mode, const Io& io) {
    SimTime now = io.when;
    ensure(!cut_, "no operation after a power cut");
    blocks.check_erase(block);
    ensure(media.has(mode), "an erase chooses a mode that the chips have");
    if (faults != nullptr) [[unlikely]]
        now = faults->erase_from(block, now);
    return finish_erase(block, mode, scheduler.erase(geometry.plane_of(block), media.of(mode), blocks.erase_ready(block, now)), io.origin);
}

NandArray::Impl::Done NandArray::Impl::finish_erase(BlockId block, CellType mode, const Scheduler::Reservation& when, Origin origin) {
    cause_ = origin.cause;
    const Ppn first = geometry.page_of(block, 0);
    const auto failed = [&](HostIoError error) { return std::unexpected(host_error(error, first, when.end)); };
    if (undo_policy == UndoPolicy::keep) {
        if (auto logged = log_erase(block, mode, when); !logged) return failed(logged.error());
    }
    const bool fails = faults != nullptr && faults->erase_fails(block);
    // The count first: a killed process leaves no block that has fewer pages written and is not a life further (nand_evidence.h).
    blocks.note_erase(block, mode, when.end, fails);
    if (auto wrote = store.write_block(block, blocks.record_of(block)); !wrote) return failed(wrote.error());
    if (auto erased = store.erase_records(block); !erased) return failed(erased.error());
    for (std::uint32_t page = 0; fails && page < geometry.pages_per_block(); ++page) {
        PageRecord garbage{.state = CellState::garbage};
        garbage.oob.fill(std::byte{0xff});
        if (auto wrote = store.write_record(geometry.page_of(block, page), garbage); !wrote) return failed(wrote.error());
    }
    if (undo_policy == UndoPolicy::none) store.discard_data(first, geometry.pages_per_block());
    ++counters.erases[static_cast<std::size_t>(origin.cause)];
    if (events.wants(EventLevel::all)) emit(NandOp::erase, when, origin, block, 0, nullptr);
    if (fails) return std::unexpected(NandError{NandErrorKind::erase_failed, first, when.end});
    return when.end;
}

/// The mark comes into being in the last nanosecond before it stands, so that a cut never finds it in between.
NandArray::Impl::Done NandArray::Impl::mark_bad(BlockId block, SimTime now) {
    ensure(!cut_, "no operation after a power cut");
    const SimTime at = busy_until(block, now);
    const Ppn first = geometry.page_of(block, 0);
    if (blocks.is_grown_bad(block)) return at;
    if (undo_policy == UndoPolicy::keep) log_.push({.kind = UndoRecord::Kind::bad_mark, .page = first, .cells = at - Duration{1}, .end = at});
    blocks.mark_grown_bad(block, at);
    if (auto wrote = store.write_block(block, blocks.record_of(block)); !wrote) return std::unexpected(host_error(wrote.error(), first, at));
    return at;
}

void NandArray::Impl::settle(SimTime now) {
    scheduler.settle(now);
    while (!log_.empty() && log_.front().end <= now) {
        const UndoRecord& record = log_.front();
        const BlockId block = geometry.block_of(record.page);
        // A later erase of the block may still be undone and bring back what was programmed in between. That erase gives the payload back itself.
        if (record.kind == UndoRecord::Kind::erase && last_erase_[block.value()] == log_.front_index()) {
            const auto pointer = blocks.write_pointer(block);
            const std::uint32_t from = pointer.value_or(geometry.pages_per_block());
            if (from < geometry.pages_per_block()) store.discard_data(geometry.page_of(block, from), geometry.pages_per_block() - from);
        }
        log_.drop_front();
    }
}

void NandArray::Impl::emit(NandOp op, const Scheduler::Reservation& when, Origin origin, BlockId block, std::uint32_t page, const PageOob* oob) {
    const bool is_parity = oob != nullptr && oob->kind >= PageKind::parity; // of whatever kinds, and no page's
    const std::optional<Lpn> lpn = oob != nullptr && !is_parity ? std::optional{oob->lpn} : std::nullopt;
    const std::uint8_t kind = oob == nullptr ? 0 : static_cast<std::uint8_t>(is_parity ? PageKind::parity : oob->kind);
    const PlaneId plane = geometry.plane_of(block);
    const DieId die = geometry.die_of(plane);
    const ChipId chip = geometry.chip_of(die);
    const NandPhases phases{when.bus_in, when.bus_in_end, when.cells, when.cells_end, when.bus_out, when.bus_out_end};
    events.on(NandOpEvent{when.start, when.end, op, origin, geometry.channel_of(chip), chip, die, plane, block, page, 1, lpn, kind, phases});
}

void NandArray::Impl::emit_read(const Scheduler::Reservation& when, Origin origin, Ppn page) {
    const auto record = store.read_oob(page);
    emit(NandOp::read, when, origin, geometry.block_of(page), geometry.page_in_block(page), record && record->oob ? &*record->oob : nullptr);
}

} // namespace flashlab

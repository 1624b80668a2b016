#include "nand/nand_array.h"

#include <algorithm>

#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"
#include "nand/striping.h"

namespace flashlab {

NandArray::NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo)
    : impl_{std::make_unique<Impl>(geometry, config, store, events, undo)},
      striped_{config.striping == 1 ? nullptr : std::make_unique<Striped>(*impl_, config.striping)} {}
NandArray::~NandArray() = default;

const Geometry& NandArray::geometry() const { return striped_ ? striped_->geometry() : impl_->geometry; }
const Geometry& NandArray::chip_geometry() const { return impl_->geometry; }
const NandConfig& NandArray::config() const { return impl_->config; }
bool NandArray::keeps_payload() const { return impl_->store.keeps_payload(); }
void NandArray::set_linked(LinkedRequest* request) { impl_->linked = request; }
void NandArray::set_faults(NandFaults* faults) { impl_->faults = faults; }

std::expected<void, NandError> NandArray::open() {
    if (auto opened = impl_->blocks.open(); !opened) {
        return std::unexpected(NandError{NandErrorKind::host_io, Ppn{0}, sim_start, opened.error().error_number});
    }
    if (!impl_->guard) return {};
    if (auto found = impl_->guard->load(); !found)
        return std::unexpected(NandError{NandErrorKind::host_io, Ppn{0}, sim_start, found.error().error_number});
    return {};
}

bool NandArray::guards_pairs() const { return impl_->guard != nullptr; }
SimTime NandArray::note_durable(SimTime now) { return impl_->guard ? impl_->guard->note_durable(now) : now; }
std::expected<SimTime, NandError> NandArray::scan_backups(SimTime now) {
    return impl_->guard ? impl_->guard->scan(now) : std::expected<SimTime, NandError>{now};
}

NandArray::Result NandArray::read(const PageRead& page, SimTime now, Origin origin) {
    return striped_ ? striped_->read(page, now, origin) : impl_->read(page, now, origin);
}

NandArray::Result NandArray::read(std::span<const PageRead> pages, SimTime now, Origin origin) {
    if (!striped_) return impl_->read(pages, now, origin);
    Result all = now;
    for (const PageRead& page : pages) {
        const Result one = striped_->read(page, now, origin);
        if (!all) continue;
        all = one ? Result{std::max(*all, *one)} : one;
    }
    return all;
}

std::expected<OobRead, NandError> NandArray::read_oob(Ppn page, SimTime now, Origin origin) {
    return striped_ ? striped_->read_oob(page, now, origin) : impl_->read_oob(page, now, origin);
}

NandArray::Result NandArray::program(std::span<const PageProgram> pages, SimTime now, Origin origin) {
    return striped_ ? striped_->program(pages, now, origin) : impl_->program(pages, now, origin);
}

NandArray::Result NandArray::copy(Ppn from, Ppn to, SimTime now, Origin origin) {
    const auto copied = striped_ ? striped_->copy(from, to, std::nullopt, now, origin) : impl_->copy(from, to, std::nullopt, now, origin);
    if (!copied) return std::unexpected(copied.error());
    return copied->done;
}

std::expected<CopiedPage, NandError> NandArray::copy_as(Ppn from, Ppn to, std::uint32_t scheme_word, SimTime now, Origin origin) {
    return striped_ ? striped_->copy(from, to, scheme_word, now, origin) : impl_->copy(from, to, scheme_word, now, origin);
}

CopiedRun NandArray::copy_run(Ppn from, Ppn to, std::uint32_t pages, SimTime now, Origin origin) {
    if (!striped_) return impl_->copy_run(from, to, pages, now, origin);
    CopiedRun run{.pages = 0, .done = now, .failed = std::nullopt};
    for (; run.pages < pages; ++run.pages) {
        const auto copied = striped_->copy(Ppn{from.value() + run.pages}, Ppn{to.value() + run.pages}, std::nullopt, run.done, origin);
        if (!copied) {
            run.failed = copied.error();
            break;
        }
        run.done = copied->done;
    }
    return run;
}

NandArray::Result NandArray::erase(BlockId block, SimTime now, Origin origin) {
    return striped_ ? striped_->erase(block, now, origin) : impl_->erase(block, now, origin);
}

bool NandArray::is_bad(BlockId block) const { return striped_ ? striped_->is_bad(block) : impl_->is_set_aside(block); }
bool NandArray::is_factory_bad(BlockId block) const {
    return striped_ ? striped_->is_factory_bad(block) : impl_->blocks.is_factory_bad(block) || is_backup_block(impl_->config, block);
}
NandArray::Result NandArray::mark_bad(BlockId block, SimTime now) { return striped_ ? striped_->mark_bad(block, now) : impl_->mark_bad(block, now); }
std::uint32_t NandArray::erase_count(BlockId block) const { return striped_ ? striped_->erase_count(block) : impl_->blocks.erase_count(block); }

std::uint32_t NandArray::write_pointer(BlockId block) const {
    if (striped_) return striped_->write_pointer(block);
    // Records that cannot be read leave nothing to program.
    return impl_->blocks.write_pointer(block).value_or(impl_->geometry.pages_per_block());
}

std::expected<StoredOob, NandError> NandArray::inspect_oob(Ppn page) const {
    if (striped_) return striped_->inspect_oob(page);
    const auto record = impl_->oob_of(page);
    if (!record) return std::unexpected(NandError{NandErrorKind::host_io, page, sim_start, record.error().error_number});
    return *record;
}

std::expected<PageRecord, NandError> NandArray::inspect(Ppn page) const {
    if (striped_) {
        const auto known = striped_->inspect_oob(page);
        if (!known) return std::unexpected(known.error());
        PageRecord record{.state = known->state};
        if (known->oob)
            known->oob->encode(record.oob);
        else if (known->state != CellState::erased)
            record.oob.fill(std::byte{0xff});
        return record;
    }
    const auto record = impl_->record_of(page);
    if (!record) return std::unexpected(NandError{NandErrorKind::host_io, page, sim_start, record.error().error_number});
    return *record;
}

std::expected<void, NandError> NandArray::inspect(BlockId block, std::span<PageRecord> to) const {
    if (striped_) {
        for (std::uint32_t page = 0; page < to.size(); ++page) {
            const auto record = inspect(striped_->geometry().page_of(block, page));
            if (!record) return std::unexpected(record.error());
            to[page] = *record;
        }
        return {};
    }
    if (auto read = impl_->records_of(block, to); !read) {
        return std::unexpected(NandError{NandErrorKind::host_io, impl_->geometry.page_of(block, 0), sim_start, read.error().error_number});
    }
    return {};
}

SimTime NandArray::plane_free_at(PlaneId plane) const { return striped_ ? striped_->plane_free_at(plane) : impl_->scheduler.plane_free_at(plane); }
SimTime NandArray::last_reserved_end() const { return impl_->scheduler.last_end(); }
void NandArray::settle(SimTime now) { impl_->settle(now); }
std::expected<NandCutReport, NandError> NandArray::cut(SimTime at, CutOutcomes& outcomes) { return impl_->cut(at, outcomes); }
std::expected<std::uint64_t, NandError> NandArray::rewind(SimTime at) { return impl_->rewind(at); }
std::expected<NandCutReport, NandError> NandArray::tear(SimTime at, CutOutcomes& outcomes, PageStore& target) {
    return impl_->tear(at, outcomes, target);
}
void NandArray::append_moments(std::vector<SimTime>& to) const { impl_->append_moments(to); }
void NandArray::append_flights(std::vector<NandFlight>& to) const { impl_->append_flights(to); }
const NandCounters& NandArray::counters() const { return impl_->counters; }
Duration NandArray::channel_busy(ChannelId channel) const { return impl_->scheduler.channel_busy(channel); }
Duration NandArray::plane_busy(PlaneId plane) const { return impl_->scheduler.plane_busy(plane); }

std::uint64_t NandArray::suspensions() const { return impl_->scheduler.suspensions(); }
Duration NandArray::front_busy() const { return impl_->scheduler.front_busy(); }

} // namespace flashlab

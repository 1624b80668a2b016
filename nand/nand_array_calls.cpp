#include "nand/nand_array.h"

#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"
#include "nand/striping.h"

namespace flashlab {

NandArray::NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo)
    : impl_{std::make_unique<Impl>(geometry, config, store, events, undo)},
      striped_{config.striping == 1 ? nullptr : std::make_unique<Striped>(*impl_, config.striping)},
      addressing_{striped_ ? static_cast<Addressing&>(*striped_) : *impl_} {}
NandArray::~NandArray() = default;

// What schemes do

NandArray& NandOperations::self() { return static_cast<NandArray&>(*this); }
const NandArray& NandOperations::self() const { return static_cast<const NandArray&>(*this); }

const Geometry& NandOperations::geometry() const { return self().addressing_.wide_geometry(); }
const NandConfig& NandOperations::config() const { return self().impl_->config; }
bool NandOperations::keeps_payload() const { return self().impl_->store.keeps_payload(); }

NandOperations::Result NandOperations::read(const PageRead& page, const Io& io) { return self().addressing_.read(page, io); }
NandOperations::Result NandOperations::read(std::span<const PageRead> pages, const Io& io) { return self().addressing_.read(pages, io); }
std::expected<OobRead, NandError> NandOperations::read_oob(Ppn page, const Io& io) { return self().addressing_.read_oob(page, io); }
NandOperations::Result NandOperations::program(std::span<const PageProgram> pages, const Io& io) { return self().addressing_.program(pages, io); }
NandOperations::Result NandOperations::copy(Ppn from, Ppn to, const Io& io) {
    const auto copied = self().addressing_.copy(from, to, std::nullopt, io);
    if (!copied) return std::unexpected(copied.error());
    return copied->done;
}
std::expected<CopiedPage, NandError> NandOperations::copy_as(Ppn from, Ppn to, std::uint32_t scheme_word, const Io& io) {
    return self().addressing_.copy(from, to, scheme_word, io);
}
CopiedRun NandOperations::copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io) { return self().addressing_.copy_run(from, to, pages, io); }
NandOperations::Result NandOperations::erase(BlockId block, const Io& io) { return self().addressing_.erase(block, io); }
NandOperations::Result NandOperations::mark_bad(BlockId block, SimTime now) { return self().addressing_.mark_bad(block, now); }

bool NandOperations::is_bad(BlockId block) const { return self().addressing_.is_bad(block); }
bool NandOperations::is_factory_bad(BlockId block) const { return self().addressing_.is_factory_bad(block); }
std::uint32_t NandOperations::erase_count(BlockId block) const { return self().addressing_.erase_count(block); }
std::uint32_t NandOperations::write_pointer(BlockId block) const { return self().addressing_.write_pointer(block); }
std::expected<StoredOob, NandError> NandOperations::inspect_oob(Ppn page) const { return self().addressing_.inspect_oob(page); }

bool NandOperations::guards_pairs() const { return self().impl_->guard != nullptr; }
SimTime NandOperations::note_durable(SimTime now) {
    auto& guard = self().impl_->guard;
    return guard ? guard->note_durable(now) : now;
}
NandOperations::Result NandOperations::scan_backups(SimTime now) {
    auto& guard = self().impl_->guard;
    return guard ? guard->scan(now) : Result{now};
}

SimTime NandOperations::plane_free_at(PlaneId plane) const { return self().addressing_.plane_free_at(plane); }
SimTime NandOperations::last_reserved_end() const { return self().impl_->scheduler.last_end(); }

// What looks and cuts

NandArray& NandProbe::self() { return static_cast<NandArray&>(*this); }
const NandArray& NandProbe::self() const { return static_cast<const NandArray&>(*this); }

std::expected<void, NandError> NandProbe::open() {
    auto& impl = *self().impl_;
    auto opened = impl.blocks.open();
    if (opened && impl.guard) opened = impl.guard->load();
    if (!opened) return std::unexpected(NandError{NandErrorKind::host_io, Ppn{0}, sim_start, opened.error().error_number});
    return {};
}
void NandProbe::set_faults(NandFaults* faults) { self().impl_->faults = faults; }

std::expected<PageRecord, NandError> NandProbe::inspect(Ppn page) const { return self().addressing_.inspect(page); }
std::expected<void, NandError> NandProbe::inspect(BlockId block, std::span<PageRecord> to) const { return self().addressing_.inspect(block, to); }

void NandProbe::settle(SimTime now) { self().impl_->settle(now); }
std::expected<NandCutReport, NandError> NandProbe::cut(SimTime at, CutOutcomes& outcomes) { return self().impl_->cut(at, outcomes); }
std::expected<std::uint64_t, NandError> NandProbe::rewind(SimTime at) { return self().impl_->rewind(at); }
std::expected<NandCutReport, NandError> NandProbe::tear(SimTime at, CutOutcomes& outcomes, PageStore& target) {
    return self().impl_->tear(at, outcomes, target);
}
void NandProbe::append_moments(std::vector<SimTime>& to) const { self().impl_->append_moments(to); }
void NandProbe::append_flights(std::vector<NandFlight>& to) const { self().impl_->append_flights(to); }

// Statistics

const NandArray& NandStatistics::self() const { return static_cast<const NandArray&>(*this); }

const Geometry& NandStatistics::chip_geometry() const { return self().impl_->geometry; }
const NandCounters& NandStatistics::counters() const { return self().impl_->counters; }
Duration NandStatistics::channel_busy(ChannelId channel) const { return self().impl_->scheduler.channel_busy(channel); }
Duration NandStatistics::plane_busy(PlaneId plane) const { return self().impl_->scheduler.plane_busy(plane); }
Duration NandStatistics::front_busy() const { return self().impl_->scheduler.front_busy(); }
std::uint64_t NandStatistics::suspensions() const { return self().impl_->scheduler.suspensions(); }

} // namespace flashlab

#include "nand/nand_array.h"

#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"
#include "nand/rain.h"
#include "nand/striping.h"

namespace flashlab {

NandArray::NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo)
    : impl_{std::make_unique<Impl>(geometry, config, store, events, undo)},
      striped_{config.striping == 1 ? nullptr : std::make_unique<Striped>(*impl_, config.striping)},
      rain_{config.rain == 0 ? nullptr : std::make_unique<Rain>(*impl_)}, addressing_{rain_      ? static_cast<Addressing&>(*rain_)
                                                                                      : striped_ ? static_cast<Addressing&>(*striped_)
                                                                                                 : *impl_} {
    ensure(!rain_ || !striped_, "NandArray: parity over dies, or superpages");
}
NandArray::~NandArray() = default;

// What schemes do

const Geometry& NandArray::geometry() const { return addressing_.wide_geometry(); }
const NandConfig& NandArray::config() const { return impl_->config; }
bool NandArray::keeps_payload() const { return impl_->store.keeps_payload(); }

NandArray::Result NandArray::read(const PageRead& page, const Io& io) { return addressing_.read(page, io); }
NandArray::Result NandArray::read(std::span<const PageRead> pages, const Io& io) { return addressing_.read(pages, io); }
std::expected<OobRead, NandError> NandArray::read_oob(Ppn page, const Io& io) { return addressing_.read_oob(page, io); }
NandArray::Result NandArray::program(std::span<const PageProgram> pages, const Io& io) { return addressing_.program(pages, io); }
NandArray::Result NandArray::copy(Ppn from, Ppn to, const Io& io) {
    const auto copied = addressing_.copy(from, to, nullptr, io);
    if (!copied) return std::unexpected(copied.error());
    return copied->done;
}
std::expected<CopiedPage, NandError> NandArray::copy_as(Ppn from, Ppn to, const CopyMarks& marks, const Io& io) {
    return addressing_.copy(from, to, &marks, io);
}
CopiedRun NandArray::copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io) { return addressing_.copy_run(from, to, pages, io); }
CopiedRun NandArray::rewrite_run(const RewriteRun& run, const Io& io) {
    return striped_ || rain_ ? CopiedRun{.pages = 0, .done = io.when, .failed = std::nullopt} : impl_->rewrite_run(run, io);
}
NandArray::Result NandArray::erase(BlockId block, const Io& io) { return addressing_.erase(block, impl_->media.own(), io); }
NandArray::Result NandArray::erase_as(BlockId block, CellType mode, const Io& io) { return addressing_.erase(block, mode, io); }
NandArray::Result NandArray::mark_bad(BlockId block, SimTime now) { return addressing_.mark_bad(block, now); }

bool NandArray::is_bad(BlockId block) const { return addressing_.is_bad(block); }
bool NandArray::is_factory_bad(BlockId block) const { return addressing_.is_factory_bad(block); }
CellType NandArray::mode_of(BlockId block) const { return addressing_.mode_of(block); }
std::uint32_t NandArray::pages_in(BlockId block) const { return addressing_.pages_in(block); }
const Media& NandArray::media() const { return impl_->media; }
std::uint32_t NandArray::erase_count(BlockId block) const { return addressing_.erase_count(block); }
std::uint32_t NandArray::write_pointer(BlockId block) const { return addressing_.write_pointer(block); }
std::expected<StoredOob, NandError> NandArray::inspect_oob(Ppn page) const { return addressing_.inspect_oob(page); }

bool NandArray::guards_pairs() const { return impl_->guard != nullptr; }
SimTime NandArray::note_durable(SimTime now) {
    auto& guard = impl_->guard;
    return guard ? guard->note_durable(now) : now;
}
NandArray::Result NandArray::scan_backups(SimTime now) {
    auto& guard = impl_->guard;
    return guard ? guard->scan(now) : Result{now};
}

SimTime NandArray::plane_free_at(PlaneId plane) const { return addressing_.plane_free_at(plane); }
SimTime NandArray::last_reserved_end() const { return impl_->scheduler.last_end(); }

// What looks and cuts

std::expected<void, NandError> NandArray::open() {
    auto& impl = *impl_;
    auto opened = impl.blocks.open();
    if (opened && impl.guard) opened = impl.guard->load();
    if (!opened) return std::unexpected(NandError{NandErrorKind::host_io, Ppn{0}, sim_start, opened.error().error_number});
    if (rain_) rain_->opened();
    return {};
}
std::expected<void, NandError> NandArray::grow_older(Duration time) {
    if (auto aged = impl_->grow_older(time); !aged) return std::unexpected(impl_->host_error(aged.error(), Ppn{0}, sim_start));
    return {};
}
std::optional<TiredBlock> NandArray::take_tired() {
    while (!impl_->tired.empty()) {
        TiredBlock last = impl_->tired.back();
        impl_->tired.pop_back();
        if (impl_->blocks.erase_count(last.block) != last.erases) continue;
        if (rain_) last.block = rain_->seen(last.block);
        return last;
    }
    return std::nullopt;
}
bool NandArray::has_lost_parity() const { return rain_ && rain_->has_lost_parity(); }
std::optional<BlockId> NandArray::take_degraded() { return rain_ ? rain_->take_degraded() : std::nullopt; }
double NandArray::days_since_program(BlockId block, SimTime now) const {
    return BitErrors::days_since(impl_->blocks.age(rain_ ? rain_->first_member(block) : block), now);
}
void NandArray::set_faults(NandFaults* faults) { impl_->faults = faults; }

std::expected<PageRecord, NandError> NandArray::inspect(Ppn page) const { return addressing_.inspect(page); }
std::expected<void, NandError> NandArray::inspect(BlockId block, std::span<PageRecord> to) const { return addressing_.inspect(block, to); }

void NandArray::settle(SimTime now) { impl_->settle(now); }
std::expected<NandCutReport, NandError> NandArray::cut(SimTime at, CutOutcomes& outcomes) { return impl_->cut(at, outcomes); }
std::expected<std::uint64_t, NandError> NandArray::rewind(SimTime at) { return impl_->rewind(at); }
std::expected<NandCutReport, NandError> NandArray::tear(SimTime at, CutOutcomes& outcomes, PageStore& target) {
    return impl_->tear(at, outcomes, target);
}
void NandArray::append_moments(std::vector<SimTime>& to) const { impl_->append_moments(to); }
void NandArray::append_flights(std::vector<NandFlight>& to) const { impl_->append_flights(to); }

// Statistics

const Geometry& NandArray::chip_geometry() const { return impl_->geometry; }
const NandCounters& NandArray::counters() const { return impl_->counters; }
Duration NandArray::channel_busy(ChannelId channel) const { return impl_->scheduler.channel_busy(channel); }
Duration NandArray::channel_busy_before(ChannelId channel, SimTime at) const { return impl_->scheduler.channel_busy_before(channel, at); }
Duration NandArray::plane_busy(PlaneId plane) const { return impl_->scheduler.plane_busy(plane); }
Duration NandArray::front_busy() const { return impl_->scheduler.front_busy(); }
std::uint64_t NandArray::suspensions() const { return impl_->scheduler.suspensions(); }

} // namespace flashlab

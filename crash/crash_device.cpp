#include "crash/crash_device.h"

#include <fmt/format.h>

#include "base/contract.h"
#include "base/crc32c.h"

namespace flashlab {

namespace {

std::string_view name_of(DeviceErrorKind kind) {
    switch (kind) {
    case DeviceErrorKind::uncorrectable:
        return "uncorrectable";
    case DeviceErrorKind::out_of_range:
        return "out_of_range";
    case DeviceErrorKind::no_space:
        return "no_space";
    case DeviceErrorKind::read_only:
        return "read_only";
    case DeviceErrorKind::foreign:
        return "foreign";
    case DeviceErrorKind::host_io:
        return "host_io";
    }
    return "unknown";
}

} // namespace

std::string describe(const DeviceError& error) { return fmt::format("{} at sector {}", name_of(error.kind), error.where.value()); }

std::expected<std::unique_ptr<CrashDevice>, std::string> CrashDevice::make(const SsdConfig& config, Payload payload, UndoPolicy undo) {
    const auto geometry = Geometry::make(config.nand.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    const auto plan = plan_ftl(config, *geometry);
    if (!plan) return std::unexpected(plan.error());
    return std::unique_ptr<CrashDevice>{new CrashDevice{config, *plan, *geometry, payload, undo}};
}

CrashDevice::CrashDevice(const SsdConfig& config, const FtlPlan& plan, const Geometry& geometry, Payload payload, UndoPolicy undo)
    : config_{config}, plan_{plan}, geometry_{geometry}, undo_{undo}, pages_{geometry, payload} {
    // Only as much PRAM as the scheme asks for: there is less to keep, and a scheme that says it needs none gets none.
    config_.pram.bytes = (plan.pram_bytes + 4095) / 4096 * 4096;
    if (plan.pram_bytes != 0) cells_.emplace(config_.pram.bytes);
}

std::expected<FtlRecovery, std::string> CrashDevice::power_on(SimTime now) {
    power_off();
    if (sabotage_ != nullptr) {
        liar_ = sabotage_->around(pages_);
        if (cells_) sabotage_->spoil(*cells_);
    }
    PageStore& pages = liar_ ? *liar_ : static_cast<PageStore&>(pages_);
    array_ = std::make_unique<NandArray>(geometry_, config_.nand, pages, *events_, undo_);
    if (!array_->open()) return std::unexpected("the array does not open");
    array_->set_faults(sabotage_ != nullptr && sabotage_->faults() != nullptr ? sabotage_->faults() : faults_);
    if (cells_) pram_ = std::make_unique<Pram>(config_.pram, *cells_, *events_, undo_ == UndoPolicy::keep ? PramUndo::keep : PramUndo::none);
    if (pram_ && sabotage_ != nullptr && sabotage_->pram_is_hasty()) pram_->forget_order();
    auto made = make_ftl(config_, *array_, pram_.get(), {PramAddress{0}, cells_ ? config_.pram.bytes : 0}, *events_);
    if (!made) return std::unexpected(made.error());
    ftl_ = sabotage_ != nullptr ? sabotage_->around(std::move(*made)) : std::move(*made);
    ssd_ = std::make_unique<Ssd>(config_, *ftl_, *array_, pram_.get(), *events_);
    const auto recovered = ssd_->recover(now);
    if (!recovered) return std::unexpected(fmt::format("recovery failed: {}", describe(recovered.error())));
    return *recovered;
}

void CrashDevice::power_off() {
    ssd_.reset();
    ftl_.reset();
    pram_.reset();
    array_.reset();
    liar_.reset();
}

void CrashDevice::copy_stores(const CrashDevice& other) {
    pages_.copy_from(other.pages_);
    if (cells_) cells_->copy_from(*other.cells_);
}

std::expected<void, std::string> CrashDevice::rewind(SimTime at) {
    if (const auto done = array_->rewind(at); !done) return std::unexpected("the array does not rewind");
    if (pram_) (void)pram_->rewind(at);
    return {};
}

std::expected<void, std::string> CrashDevice::tear(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram, CrashDevice& target) {
    if (const auto done = array_->tear(at, nand, target.pages_); !done) return std::unexpected("the array does not tear");
    if (pram_) (void)pram_->tear(at, pram, *target.cells_);
    return {};
}

void CrashDevice::fade(std::span<const Ppn> unstable) {
    for (const Ppn page : unstable) {
        auto record = pages_.read_record(page);
        if (!record || record->state != CellState::unstable) continue;
        record->state = CellState::garbage;
        record->oob.fill(std::byte{0xff});
        (void)pages_.write_record(page, *record);
    }
}

void CrashDevice::append_moments(std::vector<SimTime>& to) const {
    array_->append_moments(to);
    if (pram_) pram_->append_moments(to);
}

std::uint64_t CrashDevice::fingerprint() const {
    const std::uint32_t cells = cells_ ? crc32c(cells_->content()) : 0;
    return (std::uint64_t{cells} << 32) ^ pages_.fingerprint();
}

std::expected<SsdCutReport, std::string> CrashDevice::cut(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram) {
    ensure(is_on(), "a device that is on");
    const auto report = ssd_->cut(at, nand, pram);
    power_off();
    if (!report) return std::unexpected(fmt::format("the cut failed: {}", describe(report.error())));
    return *report;
}

void CrashDevice::set_faults(NandFaults* faults) {
    faults_ = faults;
    if (array_) array_->set_faults(faults);
}

} // namespace flashlab

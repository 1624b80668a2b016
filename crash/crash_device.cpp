#include "crash/crash_device.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/crc32c.h"
#include "nand/rain_rows.h"

namespace flashlab {

namespace {

std::string_view name_of(DeviceErrorKind kind) {
    constexpr std::array<std::string_view, 6> names{"uncorrectable", "out_of_range", "no_space", "read_only", "foreign", "host_io"};
    return names.at(static_cast<std::size_t>(kind));
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
    config_.pram.bytes = pram_bytes_of(plan);
    if (plan.pram_bytes != 0) cells_.emplace(config_.pram.bytes);
}

std::expected<FtlRecovery, std::string> CrashDevice::power_on(SimTime now) {
    power_off();
    if (sabotage_ != nullptr) {
        sabotage_->change(config_);
        liar_ = sabotage_->around(pages_);
        if (cells_) sabotage_->spoil(*cells_);
    }
    DriveBase base{
        .pages = liar_ ? *liar_ : static_cast<PageStore&>(pages_), .cells = cells_ ? &*cells_ : nullptr, .events = *events_, .undo = undo_};
    if (sabotage_ != nullptr) base.around_ftl = [this](std::unique_ptr<Ftl> scheme) { return sabotage_->around(std::move(scheme)); };
    auto drive = Drive::assemble(config_, base);
    if (!drive) return std::unexpected(drive.error().why);
    drive_ = std::move(*drive);
    choose_faults();
    if (drive_->pram() != nullptr && sabotage_ != nullptr && sabotage_->pram_is_hasty()) drive_->pram()->forget_order();
    if (sabotage_ != nullptr) sabotage_->meet(drive_->pram());
    const auto recovered = ssd().recover(now);
    if (!recovered) return std::unexpected(fmt::format("recovery failed: {}", describe(recovered.error())));
    constexpr std::chrono::hours on_the_shelf{24 * 30}; // what bit errors make of data takes time; of other drives nothing changes
    if (const auto older = ssd().grow_older(on_the_shelf); !older) return std::unexpected(describe(older.error()));
    return *recovered;
}

void CrashDevice::choose_faults() {
    const std::uint32_t rain = config_.nand.rain;
    if (!dead_ && rain != 0) dead_.emplace(geometry_, std::set{dies_of_rows(geometry_, rain)[1].value()}); // that of the first pages
    std::vector<BlockRecord> blocks(dead_ ? geometry_.blocks() : 0);
    const bool is_used = dead_ && pages_.read_blocks(BlockId{0}, blocks) && std::ranges::any_of(blocks, &BlockRecord::erase_count);
    NandFaults* const liar = sabotage_ != nullptr ? sabotage_->faults() : nullptr;
    array().set_faults(liar != nullptr ? liar : faults_ == nullptr && is_used ? &*dead_ : faults_);
}

void CrashDevice::power_off() {
    drive_.reset();
    liar_.reset();
}

void CrashDevice::copy_stores(const CrashDevice& other) {
    pages_.copy_from(other.pages_);
    if (cells_) cells_->copy_from(*other.cells_);
}

std::expected<void, std::string> CrashDevice::rewind(SimTime at) {
    if (const auto done = array().rewind(at); !done) return std::unexpected("the array does not rewind");
    if (Pram* pram = drive_->pram()) (void)pram->rewind(at);
    return {};
}

std::expected<void, std::string> CrashDevice::tear(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram, CrashDevice& target) {
    if (const auto done = array().tear(at, nand, target.pages_); !done) return std::unexpected("the array does not tear");
    if (Pram* cells = drive_->pram()) (void)cells->tear(at, pram, *target.cells_);
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
    drive_->array().append_moments(to);
    if (Pram* pram = drive_->pram()) pram->append_moments(to);
}

std::uint64_t CrashDevice::fingerprint() const {
    const std::uint32_t cells = cells_ ? crc32c(cells_->content()) : 0;
    return (std::uint64_t{cells} << 32) ^ pages_.fingerprint();
}

std::expected<SsdCutReport, std::string> CrashDevice::cut(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram) {
    ensure(is_on(), "a device that is on");
    const auto report = ssd().cut(at, nand, pram);
    power_off();
    if (!report) return std::unexpected(fmt::format("the cut failed: {}", describe(report.error())));
    return *report;
}

void CrashDevice::set_faults(NandFaults* faults) {
    faults_ = faults;
    if (drive_) drive_->array().set_faults(faults);
}

} // namespace flashlab

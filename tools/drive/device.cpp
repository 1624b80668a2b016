#include "tools/drive/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/host_io_error.h"
#include "ftl/make_ftl.h"
#include "tools/drive/device_plan.h"

namespace flashlab {

namespace {
constexpr std::string_view what_helps_records = "'flashlab fsck --repair' turns a flipped bit back; else put back copies of both images";
} // namespace

std::string to_text(const DeviceError& error) {
    switch (error.kind) {
    case DeviceErrorKind::uncorrectable:
        return fmt::format("uncorrectable data at sector {}", error.where.value());
    case DeviceErrorKind::out_of_range:
        return fmt::format("sector {} is beyond the device", error.where.value());
    case DeviceErrorKind::no_space:
        return "no free block is left on the flash";
    case DeviceErrorKind::read_only:
        return "the device is read-only (worn out, or its image could not be written)";
    case DeviceErrorKind::foreign:
        return "the records of its translation layer do not parse: damaged, or written by another version of FlashLab; use that one to copy its "
               "files off, or a copy of the device";
    case DeviceErrorKind::host_io:
        if (error.host_errno == EBADMSG)
            return fmt::format("nand.img is damaged: a page record that recovery needs is not what was written (its checksum does not hold); "
                               "'flashlab fsck' names it; {}",
                               what_helps_records);
        return fmt::format("the image could not be read or written: {}{}", std::strerror(error.host_errno), host_remedy(error.host_errno));
    }
    return "unknown";
}

namespace {

std::string why_no_drive(const DriveError& error) {
    if (error.host_errno == 0) return error.why;
    return fmt::format("the records of the NAND image cannot be read: {}",
                       error.host_errno == EBADMSG ? fmt::format("a checksum does not hold: nand.img is damaged; {}", what_helps_records)
                                                   : std::strerror(error.host_errno));
}

} // namespace

std::expected<std::unique_ptr<Device>, std::string> Device::assemble(const DeviceConfig& config, std::unique_ptr<PageStore> store,
                                                                     std::unique_ptr<PramStore> pram_store, EventSink& events, DevicePast past) {
    if (const auto pram = config.ssd.pram.validate(); !pram) return std::unexpected(pram.error());
    if (const auto good = check_dram(config.ssd); !good) return std::unexpected(good.error());
    std::unique_ptr<Device> device{new Device{config, events}};
    device->store_ = std::move(store);
    device->pram_store_ = std::move(pram_store);
    auto drive = Drive::assemble(config.ssd, {.pages = *device->store_,
                                              .cells = config.needs_pram() ? device->pram_store_.get() : nullptr,
                                              .events = events,
                                              .undo = past == DevicePast::undoable ? UndoPolicy::keep : UndoPolicy::none,
                                              .ftl_range = PramRange{PramAddress{config.layout.ftl_at}, config.layout.ftl_bytes}});
    if (!drive) return std::unexpected(why_no_drive(drive.error()));
    device->drive_ = std::move(*drive);
    return device;
}

Device::~Device() = default;

PramRange Device::fs_range() const { return PramRange{PramAddress{config_.layout.fs_at}, config_.layout.fs_bytes}; }

FileSystem& Device::fs() {
    ensure(fs_ != nullptr, "Device: the file system is open");
    return *fs_;
}

Pram& Device::pram() {
    ensure(drive_->pram() != nullptr, "Device: there is PRAM");
    return *drive_->pram();
}

namespace {

/// Of records that cannot be read: that the cells are worn or old, where that is why.
std::string why_unreadable(const NandArray& array, std::string otherwise) {
    if (array.counters().uncorrected_reads == 0) return otherwise;
    return fmt::format(
        "the cells have more wrong bits there than the ECC corrects, as nand.cell_errors = {} has it after so many erases and so long; "
        "the image is whole: mount it with -o nand.cell_errors=none, or with more nand.read_retries",
        cell_errors_names.at(std::to_underlying(array.config().errors.cells)));
}

} // namespace

std::expected<void, std::string> Device::start(SimTime now) {
    const auto recovered = ssd().recover(now);
    if (!recovered)
        return std::unexpected(fmt::format(
            "the device cannot be recovered: {}{}", to_text(recovered.error()),
            recovered.error().kind == DeviceErrorKind::uncorrectable
                ? "; " + why_unreadable(array(),
                                        "nand.img is damaged where its translation layer keeps its records: put back copies of both images, or make "
                                        "the device anew")
                : ""));
    recovery_ = *recovered;
    started_at_ = now;
    ready_at_ = std::max(now, recovered->done);
    return {};
}

std::expected<void, std::string> Device::format(const std::string& label, FileTime wall) {
    if (config_.is_raw()) return {};
    const auto formatted =
        config_.in_journal() ? FileSystem::format_journal(ssd(), label, wall, ready_at_) : FileSystem::format(pram(), fs_range(), ssd(), label, wall);
    if (!formatted) return std::unexpected(fmt::format("the file system cannot be written: {}", std::strerror(formatted.error().error_number)));
    if (config_.in_journal()) {
        ready_at_ = std::max(ready_at_, ssd().last_reserved_end());
        return {};
    }
    pram().settle(pram().last_reserved_end());
    return {};
}

std::expected<void, std::string> Device::open_file_system(const FsOptions& options) {
    if (config_.is_raw()) {
        auto disk = std::make_unique<DiskFile>(ssd(), options);
        disk_file_ = disk.get();
        fs_ = std::move(disk);
    } else {
        auto fs = config_.in_journal() ? FileSystem::open_journal(ssd(), events_, options, ready_at_)
                                       : FileSystem::open(pram(), fs_range(), ssd(), events_, options, ready_at_);
        if (!fs) return std::unexpected(why_unreadable(array(), fs.error()));
        fs_ = std::move(*fs);
    }
    ready_at_ = std::max(ready_at_, ssd().last_reserved_end());
    tell_start();
    return {};
}

/// From power-on until the file system could answer: the drive's recovery and the file system's.
void Device::tell_start() {
    if (!events_.wants(EventLevel::summary)) return;
    PowerEvent event{.kind = PowerEventKind::mount, .at = started_at_};
    events_.on(event);
    if (recovery_.was_clean) return;
    event.kind = PowerEventKind::recovery;
    event.recovery = ready_at_ - started_at_;
    event.pages_scanned = recovery_.pages_scanned;
    events_.on(event);
}

std::expected<void, std::string> Device::shut_down(SimTime now) {
    if (fs_ != nullptr) {
        const auto done = fs_->shut_down(now);
        if (!done)
            return std::unexpected(fmt::format("the file system could not be closed cleanly: {}{}", std::strerror(done.error().error_number),
                                               host_remedy(done.error().error_number)));
        now = std::max(now, *done);
    }
    const auto done = ssd().shut_down(now);
    if (!done) return std::unexpected(fmt::format("the device could not be closed cleanly: {}", to_text(done.error())));
    ready_at_ = std::max({ready_at_, now, *done, ssd().last_reserved_end()});
    ssd().settle(ready_at_);
    if (events_.wants(EventLevel::summary)) events_.on(PowerEvent{.kind = PowerEventKind::clean_unmount, .at = ready_at_});
    return {};
}

SampleDetails Device::sample_details(SimTime now) const {
    SampleDetails details;
    for (std::uint32_t channel = 0; channel < array().chip_geometry().channels(); ++channel)
        details.channel_busy_ns.push_back(static_cast<std::uint64_t>(array().channel_busy_before(ChannelId{channel}, now).count()));
    const FtlCounters scheme = ftl().counters();
    const CounterValues own = own_counters(ftl());
    const WriteBufferCounters buffer = ssd().buffer() != nullptr ? ssd().buffer()->buffer_counters() : WriteBufferCounters{};
    details.counts = {.buffer_read_hits = buffer.read_hits,
                      .buffer_read_misses = buffer.read_misses,
                      .buffer_write_hits = buffer.write_hits,
                      .buffer_write_misses = buffer.write_misses,
                      .map_read_hits = own["map_read_hits"],
                      .map_read_misses = own["map_read_misses"],
                      .map_write_hits = own["map_write_hits"],
                      .map_write_misses = own["map_write_misses"],
                      .gc_jobs = scheme.gc_jobs,
                      .gc_page_copies = scheme.gc_page_copies,
                      .switch_merges = own["switch_merges"],
                      .partial_merges = own["partial_merges"],
                      .full_merges = own["full_merges"],
                      .read_pages = ssd().counters().read_pages,
                      .unmapped_reads = ssd().counters().unmapped_reads};
    for (const auto& [counter, value] : own)
        if (!counter->has_own_place)
            details.own_counts.push_back({std::string{counter->name}, std::string{counter->unit}, std::string{counter->help}, value});
    if (const ReadAheadCounters* ahead = ssd().read_ahead()) {
        details.own_counts.push_back({"read_ahead_pages", "pages", "logical pages that were read before they were asked for", ahead->pages});
        details.own_counts.push_back({"read_ahead_hits", "pages", "logical pages that a read found there", ahead->hits});
    }
    return details;
}

WearHistogram Device::wear() const {
    std::map<std::uint32_t, std::uint32_t> blocks;
    for (std::uint32_t block = 0; block < array().geometry().blocks(); ++block)
        if (!array().is_bad(BlockId{block})) ++blocks[array().erase_count(BlockId{block})];
    return WearHistogram{{blocks.begin(), blocks.end()}};
}

WearHistogram Device::wear_and_blocks() const {
    constexpr std::uint32_t most_blocks = 16384; // the place of the last written page is looked up in the image
    WearHistogram out = wear();
    const std::uint32_t blocks = array().geometry().blocks();
    if (blocks > most_blocks || was_cut_) return out;
    for (std::uint32_t i = 0; i < blocks; ++i) {
        const BlockId block{i};
        const BlockStatus status = array().is_bad(block) ? BlockStatus{BlockUse::bad, 0} : ftl().status_of(block);
        const bool is_empty = status.use == BlockUse::free || status.use == BlockUse::bad;
        out.blocks.push_back({block, array().erase_count(block), std::to_underlying(status.use), is_empty ? 0 : array().write_pointer(block),
                              status.valid_pages, array().pages_in(block)});
    }
    return out;
}

void Device::settle(SimTime now) { ssd().settle(now); }
SimTime Device::last_reserved_end() const { return ssd().last_reserved_end(); }

} // namespace flashlab

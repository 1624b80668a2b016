#include "crash/fs/fs_stack.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/contract.h"
#include "crash/tiny_devices.h"

namespace flashlab {

FsStackConfig tiny_stack() {
    FsStackConfig c;
    c.ssd.nand.geometry = {.channels = 1,
                           .chips_per_channel = 1,
                           .dies_per_chip = 2,
                           .planes_per_die = 2,
                           .blocks_per_plane = 16,
                           .pages_per_block = 8,
                           .page_bytes = 4096,
                           .spare_bytes = 64,
                           .cell = CellType::slc};
    c.ssd.nand.factory_bad_per_million = 0;
    c.ssd.pram.bytes = 3u << 20;
    c.fs.cache_bytes = 256u << 10;
    c.fs.dirty_age = Duration{20'000'000};
    return c;
}

void InstantRecorder::note(SimTime start, SimTime end) {
    // Before, in the middle of and behind it; PRAM commits are many words, so their middles are several.
    const Duration length = end - start;
    for (const SimTime at : {start, start + Duration{1}, start + length / 4, start + length / 2, end - Duration{1}, end}) at_.push_back(at);
}

std::vector<SimTime> InstantRecorder::instants() const {
    std::vector<SimTime> sorted = at_;
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

FsStackConfig tiny_journal_stack() {
    FsStackConfig c = tiny_stack();
    c.journal = true;
    c.ssd.nand.geometry.blocks_per_plane = 64;
    c.ssd.nand.geometry.pages_per_block = 16;
    c.ssd.nand.geometry.planes_per_die = 2;
    return c;
}

std::expected<FsStackConfig, std::string> tiny_stack(const FsShape& shape) {
    FsStackConfig c = shape.journal ? tiny_journal_stack() : tiny_stack();
    const auto cell = cell_of(shape.cell);
    if (!cell) return std::unexpected(cell.error());
    c.ssd.nand.geometry.cell = *cell;
    c.ssd.nand.options.paired_pages = *cell != CellType::slc;
    c.ssd.ftl.scheme = shape.scheme;
    auto enough = with_enough_blocks(c.ssd);
    if (!enough) return std::unexpected(enough.error());
    c.ssd = std::move(*enough);
    return c;
}

namespace {

/// Makes all cells zero again. Regions without a written word are zero already.
std::unique_ptr<MemoryPramStore> wiped(std::unique_ptr<MemoryPramStore> store) {
    for (std::uint64_t region = 0; std::uint64_t & written : store->wear()) {
        const std::uint64_t at = region++ * pram_wear_region_bytes;
        if (std::exchange(written, 0) == 0) continue;
        std::ranges::fill(store->cells().subspan(at, std::min(pram_wear_region_bytes, store->cells().size() - at)), std::byte{0});
    }
    return store;
}

} // namespace

FsStack::FsStack(const FsStackConfig& config, std::string& trouble, std::unique_ptr<MemoryPramStore> cells)
    : config_{config}, geometry_{*Geometry::make(config.ssd.nand.geometry)}, pages_{geometry_, Payload::keep},
      cells_{cells != nullptr && cells->cells().size() == config.ssd.pram.bytes ? wiped(std::move(cells))
                                                                                : std::make_unique<MemoryPramStore>(config.ssd.pram.bytes)} {
    const auto opened = open_drive(sim_start);
    if (!opened) {
        trouble = opened.error();
        return;
    }
    const FileTime made{.seconds = 1};
    const auto formatted = config.journal ? FileSystem::format_journal(ssd(), "crash", made, ready_at_)
                                          : FileSystem::format(*drive_->pram(), fs_range(), ssd(), "crash", made);
    if (!formatted) trouble = fmt::format("format: errno {}", formatted.error().error_number);
    ready_at_ = ssd().last_reserved_end();
    drop();
}

FsStack::~FsStack() = default;

PramRange FsStack::fs_range() const { return {.at = PramAddress{config_.ftl_pram_bytes}, .bytes = config_.ssd.pram.bytes - config_.ftl_pram_bytes}; }

std::expected<void, std::string> FsStack::open_drive(SimTime now) {
    auto drive = Drive::assemble(config_.ssd, {.pages = pages_,
                                               .cells = cells_.get(),
                                               .events = events_,
                                               .undo = UndoPolicy::keep,
                                               .ftl_range = PramRange{.at = PramAddress{0}, .bytes = config_.ftl_pram_bytes}});
    if (!drive) return std::unexpected(drive.error().why);
    drive_ = std::move(*drive);
    const auto recovered = ssd().recover(now);
    if (!recovered) return std::unexpected(fmt::format("the drive does not recover: kind {}", static_cast<int>(recovered.error().kind)));
    opened_at_ = now;
    ready_at_ = recovered->done;
    page_bytes_ = ssd().identify().atomic_unit_bytes;
    return {};
}

std::expected<void, std::string> FsStack::open(SimTime now) {
    if (const auto drive = open_drive(now); !drive) return drive;
    auto fs = config_.journal ? FileSystem::open_journal(ssd(), events_, config_.fs, ready_at_)
                              : FileSystem::open(*drive_->pram(), fs_range(), ssd(), events_, config_.fs, ready_at_);
    if (!fs) return std::unexpected(fs.error());
    fs_ = std::move(*fs);
    ready_at_ = std::max(ready_at_, ssd().last_reserved_end());
    return {};
}

void FsStack::drop() {
    fs_.reset();
    drive_.reset();
}

void FsStack::cut(SimTime at, std::uint64_t seed) {
    Random draw{seed};
    ScriptedOutcomes outcomes{outcomes_, config_.ssd.nand.options.paired_pages};
    outcomes.begin(at, {}, &draw);
    ensure(ssd().cut(at, outcomes, outcomes).has_value(), "FsStack: stores in memory do not fail");
    drop();
}

std::expected<SimTime, std::string> FsStack::shut_down(SimTime now) {
    const auto closed = fs_->shut_down(now);
    if (!closed) return std::unexpected(fmt::format("the file system does not close: errno {}", closed.error().error_number));
    const auto stopped = ssd().shut_down(std::max(now, *closed));
    if (!stopped) return std::unexpected(std::string{"the drive does not close"});
    const SimTime end = std::max(*stopped, ssd().last_reserved_end());
    drop();
    return end;
}

std::vector<std::string> FsStack::problems() {
    std::vector<std::string> lines;
    for (const FsckProblem& p : fs_->check()) lines.push_back(fmt::format("fsck: {}: {}: {}", p.kind, p.where, p.detail));
    for (const CheckProblem& p : ssd().check()) lines.push_back(fmt::format("drive: {}: {}: {}", p.invariant, p.where, p.detail));
    return lines;
}

} // namespace flashlab

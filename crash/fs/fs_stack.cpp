#include "crash/fs/fs_stack.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/crc32c.h"
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
    c.ssd.nand.geometry.blocks_per_plane = 32;
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
    if (shape.variant == "buffer") c.ssd.dram.write_buffer_bytes = 6 * c.ssd.nand.geometry.page_bytes;
    c.worn = shape.variant == "worn";
    auto enough = with_enough_blocks(c.ssd);
    if (!enough) return std::unexpected(enough.error());
    c.ssd = std::move(*enough);
    return c;
}

namespace {

/// Makes `to` equal to `from`, in the regions to which one of the two was written. The others are zero in both.
void restore(MemoryPramStore& to, MemoryPramStore& from) {
    const auto dirty = to.wear();
    const auto wanted = from.wear();
    for (std::uint64_t region = 0; region < dirty.size(); ++region) {
        if (dirty[region] == 0 && wanted[region] == 0) continue;
        dirty[region] = wanted[region];
        const std::uint64_t at = region * pram_wear_region_bytes;
        const std::uint64_t bytes = std::min(pram_wear_region_bytes, to.cells().size() - at);
        std::ranges::copy(from.cells().subspan(at, bytes), to.cells().begin() + static_cast<std::ptrdiff_t>(at));
    }
}

} // namespace

FsStack::FsStack(const FsStackConfig& config, std::string& trouble)
    : config_{config}, geometry_{*Geometry::make(config.ssd.nand.geometry)},
      cells_{std::make_unique<MemoryPageStore>(geometry_, Payload::keep), std::make_unique<MemoryPramStore>(config.ssd.pram.bytes),
             std::make_unique<JournalMemory>()},
      events_{sink_of(config)} {
    if (config.sabotage != nullptr) config.sabotage->begin();
    const auto opened = open_drive(sim_start);
    if (!opened) {
        trouble = opened.error();
        return;
    }
    if (config.worn && !wear_out()) {
        trouble = "the drive cannot be written full";
        return;
    }
    const FileTime made{.seconds = 1};
    const auto formatted = config.journal ? FileSystem::format_journal(ssd(), "crash", made, ready_at_)
                                          : FileSystem::format(*drive_->pram(), fs_range(), ssd(), "crash", made);
    if (!formatted) trouble = fmt::format("format: errno {}", formatted.error().error_number);
    ready_at_ = ssd().last_reserved_end();
    drop();
}

FsStack::FsStack(const FsStackConfig& config, const FsImage& image, FsCells cells)
    : config_{config}, geometry_{*Geometry::make(config.ssd.nand.geometry)}, cells_{std::move(cells)}, events_{sink_of(config)},
      page_bytes_{image.page_bytes}, ready_at_{image.ready_at} {
    if (config.sabotage != nullptr) config.sabotage->begin();
    if (!cells_.pages) cells_.pages = std::make_unique<MemoryPageStore>(geometry_, Payload::keep);
    if (!cells_.pram) cells_.pram = std::make_unique<MemoryPramStore>(config.ssd.pram.bytes);
    if (!cells_.journal_memory) cells_.journal_memory = std::make_unique<JournalMemory>();
    cells_.pages->copy_from(*image.cells.pages);
    restore(*cells_.pram, *image.cells.pram);
}

bool FsStack::wear_out() {
    const DeviceIdentity id = ssd().identify();
    const std::uint32_t at_once = 64 * id.atomic_unit_bytes / sector_bytes;
    const std::vector<std::byte> junk(std::size_t{at_once} * sector_bytes, std::byte{0x5a});
    for (std::uint64_t at = 0; at < id.sectors; at += at_once) {
        const auto sectors = static_cast<std::uint32_t>(std::min<std::uint64_t>(at_once, id.sectors - at));
        const auto span = std::span{junk}.first(std::size_t{sectors} * sector_bytes);
        const auto wrote = ssd().write(Sector{at}, sectors, span, WriteDurability::volatile_ok, ready_at_);
        if (!wrote) return false;
        ready_at_ = std::max(*wrote, ssd().last_reserved_end());
        ssd().settle(ready_at_);
    }
    const auto trimmed = ssd().trim(Sector{0}, id.sectors, ready_at_);
    const auto flushed = trimmed ? ssd().flush(*trimmed) : trimmed;
    if (!flushed) return false;
    ready_at_ = std::max(*flushed, ssd().last_reserved_end());
    return true;
}

FsStack::~FsStack() = default;

PramRange FsStack::fs_range() const { return {.at = PramAddress{config_.ftl_pram_bytes}, .bytes = config_.ssd.pram.bytes - config_.ftl_pram_bytes}; }

std::expected<void, std::string> FsStack::open_drive(SimTime now) {
    DriveBase base{.pages = *cells_.pages,
                   .cells = cells_.pram.get(),
                   .events = events_,
                   .undo = UndoPolicy::keep,
                   .ftl_range = PramRange{.at = PramAddress{0}, .bytes = config_.ftl_pram_bytes}};
    if (config_.sabotage != nullptr)
        base.around_ftl = [this](std::unique_ptr<Ftl> scheme) { return config_.sabotage->around_ftl(std::move(scheme)); };
    auto drive = Drive::assemble(config_.ssd, base);
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
    auto fs = config_.sabotage != nullptr ? open_sabotaged()
              : config_.journal           ? open_journal_in(*cells_.journal_memory, ssd(), events_, config_.fs, ready_at_)
                                          : FileSystem::open(*drive_->pram(), fs_range(), ssd(), events_, config_.fs, ready_at_);
    if (!fs) return std::unexpected(fs.error());
    fs_ = std::move(*fs);
    ready_at_ = std::max(ready_at_, ssd().last_reserved_end());
    return {};
}

void FsStack::drop() {
    fs_.reset();
    liar_.reset();
    drive_.reset();
}

void FsStack::cut(SimTime at, std::uint64_t seed) {
    Random draw{seed};
    ScriptedOutcomes outcomes{outcomes_, config_.ssd.nand.options.paired_pages, config_.judges.has(Judge::looks_erased)};
    outcomes.begin(at, {}, &draw);
    ensure(ssd().cut(at, outcomes, outcomes).has_value(), "FsStack: stores in memory do not fail");
    drop();
    take_fingerprint();
}

/// Cells of PRAM regions that nothing was written to are zero.
void FsStack::take_fingerprint() {
    std::uint32_t cells = 0;
    const auto wear = cells_.pram->wear();
    for (std::uint64_t region = 0; region < wear.size(); ++region) {
        if (wear[region] == 0) continue;
        const std::uint64_t at = region * pram_wear_region_bytes;
        cells = cells * 31 + crc32c(cells_.pram->content().subspan(at, std::min(pram_wear_region_bytes, cells_.pram->content().size() - at)));
    }
    fingerprint_ = (std::uint64_t{cells} << 32) ^ cells_.pages->fingerprint();
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

std::vector<Finding> FsStack::findings() {
    std::vector<Finding> found;
    const auto add = [&](Judge judge, std::string what) {
        if (config_.judges.has(judge)) found.push_back({judge, std::move(what)});
    };
    for (const FsckProblem& p : fs_->check()) {
        const Judge judge = p.kind == "free-page-mapped" ? Judge::free_pages : p.kind == "blocks" ? Judge::st_blocks : Judge::fsck;
        add(judge, fmt::format("fsck: {}: {}: {}", p.kind, p.where, p.detail));
    }
    for (const CheckProblem& p : ssd().check()) add(Judge::drive_check, fmt::format("drive: {}: {}: {}", p.invariant, p.where, p.detail));
    return found;
}

std::vector<std::string> FsStack::problems() {
    std::vector<std::string> lines;
    for (Finding& f : findings()) lines.push_back(std::move(f.what));
    return lines;
}

} // namespace flashlab

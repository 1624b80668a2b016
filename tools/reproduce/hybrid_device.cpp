#include "tools/reproduce/hybrid_device.h"

#include <algorithm>

#include "base/contract.h"
#include "ftl/schemes/merge_plan.h"
#include "tools/drive/device_presets.h"

namespace flashlab {
namespace {

constexpr std::uint64_t pram_bytes = std::uint64_t{64} << 20; ///< section 5.1
constexpr std::uint32_t log_blocks = 4;                       ///< section 5.1

DevicePreset board() {
    auto preset = find_device_preset("k9g8g08u0m");
    ensure(preset.has_value(), "the preset k9g8g08u0m exists");
    return std::move(*preset);
}

} // namespace

std::uint32_t hybrid_look_ups(std::string_view scheme) { return scheme == "log_block" ? log_blocks + 1 : 1; }

std::expected<DevicePlan, std::string> HybridDevice::plan(const HybridChoice& choice) {
    DeviceConfig config;
    config.ssd = board().config;
    config.ssd.pram.bytes = pram_bytes;
    config.ssd.nand.geometry.blocks_per_plane = choice.blocks;
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = choice.scheme;
    ftl.reserved_permille = choice.reserved_permille;
    ftl.mapping_unit_pages = choice.mapping_unit_pages;
    ftl.separation = choice.separation;
    ftl.victim = choice.victim;
    ftl.options.set(merge_option::log_blocks, choice.scheme == "log_block" ? log_blocks : 0);
    const Duration looking = choice.look_up * hybrid_look_ups(choice.scheme);
    config.ssd.nand.timing.controller_page_read += looking;
    config.ssd.nand.timing.controller_page_program += looking;
    return plan_device(config, std::nullopt);
}

std::expected<HybridDevice, std::string> HybridDevice::make(const HybridChoice& choice) {
    auto planned = plan(choice);
    if (!planned) return std::unexpected(planned.error());
    auto events = std::make_unique<NullEventSink>();
    auto device = make_virtual_device(*planned, Payload::none, *events);
    if (!device) return std::unexpected(device.error());
    if (auto started = (*device)->start(sim_start); !started) return std::unexpected(started.error());
    return HybridDevice{std::move(*planned), std::move(events), std::move(*device)};
}

void HybridDevice::set_clock(SimTime now) {
    now_ = std::max(now_, now);
    device_->settle(now_);
}

std::expected<void, std::string> HybridDevice::answer(const DeviceResult<SimTime>& result) {
    if (!result) return std::unexpected(to_text(result.error()));
    set_clock(*result);
    return {};
}

std::expected<void, std::string> HybridDevice::write(std::uint64_t byte, std::uint32_t bytes) {
    return answer(device_->ssd().write(Sector{byte / sector_bytes}, bytes / sector_bytes, {}, WriteDurability::volatile_ok, now_));
}

std::expected<void, std::string> HybridDevice::read(std::uint64_t byte, std::uint32_t bytes) {
    return answer(device_->ssd().read(Sector{byte / sector_bytes}, bytes / sector_bytes, {}, now_));
}

std::expected<void, std::string> HybridDevice::fill(std::uint64_t bytes) {
    constexpr std::uint64_t request = std::uint64_t{256} << 10;
    for (std::uint64_t at = 0; at < bytes; at += request)
        if (auto done = write(at, static_cast<std::uint32_t>(std::min(request, bytes - at))); !done) return done;
    return {};
}

std::expected<RawSpeed, std::string> measure_raw_speed() {
    const NandConfig config = board().config.nand;
    const auto geometry = Geometry::make(config.geometry);
    ensure(geometry.has_value(), "the preset's geometry is valid");
    MemoryPageStore store{*geometry, Payload::none};
    NullEventSink events;
    NandArray array{*geometry, config, store, events, UndoPolicy::none};
    if (!array.open()) return std::unexpected("the array does not open");
    BlockId block{0};
    while (array.is_bad(block)) block = BlockId{block.value() + 1};
    SimTime now = sim_start;
    for (std::uint32_t page = 0; page < geometry->pages_per_block(); ++page) {
        PageProgram program{geometry->page_of(block, page), {}, {}, 0};
        program.oob.sequence = WriteSequence{page + 1u};
        const auto done = array.program({&program, 1}, {now, {}});
        if (!done) return std::unexpected("a program failed");
        now = *done;
        array.settle(now);
    }
    const SimTime written = now;
    for (std::uint32_t page = 0; page < geometry->pages_per_block(); ++page) {
        const auto done = array.read(PageRead{geometry->page_of(block, page), 0, geometry->page_bytes(), {}}, {now, {}});
        if (!done) return std::unexpected("a read failed");
        now = *done;
    }
    const double megabytes_ns = static_cast<double>(geometry->pages_per_block()) * geometry->page_bytes() * 1e3;
    return RawSpeed{.read = megabytes_ns / static_cast<double>((now - written).count()),
                    .write = megabytes_ns / static_cast<double>((written - sim_start).count())};
}

} // namespace flashlab

#include "ftl/memory_drive.h"

namespace flashlab {

MemoryDrive::MemoryDrive(const Geometry& geometry, FtlPlan plan, Payload payload)
    : geometry_{geometry}, plan_{std::move(plan)}, pages_{geometry, payload} {
    if (plan_.pram_bytes != 0) cells_.emplace(pram_bytes_of(plan_));
}

std::expected<std::unique_ptr<MemoryDrive>, std::string> MemoryDrive::make(const SsdConfig& config, Payload payload, EventSink& events) {
    const auto geometry = Geometry::make(config.nand.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    auto plan = plan_ftl(config, *geometry);
    if (!plan) return std::unexpected(plan.error());
    std::unique_ptr<MemoryDrive> drive{new MemoryDrive{*geometry, std::move(*plan), payload}};
    SsdConfig own = config;
    own.pram.bytes = pram_bytes_of(drive->plan_);
    auto made = Drive::assemble(own, {.pages = drive->pages_, .cells = drive->cells_ ? &*drive->cells_ : nullptr, .events = events});
    if (!made) return std::unexpected(made.error().why);
    drive->drive_ = std::move(*made);
    return drive;
}

} // namespace flashlab

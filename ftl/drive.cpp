#include "ftl/drive.h"

#include <fmt/format.h>

#include "ftl/cache/dram_partition.h"
#include "ftl/make_ftl.h"

namespace flashlab {

Drive::Drive(const SsdConfig& config, const Geometry& geometry, const DriveBase& base)
    : config_{config}, events_{base.events}, array_{geometry, config_.nand, base.pages, base.events, base.undo} {}

std::expected<std::unique_ptr<Drive>, DriveError> Drive::assemble(const SsdConfig& config, const DriveBase& base) {
    const auto geometry = Geometry::make(config.nand.geometry);
    if (!geometry) return std::unexpected(DriveError{geometry.error()});
    if (const auto timing = config.nand.timing.validate(); !timing) return std::unexpected(DriveError{timing.error()});
    std::unique_ptr<Drive> drive{new Drive{config, *geometry, base}};
    if (const auto opened = drive->array_.open(); !opened) return std::unexpected(DriveError{"the array does not open", opened.error().host_errno});
    if (base.cells != nullptr)
        drive->pram_ =
            std::make_unique<Pram>(drive->config_.pram, *base.cells, base.events, base.undo == UndoPolicy::keep ? PramUndo::keep : PramUndo::none);
    PramRange range = base.ftl_range.value_or(PramRange{PramAddress{0}, base.cells != nullptr ? config.pram.bytes : 0});
    if (config.dram.pram_buffer_bytes != 0) { // behind the scheme's tables
        const auto plan = plan_ftl(config, *geometry);
        if (!plan) return std::unexpected(DriveError{plan.error()});
        const std::uint64_t buffer = plan->pram_buffer_bytes;
        if (buffer > range.bytes)
            return std::unexpected(DriveError{fmt::format("a write buffer of {} bytes in {} bytes of PRAM", buffer, range.bytes)});
        range.bytes -= buffer;
        drive->buffer_range_ = {PramAddress{range.at.value() + range.bytes}, buffer};
    }
    auto ftl = make_ftl(drive->config_, drive->array_, drive->pram_.get(), range, base.events);
    if (!ftl) return std::unexpected(DriveError{ftl.error()});
    drive->ftl_ = base.around_ftl ? base.around_ftl(std::move(*ftl)) : std::move(*ftl);
    if (auto made = drive->make_ssd(); !made) return std::unexpected(DriveError{made.error()});
    return drive;
}

std::expected<void, std::string> Drive::make_ssd() {
    if (config_.dram.is_partitioned())
        if (auto why = DramPartition::refusal(config_.dram, *ftl_)) return std::unexpected(*why);
    const DramConfig& dram = config_.dram;
    if (!dram.is_partitioned() && dram.size_bytes != 0 && dram.write_buffer_bytes + ftl_->map_cache_bytes() > dram.size_bytes)
        return std::unexpected(fmt::format("dram.size = {} does not hold the write buffer of {} bytes and the maps' cache and directory of {}: raise "
                                           "dram.size, or lower dram.write_buffer_bytes or ftl.mapping_cache_bytes (0: a 32nd of the map)",
                                           dram.size_bytes, dram.write_buffer_bytes, ftl_->map_cache_bytes()));
    ssd_ = std::make_unique<Ssd>(config_, *ftl_, array_, pram_.get(), buffer_range_, events_);
    return {};
}

std::expected<void, std::string> Drive::change_dram(const DramConfig& dram) {
    ssd_.reset();
    config_.dram = dram;
    return make_ssd();
}

std::uint64_t pram_bytes_of(const FtlPlan& plan) {
    constexpr std::uint64_t page = 4096;
    return (plan.pram_bytes + page - 1) / page * page;
}

} // namespace flashlab

#include "tools/reproduce/hybrid_volume.h"

#include <cstring>

#include "base/contract.h"

namespace flashlab {

std::string to_text(const FsError& error) { return std::strerror(error.error_number); }

DeviceResult<SimTime> MetadataShadow::read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) {
    if (keeps(first) && !to.empty()) std::memcpy(to.data(), bytes_.data() + first.value() * sector_bytes, to.size());
    return real_.read(first, sectors, {}, host);
}

DeviceResult<SimTime> MetadataShadow::write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                            HostIo host) {
    if (keeps(first) && !from.empty()) std::memcpy(bytes_.data() + first.value() * sector_bytes, from.data(), from.size());
    return real_.write(first, sectors, {}, durability, host);
}

std::expected<FatLayout, std::string> hybrid_layout(std::uint64_t bytes) {
    constexpr std::uint64_t erase_block_bytes = 256u << 10;
    return FatLayout::make(bytes / sector_bytes, erase_block_bytes / sector_bytes);
}

std::expected<HybridVolume, std::string> HybridVolume::make(const HybridScheme& scheme, HybridChoice choice, const FatOptions& options) {
    choice.scheme = scheme.ftl;
    auto device = HybridDevice::make(choice);
    if (!device) return std::unexpected(device.error());
    HybridVolume made;
    made.options_ = options;
    made.device_ = std::make_unique<HybridDevice>(std::move(*device));
    Device& drive = made.device_->device();
    const auto layout = hybrid_layout(made.device_->bytes());
    if (!layout) return std::unexpected(layout.error());
    made.drive_ = std::make_unique<MetadataShadow>(drive.ssd(), layout->metadata_sectors());
    if (scheme.has_fsms) {
        const PramLayout& pram = drive.config().layout;
        if (pram.fs_bytes < layout->metadata_bytes()) return std::unexpected("the PRAM has no room for the metadata");
        auto filter = std::make_unique<PramMetadataSectors>(drive.pram(), PramRange{PramAddress{pram.fs_at}, pram.fs_bytes});
        made.filter_ = filter.get();
        made.place_ = std::move(filter);
    } else {
        made.place_ = std::make_unique<DeviceMetadataSectors>(*made.drive_);
    }
    const auto formatted = FatVolume::format(*layout, *made.place_, made.device_->now());
    if (!formatted) return std::unexpected(to_text(formatted.error()));
    made.device_->set_clock(*formatted);
    if (auto mounted = made.remount(); !mounted) return std::unexpected(mounted.error());
    return made;
}

FsCall HybridVolume::call() {
    device_->set_clock(volume_->now());
    const auto since = static_cast<std::uint64_t>((device_->now() - sim_start).count());
    constexpr std::uint64_t second = 1'000'000'000;
    return {.now = device_->now(),
            .wall = {.seconds = static_cast<std::int64_t>(since / second), .nanoseconds = static_cast<std::uint32_t>(since % second)}};
}

std::expected<void, std::string> HybridVolume::remount() {
    if (volume_ != nullptr) {
        if (auto synced = volume_->sync(call()); !synced) return std::unexpected(to_text(synced.error()));
        device_->set_clock(volume_->now());
    }
    auto opened = FatVolume::open(*place_, *drive_, options_, device_->now());
    if (!opened) return std::unexpected(opened.error());
    volume_ = std::move(*opened);
    return {};
}

} // namespace flashlab

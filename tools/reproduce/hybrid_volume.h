/// The hybrid paper's board with a file system on it: {log_block, hftl} x {FSMS on, off}.
///
/// Idea       A FatVolume over the drive. Its metadata lie on the drive or on the board's PRAM. There is one call at a time: each begins when the one
///            before has ended.
/// Invariant  The drive keeps no payload. Metadata that go through the drive are kept beside it, so that the file system reads what it wrote. File
///            data are kept nowhere.
/// Cost       As HybridDevice, and 5.5 MB for the metadata.
/// Source     Kim et al. 2008, sections 3.2, 5.1 and 5.2; HY8.
#pragma once

#include "ftl/forwarding_device.h"
#include "tools/reproduce/fat/fat_volume.h"
#include "tools/reproduce/hybrid_device.h"

namespace flashlab {

/// Passes every request on. It also keeps the bytes of the first sectors, because the drive keeps none.
class MetadataShadow final : public ForwardingDevice {
public:
    MetadataShadow(BlockDevice& device, std::uint64_t sectors) : ForwardingDevice{device}, bytes_(sectors * sector_bytes) {}
    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override;

private:
    [[nodiscard]] bool keeps(Sector first) const { return first.value() * sector_bytes < bytes_.size(); }
    std::vector<std::byte> bytes_;
};

/// The layout of a drive of `bytes` bytes. Files begin at an erase block, as formatters for flash place them.
[[nodiscard]] std::expected<FatLayout, std::string> hybrid_layout(std::uint64_t bytes);

/// One of the paper's four systems.
struct HybridScheme {
    std::string_view name; ///< the name in the series of a result
    std::string_view ftl;
    bool has_fsms = false;
};
inline constexpr std::array hybrid_schemes{HybridScheme{"log_block", "log_block", false}, HybridScheme{"log_block-FSMS", "log_block", true},
                                           HybridScheme{"hftl", "hftl", false}, HybridScheme{"hftl-FSMS", "hftl", true}};

class HybridVolume {
public:
    /// Makes a volume that is formatted and mounted. `choice.scheme` is taken from `scheme`.
    [[nodiscard]] static std::expected<HybridVolume, std::string> make(const HybridScheme& scheme, HybridChoice choice, const FatOptions& options);

    [[nodiscard]] FatVolume& volume() { return *volume_; }
    /// The board's next call. It begins when the last one has ended.
    [[nodiscard]] FsCall call();
    [[nodiscard]] SimTime now() { return call().now; }
    /// Unmounts and mounts, so that the caches of the file system are empty.
    [[nodiscard]] std::expected<void, std::string> remount();
    [[nodiscard]] HybridDevice& device() { return *device_; }
    /// Null without FSMS.
    [[nodiscard]] PramMetadataSectors* filter() { return filter_; }

private:
    HybridVolume() = default;
    FatOptions options_;
    std::unique_ptr<HybridDevice> device_;
    std::unique_ptr<MetadataShadow> drive_;
    std::unique_ptr<MetadataSectors> place_;
    PramMetadataSectors* filter_ = nullptr;
    std::unique_ptr<FatVolume> volume_;
};

/// "no space left on device" and so on, for messages.
[[nodiscard]] std::string to_text(const FsError& error);

} // namespace flashlab

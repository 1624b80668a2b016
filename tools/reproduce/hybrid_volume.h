/// The hybrid paper's board with a file system on it: {log_block, hftl} x {FSMS on, off}.
///
/// Idea       FatVolume over the drive, its metadata on the drive or on the board's PRAM. One call at a time: each begins when the one before has ended.
/// Invariant  The drive keeps no payload; metadata that go through it are kept beside it, so that the file system reads what it wrote. File data are nobody's.
/// Cost       As HybridDevice, and the metadata's 5.5 MB.
/// Source     Kim et al. 2008, sections 3.2, 5.1 and 5.2; HY8.
#pragma once

#include "tools/reproduce/fat/fat_volume.h"
#include "tools/reproduce/hybrid_device.h"

namespace flashlab {

/// Passes everything on, and keeps the bytes of the first sectors for a drive that keeps none.
class MetadataShadow final : public BlockDevice {
public:
    MetadataShadow(BlockDevice& device, std::uint64_t sectors) : device_{device}, bytes_(sectors * sector_bytes) {}
    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, SimTime now) override;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                SimTime now) override;
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, SimTime now) override { return device_.trim(first, sectors, now); }
    DeviceResult<SimTime> flush(SimTime now) override { return device_.flush(now); }
    DeviceIdentity identify() const override { return device_.identify(); }
    std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override { return device_.lba_status(first, sectors); }
    std::vector<CheckProblem> check() override { return device_.check(); }
    SimTime tick(SimTime now) override { return device_.tick(now); }

private:
    [[nodiscard]] bool keeps(Sector first) const { return first.value() * sector_bytes < bytes_.size(); }
    BlockDevice& device_;
    std::vector<std::byte> bytes_;
};

/// The layout of a drive of so many bytes: files begin at an erase block, as formatters for flash have them.
[[nodiscard]] std::expected<FatLayout, std::string> hybrid_layout(std::uint64_t bytes);

/// One of the paper's four systems.
struct HybridScheme {
    std::string_view name; ///< in series
    std::string_view ftl;
    bool has_fsms = false;
};
inline constexpr std::array hybrid_schemes{HybridScheme{"log_block", "log_block", false}, HybridScheme{"log_block-FSMS", "log_block", true},
                                           HybridScheme{"hftl", "hftl", false}, HybridScheme{"hftl-FSMS", "hftl", true}};

class HybridVolume {
public:
    /// Formatted and mounted. `choice.scheme` is taken from `scheme`.
    [[nodiscard]] static std::expected<HybridVolume, std::string> make(const HybridScheme& scheme, HybridChoice choice, const FatOptions& options);

    [[nodiscard]] FatVolume& volume() { return *volume_; }
    /// The board's next call: when the last one has ended.
    [[nodiscard]] FsCall call();
    [[nodiscard]] SimTime now() { return call().now; }
    /// Unmounts and mounts: the caches of the file system are empty.
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

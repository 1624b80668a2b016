/// A part of a device as a device of its own.
///
/// Idea       Sectors are shifted by the part's first one; the rest passes through.
/// Invariant  Nothing outside the part is touched: a request that leaves the part gets out_of_range.
/// Cost       A virtual call a request.
/// Power cut  As the device.
#pragma once

#include "ftl/block_device.h"

namespace flashlab {

class OffsetDevice final : public BlockDevice {
public:
    OffsetDevice(BlockDevice& device, std::uint64_t first, std::uint64_t sectors) : device_{device}, first_{first}, sectors_{sectors} {}

    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override {
        if (!fits(first, sectors)) return outside(first, host.when);
        return device_.read(shifted(first), sectors, to, host);
    }
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        if (!fits(first, sectors)) return outside(first, host.when);
        return device_.write(shifted(first), sectors, from, durability, host);
    }
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override {
        if (!fits(first, sectors)) return outside(first, host.when);
        return device_.trim(shifted(first), sectors, host);
    }
    DeviceResult<SimTime> flush(HostIo host) override { return device_.flush(host); }
    DeviceIdentity identify() const override {
        DeviceIdentity part = device_.identify();
        part.sectors = sectors_;
        return part;
    }
    std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override {
        auto ranges = device_.lba_status(shifted(first), sectors);
        for (LbaRange& range : ranges) range.first = Sector{range.first.value() - first_};
        return ranges;
    }
    std::vector<CheckProblem> check() override { return device_.check(); }
    SimTime tick(SimTime now) override { return device_.tick(now); }

private:
    [[nodiscard]] Sector shifted(Sector sector) const { return Sector{sector.value() + first_}; }
    [[nodiscard]] bool fits(Sector first, std::uint64_t sectors) const { return first.value() <= sectors_ && sectors <= sectors_ - first.value(); }
    [[nodiscard]] static DeviceResult<SimTime> outside(Sector where, SimTime now) {
        return std::unexpected(DeviceError{.kind = DeviceErrorKind::out_of_range, .where = where, .done = now, .host_errno = 0});
    }

    BlockDevice& device_;
    std::uint64_t first_;
    std::uint64_t sectors_;
};

} // namespace flashlab

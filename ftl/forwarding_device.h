/// A block device that passes every call on. Who wants one call to be different derives from it and overrides that function.
///
/// Idea       Forwarding, nothing else.
/// Invariant  Without an override it behaves as the device that it wraps.
/// Cost       A second virtual call a request.
/// Power cut  The device's.
#pragma once

#include "ftl/block_device.h"

namespace flashlab {

class ForwardingDevice : public BlockDevice {
public:
    explicit ForwardingDevice(BlockDevice& real) : real_{real} {}

    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override {
        return real_.read(first, sectors, to, host);
    }
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        return real_.write(first, sectors, from, durability, host);
    }
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override { return real_.trim(first, sectors, host); }
    DeviceResult<SimTime> flush(HostIo host) override { return real_.flush(host); }
    DeviceIdentity identify() const override { return real_.identify(); }
    std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override { return real_.lba_status(first, sectors); }
    std::vector<CheckProblem> check() override { return real_.check(); }
    SimTime tick(SimTime now) override { return real_.tick(now); }

protected:
    BlockDevice& real_;
};

} // namespace flashlab

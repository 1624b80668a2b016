/// The pages of one file as a device of their own, for a load that runs beneath the file system.
///
/// Idea       Runs of the file's sectors are mapped to runs of the device's sectors. A request is split where one run ends.
/// Invariant  Nothing outside the file's pages is touched: such a request gets out_of_range. The file neither grows nor is freed meanwhile.
/// Cost       A binary search for each request, and a virtual call for each run in it.
/// Power cut  As the device. The file's own content does not change: its extents stay unwritten, and it reads as zeros.
#pragma once

#include <algorithm>
#include <vector>

#include "ftl/block_device.h"

namespace flashlab {

class ExtentsDevice final : public BlockDevice {
public:
    struct Run {
        std::uint64_t at = 0;    ///< first sector of the file
        std::uint64_t first = 0; ///< of the device
        std::uint64_t sectors = 0;
    };
    /// `runs`: in the file's order, without gaps.
    ExtentsDevice(BlockDevice& device, std::vector<Run> runs) : device_{device}, runs_{std::move(runs)} {}

    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override {
        return each(first, sectors, host.when, [&](const Run& part) {
            const auto into = to.empty() ? to : to.subspan((part.at - first.value()) * sector_bytes, part.sectors * sector_bytes);
            return device_.read(Sector{part.first}, static_cast<std::uint32_t>(part.sectors), into, host);
        });
    }
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        return each(first, sectors, host.when, [&](const Run& part) {
            const auto bytes = from.empty() ? from : from.subspan((part.at - first.value()) * sector_bytes, part.sectors * sector_bytes);
            return device_.write(Sector{part.first}, static_cast<std::uint32_t>(part.sectors), bytes, durability, host);
        });
    }
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override {
        return each(first, sectors, host.when, [&](const Run& part) { return device_.trim(Sector{part.first}, part.sectors, host); });
    }
    DeviceResult<SimTime> flush(HostIo host) override { return device_.flush(host); }
    DeviceIdentity identify() const override {
        DeviceIdentity part = device_.identify();
        part.sectors = runs_.empty() ? 0 : runs_.back().at + runs_.back().sectors;
        return part;
    }
    std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override {
        std::vector<LbaRange> out;
        (void)each(first, sectors, sim_start, [&](const Run& part) -> DeviceResult<SimTime> {
            for (LbaRange range : device_.lba_status(Sector{part.first}, part.sectors)) {
                range.first = Sector{range.first.value() - part.first + part.at};
                out.push_back(range);
            }
            return sim_start;
        });
        return out;
    }
    std::vector<CheckProblem> check() override { return device_.check(); }
    SimTime tick(SimTime now) override { return device_.tick(now); }

private:
    /// Calls do(part) for each part of the range that lies in one run. Returns the latest end.
    template <class Do>
    DeviceResult<SimTime> each(Sector first, std::uint64_t sectors, SimTime now, Do&& act) const {
        const std::uint64_t all = identify().sectors;
        if (first.value() > all || sectors > all - first.value())
            return std::unexpected(DeviceError{.kind = DeviceErrorKind::out_of_range, .where = first, .done = now, .host_errno = 0});
        SimTime end = now;
        auto run = std::ranges::upper_bound(runs_, first.value(), {}, &Run::at);
        for (std::uint64_t at = first.value(), last = at + sectors; at < last; ++run) {
            const Run& here = *std::prev(run);
            const std::uint64_t skipped = at - here.at, n = std::min(last - at, here.sectors - skipped);
            const DeviceResult<SimTime> done = act(Run{at, here.first + skipped, n});
            if (!done) return done;
            end = std::max(end, *done);
            at += n;
        }
        return end;
    }

    BlockDevice& device_;
    std::vector<Run> runs_;
};

} // namespace flashlab

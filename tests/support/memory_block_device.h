/// A BlockDevice in memory: constant latency, zeros after trim, unflushed writes that a cut can take away, errors on demand.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "base/random.h"
#include "ftl/block_device.h"

namespace flashlab::test {

class MemoryBlockDevice final : public BlockDevice {
public:
    MemoryBlockDevice(std::uint64_t units, std::uint32_t unit_bytes = 4096, Duration latency = Duration{50'000})
        : units_{units}, unit_bytes_{unit_bytes}, latency_{latency} {}

    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override {
        ++reads;
        if (fail_reads) return std::unexpected(DeviceError{DeviceErrorKind::uncorrectable, first, host.when, 0});
        for (std::uint64_t at = 0; at < std::uint64_t{sectors} * sector_bytes && !to.empty(); at += sector_bytes) {
            const std::uint64_t byte = first.value() * sector_bytes + at;
            const auto unit = now_.find(byte / unit_bytes_);
            if (unit == now_.end()) {
                std::memset(to.data() + at, 0, sector_bytes);
            } else {
                std::memcpy(to.data() + at, unit->second.data() + byte % unit_bytes_, sector_bytes);
            }
        }
        return host.when + latency_;
    }
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        ++writes;
        if (host.stream != no_stream) last_stream = host.stream;
        if (is_read_only) return std::unexpected(DeviceError{DeviceErrorKind::read_only, first, host.when, 0});
        if (fail_writes || writes_to_fail != 0) {
            writes_to_fail -= writes_to_fail != 0 ? 1 : 0;
            return std::unexpected(DeviceError{DeviceErrorKind::host_io, first, host.when, host_errno});
        }
        for (std::uint64_t at = 0; at < std::uint64_t{sectors} * sector_bytes; at += sector_bytes) {
            if (sectors_left == 0) {
                is_read_only = true;
                return std::unexpected(DeviceError{DeviceErrorKind::read_only, first, host.when, 0});
            }
            --sectors_left;
            const std::uint64_t byte = first.value() * sector_bytes + at;
            auto& unit = now_[byte / unit_bytes_];
            unit.resize(unit_bytes_);
            std::memcpy(unit.data() + byte % unit_bytes_, from.data() + at, sector_bytes);
            if (durability == WriteDurability::fua) {
                durable_[byte / unit_bytes_] = unit;
                unflushed_.erase(byte / unit_bytes_);
            } else {
                unflushed_[byte / unit_bytes_] = true;
            }
        }
        return host.when + latency_;
    }
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override {
        ++trims;
        if (refuses_trims || is_read_only) return std::unexpected(DeviceError{DeviceErrorKind::read_only, first, host.when, 0});
        const std::uint64_t per = unit_bytes_ / sector_bytes, end = first.value() + sectors;
        for (std::uint64_t unit = first.value() / per; unit * per < end; ++unit) {
            const std::uint64_t from = std::max(unit * per, first.value()), to = std::min((unit + 1) * per, end);
            unflushed_[unit] = true;
            if (to - from == per)
                now_.erase(unit);
            else if (const auto at = now_.find(unit); at != now_.end())
                std::memset(at->second.data() + (from - unit * per) * sector_bytes, 0, (to - from) * sector_bytes);
        }
        return host.when + latency_ / 10;
    }
    DeviceResult<SimTime> flush(HostIo host) override {
        if (fail_flushes) return std::unexpected(DeviceError{DeviceErrorKind::host_io, Sector{0}, host.when, EIO});
        ++flushes;
        for (const auto& [unit, dirty] : unflushed_) keep(unit);
        unflushed_.clear();
        return host.when + flush_takes;
    }
    /// The power goes: each unflushed unit is lost or kept, by seed.
    void cut(std::uint64_t seed) {
        Random random{seed};
        for (const auto& [unit, dirty] : unflushed_) {
            if (random.chance(1, 2)) keep(unit);
        }
        unflushed_.clear();
        now_ = durable_;
    }
    DeviceIdentity identify() const override {
        return {.sectors = units_ * unit_bytes_ / sector_bytes, .atomic_unit_bytes = unit_bytes_, .ftl = "memory"};
    }
    std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override {
        std::vector<LbaRange> ranges;
        const std::uint64_t per = unit_bytes_ / sector_bytes;
        for (std::uint64_t at = first.value(); at < first.value() + sectors; at += per) {
            const bool mapped = now_.contains(at / per);
            if (ranges.empty() || ranges.back().mapped != mapped) ranges.push_back({.first = Sector{at}, .sectors = 0, .mapped = mapped});
            ranges.back().sectors += per;
        }
        return ranges;
    }
    std::vector<CheckProblem> check() override { return {}; }
    SimTime tick(SimTime) override { return sim_never; }

    std::uint64_t reads = 0, writes = 0, trims = 0, flushes = 0;
    Duration flush_takes{0};
    bool fail_reads = false, fail_writes = false, fail_flushes = false, refuses_trims = false, is_read_only = false;
    std::uint64_t sectors_left = UINT64_MAX; ///< to be written, then the device is read-only
    int host_errno = EIO;                    ///< of writes that fail
    unsigned writes_to_fail = 0;             ///< so many more, then they succeed again
    StreamId last_stream = no_stream;        ///< that a write named

private:
    void keep(std::uint64_t unit) {
        const auto at = now_.find(unit);
        if (at == now_.end()) {
            durable_.erase(unit);
        } else {
            durable_[unit] = at->second;
        }
    }
    std::uint64_t units_;
    std::uint32_t unit_bytes_;
    Duration latency_;
    std::map<std::uint64_t, std::vector<std::byte>> now_, durable_;
    std::map<std::uint64_t, bool> unflushed_;
};

} // namespace flashlab::test

/// The device as a file system sees it: 512-byte sectors, in simulated time.
///
/// Idea       The narrowest interface that an SSD has: read, write, trim, flush, identify, what is mapped, is it sound.
/// Invariant  D1 what was answered before a completed flush, or written with FUA, survives a power cut, newest version (C1).
///            D2 an atomic unit (identify()) is old or new, never a mix (C2, C3). D3 trimmed sectors read zero, and stay so once flushed (C4).
/// Cost       One virtual call a request; requests span any number of sectors.
/// Power cut  See the contract C1..C9 in docs/crash-model.md.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "base/io.h"

namespace flashlab {

enum class DeviceErrorKind : std::uint8_t {
    uncorrectable, ///< these sectors cannot be read (EIO)
    out_of_range,  ///< beyond identify().sectors
    no_space,      ///< the flash has no free block left: the device is full of valid data or worn out
    read_only,     ///< worn out, or a host error: still reads
    foreign,       ///< of a start: the records of the translation layer do not parse; nothing was changed
    host_io,       ///< the image could not be read or written
};
struct DeviceError {
    DeviceErrorKind kind;
    Sector where{0};
    SimTime done;
    int host_errno = 0;
};
template <class T>
using DeviceResult = std::expected<T, DeviceError>;

struct DeviceIdentity {
    std::uint64_t sectors = 0;
    std::uint32_t atomic_unit_bytes = 4096; ///< the FTL's logical page
    std::string ftl;
    bool volatile_write_cache = true; ///< false: what was answered is durable without a flush
};

enum class WriteDurability : std::uint8_t { volatile_ok, fua };

struct LbaRange {
    Sector first{0};
    std::uint64_t sectors = 0;
    bool mapped = false;
};

/// One thing check() or fsck found broken; `invariant` quotes the number in the header that states it.
struct CheckProblem {
    std::string invariant;
    std::string where;
    std::string detail;
};

class BlockDevice {
public:
    virtual ~BlockDevice() = default;
    /// `to` is sectors * 512 bytes, or empty where nobody wants the payload. Returns the completion time.
    [[nodiscard]] virtual DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) = 0;
    [[nodiscard]] virtual DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from,
                                                      WriteDurability durability, HostIo host) = 0;
    [[nodiscard]] virtual DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) = 0;
    /// Everything answered before is durable when it completes.
    [[nodiscard]] virtual DeviceResult<SimTime> flush(HostIo host) = 0;
    [[nodiscard]] virtual DeviceIdentity identify() const = 0;
    /// Runs of mapped and unmapped sectors that cover [first, first + sectors).
    [[nodiscard]] virtual std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const = 0;
    /// Every invariant, in full; empty = sound. Costs no simulated time.
    [[nodiscard]] virtual std::vector<CheckProblem> check() = 0;
    /// Background work that is due; returns when it wants to be called next, sim_never when idle.
    [[nodiscard]] virtual SimTime tick(SimTime now) = 0;
};

} // namespace flashlab

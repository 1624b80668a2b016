#include "tools/reproduce/fat/metadata_sectors.h"

#include <algorithm>

#include "fs/device_errno.h"

namespace flashlab {

FsResult<SimTime> DeviceMetadataSectors::read(std::uint64_t sector, std::span<std::byte, sector_bytes> to, SimTime now) {
    const auto done = device_.read(Sector{sector}, 1, to, now);
    if (!done) return std::unexpected(errno_of(done.error()));
    return *done;
}

FsResult<SimTime> DeviceMetadataSectors::write(std::uint64_t sector, std::span<const std::byte, sector_bytes> from, SimTime now) {
    const auto done = device_.write(Sector{sector}, 1, from, WriteDurability::volatile_ok, now);
    if (!done) return std::unexpected(errno_of(done.error()));
    return *done;
}

FsResult<SimTime> PramMetadataSectors::read(std::uint64_t sector, std::span<std::byte, sector_bytes> to, SimTime now) {
    if (!holds(sector)) return std::unexpected(FsError{EIO});
    std::ranges::copy(pram_.view(PramAddress{range_.at.value() + sector * sector_bytes}, sector_bytes), to.begin());
    return pram_.read(sector_bytes, now);
}

FsResult<SimTime> PramMetadataSectors::write(std::uint64_t sector, std::span<const std::byte, sector_bytes> from, SimTime now) {
    if (!holds(sector)) return std::unexpected(FsError{EIO});
    const PramWritten written = pram_.write(PramUser::fs, PramAddress{range_.at.value() + sector * sector_bytes}, from, now);
    ++changed_words_[written.words];
    return std::max(now, written.end);
}

} // namespace flashlab

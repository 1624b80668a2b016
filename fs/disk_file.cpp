#include "fs/disk_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/stat.h>

#include <fmt/format.h>

#include "fs/device_errno.h"
#include "fs/offset_device.h"
#include "fs/use_observer.h"
#include "fs/write_back_faults.h"

namespace flashlab {

namespace {

constexpr std::uint64_t first_of(std::uint64_t offset) { return offset / sector_bytes; }
constexpr std::uint64_t behind(std::uint64_t end) { return (end + sector_bytes - 1) / sector_bytes; }

} // namespace

DiskFile::DiskFile(BlockDevice& device, const FsOptions& options) : device_{device}, options_{options} {
    const DeviceIdentity identity = device_.identify();
    size_ = identity.sectors * sector_bytes;
    directory_.ino = root_ino;
    directory_.mode = S_IFDIR | 0755;
    directory_.links = 2;
    disk_.ino = ino;
    disk_.mode = S_IFREG | 0600;
    disk_.links = 1;
    disk_.size = size_;
    disk_.blocks_512 = identity.sectors;
}

Attributes& DiskFile::known(Ino of, const FileTime& wall) {
    Attributes& which = of == root_ino ? directory_ : disk_;
    if (which.born == FileTime{}) which.born = which.accessed = which.modified = which.changed = wall;
    return which;
}

FsResult<Timed<Attributes>> DiskFile::lookup(const FsCall& call, Ino parent, std::string_view of) {
    if (of == ".") return attributes(call, parent);
    if (parent != root_ino) return refused(ENOTDIR);
    if (of == "..") return attributes(call, root_ino);
    return of == name ? attributes(call, ino) : refused(ENOENT);
}

FsResult<SimTime> DiskFile::read_directory(const FsCall& call, Ino, std::uint64_t offset, const EntrySink& sink) {
    struct Listed {
        const char* name;
        Ino ino;
        std::uint32_t type;
    };
    constexpr std::array<Listed, 3> entries{{{".", root_ino, S_IFDIR}, {"..", root_ino, S_IFDIR}, {name, ino, S_IFREG}}};
    for (; offset < entries.size(); ++offset)
        if (!sink(entries[offset].name, entries[offset].ino, entries[offset].type, offset + 1)) break;
    return call.now;
}

FsResult<Timed<Attributes>> DiskFile::attributes(const FsCall& call, Ino of) {
    if (of != root_ino && of != ino) return refused(ENOENT);
    return Timed<Attributes>{known(of, call.wall), call.now};
}

FsResult<Timed<Attributes>> DiskFile::change_attributes(const FsCall& call, Ino of, const AttributeChange& change) {
    using Bit = AttributeChange::Bit;
    if ((change.which & Bit::size) != 0 && change.new_size != size_) return refused();
    Attributes& file = known(of, call.wall);
    if ((change.which & Bit::mode) != 0) file.mode = (file.mode & S_IFMT) | (change.new_mode & ~static_cast<std::uint32_t>(S_IFMT));
    if ((change.which & Bit::uid) != 0) file.uid = change.new_uid;
    if ((change.which & Bit::gid) != 0) file.gid = change.new_gid;
    if ((change.which & Bit::atime) != 0) file.accessed = change.new_atime;
    if ((change.which & Bit::mtime) != 0) file.modified = change.new_mtime;
    file.changed = (change.which & Bit::ctime) != 0 ? change.new_ctime : call.wall;
    return Timed<Attributes>{file, call.now};
}

FsResult<SimTime> DiskFile::open_file(const FsCall& call, Ino, const OpenMode& mode) {
    if (mode.writes && options_.read_only) return refused(EROFS);
    return call.now;
}

FsResult<SimTime> DiskFile::read_sectors(std::uint64_t first, std::span<std::byte> to, SimTime now) {
    const auto done = device_.read(Sector{first}, static_cast<std::uint32_t>(to.size() / sector_bytes), to, now);
    if (done) return *done;
    if (done.error().kind == DeviceErrorKind::uncorrectable && options_.unreadable) options_.unreadable(ino, first * sector_bytes, to.size());
    return std::unexpected(errno_of(done.error()));
}

FsResult<Timed<std::size_t>> DiskFile::read(const FsCall& call, Ino of, std::uint64_t offset, std::span<std::byte> to) {
    if (of != ino) return refused(EISDIR);
    if (offset >= size_) return Timed<std::size_t>{0, call.now};
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), size_ - offset));
    const bool is_whole = offset % sector_bytes == 0 && bytes % sector_bytes == 0;
    if (!is_whole) edges_.resize((behind(offset + bytes) - first_of(offset)) * sector_bytes);
    const auto done = read_sectors(first_of(offset), is_whole ? to.first(bytes) : std::span{edges_}, call.now);
    if (!done) return std::unexpected(done.error());
    if (!is_whole) std::memcpy(to.data(), edges_.data() + offset % sector_bytes, bytes);
    return Timed<std::size_t>{bytes, *done};
}

FsResult<Timed<std::size_t>> DiskFile::put(const FsCall& call, std::uint64_t offset, std::span<const std::byte> from, WriteDurability durability) {
    if (options_.read_only) return refused(EROFS);
    if (offset >= size_ || (call.is_direct && from.size() > size_ - offset)) return refused(ENOSPC); // as a disk says it of its end
    from = from.first(static_cast<std::size_t>(std::min<std::uint64_t>(from.size(), size_ - offset)));
    const std::uint64_t first = first_of(offset), end = behind(offset + from.size());
    const auto sectors = static_cast<std::uint32_t>(end - first);
    SimTime start = call.now;
    std::span<const std::byte> whole = from;
    if (offset % sector_bytes != 0 || from.size() % sector_bytes != 0) {
        edges_.resize(std::size_t{sectors} * sector_bytes);
        const auto fetch = [&](std::uint64_t sector) -> FsResult<void> {
            const auto done = read_sectors(sector, std::span{edges_}.subspan((sector - first) * sector_bytes, sector_bytes), call.now);
            if (!done) return std::unexpected(done.error());
            start = std::max(start, *done);
            return {};
        };
        if (const auto head = fetch(first); !head) return std::unexpected(head.error());
        if (sectors > 1)
            if (const auto tail = fetch(end - 1); !tail) return std::unexpected(tail.error());
        std::memcpy(edges_.data() + offset % sector_bytes, from.data(), from.size());
        whole = edges_;
    }
    const std::uint64_t page_bytes = std::max<std::uint64_t>(4096, device_.identify().atomic_unit_bytes);
    if (options_.use != nullptr) options_.use->data_written(ino, FilePage{offset / page_bytes}, Sector{first}, sectors);
    if (durability == WriteDurability::volatile_ok) note_unflushed(first, end);
    const auto done = device_.write(Sector{first}, sectors, whole, durability, {start, call.stream});
    if (!done) return std::unexpected(errno_of(done.error()));
    Attributes& file = known(ino, call.wall);
    file.modified = file.changed = call.wall;
    return Timed<std::size_t>{from.size(), *done};
}

void DiskFile::note_unflushed(std::uint64_t first_sector, std::uint64_t end_sector) {
    unflushed_from_ = std::min(unflushed_from_, first_sector * sector_bytes);
    unflushed_to_ = std::max(unflushed_to_, end_sector * sector_bytes);
}

std::vector<UnsyncedRange> DiskFile::unsynced() const {
    if (unflushed_to_ == 0) return {};
    return {{.ino = ino, .offset = unflushed_from_, .bytes = unflushed_to_ - unflushed_from_}};
}

FsResult<SimTime> DiskFile::flush(SimTime now) {
    if (options_.read_only) return now;
    if (unflushed_to_ == 0) return std::max(now, flushed_at_);
    const auto done = device_.flush(now);
    if (!done) return std::unexpected(errno_of(done.error()));
    unflushed_from_ = UINT64_MAX;
    unflushed_to_ = 0;
    flushed_at_ = std::max(flushed_at_, *done);
    return flushed_at_;
}

FsResult<std::unique_ptr<SlowCall>> DiskFile::begin_sync(const FsCall&, Ino, SyncScope, WriteErrorMark*) {
    class Flush final : public SlowCall {
    public:
        explicit Flush(DiskFile& disk) : disk_{disk} {}
        StepResult step(SimTime now) override {
            const auto done = disk_.flush(now);
            if (!done) return std::unexpected(done.error());
            return Done{*done};
        }

    private:
        DiskFile& disk_;
    };
    const int error = options_.write_back_faults != nullptr ? options_.write_back_faults->write_back_fails(ino) : 0;
    if (error != 0) return refused(error);
    return std::make_unique<Flush>(*this);
}

FsResult<SimTime> DiskFile::trim(const FsCall& call, std::uint64_t offset, std::uint64_t end) {
    const std::array<std::byte, sector_bytes> zeros{};
    SimTime done = call.now;
    const auto write_zeros = [&](std::uint64_t from, std::uint64_t to) -> FsResult<void> {
        const auto written = put(call, from, std::span{zeros}.first(to - from), WriteDurability::volatile_ok);
        if (!written) return std::unexpected(written.error());
        done = std::max(done, written->done);
        return {};
    };
    const std::uint64_t first = behind(offset), last = first_of(end);
    if (first > last) { // inside one sector
        const auto all = write_zeros(offset, end);
        return all ? FsResult<SimTime>{done} : std::unexpected(all.error());
    }
    if (const std::uint64_t head = first * sector_bytes; offset < head)
        if (const auto written = write_zeros(offset, head); !written) return std::unexpected(written.error());
    if (const std::uint64_t tail = last * sector_bytes; tail < end)
        if (const auto written = write_zeros(tail, end); !written) return std::unexpected(written.error());
    if (first == last) return done;
    note_unflushed(first, last);
    const auto trimmed = device_.trim(Sector{first}, last - first, call.now);
    if (!trimmed) return std::unexpected(errno_of(trimmed.error()));
    return std::max(done, *trimmed);
}

FsResult<SimTime> DiskFile::allocate(const FsCall& call, Ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) {
    if (options_.read_only) return refused(EROFS);
    const bool ends_outside = bytes > size_ || offset > size_ - bytes;
    if (ends_outside && mode != FallocateMode::punch_hole) return refused(ENOSPC);
    if (mode == FallocateMode::allocate || mode == FallocateMode::keep_size || offset >= size_) return call.now;
    return trim(call, offset, ends_outside ? size_ : offset + bytes);
}

FsResult<std::uint64_t> DiskFile::seek(const FsCall&, Ino, std::uint64_t offset, SeekWhat what) {
    constexpr std::uint64_t sectors_a_look = std::uint64_t{1} << 17;
    if (offset >= size_) return refused(ENXIO);
    const std::uint64_t end = size_ / sector_bytes;
    for (std::uint64_t at = first_of(offset); at < end;) {
        const std::uint64_t sectors = std::min(sectors_a_look, end - at);
        for (const LbaRange& range : device_.lba_status(Sector{at}, sectors))
            if (range.mapped == (what == SeekWhat::data)) return std::max(offset, range.first.value() * sector_bytes);
        at += sectors;
    }
    return what == SeekWhat::hole ? FsResult<std::uint64_t>{size_} : refused(ENXIO);
}

FsResult<std::unique_ptr<BlockDevice>> DiskFile::device_of(Ino of) {
    if (of != ino) return refused(EINVAL);
    return std::make_unique<OffsetDevice>(device_, 0, size_ / sector_bytes);
}

FsUsage DiskFile::usage() const {
    FsUsage usage;
    usage.block_bytes = device_.identify().atomic_unit_bytes;
    usage.data_pages = size_ / usage.block_bytes;
    usage.inodes = 2;
    return usage;
}

DataCheck DiskFile::check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) {
    const std::uint64_t unit = device_.identify().atomic_unit_bytes, pages = size_ / unit;
    std::vector<std::byte> page(unit);
    DataCheck result;
    std::uint64_t looked = 0;
    for (std::uint64_t at = 0; at < pages && result.complete; ++at) {
        const Sector first{at * unit / sector_bytes};
        if (++looked % 1024 == 0) result.complete = go_on(result.pages);
        const auto mapped = device_.lba_status(first, unit / sector_bytes);
        if (std::ranges::none_of(mapped, &LbaRange::mapped)) continue;
        ++result.pages;
        const auto done = device_.read(first, static_cast<std::uint32_t>(unit / sector_bytes), page, now);
        if (done) now = std::max(now, *done);
        if (done) continue;
        ++result.pages_bad;
        result.problems.push_back({.kind = "unreadable-data",
                                   .where = fmt::format("/{}", name),
                                   .detail = fmt::format("{} bytes at offset {} cannot be read from the flash", unit, at * unit)});
    }
    return result;
}

std::vector<std::string> DiskFile::paths_of(Ino of, std::size_t most) const {
    if (of != ino || most == 0) return {};
    return {fmt::format("/{}", name)};
}

} // namespace flashlab

// fallocate and seek.
#include <algorithm>
#include <vector>

#include "base/contract.h"
#include "fs/file_flags.h"
#include "fs/file_system_impl.h"
#include "ftl/block_device.h"

namespace flashlab {

namespace {

/// The pages of one file as a device of their own, for a load that runs beneath the file system.
///
/// Idea       Runs of the file's sectors are mapped to runs of the device's sectors. A request is split where one run ends.
/// Invariant  Nothing outside the file's pages is touched: such a request gets out_of_range. The file neither grows nor is freed meanwhile.
/// Cost       A binary search for each request, and a virtual call for each run in it.
/// Power cut  As the device. The file's own content does not change: its extents stay unwritten, and it reads as zeros.
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
constexpr std::uint64_t longest_run = SpaceAccounting::longest_pending;
constexpr std::uint64_t runs_per_transaction = 4;

/// How many records a preallocation may need: one for each page when it is small;
/// when it is large, free space is taken to lie in runs of sixteen pages.
constexpr std::uint64_t extents_for(std::uint64_t pages) { return std::min<std::uint64_t>(pages, 1024 + pages / 16); }
} // namespace

/// The first page of an extent behind `page`, which has none; `last` if there is none before.
FilePage FileSystemImpl::end_of_hole(const Inode& inode, FilePage page, FilePage last) const {
    const auto behind = extents_.next(inode.ino, page);
    return behind ? std::min(last, behind->page) : last;
}

std::uint64_t FileSystemImpl::holes_in(const Inode& inode, FilePage first, FilePage last) const {
    std::uint64_t missing = 0;
    for (FilePage page = first; page < last;) {
        if (const auto extent = extents_.find(inode.ino, page)) {
            page = extent->end();
            continue;
        }
        const FilePage end = end_of_hole(inode, page, last);
        missing += end - page;
        page = end;
    }
    return missing;
}

/// Puts unwritten extents into every hole of [first, last). The inode must be clean.
FsResult<void> FileSystemImpl::fill_holes(Inode& inode, FilePage first, FilePage last, SimTime now) {
    const std::uint64_t missing = holes_in(inode, first, last);
    if (missing == 0) return {};
    if (const auto fits = space_.could_reserve(missing, extents_for(missing)); !fits) return fits; // nobody else runs before the pages are taken
    if (const auto there = space_.wait_for_pages(missing, now); !there) return there;
    for (FilePage page = first; page < last;) {
        const auto filled = fill_some(inode, page, last, now);
        if (!filled) return std::unexpected(filled.error());
        page = *filled;
    }
    return {};
}

/// Fills holes from `page` on in one transaction of bounded size. Returns the page that is next.
FsResult<FilePage> FileSystemImpl::fill_some(Inode& inode, FilePage page, FilePage last, SimTime now) {
    MetadataTransaction transaction{*store_};
    InodeRecord record = inode.record;
    PageRuns claimed;
    FsResult<void> outcome;
    while (page < last && claimed.size() < runs_per_transaction && outcome) {
        if (const auto extent = extents_.find(inode.ino, page)) {
            page = extent->end();
            continue;
        }
        const std::uint64_t wanted = end_of_hole(inode, page, last) - page;
        const MetadataStore::PageRun run = space_.claim(LogicalPage{0}, std::min(wanted, longest_run));
        ensure(run.pages != 0, "FileSystemImpl::fill_some: fill_holes waited until the pages were there");
        claimed.push_back(run);
        store_->set_data_pages(run, true);
        outcome = extents_.insert(inode.ino, Extent{.page = page, .first = run.first, .pages = run.pages, .unwritten = true});
        record.pages += run.pages;
        page += run.pages;
    }
    for (const auto& run : claimed) space_.unclaim(run);
    if (outcome) outcome = put(transaction, inode, record);
    if (!outcome) return std::unexpected(outcome.error());
    if (const auto committed = transaction.commit(now); !committed) return std::unexpected(committed.error());
    inode.record.pages = record.pages;
    inode.forget_extents();
    return page;
}

/// Zeroes those bytes of [from, to) that share their page with bytes outside.
FsResult<void> FileSystemImpl::zero_edges(const FsCall& call, Inode& inode, std::uint64_t from, std::uint64_t to) {
    const FilePage first = page_from(from), last = page_of(to);
    if (page_of(from) == page_of(to)) return write_zeros(call, inode, from, to);
    if (const auto head = write_zeros(call, inode, from, offset_of(first)); !head) return head;
    return write_zeros(call, inode, offset_of(last), to);
}

/// As many extents of [first, last) as one transaction may touch.
FsResult<ExtentMap::Removed> FileSystemImpl::empty_some(Ino ino, FilePage first, FilePage last, bool keep_pages) {
    if (!keep_pages) return extents_.remove(ino, first, last, ExtentMap::extents_per_transaction);
    const auto marked = extents_.mark_unwritten(ino, first, last, ExtentMap::extents_per_transaction / 2);
    if (!marked) return std::unexpected(marked.error());
    return ExtentMap::Removed{.freed = {}, .is_all = *marked};
}

/// Makes the whole pages [first, last) read as zeros: they are freed, or, with `keep_pages`, kept as unwritten ones. The inode must be clean.
FsResult<void> FileSystemImpl::empty_pages(Inode& inode, FilePage first, FilePage last, bool keep_pages, SimTime now) {
    for (bool done = first >= last; !done;) {
        MetadataTransaction transaction{*store_}; // it splits extents, and may be called any number of times: so it must not use the reserve
        const auto emptied = empty_some(inode.ino, first, last, keep_pages);
        if (!emptied) return std::unexpected(emptied.error());
        const PageRuns& freed = emptied->freed;
        done = emptied->is_all;
        InodeRecord record = inode.record;
        for (const auto& run : freed) record.pages -= run.pages;
        if (const auto written = space_.put_pending(freed); !written) return written;
        if (const auto written = put(transaction, inode, record); !written) return written;
        if (const auto committed = transaction.commit(now); !committed) return std::unexpected(committed.error());
        inode.record.pages = record.pages;
        inode.forget_extents();
        space_.add_pending(freed);
    }
    return {};
}

FsResult<SimTime> FileSystemImpl::allocate(const FsCall& call, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (bytes == 0) return std::unexpected(FsError{EINVAL});
    if (offset > largest_file || bytes > largest_file - offset) return std::unexpected(FsError{EFBIG});
    const std::uint64_t end = offset + bytes;
    const bool fills = mode != FallocateMode::punch_hole;
    const bool empties = mode != FallocateMode::allocate && mode != FallocateMode::keep_size;
    const std::uint32_t forbidding = empties ? file_flag_immutable | file_flag_append : file_flag_immutable;
    if ((inode.record.flags & forbidding) != 0) return std::unexpected(FsError{EPERM});
    const bool grows = (mode == FallocateMode::allocate || mode == FallocateMode::zero_range) && end > inode.record.size;
    if (fills) {
        // ENOSPC comes before anything changes. Cached pages whose allocation is delayed have reserved theirs already.
        const std::uint64_t missing = holes_in(inode, page_of(offset), page_from(end));
        const std::uint64_t wanted = missing > inode.delayed_pages ? missing - inode.delayed_pages : 0;
        if (const auto fits = space_.could_reserve(wanted, extents_for(wanted)); !fits) return std::unexpected(fits.error());
    }
    FsResult<void> step;
    if (empties) step = zero_edges(call, inode, offset, end);
    if (step) step = write_back_.settle(inode, call.now);
    if (step && empties) step = empty_pages(inode, page_from(offset), page_of(end), fills, call.now);
    if (step && fills) step = fill_holes(inode, page_of(offset), page_from(end), call.now);
    if (step && grows) step = zero_committed_tail(inode, call.now);
    if (!step) return std::unexpected(step.error());
    InodeRecord record = inode.record;
    if (grows) record.size = end;
    record.modified = record.changed = call.wall;
    drop_set_ids(call, record);
    MetadataTransaction transaction{*store_};
    if (const auto written = transaction.put_inode(ino, record, record.size); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (!done) return done;
    inode.record = record;
    if (inode.committed_size != record.size) inode.tail_zeroed = sim_never;
    inode.committed_size = record.size;
    return done;
}

FsResult<std::unique_ptr<BlockDevice>> FileSystemImpl::device_of(Ino ino) {
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    const FilePage end = page_of(inode.record.size);
    const std::uint64_t per_page = page_bytes_ / sector_bytes;
    std::vector<ExtentsDevice::Run> runs;
    for (FilePage page{0}; page < end;) {
        const auto extent = extents_.find(ino, page);
        if (inode.delayed_pages != 0 || !extent) return std::unexpected(FsError{EINVAL});
        const std::uint64_t n = std::min(extent->end(), end) - page;
        runs.push_back({.at = page.value() * per_page, .first = extent->first.value() * per_page, .sectors = n * per_page});
        page = extent->end();
    }
    return std::make_unique<ExtentsDevice>(device_, std::move(runs));
}

/// The first page at or after `page` that holds data, in the cache or on the device.
std::optional<FilePage> FileSystemImpl::next_data(Inode& inode, FilePage page) const {
    std::optional<FilePage> data;
    const auto offer = [&](FilePage candidate) { data = data ? std::min(*data, candidate) : candidate; };
    FilePage at = page;
    auto extent = find_extent(extents_, inode, page);
    if (extent && !extent->unwritten) return page;
    if (extent) at = extent->end();
    while (!data && (extent = extents_.next(inode.ino, at))) {
        if (!extent->unwritten) offer(extent->page);
        at = extent->end();
    }
    if (inode.pages == nullptr) return data;
    for (const CachePage& cached : *inode.pages)
        if (cached.page >= page) offer(cached.page);
    return data;
}

FsResult<std::uint64_t> FileSystemImpl::seek(const FsCall&, Ino ino, std::uint64_t offset, SeekWhat what) {
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    const std::uint64_t size = inode.record.size;
    if (offset >= size) return std::unexpected(FsError{ENXIO});
    FilePage page = page_of(offset);
    if (what == SeekWhat::data) {
        const auto data = next_data(inode, page);
        if (!data) return std::unexpected(FsError{ENXIO});
        const std::uint64_t at = std::max(offset, offset_of(*data));
        if (at >= size) return std::unexpected(FsError{ENXIO});
        return at;
    }
    while (offset_of(page) < size) {
        if (const auto extent = find_extent(extents_, inode, page); extent && !extent->unwritten)
            page = extent->end();
        else if (cache_.find(inode, page) != nullptr)
            page += 1;
        else
            return std::max(offset, offset_of(page));
    }
    return size;
}

} // namespace flashlab

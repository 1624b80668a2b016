#include "ftl/cache/buffered_ftl.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::size_t longest_run = 64; ///< pages destaged by one call

std::uint32_t pages_in(std::uint64_t bytes, const Ftl& ftl) {
    const std::uint64_t pages = bytes / ftl.logical_page_bytes();
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pages, 1, ftl.logical_pages()));
}

template <class Bytes>
Bytes part(Bytes all, std::size_t at, std::size_t length) {
    return all.empty() ? all : all.subspan(at, length);
}

Lpn after(Lpn first, std::uint32_t pages) { return Lpn{first.value() + pages}; }

} // namespace

BufferedFtl::BufferedFtl(Ftl& below, std::uint64_t bytes) : ForwardingFtl{below}, buffer_{pages_in(bytes, below), below.logical_page_bytes()} {}

/// Pages that are here come from DRAM, the runs between them from the flash.
FtlResult<SimTime> BufferedFtl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) {
    const std::size_t bytes = logical_page_bytes();
    FtlResult<SimTime> all = now;
    const auto join = [&all](const FtlResult<SimTime>& one) {
        if (!all) return;
        all = one ? FtlResult<SimTime>{std::max(*all, *one)} : one;
    };
    std::uint32_t missing = 0; // pages before i that the flash must give
    const auto read_missing = [&](std::uint32_t end) {
        const std::uint32_t begin = end - missing;
        if (missing != 0) join(below().read(after(first, begin), missing, part(to, begin * bytes, missing * bytes), now, origin));
        miss_reads(after(first, begin), missing);
        missing = 0;
    };
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto slot = buffer_.find(after(first, i));
        if (!slot) {
            ++missing;
            continue;
        }
        read_missing(i);
        const auto data = buffer_.data(*slot);
        if (!to.empty() && !data.empty()) std::memcpy(to.data() + i * bytes, data.data(), bytes);
        buffer_.used(*slot);
        ++counted_.read_hits;
        join(std::max(now, buffer_.ready(*slot)));
    }
    read_missing(pages);
    return all;
}

FtlResult<SimTime> BufferedFtl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, SimTime now,
                                             Origin origin) {
    const auto slot = buffer_.find(lpn);
    if (!slot) {
        miss_reads(lpn, 1);
        return below().read_part(lpn, offset, bytes, to, now, origin);
    }
    const auto data = buffer_.data(*slot);
    if (!to.empty() && !data.empty()) std::memcpy(to.data(), data.data() + offset, bytes);
    buffer_.used(*slot);
    ++counted_.read_hits;
    return std::max(now, buffer_.ready(*slot));
}

FtlResult<SimTime> BufferedFtl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) {
    // It would push out everything and itself.
    if (pages > buffer_.capacity()) {
        const auto written = write_through(first, pages, from, now, origin);
        if (!written || !ghost_ || pages > buffer_.most()) return written;
        for (std::uint32_t i = 0; i < pages; ++i) { // a larger buffer would have kept them
            ghost_->missed_write(after(first, i));
            ghost_->evicted(after(first, i));
        }
        return written;
    }
    const std::size_t bytes = logical_page_bytes();
    SimTime done = now;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto one = put(after(first, i), part(from, i * bytes, bytes), now, origin);
        if (!one) return one;
        done = std::max(done, *one);
    }
    return done;
}

FtlResult<SimTime> BufferedFtl::put(Lpn lpn, std::span<const std::byte> from, SimTime now, Origin origin) {
    auto slot = buffer_.find(lpn);
    SimTime ready = now;
    if (slot) {
        ready = std::max(now, buffer_.ready(*slot));
        buffer_.rewritten(*slot);
        ++counted_.write_hits;
    } else {
        if (buffer_.is_full()) {
            const auto freed = evict(now, origin);
            if (!freed) return freed;
            ready = *freed;
        }
        slot = buffer_.insert(lpn);
        ++counted_.write_misses;
        if (ghost_) ghost_->missed_write(lpn);
    }
    buffer_.set_ready(*slot, ready);
    if (!from.empty()) std::ranges::copy(from, buffer_.data_for_writing(*slot).begin());
    return ready;
}

FtlResult<SimTime> BufferedFtl::evict(SimTime now, Origin origin) {
    const WriteBuffer::Slot slot = *buffer_.least_recently_used();
    const auto written = below().write(buffer_.lpn_of(slot), 1, buffer_.data(slot), std::max(now, buffer_.ready(slot)), origin);
    if (!written) return written;
    if (ghost_) ghost_->evicted(buffer_.lpn_of(slot));
    buffer_.remove(slot);
    ++counted_.evicted_pages;
    return written;
}

FtlResult<SimTime> BufferedFtl::set_capacity(std::uint32_t pages, SimTime now) {
    SimTime done = now;
    while (buffer_.size() > pages) {
        const auto written = evict(now, {Cause::user, no_event});
        if (!written) return written;
        done = std::max(done, *written);
    }
    buffer_.set_capacity(std::min(pages, buffer_.most()));
    return done;
}

void BufferedFtl::miss_reads(Lpn first, std::uint32_t pages) {
    counted_.read_misses += pages;
    if (ghost_)
        for (std::uint32_t i = 0; i < pages; ++i) ghost_->missed_read(after(first, i));
}

FtlResult<SimTime> BufferedFtl::write_through(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) {
    const auto written = below().write(first, pages, from, now, origin);
    if (written) drop(first, pages);
    return written;
}

FtlResult<SimTime> BufferedFtl::do_trim(Lpn first, std::uint32_t pages, SimTime now, Origin origin) {
    const auto trimmed = below().trim(first, pages, now, origin);
    if (trimmed) drop(first, pages);
    return trimmed;
}

/// The ghost keeps what a trim made worthless: its entries age like any other.
void BufferedFtl::drop(Lpn first, std::uint32_t pages) {
    leaving_.clear();
    if (pages <= buffer_.size()) {
        for (std::uint32_t i = 0; i < pages; ++i) {
            if (const auto slot = buffer_.find(after(first, i))) leaving_.push_back(*slot);
        }
    } else {
        for (auto slot = buffer_.first_written(); slot; slot = buffer_.written_next(*slot)) {
            const std::uint32_t lpn = buffer_.lpn_of(*slot).value();
            if (lpn >= first.value() && lpn - first.value() < pages) leaving_.push_back(*slot);
        }
    }
    for (const WriteBuffer::Slot slot : leaving_) buffer_.remove(slot);
    counted_.dropped_pages += leaving_.size();
}

FtlResult<SimTime> BufferedFtl::do_flush(SimTime now, Origin origin) {
    const auto down = destage(now, origin);
    if (!down) return down;
    return below().flush(*down, origin);
}

FtlResult<SimTime> BufferedFtl::do_shut_down(SimTime now) {
    const auto down = destage(now, {});
    // A device that takes no more writes can still be shut down; whoever flushed has been told.
    if (!down && down.error().kind != FtlErrorKind::read_only) return down;
    return below().shut_down(down.value_or(now));
}

/// In the order of writing; consecutive pages that were written one after the other go down together.
FtlResult<SimTime> BufferedFtl::destage(SimTime now, Origin origin) {
    const std::size_t bytes = logical_page_bytes();
    SimTime done = now;
    while (const auto oldest = buffer_.first_written()) {
        const Lpn first = buffer_.lpn_of(*oldest);
        SimTime ready = now;
        leaving_.clear();
        run_.clear();
        for (auto slot = oldest; slot && leaving_.size() < longest_run; slot = buffer_.written_next(*slot)) {
            if (buffer_.lpn_of(*slot) != after(first, static_cast<std::uint32_t>(leaving_.size()))) break;
            leaving_.push_back(*slot);
            ready = std::max(ready, buffer_.ready(*slot));
            const auto data = buffer_.data(*slot);
            run_.insert(run_.end(), data.begin(), data.end());
        }
        const auto pages = static_cast<std::uint32_t>(leaving_.size());
        ensure(run_.empty() || run_.size() == pages * bytes, "a run has all its pages' data or none");
        const auto written = below().write(first, pages, run_, ready, origin);
        if (!written) return written;
        done = std::max(done, *written);
        for (const WriteBuffer::Slot slot : leaving_) buffer_.remove(slot);
        counted_.flushed_pages += pages;
    }
    return done;
}

std::vector<CheckProblem> BufferedFtl::do_check() {
    auto problems = below().check();
    if (const int broken = buffer_.broken_invariant(); broken != 0) {
        problems.push_back({fmt::format("B{}", broken), "write buffer", fmt::format("{} pages in {} slots", buffer_.size(), buffer_.capacity())});
    }
    return problems;
}

} // namespace flashlab

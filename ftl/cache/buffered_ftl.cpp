#include "ftl/cache/buffered_ftl.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::size_t longest_run = 64; ///< pages destaged by one call, unless the scheme wants more

std::uint32_t pages_in(std::uint64_t bytes, const Ftl& ftl) { return PramSlots::pages_in(bytes, ftl.logical_page_bytes(), ftl.logical_pages()); }

template <class Bytes>
Bytes part(Bytes all, std::size_t at, std::size_t length) {
    return all.empty() ? all : all.subspan(at, length);
}

Lpn after(Lpn first, std::uint32_t pages) { return Lpn{first.value() + pages}; }

} // namespace

BufferedFtl::BufferedFtl(Ftl& below, std::uint64_t bytes, const DestagePolicy& policy)
    : ForwardingFtl{below}, buffer_{pages_in(bytes, below), below.logical_page_bytes()}, most_{buffer_.most()} {
    if (policy.lines == 0) return;
    ahead_.emplace(most_, policy);
    destage_from_ = static_cast<std::uint32_t>(std::uint64_t{most_} * policy.from_permille / 1000);
}

BufferedFtl::BufferedFtl(Ftl& below, std::uint64_t bytes, std::unique_ptr<PramSlots> slots)
    : ForwardingFtl{below}, buffer_{slots->count(), below.logical_page_bytes()}, most_{pages_in(bytes, below)}, slots_{std::move(slots)},
      home_(slots_->count()) {
    ensure(most_ < slots_->count(), "a free slot beside the pages");
    buffer_.set_capacity(most_);
}

/// What is found counts as written again, in the same order. Retired pages come back as well; those above the capacity go down at once.
FtlResult<FtlRecovery> BufferedFtl::do_recover(SimTime now) {
    auto done = below().recover(now);
    if (!done || !slots_) return done;
    const PramSlots::Recovery found = slots_->recover(logical_pages(), done->done);
    done->done = std::max(done->done, found.done);
    has_payload_ = !found.pages.empty();
    buffer_.set_capacity(buffer_.most());
    for (const PramSlots::Found& page : found.pages) {
        const auto slot = buffer_.insert(page.lpn);
        home_[slot] = page.slot;
        buffer_.set_written(slot, done->done, {});
    }
    const auto fits = set_capacity(most_, done->done);
    // A device that takes no more writes keeps them all: there are slots enough.
    if (!fits && fits.error().kind != FtlErrorKind::read_only) return std::unexpected(fits.error());
    done->done = std::max(done->done, fits.value_or(done->done));
    return done;
}

std::span<const std::byte> BufferedFtl::data_of(WriteBuffer::Slot slot) {
    if (!slots_) return buffer_.data(slot);
    return has_payload_ ? slots_->data(home_[slot]) : std::span<const std::byte>{};
}

/// The page was read, and its bytes are there at the time returned.
SimTime BufferedFtl::hit(WriteBuffer::Slot slot, std::uint64_t bytes, SimTime now) {
    buffer_.used(slot);
    if (curve_) curve_->read(buffer_.lpn_of(slot).value(), 1, false);
    ++counted_.read_hits;
    const SimTime ready = std::max(now, buffer_.ready(slot));
    return slots_ ? slots_->read(bytes, ready) : ready;
}

std::optional<BufferedFtl::Held> BufferedFtl::take_hit(Lpn lpn, std::uint64_t bytes, SimTime now) {
    if (const auto slot = buffer_.find(lpn)) {
        const auto data = data_of(*slot);
        return Held{data, hit(*slot, bytes, now)};
    }
    const auto data = ahead_ ? under_way_.find(lpn, now) : std::nullopt;
    if (!data) return std::nullopt;
    if (curve_) curve_->read(lpn.value(), 1, false);
    ++counted_.read_hits;
    return Held{*data, now};
}

/// Pages that are here come from DRAM, the runs between them from the flash.
FtlResult<SimTime> BufferedFtl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    const std::size_t bytes = logical_page_bytes();
    FtlResult<SimTime> all = io.when;
    const auto join = [&all](const FtlResult<SimTime>& one) {
        if (!all) return;
        all = one ? FtlResult<SimTime>{std::max(*all, *one)} : one;
    };
    std::uint32_t missing = 0; // pages before i that the flash must give
    const auto read_missing = [&](std::uint32_t end) {
        const std::uint32_t begin = end - missing;
        if (missing != 0) join(below().read(after(first, begin), missing, part(to, begin * bytes, missing * bytes), io));
        miss_reads(after(first, begin), missing);
        missing = 0;
    };
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto held = take_hit(after(first, i), bytes, io.when);
        if (!held) {
            ++missing;
            continue;
        }
        if (!to.empty() && !held->data.empty()) std::memcpy(to.data() + i * bytes, held->data.data(), bytes);
        read_missing(i);
        join(held->ready);
    }
    read_missing(pages);
    return all;
}

FtlResult<SimTime> BufferedFtl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    const auto held = take_hit(lpn, bytes, io.when);
    if (!held) {
        miss_reads(lpn, 1);
        return below().read_part(lpn, offset, bytes, to, io);
    }
    if (!to.empty() && !held->data.empty()) std::memcpy(to.data(), held->data.data() + offset, bytes);
    return held->ready;
}

FtlResult<SimTime> BufferedFtl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    // It would push out everything and itself.
    if (pages > buffer_.capacity()) {
        // The others go first: overtaken by pages that came later, a stream would reach the flash out of its order.
        for (std::uint32_t held = buffer_.size(); held != 0; --held) {
            const auto slot = *buffer_.least_recently_used();
            if (const std::uint32_t lpn = buffer_.lpn_of(slot).value(); lpn >= first.value() && lpn - first.value() < pages)
                buffer_.used(slot);
            else if (const auto gone = evict(1, io); !gone)
                return gone;
        }
        const auto written = write_through(first, pages, from, io);
        if (!written || pages > buffer_.most()) return written;
        for (std::uint32_t i = 0; curve_ && i < pages; ++i) curve_->write(first.value() + i);
        if (!ghost_) return written;
        for (std::uint32_t i = 0; i < pages; ++i) { // a larger buffer would have kept them
            ghost_->missed_write(after(first, i));
            ghost_->evicted(after(first, i));
        }
        return written;
    }
    const std::size_t bytes = logical_page_bytes();
    SimTime done = io.when;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto one = put(after(first, i), part(from, i * bytes, bytes), io);
        if (!one) return one;
        done = std::max(done, *one);
    }
    return done;
}

FtlResult<SimTime> BufferedFtl::put(Lpn lpn, std::span<const std::byte> from, const Io& io) {
    auto slot = buffer_.find(lpn);
    const bool is_new = !slot;
    if (curve_) curve_->write(lpn.value());
    SimTime ready = io.when;
    if (slots_ && !slots_->has_free()) {
        const auto freed = release(io);
        if (!freed) return freed;
        if (!slots_->has_free()) return std::unexpected(FtlError{.kind = FtlErrorKind::read_only, .lpn = lpn, .done = *freed}); // all were found so
        ready = *freed;
    }
    if (slot) {
        ready = std::max(ready, buffer_.ready(*slot));
        buffer_.rewritten(*slot);
        ++counted_.write_hits;
    } else {
        const auto freed = ahead_ ? take_slot_ahead(io) : make_room(io);
        if (!freed) return freed;
        ready = std::max(ready, *freed);
        slot = buffer_.insert(lpn);
        ++counted_.write_misses;
        if (ghost_) ghost_->missed_write(lpn);
    }
    if (slots_)
        ready = keep(*slot, is_new, from, ready);
    else if (!from.empty())
        std::memcpy(buffer_.data_for_writing(*slot).data(), from.data(), from.size()); // the library's loop for a page in place of the compiler's
    buffer_.set_written(*slot, ready, io.origin);
    if (ahead_) under_way_.settle(io.when);
    if (ahead_) (void)destage_ahead(io); // it is answered: what fails below fails for who waits for a slot
    return ready;
}

/// Never over the older version, of which a cut would leave a half: that one goes when the new one is there.
SimTime BufferedFtl::keep(WriteBuffer::Slot slot, bool is_new, std::span<const std::byte> from, SimTime ready) {
    has_payload_ = has_payload_ || !from.empty();
    const PramSlots::Kept kept = slots_->keep(buffer_.lpn_of(slot), from, ready);
    const SimTime done = is_new ? kept.done : slots_->forget(home_[slot], kept.done);
    home_[slot] = kept.slot;
    return done;
}

/// The scheme promises what has left PRAM, and only then PRAM forgets it.
FtlResult<SimTime> BufferedFtl::release(const Io& io) {
    // A flush promises what was answered before it: requests overlap, and a page may still be on its way to the flash.
    const auto flushed = below().flush(io.at(std::max({io.when, slots_->retired_from(), owed_from_})));
    if (!flushed) return flushed;
    // A flush before this one may still be wiping heads whose pages this one promises as well.
    promised_ = std::max(promised_, slots_->forget_retired(*flushed));
    owes_flush_ = false;
    return promised_;
}

/// After a request that went to the scheme at once. Pages in PRAM would bring back what it made worthless.
FtlResult<SimTime> BufferedFtl::promise(const Io& io) {
    if (!slots_) return io.when;
    owes_flush_ = true;
    owed_from_ = std::max(owed_from_, io.when);
    return durable_when_answered() ? release(io) : FtlResult<SimTime>{io.when};
}

void BufferedFtl::leave_all(SimTime gone) {
    for (const WriteBuffer::Slot slot : leaving_) {
        if (slots_) slots_->retire(home_[slot], gone);
        buffer_.remove(slot);
    }
    if (ahead_) ahead_->give_back(static_cast<std::uint32_t>(leaving_.size()), gone);
}

FtlResult<SimTime> BufferedFtl::make_room(const Io& io) {
    if (buffer_.is_full()) {
        const std::uint32_t before = buffer_.size();
        const auto gone = evict(below().pages_a_batch(), io);
        if (!gone) return gone;
        freed_ = before - buffer_.size();
        freed_at_ = *gone;
    }
    if (freed_ == 0) return io.when;
    --freed_;
    return freed_at_;
}

void BufferedFtl::take(WriteBuffer::Slot slot, SimTime& ready) {
    leaving_.push_back(slot);
    ready = std::max(ready, buffer_.ready(slot));
    pages_.push_back(buffer_.lpn_of(slot));
    const auto data = data_of(slot);
    run_.insert(run_.end(), data.begin(), data.end());
}

FtlResult<SimTime> BufferedFtl::write_taken(const Io& io) {
    if (ahead_) return write_line(io);
    const auto pages = static_cast<std::uint32_t>(pages_.size());
    ensure(run_.empty() || run_.size() == std::size_t{pages} * logical_page_bytes(), "a run has all its pages' data or none");
    const bool is_run = pages_.back().value() - pages_.front().value() == pages - 1 && std::ranges::is_sorted(pages_);
    const auto written = is_run ? below().write(pages_.front(), pages, run_, io) : below().write_each(pages_, run_, io);
    if (!written) return written;
    leave_all(*written);
    return written;
}

FtlResult<SimTime> BufferedFtl::evict(std::uint32_t most, const Io& io) {
    auto slot = buffer_.least_recently_used();
    const Origin by = buffer_.written_by(*slot);
    SimTime ready = io.when;
    begin_taking();
    // Lines are not broken by other queues, and, within reason, not by other streams.
    for (std::uint32_t look = 8 * most; slot && leaving_.size() < most && look > 0; slot = buffer_.used_next(*slot), --look) {
        const bool goes = ahead_ ? buffer_.written_by(*slot).stream == by.stream : goes_with(*slot, by);
        if (goes)
            take(*slot, ready);
        else if (!ahead_)
            break;
    }
    const Io down = io.at(ready).with_data_of(by);
    const auto written = write_taken(ahead_ ? down.behind() : down);
    if (!written) return written;
    if (ahead_) ahead_->begun(*written);
    for (const Lpn lpn : pages_)
        if (ghost_) ghost_->evicted(lpn);
    counted_.evicted_pages += pages_.size();
    return written;
}

FtlResult<SimTime> BufferedFtl::set_capacity(std::uint32_t pages, SimTime now) {
    SimTime done = now;
    while (buffer_.size() > pages) {
        const auto written = evict(std::min(below().pages_a_batch(), buffer_.size() - pages), {now, {}});
        if (!written) return written;
        done = std::max(done, *written);
    }
    buffer_.set_capacity(std::min(pages, most_));
    return done;
}

void BufferedFtl::miss_reads(Lpn first, std::uint32_t pages) {
    counted_.read_misses += pages;
    for (std::uint32_t i = 0; curve_ && i < pages; ++i) curve_->read(first.value() + i, 1, false);
    if (ghost_)
        for (std::uint32_t i = 0; i < pages; ++i) ghost_->missed_read(after(first, i));
}

FtlResult<SimTime> BufferedFtl::write_through(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    const auto written = below().write(first, pages, from, io);
    if (!written) return written;
    drop(first, pages, *written);
    return promise(io.at(*written));
}

FtlResult<SimTime> BufferedFtl::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    const auto trimmed = below().trim(first, pages, io);
    if (!trimmed) return trimmed;
    drop(first, pages, *trimmed);
    return promise(io.at(*trimmed));
}

/// The ghost keeps what a trim made worthless: its entries age like any other.
void BufferedFtl::drop(Lpn first, std::uint32_t pages, SimTime gone) {
    under_way_.drop(first, pages);
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
    leave_all(gone);
    counted_.dropped_pages += leaving_.size();
}

FtlResult<SimTime> BufferedFtl::do_flush(const Io& io) {
    if (slots_) return owes_flush_ ? release(io) : FtlResult<SimTime>{std::max(io.when, promised_)};
    const auto down = destage(io);
    if (!down) return down;
    return below().flush(io.at(*down));
}

FtlResult<SimTime> BufferedFtl::do_shut_down(SimTime now) {
    auto down = destage({now, {}});
    if (down && slots_) down = release({*down, {}});
    // A device that takes no more writes can still be shut down; whoever flushed has been told, and PRAM keeps what it holds.
    if (!down && down.error().kind != FtlErrorKind::read_only) return down;
    return below().shut_down(down.value_or(now));
}

/// In the order of writing; consecutive pages of one stream and queue that were written one after the other go down together, any pages where the
/// scheme fills word lines with them.
FtlResult<SimTime> BufferedFtl::destage(const Io& io, std::optional<WriteBuffer::Slot> but) {
    SimTime done = io.when;
    const bool any = below().pages_a_batch() > 1;
    const std::size_t most = std::max<std::size_t>(longest_run, below().pages_a_batch());
    const auto first = [&] {
        const auto slot = buffer_.first_written();
        return slot && slot == but ? buffer_.written_next(*slot) : slot;
    };
    while (const auto oldest = first()) {
        const Origin by = buffer_.written_by(*oldest);
        SimTime ready = io.when;
        begin_taking();
        for (auto slot = oldest; slot && slot != but && leaving_.size() < most && goes_with(*slot, by); slot = buffer_.written_next(*slot)) {
            if (!any && !pages_.empty() && buffer_.lpn_of(*slot) != after(pages_.back(), 1)) break;
            take(*slot, ready);
        }
        const auto written = write_taken(io.at(ready).with_data_of(by));
        if (!written) return written;
        done = std::max(done, *written);
        counted_.flushed_pages += pages_.size();
    }
    return done;
}

std::vector<CheckProblem> BufferedFtl::do_check() {
    auto problems = below().check();
    if (const int broken = buffer_.broken_invariant(); broken != 0) {
        problems.push_back({fmt::format("B{}", broken), "write buffer", fmt::format("{} pages in {} slots", buffer_.size(), buffer_.capacity())});
    }
    if (!slots_) return problems;
    if (const int broken = slots_->broken_invariant(); broken != 0) problems.push_back({fmt::format("K{}", broken), "write buffer in PRAM", "slots"});
    for (auto slot = buffer_.first_written(); slot; slot = buffer_.written_next(*slot))
        if (!slots_->names(home_[*slot], buffer_.lpn_of(*slot)))
            problems.push_back({"K1", "write buffer in PRAM", fmt::format("page {} has no valid head", buffer_.lpn_of(*slot).value())});
    if (buffer_.size() + slots_->retired() + slots_->free() != slots_->count())
        problems.push_back(
            {"K3", "write buffer in PRAM",
             fmt::format("{} held, {} retired and {} free of {} slots", buffer_.size(), slots_->retired(), slots_->free(), slots_->count())});
    return problems;
}

} // namespace flashlab

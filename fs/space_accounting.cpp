#include "fs/space_accounting.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/contract.h"
#include "base/little_endian.h"
#include "fs/device_errno.h"
#include "fs/metadata_transaction.h"

namespace flashlab {

namespace {

constexpr std::uint64_t metadata_slack = 16384;
constexpr std::size_t trims_per_slice = 32;
constexpr std::uint64_t pages_per_slice = 4 * SpaceAccounting::longest_pending;

RecordKey pending_key(LogicalPage first) { return RecordKey{.ino = Ino{0}, .kind = RecordKind::pending_trim, .subkey = first.value()}; }

template <class Visit>
FsResult<void> for_each_piece(std::span<const MetadataStore::PageRun> runs, Visit&& visit) {
    for (const MetadataStore::PageRun& run : runs) {
        for (std::uint64_t at = 0; at < run.pages; at += SpaceAccounting::longest_pending) {
            const MetadataStore::PageRun piece{.first = run.first + at, .pages = std::min(SpaceAccounting::longest_pending, run.pages - at)};
            if (const FsResult<void> visited = visit(piece); !visited) return visited;
        }
    }
    return {};
}

bool covers(const std::map<LogicalPage, std::uint64_t>& runs, LogicalPage page) {
    auto at = runs.upper_bound(page);
    if (at == runs.begin()) return false;
    --at;
    return page - at->first < at->second;
}

} // namespace

SpaceAccounting::SpaceAccounting(MetadataStore& store, BlockDevice& device, std::uint32_t page_bytes)
    : store_{store}, device_{device}, page_bytes_{page_bytes} {}

void SpaceAccounting::load() {
    store_.scan(pending_key(LogicalPage{0}), pending_key(LogicalPage{std::numeric_limits<std::uint64_t>::max()}),
                [this](const RecordKey& key, std::span<const std::byte> value) {
                    if (value.size() != sizeof(std::uint64_t)) return true;
                    const auto pages = load_le<std::uint64_t>(value);
                    pending_.emplace(LogicalPage{key.subkey}, pages);
                    pending_pages_ += pages;
                    return true;
                });
}

std::uint64_t SpaceAccounting::free_pages() const {
    const std::uint64_t free = store_.data_pages() - store_.data_pages_in_use() + pending_pages_;
    return free > reserved_ ? free - reserved_ : 0;
}

std::uint64_t SpaceAccounting::records_for(std::uint64_t extents) { return extents == 0 ? 0 : extents * metadata_bytes_per_extent + metadata_slack; }

void SpaceAccounting::promise_metadata(std::uint64_t cached_pages) {
    promised_bytes_ = cached_pages * metadata_bytes_per_extent;
    store_.promise(promised_bytes_);
}

bool SpaceAccounting::waits_for_promises(std::uint64_t pages, std::uint64_t extents) const {
    const std::uint64_t wanted = records_for(extents);
    const bool a_page_may_fit = (pages == 0 || free_pages() != 0) && records_for(1) <= store_.bytes_free() + promised_bytes_;
    return promised_bytes_ != 0 && a_page_may_fit && store_.bytes_free() < wanted;
}

FsResult<void> SpaceAccounting::could_reserve(std::uint64_t pages, std::uint64_t extents) const {
    if (pages > free_pages() || store_.bytes_free() < records_for(extents)) return std::unexpected(FsError{ENOSPC});
    return {};
}

FsResult<void> SpaceAccounting::reserve(std::uint64_t pages, std::uint64_t extents) {
    const auto fits = could_reserve(pages, extents);
    if (fits) reserved_ += pages;
    return fits;
}

void SpaceAccounting::release(std::uint64_t pages) {
    ensure(pages <= reserved_, "SpaceAccounting::release: what was reserved");
    reserved_ -= pages;
}

MetadataStore::PageRun SpaceAccounting::without_claims(MetadataStore::PageRun run) const {
    if (covers(claims_, run.first)) return {.first = run.first, .pages = 0};
    const auto after = claims_.upper_bound(run.first);
    if (after != claims_.end()) run.pages = std::min(run.pages, after->first - run.first);
    return run;
}

MetadataStore::PageRun SpaceAccounting::find_unclaimed(LogicalPage hint, std::uint64_t wanted) const {
    const LogicalPage begin{0};
    const LogicalPage all = begin + store_.data_pages();
    LogicalPage at = hint < all ? hint : begin;
    // Each round passes at least one claim; a second lap means that everything free is claimed.
    for (std::size_t rounds = 0; rounds <= 2 * claims_.size() + 2; ++rounds) {
        const MetadataStore::PageRun run = store_.find_free_run(at, wanted);
        if (run.pages == 0) return run;
        const MetadataStore::PageRun usable = without_claims(run);
        if (usable.pages != 0) return usable;
        auto claim = claims_.upper_bound(run.first);
        --claim;
        at = claim->first + claim->second;
        if (at >= all) at = begin;
    }
    return {};
}

MetadataStore::PageRun SpaceAccounting::claim(LogicalPage hint, std::uint64_t wanted) {
    const MetadataStore::PageRun run = find_unclaimed(hint, wanted);
    if (run.pages == 0) return run;
    claims_.emplace(run.first, run.pages);
    claimed_pages_ += run.pages;
    return run;
}

void SpaceAccounting::unclaim(MetadataStore::PageRun run) {
    const LogicalPage last = run.first + run.pages;
    claimed_pages_ -= run.pages;
    for (LogicalPage at = run.first; at < last;) {
        auto claim = claims_.upper_bound(at);
        ensure(claim != claims_.begin(), "SpaceAccounting::unclaim: a claimed run");
        --claim;
        const LogicalPage first = claim->first;
        const LogicalPage end = first + claim->second;
        ensure(at < end, "SpaceAccounting::unclaim: a claimed run");
        claims_.erase(claim);
        if (at > first) claims_.emplace(first, at - first);
        if (last < end) claims_.emplace(last, end - last);
        at = std::min(last, end);
    }
}

bool SpaceAccounting::is_claimed(LogicalPage page) const { return covers(claims_, page); }

FsResult<void> SpaceAccounting::put_pending(std::span<const MetadataStore::PageRun> runs) {
    return for_each_piece(runs, [this](const MetadataStore::PageRun& run) {
        std::array<std::byte, sizeof(std::uint64_t)> bytes;
        store_le<std::uint64_t>(bytes, run.pages);
        return store_.put(pending_key(run.first), bytes);
    });
}

void SpaceAccounting::add_pending(std::span<const MetadataStore::PageRun> runs) {
    if (!runs.empty()) freed_by_ = store_.last_commit();
    const auto added = for_each_piece(runs, [this](const MetadataStore::PageRun& run) -> FsResult<void> {
        ensure(pending_.emplace(run.first, run.pages).second, "SpaceAccounting: a page is freed once");
        pending_pages_ += run.pages;
        return {};
    });
    ensure(added.has_value(), "SpaceAccounting::add_pending: cannot fail");
}

FsResult<SimTime> SpaceAccounting::issue_trims(std::size_t limit, SimTime now) {
    SimTime end = now;
    std::uint64_t total = 0;
    for (const auto& [first, pages] : pending_) {
        if (trimming_.size() >= limit || total >= pages_per_slice) break;
        total += pages;
        const auto done = device_.trim(sector_of(first), pages * (page_bytes_ / sector_bytes), now);
        if (!done) return std::unexpected(errno_of(done.error()));
        end = std::max(end, *done);
        trimming_.push_back({.first = first, .pages = pages});
    }
    return end;
}

/// Called when the trims are flushed: removes their records and frees the pages.
FsResult<void> SpaceAccounting::commit_trims(SimTime now) {
    MetadataTransaction transaction{store_, MetadataTransaction::Reserve::use};
    for (const MetadataStore::PageRun& run : trimming_) {
        if (const auto erased = store_.erase(pending_key(run.first)); !erased) return std::unexpected(erased.error());
        store_.set_data_pages(run, false);
    }
    if (const auto committed = transaction.commit(now); !committed) return std::unexpected(committed.error());
    for (const MetadataStore::PageRun& run : trimming_) {
        pending_.erase(run.first);
        pending_pages_ -= run.pages;
    }
    trimming_.clear();
    return {};
}

SimTime SpaceAccounting::trim_slice(SimTime now) {
    const auto moved = advance_trims(now);
    return moved ? *moved : sim_never; // the device takes no more; the records stay for the next mount
}

FsResult<SimTime> SpaceAccounting::advance_trims(SimTime now) {
    if (!trimming_.empty()) {
        if (trims_done_ > now) return trims_done_;
        if (!trims_flushed_) {
            const auto durable = device_.flush(now);
            if (!durable) return std::unexpected(errno_of(durable.error()));
            trims_flushed_ = true;
            trims_done_ = *durable;
            if (trims_done_ > now) return trims_done_;
        }
        if (const auto committed = commit_trims(now); !committed) return std::unexpected(committed.error());
    }
    if (pending_.empty()) return sim_never;
    if (const SimTime safe = store_.durable_at(freed_by_); safe > now) return safe; // a trim must not overtake the commit that frees
    const auto issued = issue_trims(trims_per_slice, now);
    if (!issued) {
        trimming_.clear();
        return issued;
    }
    trims_flushed_ = false;
    trims_done_ = *issued;
    return trims_done_;
}

FsResult<void> SpaceAccounting::wait_for_pages(std::uint64_t pages, SimTime now) {
    const auto there = [&] { return store_.data_pages() - store_.data_pages_in_use() >= claimed_pages_ + pages; };
    while (!there()) {
        if (pending_.empty()) return std::unexpected(FsError{ENOSPC});
        if (const auto freed = store_.make_durable(freed_by_, now); !freed) return std::unexpected(freed.error());
        const auto next = advance_trims(now);
        if (!next) return std::unexpected(next.error());
        if (!there() && *next > now && *next != sim_never) return std::unexpected(again_at(*next));
    }
    return {};
}

FsResult<SimTime> SpaceAccounting::trim_all(SimTime now) {
    while (has_pending()) {
        if (const auto freed = store_.make_durable(freed_by_, now); !freed) {
            if (!freed.error().is_again()) return freed;
            now = freed.error().again;
            continue;
        }
        const auto next = advance_trims(now);
        if (!next) return next;
        if (*next != sim_never) now = std::max(now, *next);
    }
    return now;
}

FsResult<Timed<std::uint64_t>> SpaceAccounting::trim_unowned(LogicalPage first, LogicalPage last, std::uint64_t min_pages, SimTime now) {
    SimTime end = now;
    std::uint64_t unowned = 0;
    const std::uint64_t per_page = page_bytes_ / sector_bytes;
    for (LogicalPage at = first; at < last;) {
        MetadataStore::PageRun run = store_.find_free_run(at, last - at);
        if (run.pages == 0 || run.first < at || run.first >= last) break;
        run.pages = std::min(run.pages, last - run.first);
        const MetadataStore::PageRun free = without_claims(run);
        at = run.first + std::max<std::uint64_t>(free.pages, 1);
        if (free.pages < std::max<std::uint64_t>(min_pages, 1)) continue;
        unowned += free.pages;
        for (const LbaRange& range : device_.lba_status(sector_of(free.first), free.pages * per_page)) {
            if (!range.mapped) continue;
            const auto done = device_.trim(range.first, range.sectors, now);
            if (!done) return std::unexpected(errno_of(done.error()));
            end = std::max(end, *done);
        }
    }
    if (end == now) return Timed<std::uint64_t>{unowned, now};
    const auto durable = device_.flush(end);
    if (!durable) return std::unexpected(errno_of(durable.error()));
    return Timed<std::uint64_t>{unowned, *durable};
}

} // namespace flashlab

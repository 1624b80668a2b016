#include "tools/grade/witness.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace flashlab {

namespace {

struct NamedCount {
    const char* name;
    std::uint64_t FtlCounters::*count;
};
constexpr NamedCount named_counts[] = {
    {"host_pages_read", &FtlCounters::host_pages_read},       {"host_pages_written", &FtlCounters::host_pages_written},
    {"host_pages_trimmed", &FtlCounters::host_pages_trimmed}, {"gc_jobs", &FtlCounters::gc_jobs},
    {"gc_page_copies", &FtlCounters::gc_page_copies},         {"retired_blocks", &FtlCounters::retired_blocks}};
constexpr auto of_the_host = std::span{named_counts}.first<3>();

constexpr Cause copying[] = {Cause::gc, Cause::merge, Cause::wear, Cause::fold, Cause::scrub};

/// A block of translation pages may have taken pages of data as well.
bool holds_data(BlockUse use) { return use != BlockUse::free && use != BlockUse::bad && use != BlockUse::other; }

} // namespace

FtlResult<SimTime> Witness::seen(std::string_view call, FtlResult<SimTime> done, SimTime now) {
    if (done && *done < now) wrong_(fmt::format("{}() is answered before it was asked", call));
    return done;
}

void Witness::written(Lpn lpn) {
    mapped_[lpn.value()] = true;
    is_flushed_ = false;
    ++asked_.host_pages_written;
}

FtlResult<FtlRecovery> Witness::do_recover(SimTime now) {
    auto found = LyingFtl::do_recover(now);
    if (!found) return found;
    mapped_.resize(logical_pages());
    first_bad_ = below().space().bad_blocks;
    believe();
    return found;
}

void Witness::believe() {
    for (std::uint32_t l = 0; l < mapped_.size(); ++l) mapped_[l] = below().is_mapped(Lpn{l});
}

FtlResult<SimTime> Witness::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    asked_.host_pages_read += pages;
    return seen("read", LyingFtl::do_read(first, pages, to, io), io.when);
}

FtlResult<SimTime> Witness::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    ++asked_.host_pages_read;
    return seen("read_part", LyingFtl::do_read_part(lpn, offset, bytes, to, io), io.when);
}

FtlResult<SimTime> Witness::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    const auto done = seen("write", LyingFtl::do_write(first, pages, from, io), io.when);
    for (std::uint32_t i = 0; done && i < pages; ++i) written(Lpn{first.value() + i});
    return done;
}

FtlResult<SimTime> Witness::do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
    const auto done = seen("write_each", LyingFtl::do_write_each(pages, from, io), io.when);
    if (done) std::ranges::for_each(pages, [&](Lpn lpn) { written(lpn); });
    return done;
}

FtlResult<Ftl::WrittenLine> Witness::do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
    const auto line = LyingFtl::do_write_line(pages, from, io);
    if (line && line->done < io.when) wrong_("write_line() is answered before it was asked");
    if (line && (line->pages == 0 || line->pages > pages.size()))
        wrong_(fmt::format("write_line() has written {} of {} pages", line->pages, pages.size()));
    if (line) std::ranges::for_each(pages.first(std::min<std::size_t>(line->pages, pages.size())), [&](Lpn lpn) { written(lpn); });
    return line;
}

FtlResult<SimTime> Witness::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    const auto done = seen("trim", LyingFtl::do_trim(first, pages, io), io.when);
    is_flushed_ = false;
    for (std::uint32_t l = first.value(); done && l < first.value() + pages; ++l) {
        asked_.host_pages_trimmed += mapped_[l] ? 1 : 0;
        mapped_[l] = false;
    }
    return done;
}

FtlResult<SimTime> Witness::do_flush(const Io& io) {
    is_flushed_ = true;
    return seen("flush", LyingFtl::do_flush(io), io.when);
}

std::optional<std::string> Witness::untrue(const NandArray& flash, std::uint64_t failed) {
    if (auto wrong = untrue_pages()) return wrong;
    if (auto wrong = untrue_blocks(flash)) return wrong;
    return untrue_counters(flash, failed);
}

std::optional<std::string> Witness::untrue_pages() const {
    for (std::uint32_t l = 0; l < mapped_.size(); ++l)
        if (below().is_mapped(Lpn{l}) != mapped_[l])
            return fmt::format("is_mapped({}) says {} of a page that was {}", l, !mapped_[l], mapped_[l] ? "written" : "trimmed, or never written");
    const FtlSpace space = below().space();
    if (space.is_read_only) return "space() is read-only, but writes succeed";
    const auto mapped = static_cast<std::uint64_t>(std::ranges::count(mapped_, true));
    if (is_flushed_ && space.mapped_pages != mapped) return fmt::format("space() has {} mapped pages; {} are mapped", space.mapped_pages, mapped);
    return std::nullopt;
}

std::optional<std::string> Witness::untrue_blocks(const NandArray& flash) const {
    const FtlSpace space = below().space();
    std::uint64_t valid = 0;
    std::uint32_t bad = 0, free = 0;
    for (const BlockId block : ids<BlockId>(shape().blocks)) {
        const BlockStatus status = below().status_of(block);
        const std::uint32_t most = status.use == BlockUse::free || status.use == BlockUse::bad ? 0 : flash.write_pointer(block);
        if (status.valid_pages > most)
            return fmt::format("status_of({}) has {} valid pages in a block that can have {}", block.value(), status.valid_pages, most);
        bad += status.use == BlockUse::bad ? 1 : 0;
        free += status.use == BlockUse::free ? 1 : 0;
        if (holds_data(status.use)) valid += status.valid_pages;
    }
    if (space.spare_blocks + bad > shape().blocks)
        return fmt::format("space() has {} spare blocks and {} bad ones of {}", space.spare_blocks, bad, shape().blocks);
    if (space.spare_at_end > space.spare_blocks)
        return fmt::format("space() has {} spare blocks, becomes read-only with fewer than {}, and takes writes", space.spare_blocks,
                           space.spare_at_end);
    if (bad != space.bad_blocks) return fmt::format("space() has {} bad blocks, status_of() {}", space.bad_blocks, bad);
    if (space.free_blocks > free || (space.free_blocks < free && flash.media().is_single()))
        return fmt::format("space() has {} free blocks, status_of() {}", space.free_blocks, free);
    const std::uint64_t wanted = space.mapped_pages * (logical_page_bytes() / flash.geometry().page_bytes());
    if (is_flushed_ && valid < wanted) return fmt::format("status_of() has {} valid pages in all blocks; {} hold what is mapped", valid, wanted);
    return std::nullopt;
}

std::optional<std::string> Witness::untrue_counters(const NandArray& flash, std::uint64_t failed) {
    const FtlCounters now = below().counters(), before = std::exchange(last_, now);
    for (const auto& [name, count] : named_counts)
        if (now.*count < before.*count) return fmt::format("the counter {} fell from {} to {}", name, before.*count, now.*count);
    for (const auto& [name, count] : of_the_host)
        if (now.*count != asked_.*count) return fmt::format("the counter {} is {}; it was asked for {}", name, now.*count, asked_.*count);
    const bool is_exact = flash.config().options.subpages == 1; // else what fills a page of the chip is programmed, too
    std::uint64_t copies = 0;
    for (const Cause cause : copying) copies += flash.counters().programs[std::to_underlying(cause)];
    if (now.gc_page_copies > copies || (is_exact && copies - now.gc_page_copies > failed))
        return fmt::format("the counter gc_page_copies is {}; {} pages were programmed as copies", now.gc_page_copies, copies);
    const std::uint64_t erases = flash.counters().erases[std::to_underlying(Cause::gc)];
    if (now.gc_jobs == 0 && erases > flash.chip_geometry().blocks()) // not only what was garbage when it started
        return fmt::format("the counter gc_jobs is 0; {} blocks were erased for collections", erases);
    const std::uint64_t all_erases = std::accumulate(std::begin(flash.counters().erases), std::end(flash.counters().erases), std::uint64_t{0});
    if (now.gc_jobs > 2 * all_erases + flash.chip_geometry().blocks() + failed) // a victim may be erased later, a job be given up
        return fmt::format("the counter gc_jobs is {}; {} blocks were erased", now.gc_jobs, all_erases);
    if (const std::uint32_t bad = below().space().bad_blocks; now.retired_blocks != bad - first_bad_)
        return fmt::format("the counter retired_blocks is {}; {} more are bad than at the start", now.retired_blocks, bad - first_bad_);
    return std::nullopt;
}

} // namespace flashlab

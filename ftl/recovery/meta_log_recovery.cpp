#include <algorithm>
#include <tuple>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"
#include "ftl/recovery/meta_log.h"

namespace flashlab {

namespace {

struct FoundPage {
    std::uint64_t number = 0; ///< of its record
    std::uint32_t index = 0;  ///< in its record
    std::uint32_t pages = 0;  ///< of its record
    PageKind kind = PageKind::journal;
    Ppn page{0};
    std::uint32_t row = 0;
};

struct BlockScan {
    std::uint64_t pages_read = 0;
    SimTime done;
};

/// Up to the first erased page; torn pages are passed over, never believed.
std::expected<BlockScan, NandError> scan_block(NandArray& array, BlockId block, std::uint32_t row, SimTime now, std::vector<FoundPage>& found) {
    BlockScan scan{0, now};
    for (std::uint32_t i = 0; i < array.geometry().pages_per_block(); ++i) {
        const Ppn page = array.geometry().page_of(block, i);
        const auto read = array.read_oob(page, scan.done, {Cause::recovery, no_event});
        if (!read) return std::unexpected(read.error());
        scan.done = read->done;
        ++scan.pages_read;
        if (read->state == CellState::erased) break;
        if (read->state != CellState::programmed || !read->oob) continue;
        const PageOob& oob = *read->oob;
        if (oob.kind == PageKind::checkpoint || oob.kind == PageKind::journal)
            found.push_back({oob.sequence.value(), oob.lpn.value(), oob.scheme_word, oob.kind, page, row});
    }
    return scan;
}

/// Pages of one record, sorted by index: all there, each once?
bool is_whole(std::span<const FoundPage> pages) {
    if (pages.empty() || pages.size() != pages.front().pages) return false;
    for (std::uint32_t i = 0; i < pages.size(); ++i)
        if (pages[i].index != i || pages[i].pages != pages.size()) return false;
    return true;
}

struct ReadRecord {
    MetaRecord record;
    SimTime done;
};

/// A record that is there but does not read is an error, not an absent one: leaving it out would bring back what it took away.
std::expected<ReadRecord, NandError> read_record(NandArray& array, std::span<const FoundPage> pages, SimTime now) {
    const std::uint32_t page_bytes = array.geometry().page_bytes();
    std::vector<std::byte> bytes(std::size_t{page_bytes} * pages.size());
    SimTime done = now;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const auto read = array.read(PageRead{pages[i].page, 0, page_bytes, std::span{bytes}.subspan(i * page_bytes, page_bytes)}, now, {Cause::recovery, no_event});
        if (!read) return std::unexpected(read.error());
        done = std::max(done, *read);
    }
    LittleEndianReader header{bytes};
    MetaRecord record{header.u32(), pages.front().number, {}};
    const std::uint32_t crc = header.u32();
    const std::uint64_t length = header.u64();
    const NandError damaged{NandErrorKind::uncorrectable, pages.front().page, done};
    if (length > bytes.size() - meta_record_header_bytes) return std::unexpected(damaged);
    bytes.erase(bytes.begin(), bytes.begin() + meta_record_header_bytes);
    bytes.resize(length);
    if (crc32c(bytes) != crc) return std::unexpected(damaged);
    record.payload = std::move(bytes);
    return ReadRecord{std::move(record), done};
}

} // namespace

std::expected<MetaLog::Recovered, NandError> MetaLog::recover(SimTime now) {
    ensure(!recovered_, "recover() once");
    Recovered out;
    const auto placed = find_ring(now, out.pages_read);
    if (!placed) return std::unexpected(placed.error());
    out.done = *placed;
    std::vector<FoundPage> found;
    for (std::uint32_t i = 0; i < area_.blocks.size(); ++i) {
        const auto scan = scan_block(array_, area_.blocks[i], i / area_.width, *placed, found);
        if (!scan) return std::unexpected(scan.error());
        out.pages_read += scan->pages_read;
        out.done = std::max(out.done, scan->done);
    }
    std::ranges::sort(found, {}, [](const FoundPage& p) { return std::tuple{p.number, p.index, p.page}; });
    if (!found.empty()) next_number_ = found.back().number + 1;

    // From the newest record back to the newest whole checkpoint.
    std::uint32_t tail = 0;
    std::optional<std::uint32_t> head;
    for (std::size_t end = found.size(); end > 0 && !out.checkpoint;) {
        std::size_t begin = end - 1;
        while (begin > 0 && found[begin - 1].number == found[end - 1].number) --begin;
        const auto pages = std::span{found}.subspan(begin, end - begin);
        end = begin;
        if (!is_whole(pages)) continue;
        auto read = read_record(array_, pages, out.done);
        if (!read) return std::unexpected(read.error());
        out.pages_read += pages.size();
        out.done = read->done;
        tail = pages.front().row;
        if (!head) head = pages.back().row;
        if (pages.front().kind == PageKind::checkpoint) out.checkpoint = std::move(read->record);
        else out.records.push_back(std::move(read->record));
    }
    std::ranges::reverse(out.records);
    tail_ = tail;
    live_rows_ = head ? (*head + area_.rows - tail) % area_.rows + 1 : 0;
    last_end_ = out.done;
    recovered_ = true;
    return out;
}

} // namespace flashlab

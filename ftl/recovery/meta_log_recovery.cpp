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

bool is_of_a_record(const PageOob& oob) { return oob.kind == PageKind::checkpoint || oob.kind == PageKind::journal; }

/// Up to the first erased page; torn pages are passed over, never believed.
std::expected<BlockScan, NandError> scan_block(NandArray& array, BlockId block, std::uint32_t row, SimTime now, std::vector<FoundPage>& found) {
    BlockScan scan{0, now};
    for (std::uint32_t i = 0; i < array.pages_in(block); ++i) {
        const Ppn page = array.geometry().page_of(block, i);
        const auto read = array.read_oob(page, {scan.done, {Cause::recovery, no_event}});
        if (!read) return std::unexpected(read.error());
        scan.done = read->done;
        ++scan.pages_read;
        if (read->state == CellState::erased) break;
        if (read->state != CellState::programmed || !read->oob) continue;
        const PageOob& oob = *read->oob;
        if (is_of_a_record(oob)) found.push_back({oob.sequence.value(), oob.lpn.value(), oob.scheme_word, oob.kind, page, row});
    }
    return scan;
}

/// How new a row is: its first pages tell, as rows are taken in turn and written in order.
struct RowAge {
    std::uint32_t row = 0;
    bool is_unclear = false; ///< a first page does not read: what lies behind it may be anything
    bool holds_records = false;
    std::uint64_t number = 0; ///< of the newest first page: its record, and which page of it
    std::uint32_t index = 0;
};

/// Rows that hold records, those of unclear age first, then the newest first.
std::expected<std::vector<RowAge>, NandError> look_at_rows(NandArray& array, const MetaArea& area, MetaLog::Recovered& cost) {
    std::vector<RowAge> rows;
    const SimTime start = cost.done;
    for (std::uint32_t row = 0; row < area.rows; ++row) {
        RowAge age{row};
        for (std::uint32_t column = 0; column < area.width; ++column) {
            const Ppn first = array.geometry().page_of(area.blocks[std::size_t{row} * area.width + column], 0);
            const auto read = array.read_oob(first, {start, {Cause::recovery, no_event}});
            if (!read) return std::unexpected(read.error());
            cost.done = std::max(cost.done, read->done);
            ++cost.pages_read;
            if (read->state == CellState::erased) continue;
            if (read->state != CellState::programmed || !read->oob)
                age.is_unclear = true;
            else if (is_of_a_record(*read->oob)) {
                age.holds_records = true;
                const auto newest = std::max(std::tuple{age.number, age.index}, std::tuple{read->oob->sequence.value(), read->oob->lpn.value()});
                std::tie(age.number, age.index) = newest;
            }
        }
        if (age.is_unclear || age.holds_records) rows.push_back(age);
    }
    std::ranges::sort(rows, std::ranges::greater{}, [](const RowAge& a) { return std::tuple{a.is_unclear, a.number, a.index}; });
    return rows;
}

/// Pages of one record, sorted by index: all there, each once?
bool is_whole(std::span<const FoundPage> pages) {
    if (pages.empty() || pages.size() != pages.front().pages) return false;
    for (std::uint32_t i = 0; i < pages.size(); ++i)
        if (pages[i].index != i || pages[i].pages != pages.size()) return false;
    return true;
}

/// The last record before `end` among pages sorted by record.
std::span<const FoundPage> record_before(std::span<const FoundPage> found, std::size_t end) {
    std::size_t begin = end - 1;
    while (begin > 0 && found[begin - 1].number == found[end - 1].number) --begin;
    return found.subspan(begin, end - begin);
}

/// Number of the newest one; 0: there is none.
std::uint64_t newest_whole_checkpoint(std::span<const FoundPage> found) {
    for (std::size_t end = found.size(); end > 0;) {
        const auto pages = record_before(found, end);
        if (pages.front().kind == PageKind::checkpoint && is_whole(pages)) return pages.front().number;
        end -= pages.size();
    }
    return 0;
}

/// The row's pages join those found, sorted.
std::expected<void, NandError> scan_row(NandArray& array, const MetaArea& area, std::uint32_t row, MetaLog::Recovered& cost,
                                        std::vector<FoundPage>& found) {
    const SimTime start = cost.done;
    for (std::uint32_t column = 0; column < area.width; ++column) {
        const auto scan = scan_block(array, area.blocks[std::size_t{row} * area.width + column], row, start, found);
        if (!scan) return std::unexpected(scan.error());
        cost.pages_read += scan->pages_read;
        cost.done = std::max(cost.done, scan->done);
    }
    std::ranges::sort(found, {}, [](const FoundPage& p) { return std::tuple{p.number, p.index, p.page}; });
    return {};
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
        const auto read = array.read(PageRead{pages[i].page, 0, page_bytes, std::span{bytes}.subspan(i * page_bytes, page_bytes)},
                                     {now, {Cause::recovery, no_event}});
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
    const auto rows = look_at_rows(array_, area_, out);
    if (!rows) return std::unexpected(rows.error());
    std::vector<FoundPage> found;
    for (const RowAge& age : *rows) {
        // A row taken after the one in which a checkpoint begins has no older page: this one, and those behind it, were taken before.
        if (!age.is_unclear && age.number < newest_whole_checkpoint(found)) break;
        if (const auto scanned = scan_row(array_, area_, age.row, out, found); !scanned) return std::unexpected(scanned.error());
    }
    if (!found.empty()) next_number_ = found.back().number + 1;

    // From the newest record back to the newest whole checkpoint.
    std::uint32_t tail = 0;
    std::vector<std::uint32_t> live; // rows
    for (std::size_t end = found.size(); end > 0 && !out.checkpoint;) {
        const auto pages = record_before(found, end);
        end -= pages.size();
        if (!is_whole(pages)) continue;
        auto read = read_record(array_, pages, out.done);
        if (!read) return std::unexpected(read.error());
        out.pages_read += pages.size();
        out.done = read->done;
        tail = pages.front().row;
        for (const FoundPage& page : pages) live.push_back(page.row);
        if (pages.front().kind == PageKind::checkpoint)
            out.checkpoint = std::move(read->record);
        else
            out.records.push_back(std::move(read->record));
    }
    std::ranges::reverse(out.records);
    tail_ = tail;
    live_rows_ = 0;
    // A checkpoint's last pages may lie behind records that are newer than it, and newer records in the rows of one that was torn.
    for (const std::uint32_t row : live) live_rows_ = std::max(live_rows_, (row + area_.rows - tail) % area_.rows + 1);
    last_end_ = out.done;
    recovered_ = true;
    return out;
}

} // namespace flashlab

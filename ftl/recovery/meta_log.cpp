#include "ftl/recovery/meta_log.h"

#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"
#include "nand/medium.h"
#include "nand/seen_blocks.h"

namespace flashlab {

namespace {

constexpr std::uint32_t max_width = 16; ///< planes: enough to hide a checkpoint's programs behind each other
constexpr std::uint32_t checkpoint_kind = 0;
constexpr std::uint32_t anchor_blocks = 3; ///< a table lives, the next one and those between

FtlError to_ftl_error(const NandError& error) {
    return {error.kind == NandErrorKind::host_io ? FtlErrorKind::host_io : FtlErrorKind::lost_page, Lpn{0}, error.done, error.host_errno};
}

CellType mode_of(const NandConfig& nand, bool in_slc) { return in_slc ? CellType::slc : nand.geometry.cell; }
/// Of the cells' own mode as users see them, who may see several blocks as one.
std::uint32_t pages_of_ring(const NandConfig& nand, const Geometry& seen, bool in_slc) {
    const CellType mode = mode_of(nand, in_slc);
    return mode == nand.geometry.cell ? seen.pages_per_block() : Media{nand}.of(mode).pages;
}

} // namespace

bool MetaArea::contains(BlockId block) const { return std::ranges::find(blocks, block) != blocks.end(); }

std::vector<BlockId> MetaArea::all() const {
    std::vector<BlockId> out = blocks;
    out.insert(out.end(), anchor.begin(), anchor.end());
    std::ranges::sort(out);
    return out;
}

MetaArea plan_meta_area(const NandConfig& nand, const Geometry& geometry, std::uint32_t planes, const MetaNeeds& needs, RingPlace place) {
    MetaArea area;
    area.in_slc = needs.in_slc;
    const std::uint32_t pages_a_block = pages_of_ring(nand, geometry, needs.in_slc);
    const SeenBlocks seen{nand};
    const auto pages_of = [&](std::uint64_t bytes) {
        const std::uint64_t whole = std::uint64_t{geometry.page_bytes()} * nand.options.subpages;
        return static_cast<std::uint32_t>((bytes + whole - 1) / whole * nand.options.subpages);
    };
    area.checkpoint_pages = pages_of(needs.checkpoint_bytes + meta_record_header_bytes);
    const std::uint32_t blocks = (area.checkpoint_pages + pages_a_block - 1) / pages_a_block;
    area.width = std::clamp(blocks, 1u, std::min(planes, max_width));
    const std::uint32_t rows_of_checkpoint = (blocks + area.width - 1) / area.width;
    area.journal_rows = std::max(1u, pages_of(needs.journal_bytes) / (area.width * pages_a_block));
    // One checkpoint lives, one may be under way; the journal between them; and some for blocks that fail.
    area.rows = 2 * rows_of_checkpoint + area.journal_rows + 1 + rows_of_checkpoint / 16;
    area.blocks.assign(std::size_t{area.rows} * area.width, BlockId{0});
    for (std::uint32_t column = 0; column < area.width; ++column) {
        std::uint32_t index = 0;
        for (std::uint32_t row = 0; row < area.rows; ++row, ++index) {
            while (index < geometry.blocks_per_plane() && seen.is_set_aside(geometry.block_at(PlaneId{column}, index))) ++index;
            if (index >= geometry.blocks_per_plane()) return {};
            area.blocks[std::size_t{row} * area.width + column] = geometry.block_at(PlaneId{column}, index);
        }
    }
    if (place == RingPlace::fixed) return area;
    // The plane behind the ring's, where there is one.
    const PlaneId plane{area.width % planes};
    for (std::uint32_t index = 0; area.anchor.size() < anchor_blocks; ++index) {
        if (index >= geometry.blocks_per_plane()) return {};
        const BlockId block = geometry.block_at(plane, index);
        if (!seen.is_set_aside(block) && std::ranges::find(area.blocks, block) == area.blocks.end()) area.anchor.push_back(block);
    }
    return area;
}

MetaLog::MetaLog(MetaArea area, NandArray& array)
    : area_{std::move(area)}, array_{array}, mode_{mode_of(array.config(), area_.in_slc)},
      pages_a_block_{pages_of_ring(array.config(), array.geometry(), area_.in_slc)}, subpages_{array.config().options.subpages},
      page_(std::size_t{array.geometry().page_bytes()} * subpages_) {
    if (!area_.anchor.empty()) {
        MetaArea anchor{1, static_cast<std::uint32_t>(area_.anchor.size()), 0, area_.anchor, {}};
        anchor.checkpoint_pages = pages_of((area_.blocks.size() + 1) * 4);
        ensure(anchor.checkpoint_pages <= array.geometry().pages_per_block(), "the ring's table fits a block");
        anchor_ = std::make_unique<MetaLog>(std::move(anchor), array);
    }
    ensure(area_.rows >= 3 && area_.blocks.size() == std::size_t{area_.rows} * area_.width, "the ring has blocks");
}

void MetaLog::start_over(SimTime now) {
    ensure(!recovered_, "a log that was read goes on");
    tail_ = live_rows_ = next_ = 0;
    head_.clear();
    last_end_ = std::max(last_end_, now);
    recovered_ = true;
}

std::uint32_t MetaLog::pages_of(std::size_t payload_bytes) const {
    return static_cast<std::uint32_t>((payload_bytes + meta_record_header_bytes + page_.size() - 1) / page_.size()) * subpages_;
}

std::uint32_t MetaLog::room_in_row(std::uint32_t row) const {
    std::uint32_t good = 0;
    for (std::uint32_t column = 0; column < area_.width; ++column) good += array_.is_bad(block_at(row, column)) ? 0 : 1;
    return good * pages_a_block_;
}

std::uint32_t MetaLog::room_in_head() const { return static_cast<std::uint32_t>(head_.size()) * pages_a_block_ - next_; }

std::uint32_t MetaLog::rows_for(std::uint32_t first, std::uint32_t pages) const {
    std::uint32_t rows = 0;
    for (std::uint32_t room = 0; room < pages && rows <= area_.rows; ++rows) room += room_in_row((first + rows) % area_.rows);
    return rows;
}

bool MetaLog::needs_checkpoint(std::size_t payload_bytes) const {
    const std::uint32_t pages = pages_of(payload_bytes) + pages_left();
    const std::uint32_t beyond = pages > room_in_head() ? pages - room_in_head() : 0;
    const std::uint32_t for_record = rows_for(tail_ + live_rows_, beyond);
    // The checkpoint under way has taken its rows already, those that failed under it included.
    const std::uint32_t may_fail = is_writing() ? 0 : spare_rows();
    return live_rows_ + for_record + rows_for(tail_ + live_rows_ + for_record, area_.checkpoint_pages) + may_fail > area_.rows;
}

/// Rows that may still fail under a checkpoint: those planned for it, less those that have.
std::uint32_t MetaLog::spare_rows() const {
    const std::uint32_t pages_a_row = area_.width * pages_a_block_;
    const std::uint32_t used =
        2 * ((area_.checkpoint_pages + pages_a_row - 1) / pages_a_row) + area_.journal_rows; // a checkpoint, the next one, the journal between
    std::uint32_t spare = area_.rows > used ? area_.rows - used : 0;
    for (std::uint32_t row = 0; row < area_.rows && spare != 0; ++row) spare -= room_in_row(row) < pages_a_row ? 1 : 0;
    return spare;
}

bool MetaLog::can_write() const { return live_rows_ + rows_for(tail_ + live_rows_, area_.checkpoint_pages) <= area_.rows; }

FtlResult<SimTime> MetaLog::append(std::uint32_t kind, std::span<const std::byte> payload, const Io& io) {
    ensure(recovered_ && kind != checkpoint_kind, "recover() comes first, and a record has a kind of its own");
    ensure(!needs_checkpoint(payload.size()), "a record leaves room for a checkpoint");
    return write_record(kind, payload.size(), payload, io);
}

FtlResult<SimTime> MetaLog::checkpoint(std::span<const std::byte> payload, const Io& io) { return write_checkpoint(payload.size(), payload, io); }

FtlResult<SimTime> MetaLog::checkpoint_of(std::uint64_t payload_bytes, const Io& io) {
    ensure(!array_.keeps_payload(), "bytes that are kept are given");
    return write_checkpoint(payload_bytes, {}, io);
}

FtlResult<SimTime> MetaLog::write_checkpoint(std::uint64_t bytes, std::span<const std::byte> payload, const Io& io) {
    const auto begun = begin_checkpoint(bytes, payload, io);
    return begun && is_writing() ? continue_checkpoint(pages_left(), io.when) : begun;
}

FtlResult<SimTime> MetaLog::begin_checkpoint(std::uint64_t bytes, std::span<const std::byte> payload, const Io& io) {
    ensure(recovered_ && is_planned(bytes), "a checkpoint is as large as planned at most");
    ensure(!is_writing(), "one checkpoint is under way");
    // Behind the record before it where its row has room for all of it, else in a row of its own: the rows before it are free as a whole afterwards.
    const bool shares_row = !head_.empty() && pages_of(bytes) <= room_in_head();
    if (!shares_row) head_.clear();
    const SimTime from = std::max(io.when, last_end_); // M1: what came before it has ended
    under_way_ = {next_number_++, pages_of(bytes), 0, live_rows_ - (shares_row ? 1 : 0), payload, from, from, io.origin};
    return continue_checkpoint(1, io.when);
}

FtlResult<SimTime> MetaLog::continue_checkpoint(std::uint32_t pages, SimTime now) {
    ensure(is_writing(), "a checkpoint is under way");
    UnderWay& c = under_way_;
    const SimTime from = std::max(now, c.from);
    for (std::uint32_t left = std::min(pages, pages_left()); left != 0; left -= std::min(left, subpages_)) {
        const PageOob oob{Lpn{c.written}, WriteSequence{c.number}, PageKind::checkpoint, c.pages};
        const auto done = write_page(checkpoint_kind, oob, c.rest, {from, c.origin});
        if (!done) {
            under_way_ = {};
            return done;
        }
        c.written += subpages_;
        c.end = std::max(c.end, *done);
    }
    const SimTime end = c.end;
    if (pages_left() != 0) return end;
    tail_ = (tail_ + c.rows_before) % area_.rows;
    live_rows_ -= c.rows_before;
    under_way_ = {};
    last_end_ = std::max(last_end_, end);
    return end;
}

std::uint32_t MetaLog::share_of_record() const {
    constexpr std::uint32_t most_records = 128;
    const std::uint32_t left = pages_left();
    const std::uint32_t beside = std::clamp(room_in_head() - std::min(room_in_head(), left), 1u, most_records);
    return (left + beside - 1) / beside;
}

bool MetaLog::is_short() const {
    const std::uint32_t few = std::clamp(area_.width * pages_a_block_ / 8, 1u, 16u);
    return needs_checkpoint(std::size_t{few} * page_.size());
}

/// The record's next page, into page_.
void MetaLog::lay_out(std::uint32_t kind, bool is_first, std::span<const std::byte>& rest) {
    std::ranges::fill(page_, std::byte{0});
    std::span<std::byte> room{page_};
    if (is_first) {
        LittleEndianWriter header{room};
        header.u32(kind);
        header.u32(crc32c(rest));
        header.u64(rest.size());
        room = room.subspan(meta_record_header_bytes);
    }
    const auto part = rest.first(std::min(rest.size(), room.size()));
    std::ranges::copy(part, room.begin());
    rest = rest.subspan(part.size());
}

FtlResult<SimTime> MetaLog::write_record(std::uint32_t kind, std::uint64_t bytes, std::span<const std::byte> payload, const Io& io) {
    const std::uint32_t pages = pages_of(bytes);
    const SimTime from = std::max(io.when, last_end_); // M1: records end in order
    SimTime end = from;
    PageOob oob{Lpn{0}, WriteSequence{next_number_++}, PageKind::journal, pages};
    for (std::uint32_t i = 0; i < pages; i += subpages_) {
        oob.lpn = Lpn{i};
        const auto done = write_page(kind, oob, payload, io.at(from));
        if (!done) return done;
        end = std::max(end, *done);
    }
    last_end_ = end;
    return end;
}

FtlResult<SimTime> MetaLog::write_page(std::uint32_t kind, PageOob oob, std::span<const std::byte>& rest, const Io& io) {
    if (array_.keeps_payload()) lay_out(kind, oob.lpn.value() == 0, rest);
    return program_page(oob, io);
}

/// A block that fails takes the rest of its row with it; the page goes to the next row, the record stays one.
FtlResult<SimTime> MetaLog::program_page(const PageOob& oob, const Io& io) {
    SimTime now = io.when;
    for (;;) {
        if (head_.empty() || room_in_head() == 0) {
            const auto taken = take_row(io.at(now));
            if (!taken) return taken;
        }
        const auto columns = static_cast<std::uint32_t>(head_.size());
        const std::uint32_t place = next_ / subpages_;
        const BlockId block = head_[place % columns];
        programs_.clear();
        for (std::uint32_t i = 0; i < subpages_; ++i) {
            PageOob own = oob;
            own.lpn = Lpn{oob.lpn.value() + i};
            const std::size_t bytes = page_.size() / subpages_;
            programs_.push_back({array_.geometry().page_of(block, place / columns * subpages_ + i), std::span{page_}.subspan(i * bytes, bytes), own});
        }
        next_ += subpages_;
        const auto done = array_.program(programs_, io.at(now));
        if (done) return *done;
        if (done.error().kind != NandErrorKind::program_failed) return std::unexpected(to_ftl_error(done.error()));
        now = done.error().done;
        head_.clear();
        if (auto dropped = drop_block(block, now); !dropped) return std::unexpected(dropped.error());
    }
}

FtlResult<SimTime> MetaLog::take_row(const Io& io) {
    head_.clear();
    next_ = 0;
    SimTime from = std::max(io.when, last_end_); // what made its old content worthless is durable
    while (head_.empty()) {
        if (live_rows_ == area_.rows) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, from});
        const std::uint32_t row = (tail_ + live_rows_++) % area_.rows;
        const auto moved = move_row(row, io.at(from));
        if (!moved) return moved;
        from = *moved;
        for (std::uint32_t column = 0; column < area_.width; ++column) {
            const BlockId block = block_at(row, column);
            if (array_.is_bad(block)) continue;
            const auto erased = array_.erase_as(block, mode_, io.at(from));
            if (erased) {
                head_.push_back(block);
                continue;
            }
            if (erased.error().kind != NandErrorKind::erase_failed) return std::unexpected(to_ftl_error(erased.error()));
            if (auto dropped = drop_block(block, erased.error().done); !dropped) return std::unexpected(dropped.error());
        }
    }
    return from;
}

FtlResult<void> MetaLog::drop_block(BlockId block, SimTime now) {
    if (auto marked = array_.mark_bad(block, now); !marked) {
        NandError error = marked.error();
        error.done = std::max(error.done, now);
        return std::unexpected(to_ftl_error(error));
    }
    return {};
}

std::vector<CheckProblem> MetaLog::check() const {
    std::vector<CheckProblem> out;
    if (!can_write()) return out; // the device is read-only: nothing is promised of the ring
    if (live_rows_ > area_.rows) out.push_back({"M2", "meta log", "more rows live than there are"});
    for (const BlockId block : head_)
        if (const auto page = array_.write_pointer(block); page > pages_a_block_)
            out.push_back({"M3", "meta log", "a write pointer beyond its block"});
    return out;
}

} // namespace flashlab
